/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "input.h"
#include "mem.h"
#include "snapshot.h"
#include "trace.h"

enum {
	BUSY_MS = 1,  /* between two rounds, while entries come */
	IDLE_MS = 20, /* while none do */
	IDLE_ROUNDS = 32,
	STOPPED_MS = 100, /* a writer that has not moved for this long is not within an entry */
};

static volatile sig_atomic_t interrupted;

static void handle_signal(int number)
{
	(void)number;
	interrupted = true;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESETHAND}, old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

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
		f->pidfd = syscall(SYS_pidfd_open, pid, 0);
		f->ended = f->pidfd < 0 && errno == ESRCH;
	}
	catch_signals();
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

	return f->ended || interrupted || (f->pidfd >= 0 && poll(&process, 1, 0) > 0) ||
	       (fstat(f->in->fd, &st) == 0 && st.st_nlink == 0);
}

#define NOT_YET UINT64_MAX

/*
 * Copies the slots from `from` to `to` and returns the number of the first one that is whole. The
 * writer may have gone on meanwhile, and be overwriting as many slots as an entry can have. When it
 * has not moved, that is certain only after a while (`stopped`): it can have been interrupted in
 * the middle of an entry.
 */
static uint64_t copy_slots(const struct follow *f, const struct trace_lcore *lcore, uint64_t from, uint64_t to,
			   bool stopped)
{
	uint64_t next, whole;

	snapshot_refresh(f->in, lcore, from, to);
	next = input_load_live_u64(f->in, lcore->next_entry);
	if (next + f->largest <= from + lcore->slots)
		return from;
	if (next == to)
		return stopped ? from : NOT_YET;
	whole = next + f->largest - lcore->slots;
	return whole < to ? whole : to;
}

/* Adds the entries of these slots, by index. */
static void add(struct follow *f, unsigned lcore, uint64_t slot, uint64_t end)
{
	note_ticks(f, lcore, slot, end);
	merge_add(f->merge, lcore, slot, end);
}

/*
 * Makes entries of a ring ready in which too many wait: the older half of its slots, or as many as
 * are needed. The newer ones may be later than what has not been read yet of this or another ring.
 * next: where the ring goes on; pending: the slots before that which wait.
 */
static void make_room(struct follow *f, const struct trace_lcore *lcore, uint64_t next, uint64_t pending,
		      uint64_t needed)
{
	uint64_t n = needed > lcore->slots / 2 ? needed : lcore->slots / 2;
	uint64_t first = next % lcore->slots + lcore->slots - pending;

	for (uint64_t i = 0; i < n && i < pending; i++)
		raise_to(&f->ready, lcore->ring[(first + i) % lcore->slots].tsc);
}

/*
 * Reads the new entries of a ring, or leaves them for the next round. Returns whether the ring had
 * room for them.
 */
static bool read_ring(struct follow *f, unsigned i, bool last, uint64_t time)
{
	struct follow_lcore *l = &f->lcores[i];
	struct trace_lcore *lcore = &f->trace->lcores[i];
	uint64_t from = l->next, to = l->target, first, end, pending;

	pending = merge_pending(f->merge, i, from % lcore->slots);
	if (pending && pending + (to - from) > lcore->slots) {
		make_room(f, lcore, from, pending, pending + (to - from) - lcore->slots);
		return false;
	}
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	/* a thread may have got its name since */
	if (!l->next && lcore->thread_name)
		input_reread(f->in, lcore->thread_name, lcore->thread, sizeof(lcore->thread) - 1);
	from = copy_slots(f, lcore, from, to, last || time - l->moved >= STOPPED_MS * (uint64_t)NS_A_MS);
	if (from == NOT_YET)
		return true;
	f->lost += from - l->next;
	l->next = to;
	if (from == to)
		return true;
	first = from % lcore->slots;
	end = to % lcore->slots;
	if (first < end) {
		add(f, i, first, end);
	} else {
		add(f, i, first, lcore->slots);
		add(f, i, 0, end);
	}
	return true;
}

/* The ticks that all lcores have reached. */
static uint64_t reached_by_all(const struct follow *f)
{
	uint64_t ticks = UINT64_MAX;

	for (unsigned i = 0; i < f->trace->num_lcores; i++)
		if (trace_ring_is_whole(&f->trace->lcores[i]) && f->lcores[i].newest < ticks)
			ticks = f->lcores[i].newest;
	return ticks;
}

/* The ticks of what has waited for the lag, within a sixteenth of it. */
static uint64_t held_for_lag(struct follow *f, uint64_t time)
{
	struct follow_sample *last = &f->samples[(f->next_sample + FOLLOW_SAMPLES - 1) % FOLLOW_SAMPLES];
	uint64_t ticks = 0, step = f->lag / 16;

	if (!f->lag)
		return f->newest;
	if (time - last->time >= step) {
		f->samples[f->next_sample] = (struct follow_sample){time, f->newest};
		f->next_sample = (f->next_sample + 1) % FOLLOW_SAMPLES;
	}
	for (unsigned i = 0; i < FOLLOW_SAMPLES; i++)
		if (f->samples[i].time && time - f->samples[i].time >= f->lag - step)
			raise_to(&ticks, f->samples[i].newest);
	return ticks;
}

/* Sets the targets of all rings, before any of them is read. Returns whether anything is new. */
static bool set_targets(struct follow *f, uint64_t time)
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
		if (target != l->target)
			l->moved = time;
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
	/* before the rings: what the process wrote until its end is read then */
	f->ended = follow_has_ended(f) || f->restarted;
	last |= f->ended;
	f->idle = set_targets(f, time) ? 0 : f->idle + 1;
	for (unsigned i = 0; i < f->trace->num_lcores; i++)
		if (f->lcores[i].target > f->lcores[i].next)
			crowded |= !read_ring(f, i, last, time);
	merge_commit(f->merge);
	if (crowded)
		return true;
	raise_to(&f->ready, last ? UINT64_MAX : reached_by_all(f));
	raise_to(&f->ready, held_for_lag(f, time));
	return !last;
}

bool follow_wait_ms(const struct follow *f, int out, int ms)
{
	struct pollfd fds[] = {{out, 0, 0}, {f->pidfd, POLLIN, 0}};

	return interrupted || poll(fds, 2, ms) <= 0 || !(fds[0].revents & POLLERR);
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
