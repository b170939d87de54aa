/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembles the spans of a trace: the lives of its objects, with the lives that they caused.
 *
 * A span is stored until it and the root of its tree have ended, so memory grows with the number of spans that are open
 * at a time.
 */
#pragma once

#include "coverage.h"
#include "latest.h"
#include "life.h"
#include "remote.h"
#include "seen.h"
#include "span.h"
#include "store.h"

struct spans {
	/* these are set before spans_start(), and what coverage.h and store.h say */

	/* types of lifecycle.h, and states as in JSON; the caller's */
	struct intern *types, *states;
	void *context; /* for the functions below */
	/* gets each span when it ends, with the tree below it */
	void (*emit)(void *context, const struct span *span);
	/* gets each span without a parent when it has been open for stuck_ns; NULL: not wanted */
	void (*stuck)(void *context, const struct span *span);
	uint64_t stuck_ns;
	/* gets each entry of a span, and its state before, MAP_NONE at first; NULL: not wanted */
	void (*entry)(void *context, struct span *span, uint32_t before, const struct traceline *line);
	/* gets each line of a reactor that counts, and may set the interval's cause; NULL: not wanted */
	void (*held)(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		     const struct traceline *line);
	/* whether lcores is filled, and whom an entry was for, by its span, or NULL, and its line; NULL: not wanted */
	bool has_lcores;
	uint32_t (*who)(void *context, struct span *span, const struct traceline *line);

	struct lifecycle lifecycle;
	struct store store;
	struct seen seen;
	struct lcores lcores;
	struct latest gaps; /* entries before which others are missing */
	struct admin admin;
	struct replies replies;
	struct reactors reactors;
	struct disks disks;
	struct remote remote;
	struct coverage coverage;
	struct ending ending;

	uint64_t now;           /* ns of the latest line */
	uint64_t passed;        /* of the latest spans_pass(), if no line has come since */
	uint64_t before_passed; /* now before it */
	bool over;              /* see spans_end() */
	uint64_t lines;         /* so far */
	/* of the latest line */
	uint32_t lcore;       /* in lcores; MAP_NONE: of none, or there are too many */
	struct span *current; /* or NULL */
	bool is_work;         /* that lcore has worked since its entry before, for one request */

	uint32_t unknown; /* type of the objects without an id; MAP_NONE before the first */
	uint64_t late;    /* entries of spans that had ended */
	uint64_t beyond;  /* children and states beyond the bounds of span.h */
};

/* What SPDK means by a state. */
static inline const struct spdk_tpoint *spans_tpoint(const struct spans *spans, uint32_t state)
{
	return lifecycle_tpoint(&spans->lifecycle, state);
}

/* The same for the tracepoint of any line. */
const struct spdk_tpoint *spans_tpoint_of(struct spans *spans, struct slice tpoint);

/*
 * Whether lives end in an object's state. An object without an id seems to have a single life, so only the names of its
 * states say that.
 */
static inline bool spans_is_final(const struct spans *spans, const struct object *object)
{
	const struct lifecycle *l = &spans->lifecycle;

	return object->type == spans->unknown ? l->uses[object->use].final_by_name : lifecycle_is_final(l, object);
}

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
	return tpoint->passes_on && !spans->seen.all[(uint32_t)(s->source + 1)].shows_bdev_io ? LAYER_BELOW
											      : tpoint->layer;
}

/* The id of a span's object. */
void spans_write_id(struct out *out, const struct spans *spans, const struct span *s);

/* Makes a root the child of a command, where that can be; and a root again. */
void spans_adopt(struct spans *spans, struct span *command, struct span *s);
void spans_disown(struct span *s);

/* Makes it a root, when its parent has it no more. */
void spans_forget_parent(struct span *s);

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
const char *spans_line(struct spans *spans, const struct traceline *line);

/* Does what is due at `now`, a time in ns. Call it while no line comes, too. */
void spans_pass(struct spans *spans, uint64_t now);

/* Ends the spans in final states, after a while without lines, although no time of the trace has passed. */
void spans_pause(struct spans *spans);

/* Ends the input: passes all remaining spans to emit(), in the order of their last entries. */
void spans_end(struct spans *spans);

void spans_free(struct spans *spans);
