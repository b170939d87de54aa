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
#include "settle.h"
#include "tracefile.h"

enum {
	BUSY_MS = 1,  /* between two rounds, while entries come */
	IDLE_MS = 20, /* while none do */
	IDLE_ROUNDS = 32,
	STANDS_MS = 100, /* a writer that has not moved so long is not within an entry */
};

/* A ring that is cut off, or that has no slots, cannot be followed. */
static bool is_whole(const struct trace_lcore *lcore)
{
	return lcore->slots && lcore->present == lcore->slots;
}

/* Takes note of the ticks of these slots, by index. */
static void note_ticks(struct follow *f, unsigned lcore, uint64_t begin, uint64_t end)
{
	const uint8_t *ring = f->trace->lcores[lcore].ring;
	uint64_t *newest = &f->lcores[lcore].newest;

	for (; begin < end; begin++)
		if (slot_tsc(ring + TRACE_SLOT * begin) > *newest)
			*newest = slot_tsc(ring + TRACE_SLOT * begin);
	if (*newest > f->newest)
		f->newest = *newest;
}

int follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid,
		unsigned lag_ms)
{
	*f = (struct follow){.trace = t,
			     .in = in,
			     .merge = merge,
			     .lag = (uint64_t)lag_ms * NS_A_MS,
			     .pidfd = -1,
			     .largest = settle_largest(t)};
	f->lcores = calloc(t->num_lcores + 1, sizeof(*f->lcores));
	if (!f->lcores)
		return -1;
	for (unsigned i = 0; i < t->num_lcores; i++) {
		if (!is_whole(&t->lcores[i]))
			continue;
		memcpy(&f->lcores[i].next, t->lcores[i].next_entry, sizeof(f->lcores[i].next));
		f->lcores[i].target = f->lcores[i].next;
		note_ticks(f, i, 0, t->lcores[i].slots);
	}
	if (pid) {
		f->pidfd = syscall(SYS_pidfd_open, pid, 0);
		f->ended = f->pidfd < 0 && errno == ESRCH;
	}
	return 0;
}

bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot)
{
	uint64_t tsc;

	return merge_peek(f->merge, &tsc) && tsc <= f->ready && merge_next(f->merge, lcore, slot);
}

bool follow_has_ended(const struct follow *f)
{
	struct pollfd process = {f->pidfd, POLLIN, 0};
	struct stat st;

	return f->ended || (f->pidfd >= 0 && poll(&process, 1, 0) > 0) ||
	       (fstat(f->in->fd, &st) == 0 && st.st_nlink == 0);
}

#define NOT_YET UINT64_MAX

/*
 * Takes the slots from `from` to `to` and returns the number of the first one that is whole. The writer may have gone
 * on meanwhile, and be overwriting as many slots as an entry can have. When it stands still, that is not certain
 * before it has done so for a while: it can have been stopped in the middle of an entry.
 */
static uint64_t take(const struct follow *f, const struct trace_lcore *lcore, uint64_t from,
		     uint64_t to, bool stands)
{
	uint64_t next, whole;

	settle_take(f->in, lcore, from, to);
	next = input_number(f->in, lcore->next_entry);
	if (next + f->largest <= from + lcore->slots)
		return from;
	if (next == to)
		return stands ? from : NOT_YET;
	whole = next + f->largest - lcore->slots;
	return whole < to ? whole : to;
}

/* Adds the entries of these slots, by index. Returns -1 when there is no memory. */
static int add(struct follow *f, unsigned lcore, uint64_t begin, uint64_t end)
{
	note_ticks(f, lcore, begin, end);
	return merge_add(f->merge, lcore, begin, end);
}

static void raise_ready(struct follow *f, uint64_t ticks)
{
	if (ticks > f->ready)
		f->ready = ticks;
}

/*
 * Lets entries go of a ring in which too many wait for room: the older half of its slots, or as many as are needed.
 * The newer ones may be later than what has not been read yet of this or another ring. next: where the ring goes
 * on; left: the slots before that which wait.
 */
static void make_room(struct follow *f, const struct trace_lcore *lcore, uint64_t next,
		      uint64_t left, uint64_t needed)
{
	uint64_t n = needed > lcore->slots / 2 ? needed : lcore->slots / 2, ticks = 0;
	uint64_t begin = next % lcore->slots + lcore->slots - left;

	for (uint64_t i = 0; i < n && i < left; i++) {
		uint64_t tsc = slot_tsc(lcore->ring + TRACE_SLOT * ((begin + i) % lcore->slots));

		if (tsc > ticks)
			ticks = tsc;
	}
	raise_ready(f, ticks);
}

/*
 * Reads the new entries of a ring, or leaves them for the next time. Returns 1; 0 when entries must be handed out
 * first; -1 when there is no memory.
 */
static int read_ring(struct follow *f, unsigned i, bool last, uint64_t time)
{
	struct follow_lcore *l = &f->lcores[i];
	struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t from = l->next, to = l->target, begin, end, left;

	left = merge_left(f->merge, i, from % lcore->slots);
	if (left && left + (to - from) > lcore->slots) {
		make_room(f, lcore, from, left, left + (to - from) - lcore->slots);
		return 0;
	}
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	/* a thread may have got its name since */
	if (!l->next && lcore->thread_name)
		input_again(f->in, lcore->thread_name, lcore->thread, sizeof(lcore->thread) - 1);
	from = take(f, lcore, from, to, last || time - l->moved >= STANDS_MS * (uint64_t)NS_A_MS);
	if (from == NOT_YET)
		return 1;
	f->lost += from - l->next;
	l->next = to;
	if (from == to)
		return 1;
	begin = from % lcore->slots;
	end = to % lcore->slots;
	if (begin < end)
		return add(f, i, begin, end) ? -1 : 1;
	return add(f, i, begin, lcore->slots) || add(f, i, 0, end) ? -1 : 1;
}

/* The ticks that all lcores have got to. */
static uint64_t reached_by_all(const struct follow *f)
{
	uint64_t ticks = UINT64_MAX;

	for (unsigned i = 0; i < f->trace->num_lcores; i++)
		if (is_whole(&f->trace->lcores[i]) && f->lcores[i].newest < ticks)
			ticks = f->lcores[i].newest;
	return ticks;
}

/* The ticks of what has been there for the lag, within a sixteenth of it. */
static uint64_t held_for_lag(struct follow *f, uint64_t time)
{
	struct follow_sample
		*last = &f->samples[(f->next_sample + FOLLOW_SAMPLES - 1) % FOLLOW_SAMPLES];
	uint64_t ticks = 0, step = f->lag / 16;

	if (!f->lag)
		return f->newest;
	if (time - last->time >= step) {
		f->samples[f->next_sample] = (struct follow_sample){time, f->newest};
		f->next_sample = (f->next_sample + 1) % FOLLOW_SAMPLES;
	}
	for (unsigned i = 0; i < FOLLOW_SAMPLES; i++)
		if (f->samples[i].time && time - f->samples[i].time >= f->lag - step &&
		    f->samples[i].newest > ticks)
			ticks = f->samples[i].newest;
	return ticks;
}

/* Looks how far the writer is, everywhere before anything is read. Returns whether there is anything new. */
static bool set_targets(struct follow *f, uint64_t time)
{
	bool any = false;

	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		struct follow_lcore *l = &f->lcores[i];
		uint64_t target;

		if (!is_whole(&f->trace->lcores[i]))
			continue;
		target = input_number(f->in, f->trace->lcores[i].next_entry);
		if (target < l->next) {
			f->restarted = true;
			continue;
		}
		if (target != l->target)
			l->moved = time;
		l->target = target;
		any |= target > l->next;
	}
	return any;
}

int follow_read(struct follow *f, bool last)
{
	uint64_t time = clock_ns();
	bool crowded = false;

	/* before the rings: what the process wrote until its end is read then */
	f->ended = follow_has_ended(f) || f->restarted;
	last |= f->ended;
	f->idle = set_targets(f, time) ? 0 : f->idle + 1;
	for (unsigned i = 0; i < f->trace->num_lcores; i++) {
		int got = f->lcores[i].target > f->lcores[i].next ? read_ring(f, i, last, time) : 1;

		if (got < 0)
			return -1;
		crowded |= !got;
	}
	if (merge_added(f->merge) != 0)
		return -1;
	if (crowded)
		return 1;
	raise_ready(f, reached_by_all(f));
	raise_ready(f, held_for_lag(f, time));
	if (last)
		f->ready = UINT64_MAX;
	return !last;
}

bool follow_wait_ms(const struct follow *f, int out, int ms)
{
	struct pollfd fds[] = {{out, 0, 0}, {f->pidfd, POLLIN, 0}};

	return poll(fds, 2, ms) <= 0 || !(fds[0].revents & POLLERR);
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
	*f = (struct follow){.pidfd = -1};
}
