/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application publishes an entry by moving its lcore's next_entry behind it. So of a ring whose next_entry
 * was A when it was copied and is B now, the slots from A to B were written meanwhile, and are whole now; and
 * those behind B, as many as the largest entry takes, may be being overwritten.
 */
#include "settle.h"

#include <string.h>

#include "input.h"
#include "tracefile.h"

enum { TRIES = 16 };

static uint8_t *slot_at(const struct trace_lcore *lcore, uint64_t number)
{
	return (uint8_t *)lcore->ring + TRACE_SLOT * (number % lcore->slots);
}

void settle_take(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to)
{
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	while (from < to) {
		uint64_t n = lcore->slots - from % lcore->slots;

		if (n > to - from)
			n = to - from;
		if (!input_again(in, slot_at(lcore, from), slot_at(lcore, from), TRACE_SLOT * n))
			return;
		from += n;
	}
}

/* The number behind the last one of these slots that is not what it was when it was taken; `from`: all are. */
static uint64_t last_change(struct input *in, const struct trace_lcore *lcore, uint64_t from,
			    uint64_t to)
{
	enum { CHUNK = 64 }; /* slots that are read at once */
	uint8_t now[CHUNK * TRACE_SLOT];
	uint64_t end = from;

	for (uint64_t n; from < to; from += n) {
		const uint8_t *slots = slot_at(lcore, from);

		n = lcore->slots - from % lcore->slots;
		if (n > to - from)
			n = to - from;
		if (n > CHUNK)
			n = CHUNK;
		if (!input_again(in, slots, now, TRACE_SLOT * n))
			break;
		for (uint64_t i = 0; i < n; i++)
			if (memcmp(slots + TRACE_SLOT * i, now + TRACE_SLOT * i, TRACE_SLOT) != 0)
				end = from + i + 1;
	}
	return end;
}

/*
 * Takes out the entries up to the last one that is not what it was: an entry becomes more arguments of one that
 * is not there, which keeps its ticks in their place. Those before it were compared when they were not overwritten
 * yet; with them there would be a gap.
 */
static void take_out(struct input *in, const struct trace *t, const struct trace_lcore *lcore,
		     uint64_t from, uint64_t to)
{
	const uint16_t no_entry = t->num_tpoints;
	uint64_t end;

	if (to - from > lcore->slots)
		to = from + lcore->slots;
	end = last_change(in, lcore, from, to);
	for (; from < end; from++)
		memcpy(slot_at(lcore, from) + 8, &no_entry, sizeof(no_entry));
}

unsigned settle_largest(const struct trace *t)
{
	unsigned largest = 1;

	for (unsigned i = 0; i < t->num_tpoints; i++) {
		unsigned slots = 1 +
				 (t->tpoints[i].args_size + TRACE_MORE_ARGS - 1) / TRACE_MORE_ARGS;

		if (slots > largest)
			largest = slots;
	}
	return largest;
}

void settle_rings(struct trace *t, struct input *in)
{
	unsigned largest = settle_largest(t);

	for (unsigned i = 0; i < t->num_lcores; i++) {
		const struct trace_lcore *lcore = &t->lcores[i];
		uint64_t from, to;

		/* nothing is known of a ring that is cut off, and nothing is written to one without slots */
		if (!lcore->slots || lcore->present < lcore->slots)
			continue;
		memcpy(&from, lcore->next_entry, sizeof(from));
		for (int try = 0; try < TRIES && (to = input_number(in, lcore->next_entry)) != from;
		     try++) {
			settle_take(in, lcore, from, to);
			from = to;
		}
		memcpy((uint8_t *)lcore->next_entry, &from, sizeof(from));
		take_out(in, t, lcore, from, input_number(in, lcore->next_entry) + largest);
	}
}
