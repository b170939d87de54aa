/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembles the spans of a trace: the lives of its objects, with the lives that they caused.
 *
 * A span ends when it is in a final state (lifecycle.h) and has had no entry for a while, when its
 * address is reused, or at the end of the input. It is stored until the root of its tree has ended,
 * so memory grows with the number of spans that are open at a time.
 */
#ifndef SPANS_H
#define SPANS_H

#include "disks.h"
#include "facts.h"
#include "layers.h"
#include "lifecycle.h"
#include "out.h"
#include "queue.h"
#include "reactors.h"

enum {
	/* trace time in a final state, after which no entry is expected */
	SPANS_GRACE_NS = 10 * 1000 * 1000,
	/* bounds for input that no target writes: levels of a tree, children, and states */
	SPANS_DEPTH = 32,
	SPANS_CHILDREN = 4096,
	SPANS_STATES = 4096,
};

struct span_state {
	uint64_t ns; /* its start */
	uint32_t state;
	uint32_t order; /* position of its entry in the trace; wraps around at 2^32 */
};

/* The line of an entry, for a caller that stores them. */
struct span_line {
	uint64_t sequence; /* as spans.lines */
	uint64_t lcore;
	uint64_t silence; /* ns since the previous entry of its lcore */
	uint64_t others;  /* number of requests that waited for a buffer, or were queued, when it started to */
	uint64_t pdus;    /* number that its connection had received */
	/*
	 * when it got a buffer after a wait: number of requests with a buffer, and of those of the connection with most
	 */
	uint64_t holders, held;
	uint32_t holder;
	size_t at; /* its text in span.kept */
};

struct span {
	struct span *parent; /* NULL: none that is stored */
	/* children, and the next sibling, in the order of their starts */
	struct span *child, *last_child, *next;
	struct span *under;         /* used by self.c */
	uint64_t number, value;     /* of the object */
	uint64_t tsc, first, last;  /* of its first entry; ns of that and of the last one */
	uint64_t age;               /* ns from its creation to its first entry: 0 unless it is cut */
	uint32_t source;            /* in sources; MAP_NONE: the line has none */
	uint64_t lcore, last_lcore; /* of its first and its last entry */
	/*
	 * ns for which the reactors of its entries were held, up to the last entry, and reactor.held at that entry,
	 * both modulo 2^64. So the cost of a reactor's line does not depend on the number of open spans.
	 */
	uint64_t held[REACTORS_KINDS], mark[REACTORS_KINDS];
	struct disks_io disk;          /* below a bdev I/O */
	uint32_t type, object;         /* in lifecycle.types; index in lifecycle.all */
	uint32_t index;                /* in spans.all */
	uint32_t generation;           /* number of spans that were stored here before */
	unsigned height, num_children; /* levels below it */
	struct span_state *states;
	size_t n, cap;
	struct facts facts;
	struct span_line *lines; /* the caller's, by state */
	size_t cap_lines;
	struct out kept;
	uint32_t connection; /* the caller's; MAP_NONE: not known */
	uint32_t notes[7];   /* the caller's, 0 at first */
	/* texts of its first entry as written, in text; empty: there was none */
	struct out text;
	size_t parent_n, poller_n, owner_n, args_n;
	bool has_parent; /* in the trace, even if it is not stored */
	bool unknown;    /* its object has no id: the creation was overwritten */
	bool cut;        /* its creation is not among the lines */
	bool torn;
	bool expected; /* is in a final state, and queued to end */
	bool ended;    /* was passed to emit(): later entries do not count */
	bool open;     /* it was in no final state when the input ended */
	bool stuck;    /* was passed to stuck() */
};

/* The texts of a span, as written in JSON between quotes, or as a value for args. */
static inline struct slice span_parent(const struct span *s)
{
	return (struct slice){s->text.buf, s->parent_n};
}

static inline struct slice span_poller(const struct span *s)
{
	return (struct slice){s->text.buf + s->parent_n, s->poller_n};
}

static inline struct slice span_owner(const struct span *s)
{
	return (struct slice){s->text.buf + s->parent_n + s->poller_n, s->owner_n};
}

static inline struct slice span_args(const struct span *s)
{
	return (struct slice){s->text.buf + s->parent_n + s->poller_n + s->owner_n, s->args_n};
}

struct spans {
	/* these are set before spans_start() */

	/* types of lifecycle.h, and states as in JSON; the caller's */
	struct intern *types, *states;
	void *context; /* for the functions */
	/* gets each span when it ends, with the tree below it */
	void (*emit)(void *context, const struct span *span);
	/* gets each span without a parent when it has been open for stuck_ns; NULL: not wanted */
	void (*stuck)(void *context, const struct span *span);
	uint64_t stuck_ns;
	/* gets each entry of a span, and its state before, MAP_NONE at first; NULL: not wanted */
	void (*entry)(void *context, struct span *span, uint32_t before, const struct traceline *line,
		      struct slice text);
	/* gets each line of a reactor that counts; NULL: not wanted */
	void (*held)(void *context, const struct reactor *reactor, const struct reactors_interval *interval,
		     const struct traceline *line);

	struct lifecycle lifecycle;
	struct reactors reactors;
	struct disks disks;
	struct spans_state {
		enum layer layer;
		enum facts_source source;
	} * info; /* by state */
	size_t num_info, cap_info;
	struct intern sources; /* of merged lines, as written */
	struct span **all, *free;
	size_t n, cap;
	struct queue ending; /* in final states, since their last entry */
	struct queue open;   /* if stuck: without a parent, since their first entry */
	uint32_t unknown;    /* type of the objects without an id; MAP_NONE before the first */
	uint64_t now;        /* ns of the latest line */
	uint64_t lines;      /* so far */
	bool over;           /* see spans_end() */

	/* what could not be assembled */
	uint64_t late;    /* entries of spans that had ended */
	uint64_t beyond;  /* children and states beyond the bounds above */
	uint64_t foreign; /* entries on an lcore whose reactor belongs to another source */
};

/* The id of a span's object. */
void spans_write_id(struct out *out, const struct spans *spans, const struct span *s);

/* Call it before the first line. */
void spans_start(struct spans *spans);

/* Reads a line. Returns NULL, or what is wrong with it. */
const char *spans_line(struct spans *spans, const struct traceline *line, struct slice text);

/* Does what is due at `now`, a time in ns. Call it while no line comes, too. */
void spans_pass(struct spans *spans, uint64_t now);

/* Ends the spans in final states, after a while without lines, although no time of the trace has passed. */
void spans_pause(struct spans *spans);

/* Whether a span is in no final state or, after spans_end(), was in none at the end of the input. */
bool spans_is_open(const struct spans *spans, const struct span *s);

/* Ends the input: passes all remaining spans to emit(), in the order of their last entries. */
void spans_end(struct spans *spans);

/* The reactor of an lcore, or NULL if its times do not apply to the entries of this span. */
struct reactor *spans_reactor(const struct spans *spans, const struct span *s, uint64_t lcore);

void spans_free(struct spans *spans);

#endif
