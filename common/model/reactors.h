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

/*
 * The area of a span: ns for which the reactors of its entries were held, up to the last entry, and reactor.held at
 * that entry, both modulo 2^64. So the cost of a reactor's line does not depend on the number of open spans.
 */
struct reactors_span {
	uint64_t ns[REACTORS_KINDS], before[REACTORS_KINDS];
};

/* An interval in ns. */
struct reactors_interval {
	enum reactors_kind kind;
	uint64_t begin, end;
	bool late, goes_on; /* it started before the recording, and ended after it */
	uint32_t cause;     /* the caller's */
};

/* Of each reactor, at least so many latest parts of intervals are known. A later line may overlap the last of these. */
enum { REACTORS_KEPT = 65536, REACTORS_RECENT = 64 };

struct reactor {
	uint64_t lcore, pid;
	/* ns so far: the sum of parts */
	uint64_t held[REACTORS_KINDS];
	/* ns: of that, what is after the latest entry, and until when it did not run since; 0: it ran */
	struct {
		uint64_t entry, held[REACTORS_KINDS], stopped;
	} after;
	bool has_source; /* source is set */
	uint32_t source; /* in seen.names: of the entries that its times apply to */
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
 * apply to; what is after that is stored apart, as it may be the last one.
 */
void reactors_hold(struct reactor *reactor, struct reactors_interval interval, uint64_t entry);

/* Sees an entry of a span on this lcore, where it is until the next one; its last one was on s->last_lcore, if any. */
void reactors_entry(struct reactors *r, struct span *s, uint64_t lcore);

/* The reactor of an lcore; NULL: no line was about it. */
static inline struct reactor *reactors_of(const struct reactors *r, uint64_t lcore)
{
	uint32_t index = map_get(&r->map, lcore);

	return index == MAP_NONE ? NULL : &r->all[index];
}

/* The same, but NULL if its times do not apply to the entries of this span. */
struct reactor *reactors_of_span(const struct reactors *r, const struct span *s, uint64_t lcore);

/* Writes the cause, as in "preempted by stress-ng (77)". Texts from the line stay as written in JSON. */
void reactors_write(struct out *out, const struct traceline *line);

/* The same of what reactors_away() counts. */
void reactors_write_away(struct out *out, const struct traceline *line);

void reactors_free(struct reactors *r);
