/* SPDX-License-Identifier: BSD-3-Clause */
#include "lost.h"

#include <err.h>
#include <inttypes.h>

#include "input.h"
#include "out.h"
#include "trace.h"

/* Lcores that lost something. */
struct lcores {
	unsigned first, last; /* ids */
	uint64_t n;           /* headers or slots */
};

static void add(struct lcores *l, unsigned id, uint64_t n)
{
	if (!n)
		return;
	if (!l->n)
		l->first = id;
	l->last = id;
	l->n += n;
}

/* How many of the ring's slots overlap these bytes of the file. */
static uint64_t slots_within(const struct trace_lcore *lcore, size_t ring, size_t from, size_t to)
{
	size_t size = sizeof(struct trace_slot);
	uint64_t first = from > ring ? (from - ring) / size : 0, end = to > ring ? (to - ring + size - 1) / size : 0;

	if (end > lcore->present)
		end = lcore->present;
	return end > first ? end - first : 0;
}

static bool overlap(size_t from, size_t to, uint64_t other_from, uint64_t other_to)
{
	return from < other_to && other_from < to;
}

static void name_lcores(struct out *text, const struct lcores *l)
{
	if (l->first == l->last)
		out_printf(text, " of lcore %u", l->first);
	else
		out_printf(text, " of lcores %u to %u", l->first, l->last);
}

/* Writes which parts of the trace are between these positions. */
static void name_parts(const struct trace *t, const struct input *in, size_t from, size_t to, struct out *text,
		       uint64_t *slots)
{
	const struct trace_owner_table *owners = &t->owner_table;
	struct lcores headers = {}, rings = {};

	for (const struct trace_lcore *lcore = t->lcores; lcore < t->lcores + t->num_lcores; lcore++) {
		size_t ring = (const uint8_t *)lcore->ring - in->data;

		add(&headers, lcore->id, overlap(from, to, lcore->header - in->data, ring));
		add(&rings, lcore->id, slots_within(lcore, ring, from, to));
	}
	if (overlap(from, to, t->definitions, t->definitions_end))
		out_text(text, ", with definitions of tracepoints");
	if (overlap(from, to, owners->at, owners->at + (uint64_t)owners->n * owners->size))
		out_text(text, ", with owners");
	if (headers.n) {
		out_printf(text, ", with the header%s", headers.n > 1 ? "s" : "");
		name_lcores(text, &headers);
	}
	if (rings.n) {
		out_printf(text, ", with %" PRIu64 " slot%s", rings.n, rings.n > 1 ? "s" : "");
		name_lcores(text, &rings);
	}
	*slots += rings.n;
}

bool lost_next(const struct trace *t, const struct input *in, size_t *at, struct out *text, uint64_t *slots)
{
	size_t from = *at, to;
	int error;

	if (!input_next_lost(in, &from, &to, &error))
		return false;
	out_printf(text, "cannot read %zu bytes at offset %zu", to - from, from);
	name_parts(t, in, from, to, text, slots);
	out_printf(text, ": %s", strerror(error));
	*at = to;
	return true;
}

bool lost_report(const struct trace *t, const struct input *in, const char *name)
{
	uint64_t more_slots = 0, slots;
	unsigned n = 0;
	size_t at = 0;

	for (struct out text = {.fd = OUT_MEMORY}; slots = 0, lost_next(t, in, &at, &text, &slots);) {
		if (n++ < TRACE_DAMAGE)
			warnx("%s: %.*s", name, (int)out_contents(&text).n, out_contents(&text).p);
		else
			more_slots += slots;
		out_close(&text);
	}
	if (n > TRACE_DAMAGE)
		warnx("%s: cannot read %u more pieces, with %" PRIu64 " slots", name, n - TRACE_DAMAGE, more_slots);
	return n;
}
