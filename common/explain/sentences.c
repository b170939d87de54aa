/* SPDX-License-Identifier: BSD-3-Clause */
#include "sentences.h"

#include <inttypes.h>

void sentences_put_bdev(struct out *out, const struct span *s)
{
	out_visible_json(out, spans_bdev(s));
}

static void put_limit(struct out *out, const struct span *s, double rate, bool of_blocks)
{
	sentences_put_bdev(out, s);
	out_printf(out, " ends %.*f %s per ms, evenly: a rate limit?\n", rate < 1 ? 2 : 1, rate,
		   of_blocks ? "blocks" : "I/Os");
}

/* Prints that nothing was below an object. A bdev's module may hold an I/O for any reason. */
static void put_no_io(const struct proofs *p, struct out *out, const struct span *s, bool since)
{
	if (spans_is_bdev_io(p->spans, s)) {
		sentences_put_bdev(out, s);
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

	sentences_put_bdev(out, s->parent);
	out_printf(out, " started it again, retry %" PRIu64 " of %" PRIu64 ": its path failed\n", n,
		   proofs_retries(p, s->parent, NULL).n);
}

void sentences_first(const struct proofs *p, struct out *out, const struct span *s)
{
	uint64_t size = proofs_queue(p, s);

	if (!size)
		return;
	out_printf(out, "qd %" PRIu64 " of %" PRIu64 ": the host may queue\n", s->io.values[IO_QPAIR_QD], size);
}

void sentences_proven(const struct proofs *p, struct out *out, const struct span *s, size_t n, uint64_t gap,
		      bool silent)
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

void sentences_open(const struct proofs *p, struct out *out, const struct span *s)
{
	bool of_blocks;
	double rate;

	if (!life_is_open(p->spans, s))
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
		sentences_open(p, out, child);
}

static void put_buffers(struct holders *h, struct out *out, const struct holders_fact *fact)
{
	out_printf(out, "waited for a buffer while %" PRIu64 " other%s did\n", fact->others,
		   fact->others == 1 ? "" : "s");
	if (!fact->held)
		return;
	out_printf(out, "%" PRIu64 " %s a buffer, %" PRIu64 " of them of ", fact->holders,
		   fact->holders == 1 ? "request had" : "requests had", fact->held);
	out_slice(out, connections_name(h->connections, fact->holder)->name);
	out_char(out, '\n');
}

static size_t largest_group(const struct holders *h)
{
	size_t largest = 0;

	for (size_t i = 1; i < h->num_groups; i++)
		if (h->groups[i].entries > h->groups[largest].entries)
			largest = i;
	return largest;
}

static void put_group(struct holders *h, struct out *out, const struct holders_group *group)
{
	out_printf(out, " %" PRIu64 " of ", group->entries);
	out_slice(out,
		  group->members > 1 ? connections_host(h->connections, group->who) : holders_who_name(h, group->who));
	if (group->members > 1)
		out_printf(out, " (%u connections)", group->members);
}

/* For whom an lcore wrote. Their times are not printed: an lcore may have been idle before an entry. */
static void put_work(struct holders *h, struct out *out, const struct lcores_work *work)
{
	enum { NAMES = 3 };
	uint64_t others = work->read;

	holders_find_groups(h, work);
	for (unsigned shown = 0; shown < NAMES && shown < h->num_groups; shown++) {
		struct holders_group *group = &h->groups[largest_group(h)];

		out_char(out, shown ? ',' : ':');
		put_group(h, out, group);
		others -= group->entries;
		group->entries = 0;
	}
	if (others)
		out_printf(out, ", %" PRIu64 " of others", others);
}

/* For at least half of the wait. */
static bool is_silent(const struct holders_wait *known)
{
	return known->lcore != MAP_NONE && known->work->silence >= known->ns / 2;
}

/* What the lcore wrote, and for how long it wrote nothing. */
static void put_lcore(struct holders *h, struct out *out, const struct holders_wait *known)
{
	const struct lcores_work *work = known->work;
	uint64_t lcore;

	if (known->lcore == MAP_NONE)
		return;
	lcore = h->spans->lcores.all[known->lcore].number;
	if (work->gap)
		out_printf(out, "entries of lcore %" PRIu64 " are missing here\n", lcore);
	if (work->gap && !work->entries)
		return;
	out_printf(out, "lcore %" PRIu64 " wrote ", lcore);
	if (!work->entries) {
		out_text(out, "nothing meanwhile\n");
		return;
	}
	if (is_silent(known)) {
		out_text(out, "nothing for ");
		out_duration_text(out, work->silence);
		out_text(out, ", else ");
	}
	out_printf(out, "%" PRIu64 " %s", work->entries, work->entries == 1 ? "entry" : "entries");
	out_text(out, is_silent(known) ? "" : " meanwhile");
	if (work->read < work->entries)
		out_printf(out, ", of the latest %" PRIu64, work->read);
	else if (!is_silent(known) && !work->gap && work->active < known->ns / 4)
		out_printf(out, ", active for %.0f%% of it", 100.0 * work->active / known->ns);
	put_work(h, out, known->work);
	out_char(out, '\n');
}

bool sentences_wait(struct holders *h, struct out *out, const struct waits *waits, const struct wait *wait)
{
	size_t before = out->len;
	struct holders_wait known;

	if (!wait->end) {
		out_text(out, "its entries before this one are not among the lines\n");
		return false;
	}
	holders_explain(h, waits, wait, &known);
	if (known.fact && known.tpoint->layer == LAYER_BUFFER)
		put_buffers(h, out, known.fact);
	if (known.fact && known.tpoint->kind == SPDK_SOCKET_WRITE && known.fact->others)
		out_printf(out, "queued after %" PRIu64 " other%s on the socket\n", known.fact->others,
			   known.fact->others == 1 ? "" : "s");
	put_lcore(h, out, &known);
	if (out->len == before)
		out_text(out, "no cause is in the trace\n");
	return is_silent(&known) || known.work->gap;
}
