/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "input.h"
#include "mem.h"
#include "minmax.h"
#include "reader.h"

static void raise_to(uint64_t *ticks, uint64_t to)
{
	*ticks = max_u64(*ticks, to);
}

/* Raises the highest ticks to those of these slots, by index. */
static void note_ticks(struct follow *f, unsigned lcore, uint64_t slot, uint64_t end)
{
	const struct trace_slot *ring = f->trace->lcores[lcore].ring;
	uint64_t *newest = &f->newest_of[lcore];

	for (; slot < end; slot++)
		raise_to(newest, ring[slot].tsc);
	raise_to(&f->newest, *newest);
}

/* Reads an owner's record again, at most once a round. */
static void refresh_owner(struct follow *f, unsigned id)
{
	const struct trace *t = f->trace;
	const uint8_t *record = t->owners + (size_t)id * t->owner_size;

	if (!id || id >= t->num_owners || f->owner_round[id] == f->round)
		return;
	f->owner_round[id] = f->round;
	if (!input_reread(f->in, record, f->record, t->owner_size) || memcmp(record, f->record, t->owner_size) == 0)
		return;
	input_patch(f->in, record, f->record, t->owner_size);
	entry_forget_owner(&f->reader->entries, id);
}

/* Adds the entries of these slots, by index. */
static void add_slots(struct follow *f, unsigned lcore, uint64_t slot, uint64_t end)
{
	note_ticks(f, lcore, slot, end);
	merge_add(f->merge, lcore, slot, end);
}

static void add(void *context, unsigned lcore, uint64_t lost, uint64_t from, uint64_t to)
{
	struct follow *f = context;
	uint64_t slots = f->trace->lcores[lcore].slots, first = from % slots, end = to % slots;

	if (from < to && first < end) {
		add_slots(f, lcore, first, end);
	} else if (from < to) {
		add_slots(f, lcore, first, slots);
		add_slots(f, lcore, 0, end);
	}
	/* what comes after the lost slots may have been added before them, or is not there yet */
	if (lost || f->is_after_loss[lcore])
		f->is_after_loss[lcore] = !merge_mark(f->merge, lcore, first, f->rings.lcores[lcore].next - from);
}

/*
 * Notes that a ring has no room for new entries while `pending` slots wait: the older half of its slots, or more if
 * needed, has to become ready.
 */
static void want_room(struct follow *f, unsigned i, uint64_t pending, uint64_t needed)
{
	const struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t n = needed > lcore->slots / 2 ? needed : lcore->slots / 2;
	uint64_t first = f->rings.lcores[i].next % lcore->slots + lcore->slots - pending;

	for (uint64_t j = 0; j < n && j < pending; j++)
		raise_to(&f->wanted, lcore->ring[(first + j) % lcore->slots].tsc);
	f->unread = min_u64(f->unread, f->newest_of[i]);
}

static bool has_room(void *context, unsigned i, uint64_t from, uint64_t to)
{
	struct follow *f = context;
	uint64_t slots = f->trace->lcores[i].slots, pending = merge_pending(f->merge, i, from % slots);

	if (!pending || pending + (to - from) <= slots)
		return true;
	want_room(f, i, pending, pending + (to - from) - slots);
	return false;
}

void follow_open(struct follow *f, struct reader *r, pid_t pid)
{
	struct trace *t = &r->trace;

	*f = (struct follow){.reader = r, .trace = t, .in = r->in, .merge = &r->merge, .waiting = true};
	f->newest_of = mem_array(t->num_lcores, sizeof(*f->newest_of));
	f->is_after_loss = mem_array(t->num_lcores, sizeof(*f->is_after_loss));
	f->owner_round = mem_array(t->num_owners, sizeof(*f->owner_round));
	f->record = mem_array(t->owner_size, 1);
	for (unsigned i = 0; i < t->num_lcores; i++)
		if (trace_ring_is_whole(&t->lcores[i]))
			note_ticks(f, i, 0, t->lcores[i].slots);
	rings_open(&f->rings, t, r->in, &(struct rings_sink){.context = f, .has_room = has_room, .add = add}, pid);
}

/* The ticks that all lcores have reached. */
static uint64_t reached_by_all(const struct follow *f)
{
	uint64_t ticks = UINT64_MAX;

	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		const struct rings_lcore *l = &f->rings.lcores[i];
		const struct trace_lcore *lcore = &f->trace->lcores[i];
		uint64_t reached = f->newest_of[i];

		if (!trace_ring_is_whole(lcore))
			continue;
		/* unsure slots, which come before the first sure one, may still be added */
		if (l->unsure < l->sure && l->sure < l->next)
			reached = lcore->ring[l->sure % lcore->slots].tsc - 1;
		if (reached < ticks)
			ticks = reached;
	}
	return ticks;
}

/* The highest ticks that had waited for the lag, within a sixteenth of it, when the round started at this time. */
static uint64_t held_for_lag(struct follow *f, uint64_t time)
{
	struct follow_sample *last = &f->samples[(f->next_sample + FOLLOW_SAMPLES - 1) % FOLLOW_SAMPLES];
	const uint64_t lag = FOLLOW_LAG_MS * NS_A_MS, step = lag / 16;
	uint64_t ticks = 0;

	for (unsigned i = 0; i < FOLLOW_SAMPLES; i++)
		if (f->samples[i].time && time >= f->samples[i].time + lag - step)
			raise_to(&ticks, f->samples[i].newest);
	/* on a busy processor a round can take longer than the lag: its entries wait from now on, not from its start */
	if (clock_ns() - last->time >= step) {
		f->samples[f->next_sample] = (struct follow_sample){clock_ns(), f->newest};
		f->next_sample = (f->next_sample + 1) % FOLLOW_SAMPLES;
	}
	return ticks;
}

/*
 * Reads a round. When no more is wanted, or rings_have_ended(), all entries that were read become ready. Returns
 * whether another must follow: after such a round only if a ring had no room for all entries.
 */
static bool read_round(struct follow *f)
{
	uint64_t time = clock_ns();
	bool has_read_all, last = f->stopped;

	f->round++;
	f->wanted = 0;
	f->unread = UINT64_MAX;
	has_read_all = rings_read(&f->rings, last);
	last |= f->rings.ended;
	if (has_read_all) {
		raise_to(&f->ready, last ? UINT64_MAX : reached_by_all(f));
		raise_to(&f->ready, held_for_lag(f, time));
	} else {
		/* a ring that was not read continues after its newest entry: its entries up to that one make room */
		raise_to(&f->ready, min_u64(f->wanted, f->unread));
	}
	/* what comes after a gap is not printed before it is known to be one */
	rings_settle(&f->rings, f->ready);
	merge_commit(f->merge);
	return !has_read_all || !last;
}

enum follow_result follow_next(struct follow *f, struct entry *e)
{
	uint64_t tsc, slot;
	unsigned lcore;

	if (f->waiting) {
		f->waiting = false;
		f->ended = !read_round(f);
	}
	while (merge_peek(f->merge, &tsc) && tsc <= f->ready && merge_next(f->merge, &lcore, &slot)) {
		refresh_owner(f, f->trace->lcores[lcore].ring[slot].owner);
		if (reader_take(f->reader, lcore, slot, e))
			return FOLLOW_ENTRY;
	}
	f->waiting = !f->ended;
	return f->waiting ? FOLLOW_WAIT : FOLLOW_END;
}

void follow_stop(struct follow *f)
{
	f->stopped = true;
}

void follow_close(struct follow *f)
{
	rings_close(&f->rings);
	free(f->newest_of);
	free(f->is_after_loss);
	free(f->owner_round);
	free(f->record);
	*f = (struct follow){};
}
