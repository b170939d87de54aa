/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A span: the life of an object, with the lives that it caused. spans.h assembles them; what another module of the
 * model sets is in an area of its own, which its header describes.
 */
#pragma once

#include "admin.h"
#include "disks.h"
#include "ending.h"
#include "io_args.h"
#include "lcores.h"
#include "reactors.h"
#include "replies.h"
#include "self_time.h"

/* Bounds for input that no target writes: levels of a tree, children, and states. */
enum {
	SPANS_DEPTH = 32,
	SPANS_CHILDREN = 4096,
	SPANS_STATES = 4096,
};

struct span_state {
	uint64_t ns; /* its start */
	uint32_t state;
	/* of its entry, as in struct lcores_moment; lcore, entry: only if spans.has_lcores */
	uint32_t order, lcore, entry;
};

struct span {
	struct span *parent; /* NULL: none that is stored */
	/* children, and the next sibling, in the order of their starts */
	struct span *child, *last_child, *next;
	unsigned height, num_children; /* levels below it */
	bool has_parent;               /* in the trace, even if it is not stored */
	bool orphan;                   /* a span above it ended before it */
	bool is_remote;                /* a command whose request, of the process that it was sent to, is a child */
	bool has_work;                 /* something other than a write to its socket is below it */
	bool is_far;                   /* below a command of another source */

	/* its object */
	uint64_t number, value;
	uint32_t type, object; /* in lifecycle.types; index in lifecycle.all */
	bool unknown;          /* it has no id: the creation was overwritten */
	bool cut;              /* its creation is not among the lines */

	/* its entries */
	struct span_state *states;
	size_t n, cap;
	uint64_t tsc; /* of the first one */
	/* ns of that, or of the first write that it adopted (spans.c), and of the last one */
	uint64_t first, last;
	uint64_t age;               /* ns from its creation to its first entry: 0 unless it is cut */
	uint64_t lcore, last_lcore; /* of its first and its last entry */
	uint32_t source;            /* in seen.names; MAP_NONE: the line has none */
	bool torn;
	bool gap; /* entries of its lcore are missing between two of its own */
	struct io_args io;
	/* of the first one as written, each after the one before it in text; empty: there was none */
	struct out text;
	size_t parent_n, poller_n, owner_n, args_n, bdev_n;

	struct admin_span admin;
	struct disks_span disk; /* below a bdev I/O */
	struct ending_span end;
	struct lcores_silent silent; /* the longest silence between two of its entries */
	struct replies_span reply;
	/* of a command, or a request: its queue of remote.h, from 1 on, and its number there; queue 0: none */
	struct span_place {
		uint32_t queue, number;
	} place;
	struct self_time_span path;
	uint32_t index;      /* in store.all */
	uint32_t generation; /* number of spans that were stored here before */

	/* the caller's */
	uint32_t connection; /* MAP_NONE: not known */
	uint32_t above;      /* of group.h: the group of the span above it; MAP_NONE: none */
	struct out kept;     /* bytes; empty when the span starts */
	void *tool;          /* see store.tool_size */
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

/* The argument with the name of a bdev; of one that is far, its name in any case, and after @ its source. */
static inline struct slice span_bdev(const struct span *s)
{
	return (struct slice){s->text.buf + s->parent_n + s->poller_n + s->owner_n + s->args_n, s->bdev_n};
}
