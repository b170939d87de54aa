/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application publishes an entry by moving its lcore's next_entry behind it. So of a ring whose next_entry
 * was A when it was copied and is B now, the slots from A to B were written meanwhile, and are whole now; and
 * those behind B, as many as the largest entry takes, may be being overwritten.
 */
#include "trace-dump-settle.h"

#include <unistd.h>

#include "trace-dump-file.h"
#include "trace-dump-input.h"

enum { TRIES = 16 };

static uint8_t *slot_at(const struct trace_lcore *lcore, uint64_t number)
{
	return (uint8_t *)lcore->ring + TRACE_SLOT * (number % lcore->slots);
}

/* Reads bytes of the snapshot from the file again. Returns whether they are there. */
static bool read_again(const struct input *in, const uint8_t *at, void *to, size_t n)
{
	return pread(in->fd, to, n, at - in->data) == (ssize_t)n;
}

/* The ring's next_entry as it is now; as it was when the file is not there any more. */
static uint64_t next_entry(const struct input *in, const struct trace_lcore *lcore)
{
	uint64_t next;

	if (!read_again(in, lcore->next_entry, &next, sizeof(next)))
		memcpy(&next, lcore->next_entry, sizeof(next));
	return next;
}

/* Takes the slots with these numbers again. */
static void take_again(const struct input *in, const struct trace_lcore *lcore, uint64_t from,
		       uint64_t to)
{
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	while (from < to) {
		uint64_t n = lcore->slots - from % lcore->slots;

		if (n > to - from)
			n = to - from;
		if (!read_again(in, slot_at(lcore, from), slot_at(lcore, from), TRACE_SLOT * n))
			return;
		from += n;
	}
}

/*
 * Takes the entries out that are not what they were: an entry becomes more arguments of one that is not
 * there, which keeps its ticks in their place.
 */
static void take_out(const struct input *in, const struct trace *t, const struct trace_lcore *lcore,
		     uint64_t from, uint64_t to)
{
	const uint16_t no_entry = t->num_tpoints;
	uint8_t now[TRACE_SLOT];

	if (to - from > lcore->slots)
		to = from + lcore->slots;
	for (; from < to; from++) {
		uint8_t *slot = slot_at(lcore, from);

		if (read_again(in, slot, now, TRACE_SLOT) && memcmp(slot, now, TRACE_SLOT) != 0)
			memcpy(slot + 8, &no_entry, sizeof(no_entry));
	}
}

void settle_rings(struct trace *t, struct input *in)
{
	unsigned largest = 1;

	for (unsigned i = 0; i < t->num_tpoints; i++) {
		unsigned slots = 1 +
				 (t->tpoints[i].args_size + TRACE_MORE_ARGS - 1) / TRACE_MORE_ARGS;

		if (slots > largest)
			largest = slots;
	}
	for (unsigned i = 0; i < t->num_lcores; i++) {
		const struct trace_lcore *lcore = &t->lcores[i];
		uint64_t from, to;

		/* nothing is known of a ring that is cut off, and nothing is written to one without slots */
		if (!lcore->slots || lcore->present < lcore->slots)
			continue;
		memcpy(&from, lcore->next_entry, sizeof(from));
		for (int try = 0; try < TRIES && (to = next_entry(in, lcore)) != from; try++) {
			take_again(in, lcore, from, to);
			from = to;
		}
		take_out(in, t, lcore, from, next_entry(in, lcore) + largest);
	}
}
