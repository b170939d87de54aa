/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "input.h"
#include "mem.h"
#include "signals.h"
#include "snapshot.h"
#include "trace.h"

enum {
	BUSY_MS = 1,  /* between two rounds, while entries come */
	IDLE_MS = 20, /* while none do */
	IDLE_ROUNDS = 32,
};

static void raise_to(uint64_t *ticks, uint64_t to)
{
	if (to > *ticks)
		*ticks = to;
}

/* Raises the highest ticks to those of these slots, by index. */
static void note_ticks(struct follow *f, unsigned lcore, uint64_t slot, uint64_t end)
{
	const struct trace_slot *ring = f->trace->lcores[lcore].ring;
	uint64_t *newest = &f->lcores[lcore].newest;

	for (; slot < end; slot++)
		raise_to(newest, ring[slot].tsc);
	raise_to(&f->newest, *newest);
}

void follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid, uint64_t lag_ms)
{
	*f = (struct follow){.trace = t,
			     .in = in,
			     .merge = merge,
			     .lag = lag_ms * NS_A_MS,
			     .pidfd = -1,
			     .largest = trace_entry_slots(t)};
	f->lcores = mem_array(t->num_lcores, sizeof(*f->lcores));
	f->owner_round = mem_array(t->num_owners, sizeof(*f->owner_round));
	f->record = mem_array(t->owner_size, 1);
	for (unsigned i = 0; i < t->num_lcores; i++) {
		if (!trace_ring_is_whole(&t->lcores[i]))
			continue;
		memcpy(&f->lcores[i].next, t->lcores[i].next_entry, sizeof(f->lcores[i].next));
		f->lcores[i].target = f->lcores[i].next;
		note_ticks(f, i, 0, t->lcores[i].slots);
	}
	if (pid) {
		f->pid = pid;
		f->pidfd = syscall(SYS_pidfd_open, pid, 0);
	}
	signals_catch(NULL);
}

bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot)
{
	uint64_t tsc;

	return merge_peek(f->merge, &tsc) && tsc <= f->ready && merge_next(f->merge, lcore, slot);
}

bool follow_refresh_owner(struct follow *f, unsigned id)
{
	const struct trace *t = f->trace;
	const uint8_t *record = t->owners + (size_t)id * t->owner_size;

	if (!id || id >= t->num_owners || f->owner_round[id] == f->round)
		return false;
	f->owner_round[id] = f->round;
	if (!input_reread(f->in, record, f->record, t->owner_size) || memcmp(record, f->record, t->owner_size) == 0)
		return false;
	input_patch(f->in, record, f->record, t->owner_size);
	return true;
}

bool follow_has_ended(const struct follow *f)
{
	struct pollfd process = {f->pidfd, POLLIN, 0};
	struct stat st;

	return f->ended || signals_caught() || (f->pidfd >= 0 && poll(&process, 1, 0) > 0) ||
	       (f->pid && f->pidfd < 0 && kill(f->pid, 0) != 0 && errno == ESRCH) ||
	       (fstat(f->in->fd, &st) == 0 && st.st_nlink == 0);
}

/*
 * Whether the application is writing an entry at number next: it overwrites the oldest slots before it moves
 * next_entry. It writes the first slot's ticks first, so they differ from the copied ones, or are higher than those of
 * the slot after the largest possible entry.
 */
static bool is_within_entry(const struct follow *f, const struct trace_lcore *lcore, uint64_t next)
{
	uint64_t reach = f->largest < lcore->slots ? f->largest : lcore->slots - 1;
	const struct trace_slot *first = &lcore->ring[next % lcore->slots];
	const struct trace_slot *beyond = &lcore->ring[(next + reach) % lcore->slots];

	return input_load_live_u64(f->in, &first->tsc) != first->tsc || first->tsc > beyond->tsc;
}

/*
 * To be called after slots were copied. Slots before *gone were overwritten, those from *gone up to *whole may have
 * been, and later ones are whole.
 */
static void check_copy(const struct follow *f, const struct trace_lcore *lcore, uint64_t *gone, uint64_t *whole)
{
	uint64_t next = input_load_live_u64(f->in, lcore->next_entry), end = next;

	if (is_within_entry(f, lcore, next))
		end += f->largest;
	*gone = next > lcore->slots ? next - lcore->slots : 0;
	*whole = end > lcore->slots ? end - lcore->slots : 0;
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Adds the entries of these slots, by index. */
static void add_slots(struct follow *f, unsigned lcore, uint64_t slot, uint64_t end)
{
	note_ticks(f, lcore, slot, end);
	merge_add(f->merge, lcore, slot, end);
}

/* Adds the entries of the slots with these numbers. */
static void add(struct follow *f, unsigned lcore, uint64_t from, uint64_t to)
{
	uint64_t slots = f->trace->lcores[lcore].slots, first = from % slots, end = to % slots;

	if (from == to)
		return;
	if (first < end) {
		add_slots(f, lcore, first, end);
	} else {
		add_slots(f, lcore, first, slots);
		add_slots(f, lcore, 0, end);
	}
}

/* Counts the slots before `first` as lost, and those from it on that only have arguments of a lost entry. */
static void count_lost(struct follow *f, unsigned i, uint64_t first)
{
	struct follow_lcore *l = &f->lcores[i];
	const struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t lost = l->gap + first - l->unsure;

	if (lost)
		while (first < l->next && lcore->ring[first % lcore->slots].tpoint == f->trace->num_tpoints) {
			first++;
			lost++;
		}
	f->lost += lost;
}

/*
 * Copies the unsure slots again, and adds those that are whole: all are once the application stops writing. final:
 * counts those that are still unsure as lost.
 */
static void decide(struct follow *f, unsigned i, bool final)
{
	struct follow_lcore *l = &f->lcores[i];
	const struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t gone, whole;

	snapshot_refresh(f->in, lcore, l->unsure, l->sure);
	check_copy(f, lcore, &gone, &whole);
	if (f->restarted)
		gone = whole = l->sure;
	gone = clamp(gone, l->unsure, l->sure);
	whole = clamp(whole, l->unsure, l->sure);
	if (gone != whole && !final) {
		l->gap += gone - l->unsure;
		l->unsure = gone;
		return;
	}
	count_lost(f, i, whole);
	add(f, i, whole, l->sure);
	l->unsure = l->sure;
}

/*
 * Notes that a ring has no room for new entries while `pending` slots wait: the older half of its slots, or more if
 * needed, has to become ready.
 */
static void want_room(struct follow *f, unsigned i, uint64_t pending, uint64_t needed)
{
	const struct follow_lcore *l = &f->lcores[i];
	const struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t n = needed > lcore->slots / 2 ? needed : lcore->slots / 2;
	uint64_t first = l->next % lcore->slots + lcore->slots - pending;

	for (uint64_t j = 0; j < n && j < pending; j++)
		raise_to(&f->wanted, lcore->ring[(first + j) % lcore->slots].tsc);
	if (l->newest < f->unread)
		f->unread = l->newest;
}

/* Reads the new entries of a ring. Returns false if it has no room for them: they are left for the next round. */
static bool read_ring(struct follow *f, unsigned i)
{
	struct follow_lcore *l = &f->lcores[i];
	struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t from = l->next, to = l->target, pending;

	pending = merge_pending(f->merge, i, from % lcore->slots);
	if (pending && pending + (to - from) > lcore->slots) {
		want_room(f, i, pending, pending + (to - from) - lcore->slots);
		return false;
	}
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	/* the thread may have been named after the trace was opened */
	if (!l->next && lcore->thread_name)
		input_reread(f->in, lcore->thread_name, lcore->thread, sizeof(lcore->thread) - 1);
	snapshot_refresh(f->in, lcore, from, to);
	check_copy(f, lcore, &l->unsure, &l->sure);
	l->unsure = clamp(l->unsure, from, to);
	l->sure = clamp(l->sure, from, to);
	l->gap = l->unsure - l->next;
	l->next = to;
	if (l->unsure == l->sure)
		count_lost(f, i, l->sure);
	add(f, i, l->sure, to);
	return true;
}

/* The ticks that all lcores have reached. */
static uint64_t reached_by_all(const struct follow *f)
{
	uint64_t ticks = UINT64_MAX;

	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		const struct follow_lcore *l = &f->lcores[i];
		const struct trace_lcore *lcore = &f->trace->lcores[i];
		uint64_t reached = l->newest;

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
	uint64_t ticks = 0, step = f->lag / 16;

	if (!f->lag)
		return f->newest;
	for (unsigned i = 0; i < FOLLOW_SAMPLES; i++)
		if (f->samples[i].time && time >= f->samples[i].time + f->lag - step)
			raise_to(&ticks, f->samples[i].newest);
	/* on a busy processor a round can take longer than the lag: its entries wait from now on, not from its start */
	if (clock_ns() - last->time >= step) {
		f->samples[f->next_sample] = (struct follow_sample){clock_ns(), f->newest};
		f->next_sample = (f->next_sample + 1) % FOLLOW_SAMPLES;
	}
	return ticks;
}

/* Sets the targets of all rings, before any of them is read. Returns whether anything is new. */
static bool set_targets(struct follow *f)
{
	bool any = false;

	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		struct follow_lcore *l = &f->lcores[i];
		uint64_t target;

		if (!trace_ring_is_whole(&f->trace->lcores[i]))
			continue;
		target = input_load_live_u64(f->in, f->trace->lcores[i].next_entry);
		if (target < l->next) {
			f->restarted = true;
			continue;
		}
		l->target = target;
		any |= target > l->next;
	}
	return any;
}

bool follow_read(struct follow *f, bool last)
{
	uint64_t time = clock_ns();
	bool crowded = false;

	f->round++;
	/* checked before the rings are read, so that all that the process wrote is read */
	f->ended = follow_has_ended(f) || f->restarted;
	last |= f->ended;
	f->idle = set_targets(f) ? 0 : f->idle + 1;
	f->wanted = 0;
	f->unread = UINT64_MAX;
	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		const struct follow_lcore *l = &f->lcores[i];

		if (l->unsure < l->sure)
			decide(f, i, l->target > l->next);
		if (l->target > l->next)
			crowded |= !read_ring(f, i);
		if (l->unsure < l->sure && last)
			decide(f, i, true);
	}
	merge_commit(f->merge);
	if (crowded) {
		/* a ring that was not read continues after its newest entry: its entries up to that one make room */
		raise_to(&f->ready, f->wanted < f->unread ? f->wanted : f->unread);
		return true;
	}
	raise_to(&f->ready, last ? UINT64_MAX : reached_by_all(f));
	raise_to(&f->ready, held_for_lag(f, time));
	return !last;
}

bool follow_wait_ms(const struct follow *f, int out, int ms)
{
	struct pollfd fds[] = {{out, 0, 0}, {f->pidfd, POLLIN, 0}};

	return signals_caught() || poll(fds, 2, ms) <= 0 || !(fds[0].revents & POLLERR);
}

bool follow_wait(const struct follow *f, int out)
{
	return follow_wait_ms(f, out, f->idle < IDLE_ROUNDS ? BUSY_MS : IDLE_MS);
}

void follow_close(struct follow *f)
{
	if (f->pidfd >= 0)
		close(f->pidfd);
	free(f->lcores);
	free(f->owner_round);
	free(f->record);
	*f = (struct follow){.pidfd = -1};
}
