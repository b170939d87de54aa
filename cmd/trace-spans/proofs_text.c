/* SPDX-License-Identifier: BSD-3-Clause */
#include "proofs_text.h"

#include <inttypes.h>

#include "legs.h"

static void put_limit(struct out *out, const struct span *s, double rate, bool of_blocks)
{
	legs_put_bdev(out, s);
	out_printf(out, " ends %.*f %s per ms, evenly: a rate limit?\n", rate < 1 ? 2 : 1, rate,
		   of_blocks ? "blocks" : "I/Os");
}

/* Prints that nothing was below an object. A bdev's module may hold an I/O for any reason. */
static void put_no_io(const struct proofs *p, struct out *out, const struct span *s, bool since)
{
	if (spans_is_bdev_io(p->spans, s)) {
		legs_put_bdev(out, s);
		out_text(out, since ? " has passed nothing on since\n" : " passed nothing on meanwhile\n");
		return;
	}
	out_printf(out, "no bdev I/O was started %s: it waits for a bdev_io, a paused subsystem or a queue\n",
		   since ? "since" : "meanwhile");
}

static void put_copy(struct out *out, uint64_t copied)
{
	if (copied)
		out_printf(out, "waited for a copy of %" PRIu64 " blocks: the first write to a cluster\n", copied);
	else
		out_text(out, "waited for the allocation of a cluster: the first write to it\n");
}

static void put_retry(const struct proofs *p, struct out *out, const struct span *s)
{
	uint64_t n = proofs_retries(p, s->parent, s).n;

	legs_put_bdev(out, s->parent);
	out_printf(out, " started it again, retry %" PRIu64 " of %" PRIu64 ": its path failed\n", n,
		   proofs_retries(p, s->parent, NULL).n);
}

void proofs_text_first(const struct proofs *p, struct out *out, const struct span *s)
{
	uint64_t size = proofs_queue(p, s);

	if (!size)
		return;
	out_printf(out, "qd %" PRIu64 " of %" PRIu64 ": the host may queue\n", s->io.values[IO_QPAIR_QD], size);
}

void proofs_text(const struct proofs *p, struct out *out, const struct span *s, size_t n, uint64_t gap, bool silent)
{
	const struct span *held = n ? s : s->parent;
	const struct proofs_span *area = held ? proofs_of(p, held) : NULL;

	/* only what the gap is most of */
	if (!area || !gap)
		return;
	if (area->limited && area->limited / 2 <= gap && (n || s == held->child))
		put_limit(out, held, area->rate, area->of_blocks);
	if (!n && area->copy && area->copy / 2 <= gap && spans_kind(p->spans, s) == SPDK_BLOB_SET && s != held->child)
		put_copy(out, area->copied);
	if (!n && !silent && s == proofs_first_below(p, held) && proofs_no_io(p, held) >= gap / 2)
		put_no_io(p, out, held, false);
	if (!n && proofs_retries(p, held, s).latest == s)
		put_retry(p, out, s);
}

void proofs_text_open(const struct proofs *p, struct out *out, const struct span *s)
{
	bool of_blocks;
	double rate;

	if (!spans_is_open(p->spans, s))
		return;
	if (proofs_waits_for_limit(p, s, &rate, &of_blocks))
		put_limit(out, s, rate, of_blocks);
	else if (proofs_of(p, s)->allocates_since)
		put_copy(out, proofs_of(p, s)->copied);
	else if (!proofs_first_below(p, s) && proofs_no_io(p, s))
		put_no_io(p, out, s, true);
	else if (s->parent && !s->child && proofs_retries(p, s->parent, s).latest == s)
		put_retry(p, out, s);
	for (const struct span *child = s->child; child; child = child->next)
		proofs_text_open(p, out, child);
}
