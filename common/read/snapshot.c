/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application publishes an entry by moving its lcore's next_entry past it. If next_entry was A
 * when the ring was copied, and is B now, the slots from A to B were written meanwhile and are whole
 * now. The slots after B, as many as the largest entry needs, may be half written.
 */
#include "snapshot.h"

#include "input.h"
#include "trace.h"

enum {
	TRIES = 16,
	CHUNK = 64, /* slots that are compared at once */
};

static const struct trace_slot *slot_at(const struct trace_lcore *lcore, uint64_t number)
{
	return &lcore->ring[number % lcore->slots];
}

/* How many of these slots are contiguous in memory, from the first one on. */
static uint64_t contiguous(const struct trace_lcore *lcore, uint64_t from, uint64_t to)
{
	uint64_t n = lcore->slots - from % lcore->slots;

	return n < to - from ? n : to - from;
}

void snapshot_refresh(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to)
{
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	for (uint64_t n; from < to; from += n) {
		n = contiguous(lcore, from, to);
		if (!input_refresh(in, slot_at(lcore, from), sizeof(struct trace_slot) * n))
			return;
	}
}

/*
 * The number after the last of these slots that has changed since it was copied; `from` if no slot
 * has.
 */
static uint64_t last_change(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to)
{
	struct trace_slot now[CHUNK];
	uint64_t end = from;

	for (uint64_t n; from < to; from += n) {
		const struct trace_slot *then = slot_at(lcore, from);

		n = contiguous(lcore, from, to);
		if (n > CHUNK)
			n = CHUNK;
		if (!input_reread(in, then, now, sizeof(*now) * n))
			break;
		for (uint64_t i = 0; i < n; i++)
			if (memcmp(&then[i], &now[i], sizeof(*now)) != 0)
				end = from + i + 1;
	}
	return end;
}

/*
 * It writes the first slot's ticks first, so they differ from the copied ones, or are higher than those of the slot
 * after the largest possible entry.
 */
bool snapshot_is_within_entry(const struct input *in, const struct trace_lcore *lcore, uint64_t next, unsigned largest)
{
	const struct trace_slot *first = slot_at(lcore, next);
	const struct trace_slot *beyond = slot_at(lcore, next + (largest < lcore->slots ? largest : lcore->slots - 1));

	return input_load_live_u64(in, &first->tsc) != first->tsc || first->tsc > beyond->tsc;
}

/*
 * Drops the entries up to the last one that has changed, also those that were still whole when they
 * were compared, because a gap would follow them. Each slot becomes a continuation without a head,
 * which readers skip; its ticks keep the ring sorted.
 */
static void drop_unstable(struct input *in, const struct trace *t, const struct trace_lcore *lcore, uint64_t from,
			  uint64_t to)
{
	const uint16_t continuation = t->num_tpoints;
	uint64_t end;

	if (to - from > lcore->slots)
		to = from + lcore->slots;
	end = last_change(in, lcore, from, to);
	/* the writer stands still: to is from and the slots of the largest entry */
	if (end == from && snapshot_is_within_entry(in, lcore, from, to - from))
		end = to;
	for (; from < end; from++)
		input_patch(in, &slot_at(lcore, from)->tpoint, &continuation, sizeof(continuation));
}

void snapshot_update(const struct trace *t, struct input *in)
{
	unsigned largest = trace_entry_slots(t);

	for (unsigned i = 0; i < t->num_lcores; i++) {
		const struct trace_lcore *lcore = &t->lcores[i];
		uint64_t from, to;

		if (!trace_ring_is_whole(lcore))
			continue;
		memcpy(&from, lcore->next_entry, sizeof(from));
		for (int try = 0; try < TRIES; try++) {
			to = input_load_live_u64(in, lcore->next_entry);
			if (to == from)
				break;
			snapshot_refresh(in, lcore, from, to);
			from = to;
		}
		input_patch(in, lcore->next_entry, &from, sizeof(from));
		to = input_load_live_u64(in, lcore->next_entry);
		drop_unstable(in, t, lcore, from, to + largest);
	}
}
