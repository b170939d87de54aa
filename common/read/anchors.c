/* SPDX-License-Identifier: BSD-3-Clause */
#include "anchors.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "lines.h"
#include "mem.h"
#include "minmax.h"
#include "probeline.h"
#include "search.h"
#include "wall.h"

enum {
	NS = 1000000000,
	MEASURE_MS = 150,
	FAR_S = 3600,
};

/* Smaller steps are errors of reading two clocks. */
static const double STEP_S = 0.001;

/* Reads the fields of a clock line. Returns NULL, or what is wrong with it. */
static const char *read_fields(struct slice rest, struct ticks_reading *r)
{
	enum { TSC, NANOSECONDS, TIME, FIELDS };
	static const char *const names[FIELDS] = {"tsc", "ns", "time"};
	struct probeline_field found[FIELDS];
	const char *error = probeline_fields(rest, names, FIELDS, found);

	if (error)
		return error;
	if (!probeline_number(&found[TSC], &r->tsc) || !probeline_number(&found[NANOSECONDS], &r->ns) ||
	    !found[TIME].key.p || !wall_read(found[TIME].value, &r->wall) || r->tsc > INT64_MAX || r->ns > INT64_MAX)
		return "tsc, ns and time are expected in a clock line";
	return NULL;
}

/* A lines_callback. */
static const char *add_line(void *context, struct slice line)
{
	struct anchors *a = context;
	struct ticks_reading r;
	const char *error;
	struct slice name;

	if (!probeline_name(&line, &name) || !slice_is(name, "clock"))
		return NULL;
	error = read_fields(line, &r);
	if (error)
		return error;
	mem_add(a->all, a->n, a->cap, r);
	return NULL;
}

static int by_ticks(const void *x, const void *y)
{
	const struct ticks_reading *a = x, *b = y;

	return ORDER(a->tsc, b->tsc);
}

/* Sorts the anchors. Returns NULL, or why they cannot be used. */
static const char *check(struct anchors *a)
{
	size_t n = a->n ? 1 : 0;

	if (!a->n)
		return "no clock lines, which usdt-record writes when it starts and ends; record on the machine of the "
		       "trace";
	qsort(a->all, a->n, sizeof(*a->all), by_ticks);
	for (size_t i = 1; i < a->n; i++) {
		const struct ticks_reading *before = &a->all[n - 1], *r = &a->all[i];

		/* the same reading again: a recording is in the file twice */
		if (r->tsc == before->tsc && r->ns == before->ns)
			continue;
		if (r->tsc == before->tsc || r->ns <= before->ns)
			return "its clock lines are of several machines, or from before and after a restart";
		a->all[n++] = *r;
	}
	a->n = n;
	return NULL;
}

int anchors_read(struct anchors *a, const char *path)
{
	struct lines lines;
	const char *error;

	*a = (struct anchors){};
	if (lines_open(&lines, path) != 0) {
		warn("%s", io_name(path));
		return -1;
	}
	lines_expect(&lines, KIND_PROBE_LINES, "trace-dump --clock - TRACE");
	if (lines_each(&lines, add_line, a) != 0)
		return -1;
	error = check(a);
	if (error)
		warnx("%s: %s", io_name(path), error);
	return error ? -1 : 0;
}

/* Whether the file is in a folder /dev/shm, of this machine or of one of its containers. */
static bool is_shared_memory(const char *path)
{
	static const char folder[] = "/dev/shm";
	/* realpath(3) fails in /proc/PID/root of a container: then the path is compared as it is */
	char *found = realpath(path, NULL);
	const char *whole = found ? found : path, *name = strrchr(whole, '/');
	size_t n = name ? name - whole : 0;
	bool is = n >= strlen(folder) && memcmp(name - strlen(folder), folder, strlen(folder)) == 0;

	free(found);
	return is;
}

int anchors_read_clocks(struct anchors *a, const char *path)
{
	const char *error;

	*a = (struct anchors){.are_live = true};
	if (!is_shared_memory(path)) {
		warnx("%s: --wall alone is for traces in /dev/shm; for a copy, add what usdt-record recorded with "
		      "it: --clock RECORDING",
		      io_name(path));
		return -1;
	}
	error = ticks_start(&a->ticks);
	if (error) {
		warnx("--wall: %s", error);
		return -1;
	}
	/* entries are older than the readings, so their times depend on the rate: a longer measurement is more exact */
	nanosleep(&(struct timespec){.tv_nsec = MEASURE_MS * NS_A_MS}, NULL);
	ticks_renew(&a->ticks);
	return 0;
}

uint64_t anchors_rate(const struct anchors *a)
{
	const struct ticks_reading *first = a->are_live ? &a->ticks.before : a->all;
	const struct ticks_reading *last = a->are_live ? &a->ticks.last : &a->all[a->n - 1];
	uint64_t ns = last->ns - first->ns;

	return ns ? (uint64_t)(((unsigned __int128)(last->tsc - first->tsc) * NS + ns / 2) / ns) : 0;
}

bool anchors_check_rate(const struct anchors *a, uint64_t rate, const char *name)
{
	uint64_t clock_rate = anchors_rate(a), distance = clock_rate > rate ? clock_rate - rate : rate - clock_rate;

	/* SPDK may round its rate to 10 MHz */
	if (!clock_rate || distance <= rate / 100)
		return true;
	warnx("%s: its clock has %" PRIu64 " ticks a second, %s %" PRIu64 ": it is from another machine", name, rate,
	      a->are_live ? "that of this machine" : "that of the clock lines", clock_rate);
	return false;
}

static int64_t between(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from);
}

uint64_t anchors_time(struct anchors *a, uint64_t tsc, uint64_t rate)
{
	const struct ticks_reading *r = a->all, *from = r;
	__int128 ticks = rate, ns = NS;

	if (a->are_live)
		return ticks_wall(&a->ticks, ticks_ns(&a->ticks, tsc));
	if (a->n > 1) {
		/* to the first of the two anchors around these ticks, or nearest to them */
		r += search_first(i, a->n - 2, a->all[i + 1].tsc > tsc);
		ticks = between(r[0].tsc, r[1].tsc);
		ns = between(r[0].ns, r[1].ns);
		/* if the clock was set between the two, the nearer one has the better time */
		from = tsc > r[0].tsc && between(r[0].tsc, tsc) > between(tsc, r[1].tsc) ? &r[1] : &r[0];
	}
	return from->wall + (int64_t)(between(from->tsc, tsc) * ns / ticks);
}

/* How much later a time is than another one, in seconds. */
static double seconds(uint64_t from, uint64_t to)
{
	return between(from, to) / 1e9;
}

/* Prints a note if the clock was set between two anchors. */
static void note_steps(const struct anchors *a, const char *name, bool quiet)
{
	for (size_t i = 1; i < a->n; i++) {
		const struct ticks_reading *from = &a->all[i - 1], *to = &a->all[i];
		double step = seconds(from->wall, to->wall) - seconds(from->ns, to->ns);

		if (step > STEP_S || step < -STEP_S)
			cli_notice(quiet, "%s: the clock was set by %+.3f s at some time between two clock lines", name,
				   step);
	}
}

/* Prints a note if the trace is so far before or after all anchors that it may be from another machine. */
static void note_distance(const struct anchors *a, struct anchors_range trace, const char *name, bool quiet)
{
	uint64_t first = a->all[0].tsc, last = a->all[a->n - 1].tsc;
	double before = trace.last < first ? (double)(first - trace.last) / trace.rate : 0;
	double after = trace.first > last ? (double)(trace.first - last) / trace.rate : 0;

	if (before > FAR_S || after > FAR_S)
		cli_notice(quiet, "%s: the trace is %.0f s %s: is it from the same machine, since its last start?",
			   name, before + after,
			   before > 0 ? "before the first clock line" : "after the last clock line");
}

bool anchors_report(const struct anchors *a, struct anchors_range trace, const char *name, bool quiet)
{
	uint64_t now = ticks_now().tsc;

	if (!a->are_live) {
		note_steps(a, name, quiet);
		note_distance(a, trace, name, quiet);
		return true;
	}
	if (a->ticks.steps)
		cli_notice(quiet, "the clock was set meanwhile: times of earlier entries are by the new setting");
	if (a->ticks.jumps)
		warnx("the counter and the clock differ, as when the machine sleeps: times may be wrong");
	if (trace.last > now)
		warnx("%s: some entries are later than now: it is from another machine, or from before a restart, and "
		      "the times are wrong",
		      name);
	return !a->ticks.jumps && trace.last <= now;
}

void anchors_free(struct anchors *a)
{
	free(a->all);
}
