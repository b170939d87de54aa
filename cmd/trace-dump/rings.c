/* SPDX-License-Identifier: BSD-3-Clause */
#include "rings.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "input.h"
#include "io.h"
#include "mem.h"
#include "signals.h"
#include "snapshot.h"
#include "trace.h"

enum {
	BUSY_MS = 1,  /* between two rounds, while entries come */
	IDLE_MS = 20, /* while none do */
	IDLE_ROUNDS = 32,
};

void rings_open(struct rings *r, struct trace *t, struct input *in, const struct rings_sink *sink, pid_t pid)
{
	*r = (struct rings){
		.trace = t, .in = in, .sink = *sink, .pid = pid, .pidfd = -1, .largest = trace_entry_slots(t)};
	r->lcores = mem_array(t->num_lcores, sizeof(*r->lcores));
	for (unsigned i = 0; i < t->num_lcores; i++) {
		if (!trace_ring_is_whole(&t->lcores[i]))
			continue;
		memcpy(&r->lcores[i].next, t->lcores[i].next_entry, sizeof(r->lcores[i].next));
		r->lcores[i].target = r->lcores[i].next;
	}
	if (pid)
		r->pidfd = syscall(SYS_pidfd_open, pid, 0);
	signals_catch(NULL);
}

bool rings_have_ended(const struct rings *r)
{
	struct pollfd process = {r->pidfd, POLLIN, 0};
	struct stat st;

	return r->ended || signals_caught() || (r->pidfd >= 0 && poll(&process, 1, 0) > 0) ||
	       (r->pid && r->pidfd < 0 && kill(r->pid, 0) != 0 && errno == ESRCH) ||
	       (fstat(r->in->fd, &st) == 0 && st.st_nlink == 0);
}

/*
 * To be called after slots were copied. Slots before *gone were overwritten, those from *gone up to *whole may have
 * been, and later ones are whole.
 */
static void check_copy(const struct rings *r, const struct trace_lcore *lcore, uint64_t *gone, uint64_t *whole)
{
	uint64_t next = input_load_live_u64(r->in, lcore->next_entry), end = next;

	if (snapshot_is_within_entry(r->in, lcore, next, r->largest))
		end += r->largest;
	*gone = next > lcore->slots ? next - lcore->slots : 0;
	*whole = end > lcore->slots ? end - lcore->slots : 0;
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Counts the slots before `first` as lost, and those from it on that only have arguments of a lost entry. */
static uint64_t count_lost(struct rings *r, unsigned i, uint64_t first)
{
	struct rings_lcore *l = &r->lcores[i];
	const struct trace_lcore *lcore = &r->trace->lcores[i];
	uint64_t lost = l->gap + first - l->unsure;

	if (lost)
		while (first < l->next && lcore->ring[first % lcore->slots].tpoint == r->trace->num_tpoints) {
			first++;
			lost++;
		}
	r->lost += lost;
	return lost;
}

/*
 * Copies the unsure slots again, and adds those that are whole: all are once the application stops writing. final:
 * counts those that are still unsure as lost.
 */
static void decide(struct rings *r, unsigned i, bool final)
{
	struct rings_lcore *l = &r->lcores[i];
	const struct trace_lcore *lcore = &r->trace->lcores[i];
	uint64_t gone, whole, lost;

	snapshot_refresh(r->in, lcore, l->unsure, l->sure);
	check_copy(r, lcore, &gone, &whole);
	if (r->restarted)
		gone = whole = l->sure;
	gone = clamp(gone, l->unsure, l->sure);
	whole = clamp(whole, l->unsure, l->sure);
	if (gone != whole && !final) {
		l->gap += gone - l->unsure;
		l->unsure = gone;
		return;
	}
	lost = count_lost(r, i, whole);
	r->sink.add(r->sink.context, i, lost, whole, l->sure);
	l->unsure = l->sure;
}

/* Reads the new entries of a ring. Returns false if it has no room for them: they are left for the next round. */
static bool read_ring(struct rings *r, unsigned i)
{
	struct rings_lcore *l = &r->lcores[i];
	struct trace_lcore *lcore = &r->trace->lcores[i];
	uint64_t from = l->next, to = l->target, lost = 0;

	if (r->sink.has_room && !r->sink.has_room(r->sink.context, i, from, to))
		return false;
	if (to - from > lcore->slots)
		from = to - lcore->slots;
	/* the thread may have been named after the trace was opened */
	if (!l->next && lcore->thread_name)
		input_reread(r->in, lcore->thread_name, lcore->thread, sizeof(lcore->thread) - 1);
	snapshot_refresh(r->in, lcore, from, to);
	check_copy(r, lcore, &l->unsure, &l->sure);
	l->unsure = clamp(l->unsure, from, to);
	l->sure = clamp(l->sure, from, to);
	l->gap = l->unsure - l->next;
	r->slots += to - l->next;
	l->next = to;
	if (l->unsure == l->sure)
		lost = count_lost(r, i, l->sure);
	else if (r->sink.hold)
		r->sink.hold(r->sink.context, i, l->unsure, l->sure);
	if (lost || l->sure < to)
		r->sink.add(r->sink.context, i, lost, l->sure, to);
	return true;
}

/* Sets the targets of all rings, before any of them is read. Returns whether anything is new. */
static bool set_targets(struct rings *r)
{
	bool any = false;

	for (unsigned i = 0; i < r->trace->num_lcores; i++) {
		struct rings_lcore *l = &r->lcores[i];
		uint64_t target;

		if (!trace_ring_is_whole(&r->trace->lcores[i]))
			continue;
		target = input_load_live_u64(r->in, r->trace->lcores[i].next_entry);
		if (target < l->next) {
			r->restarted = true;
			continue;
		}
		l->target = target;
		any |= target > l->next;
	}
	return any;
}

bool rings_read(struct rings *r, bool last)
{
	bool has_room = true;

	/* checked before the rings are read, so that all that the process wrote is read */
	r->ended = rings_have_ended(r) || r->restarted;
	last |= r->ended;
	r->idle = set_targets(r) ? 0 : r->idle + 1;
	for (unsigned i = 0; i < r->trace->num_lcores; i++) {
		const struct rings_lcore *l = &r->lcores[i];

		if (l->unsure < l->sure)
			decide(r, i, l->target > l->next);
		if (l->target > l->next)
			has_room &= read_ring(r, i);
		if (l->unsure < l->sure && last)
			decide(r, i, true);
	}
	return has_room;
}

void rings_settle(struct rings *r, uint64_t ticks)
{
	for (unsigned i = 0; i < r->trace->num_lcores; i++) {
		const struct rings_lcore *l = &r->lcores[i];
		const struct trace_lcore *lcore = &r->trace->lcores[i];

		if (l->unsure < l->sure && l->sure < l->next && lcore->ring[l->sure % lcore->slots].tsc <= ticks)
			decide(r, i, true);
	}
}

bool rings_are_filling(const struct rings *r)
{
	for (unsigned i = 0; i < r->trace->num_lcores; i++) {
		const struct trace_lcore *lcore = &r->trace->lcores[i];

		if (trace_ring_is_whole(lcore) &&
		    input_load_live_u64(r->in, lcore->next_entry) - r->lcores[i].next > lcore->slots / 4)
			return true;
	}
	return false;
}

bool rings_wait_ms(const struct rings *r, int out, int ms)
{
	struct pollfd fds[] = {{out, 0, 0}, {r->pidfd, POLLIN, 0}};

	return signals_caught() || poll(fds, 2, ms) <= 0 || !(fds[0].revents & POLLERR);
}

bool rings_wait(const struct rings *r, int out)
{
	return rings_wait_ms(r, out, r->idle < IDLE_ROUNDS ? BUSY_MS : IDLE_MS);
}

bool rings_report(const struct rings *r, const char *name, const char *verb)
{
	if (r->lost)
		warnx("%s: lost %" PRIu64 " of %" PRIu64
		      " slots of the rings, which were overwritten before they could be read",
		      name, r->lost, r->slots);
	if (r->restarted)
		warnx("%s: another process now writes it from the start: %s it again", name, verb);
	return !r->lost && !r->restarted;
}

void rings_close(struct rings *r)
{
	io_close(&r->pidfd);
	free(r->lcores);
	*r = (struct rings){.pidfd = -1};
}
