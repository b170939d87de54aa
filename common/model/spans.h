/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembles the spans of a trace: the lives of its objects, with the lives that they caused.
 *
 * A span ends when it is in a final state (lifecycle.h) and has had no entry for a while, when its
 * address is reused, or at the end of the input. It is stored until the root of its tree has ended,
 * so memory grows with the number of spans that are open at a time.
 */
#pragma once

#include "admin.h"
#include "coverage.h"
#include "disks.h"
#include "latest.h"
#include "lcores.h"
#include "lifecycle.h"
#include "queue.h"
#include "remote.h"
#include "replies.h"
#include "span.h"

/*
 * Trace time in a final state, after which no entry is expected; then the longest that a span waits, as spans.covered
 * says, and how many do.
 */
enum { SPANS_GRACE_NS = 10 * 1000 * 1000, SPANS_WAIT_NS = 1000 * 1000 * 1000, SPANS_WAITING = 16384 };

struct spans {
	/* these are set before spans_start() */

	/* types of lifecycle.h, and states as in JSON; the caller's */
	struct intern *types, *states;
	/*
	 * Bytes of the caller's area in each span: all zero at first, then as the span that was stored there before
	 * left it, so that it may own memory. free_tool() frees that; NULL: it owns none.
	 */
	size_t tool_size;
	void (*free_tool)(void *tool);
	void *context; /* for the functions below */
	/*
	 * A span that has ended waits until each tool that has written lines has written another one: only that shows
	 * that it was still recording; see spans_covers(). If that takes long, the tool has stopped, or has nothing to
	 * record.
	 */
	bool covered;
	uint64_t slack_ns; /* without that: a tool counts as recording for so long after a line */
	/* gets each span when it ends, with the tree below it */
	void (*emit)(void *context, const struct span *span);
	/* gets each span without a parent when it has been open for stuck_ns; NULL: not wanted */
	void (*stuck)(void *context, const struct span *span);
	uint64_t stuck_ns;
	/* gets each entry of a span, and its state before, MAP_NONE at first; NULL: not wanted */
	void (*entry)(void *context, struct span *span, uint32_t before, const struct traceline *line,
		      struct slice text);
	/* gets each line of a reactor that counts, and may set the interval's cause; NULL: not wanted */
	void (*held)(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		     const struct traceline *line);

	/* whether lcores is filled, and whom an entry was for, by its span, or NULL, and its line; NULL: not wanted */
	bool has_lcores;
	uint32_t (*who)(void *context, struct span *span, const struct traceline *line);

	struct lifecycle lifecycle;
	struct lcores lcores;
	struct replies replies;
	struct latest gaps;   /* entries before which others are missing */
	uint32_t lcore;       /* of the current line, in lcores; MAP_NONE: of none, or there are too many */
	struct span *current; /* the span of that line, or NULL */
	bool is_work;         /* that lcore has worked since its entry before, for one request */
	struct reactors reactors;
	struct disks disks;
	struct admin admin;
	struct remote remote;
	struct intern sources; /* of merged lines, as written */
	struct spans_source {
		uint64_t latest;    /* ns of the latest line that is not of another tool */
		bool passes_on;     /* a request has passed an I/O on */
		bool has_bdev_io;   /* there was a bdev I/O */
		bool shows_bdev_io; /* a bdev I/O was started by another object, or would be in the lines */
	} * by_source;              /* that of lines without a source, then as in sources */
	size_t num_sources, cap_sources;
	struct span **all, *free;
	size_t n, cap;
	struct queue ending;    /* in final states, since their last entry */
	struct queue open;      /* if stuck: without a parent, since their first entry */
	uint32_t unknown;       /* type of the objects without an id; MAP_NONE before the first */
	uint64_t now;           /* ns of the latest line */
	uint64_t passed;        /* of the latest spans_pass(), if no line has come since */
	uint64_t before_passed; /* now before it */
	/* ns of the earliest line that is not of another tool, UINT64_MAX: none so far; and of the latest one */
	uint64_t first_entry, last_entry;
	struct coverage coverage[COVERAGE_TOOLS];
	struct span *first_waiting, *last_waiting; /* have ended, and are not emitted */
	size_t num_waiting;
	uint64_t lines; /* so far */
	bool over;      /* see spans_end() */

	/* what could not be assembled */
	uint64_t lost;    /* spans without a parent whose end is lost, without admin requests */
	uint64_t late;    /* entries of spans that had ended */
	uint64_t beyond;  /* children and states beyond the bounds above */
	uint64_t foreign; /* entries on an lcore whose reactor belongs to another source */
};

/* What SPDK means by a state. */
static inline const struct spdk_tpoint *spans_tpoint(const struct spans *spans, uint32_t state)
{
	return lifecycle_tpoint(&spans->lifecycle, state);
}

/* The same for the tracepoint of any line. */
const struct spdk_tpoint *spans_tpoint_of(struct spans *spans, struct slice tpoint);

/* What kind of object it is, by its first state. */
static inline enum spdk_kind spans_kind(const struct spans *spans, const struct span *s)
{
	return spans_tpoint(spans, s->states[0].state)->kind;
}

static inline bool spans_is_bdev_io(const struct spans *spans, const struct span *s)
{
	return spans_kind(spans, s) == SPDK_BDEV_IO;
}

/* The name of the bdev of a bdev I/O, as written in JSON; empty: not known. */
static inline struct slice spans_bdev(const struct span *s)
{
	return s->is_far ? span_bdev(s) : spdk_bdev(span_owner(s), span_bdev(s));
}

/* What a span waits for in this state, one of its own; but see span.reply. */
static inline enum layer spans_layer(const struct spans *spans, const struct span *s, uint32_t state)
{
	const struct spdk_tpoint *tpoint = spans_tpoint(spans, state);

	/* what the request below it does not explain; and the data of such a request, which a process sends */
	if ((s->is_remote && tpoint->layer == LAYER_DRIVE) || (s->has_parent && tpoint->layer == LAYER_HOST))
		return LAYER_NETWORK;
	return tpoint->passes_on && !spans->by_source[(uint32_t)(s->source + 1)].shows_bdev_io ? LAYER_BELOW
											       : tpoint->layer;
}

/* Why there is time in LAYER_BELOW, and what helps. NULL: there is none after the first bdev I/O. */
const char *spans_why_below(const struct spans *spans);

/* The id of a span's object. */
void spans_write_id(struct out *out, const struct spans *spans, const struct span *s);

/* Makes a root the child of a command, where that can be; and a root again. */
void spans_adopt(struct spans *spans, struct span *command, struct span *s);
void spans_disown(struct span *s);

/* Whether it is a request of the process's own, below its command. */
static inline bool spans_is_own(const struct spans *spans, const struct span *s)
{
	return s->place.queue && s->has_parent && spans_kind(spans, s) == SPDK_OTHER;
}

/* Call it before the first line. */
void spans_start(struct spans *spans);

/* Whether a line is of another tool than trace-dump: no lcore wrote it. */
bool spans_is_live(const struct traceline *line);

/* Reads a line. Returns NULL, or what is wrong with it. */
const char *spans_line(struct spans *spans, const struct traceline *line, struct slice text);

/* Does what is due at `now`, a time in ns. Call it while no line comes, too. */
void spans_pass(struct spans *spans, uint64_t now);

/* Ends the spans in final states, after a while without lines, although no time of the trace has passed. */
void spans_pause(struct spans *spans);

/* Whether a span is in no final state or, after spans_end(), was in none at the end of the input. */
bool spans_is_open(const struct spans *spans, const struct span *s);

/* The child that is open and started last, or NULL. */
const struct span *spans_open_child(const struct spans *spans, const struct span *s);

/* ns: the latest entry of its lcore before which others are missing; 0: none are missing so far. */
uint64_t spans_gap(const struct spans *spans, const struct span *s);

/*
 * Whether entries of its lcore are missing after its last one, and it has ended unseen: its address is used again; or
 * may have, since no span below it has an entry after those that are missing. It is not open.
 */
bool spans_is_lost(const struct spans *spans, const struct span *s);

/*
 * The time in ns until which a span lived. That is its last entry; if its end is lost, it has lived at least until the
 * last one below it. But while it is open, and all spans above it are, it is the end of the input: the latest entry of
 * its source, or the time that was passed to spans_pass(). Lines of other tools do not count, which may go on when the
 * trace has been copied. But if the reactor has not run since that entry, it is until when they say that.
 */
uint64_t spans_until(const struct spans *spans, const struct span *s);

/* ns from its creation, as far as that is known, until then. */
static inline uint64_t spans_life(const struct spans *spans, const struct span *s)
{
	return s->age + (spans_until(spans, s) - s->first);
}

/* The same to its reply, if there is one. */
static inline uint64_t spans_to_reply(const struct spans *spans, const struct span *s)
{
	uint64_t until = spans_until(spans, s);

	return s->age + ((s->reply < until ? s->reply : until) - s->first);
}

/*
 * ns until then, or until its own last entry if its end is lost, for which the reactors of its entries were held,
 * modulo 2^64.
 */
uint64_t spans_held(const struct spans *spans, const struct span *s, enum reactors_kind kind);

/* Whether a tool was recording during its life, as far as that is known. */
bool spans_covers(const struct spans *spans, const struct span *s, enum coverage_tool tool);

/*
 * Whether it lives longer than that, by an unknown time: it is open, its end is lost, or the time of its creation is
 * not known.
 */
static inline bool spans_is_longer(const struct spans *spans, const struct span *s)
{
	return s->unknown || spans_is_lost(spans, s) || spans_is_open(spans, s);
}

/* The same for the time to its reply. */
static inline bool spans_may_reply_later(const struct spans *spans, const struct span *s)
{
	return s->unknown || (s->reply == UINT64_MAX && (spans_is_lost(spans, s) || spans_is_open(spans, s)));
}

#define SPANS_LOST "span{ was|s were} in flight where entries are missing: whether {it|they} ended is not known"

/* Ends the input: passes all remaining spans to emit(), in the order of their last entries. */
void spans_end(struct spans *spans);

/* The reactor of an lcore, or NULL if its times do not apply to the entries of this span. */
struct reactor *spans_reactor(const struct spans *spans, const struct span *s, uint64_t lcore);

void spans_free(struct spans *spans);
