/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the offcpusnoop(1) lines in a trace: when reactors did not run, and why. The reactor of lcore N is the thread
 * that SPDK names reactor_N, of the first process that has one: lines do not say which trace their process writes.
 */
#pragma once

#include <stdint.h>

#include "map.h"
#include "out.h"
#include "traceline.h"

struct span;

enum reactors_kind {
	REACTORS_OFF_CPU, /* the thread was off its CPU */
	REACTORS_IRQ,     /* an interrupt ran on it */
	REACTORS_KINDS
};

/* An interval in ns. */
struct reactors_interval {
	enum reactors_kind kind;
	uint64_t begin, end;
	bool late, goes_on;         /* it started before the recording, and ended after it */
	uint32_t cause, text, mark; /* the caller's; mark: 0 at first */
};

/* Of each reactor, at least so many latest parts of intervals are known. A later line may overlap the last of these. */
enum { REACTORS_KEPT = 65536, REACTORS_RECENT = 64 };

struct reactor {
	uint64_t lcore, pid;
	uint64_t entry, stopped; /* ns: the latest entry, and until when it did not run since; 0: it ran */
	bool has_source;         /* source is set */
	uint32_t source;         /* in seen.names: of the entries that its times apply to */
	/* disjoint, in the order of time: time in several intervals is part of the one that counts */
	struct reactors_interval *parts;
	size_t n, cap;
};

/* All zero: no lines so far. */
struct reactors {
	struct map map; /* by lcore */
	struct reactor *all;
	size_t n, cap;
	/* of the first line: the length of a tick is measured from there */
	uint64_t first_tsc, first_ns;
	uint64_t foreign;   /* lines of other processes than the first one */
	uint64_t others;    /* lines of threads that are not reactors */
	uint64_t elsewhere; /* entries on an lcore whose reactor belongs to another source */
};

/* Whether this is a tracepoint of offcpusnoop(1). */
bool reactors_is(struct slice tpoint);

/*
 * Reads a line. ns: its time. *reactor is NULL if the line does not count, else valid until the next line. Returns
 * NULL, or what is wrong with the line.
 */
const char *reactors_line(struct reactors *r, const struct traceline *line, uint64_t ns, struct reactor **reactor,
			  struct reactors_interval *interval);

/*
 * For how long a thread was off its CPU, by a line of offcpusnoop(1): in ticks, and in ns of the kernel's clock. A
 * reactor in interrupt mode sleeps in epoll_wait() until it has something to do: then only what it waits for a CPU
 * counts.
 */
bool reactors_away(const struct traceline *line, uint64_t *ticks, uint64_t *ns);

/*
 * Adds an interval to the time that the reactor was held. Time off the CPU counts rather than interrupts, and an
 * interrupt rather than one that it interrupted, whose line is later. entry: ns of the latest entry that its times
 * apply to.
 */
void reactors_hold(struct reactor *reactor, struct reactors_interval interval, uint64_t entry);

/* Sees that a span has another entry; its last one was on s->last_lcore. */
void reactors_entry(struct reactors *r, const struct span *s);

/* The reactor of an lcore; NULL: no line was about it. */
static inline struct reactor *reactors_of(const struct reactors *r, uint64_t lcore)
{
	uint32_t index = map_get(&r->map, lcore);

	return index == MAP_NONE ? NULL : &r->all[index];
}

/* The same, but NULL if its times do not apply to the entries of this span. */
struct reactor *reactors_of_span(const struct reactors *r, const struct span *s, uint64_t lcore);

/* The part of an interval between two times, in ns. */
typedef void reactors_part(void *context, const struct reactor *reactor, struct reactors_interval *interval,
			   uint64_t ns);

/* Passes on the parts that are between two times, in the order of time. */
void reactors_each(const struct reactor *reactor, uint64_t from, uint64_t to, reactors_part *part, void *context);

/* Writes the cause, as in "preempted by stress-ng (77)". Texts from the line stay as written in JSON. */
void reactors_write(struct out *out, const struct traceline *line);

/* The same of what reactors_away() counts. */
void reactors_write_away(struct out *out, const struct traceline *line);

void reactors_free(struct reactors *r);
