/* SPDX-License-Identifier: BSD-3-Clause */
/* A span: the life of an object, with the lives that it caused. spans.h assembles them. */
#pragma once

#include "io_args.h"
#include "out.h"
#include "reactors.h"

/* Bounds for input that no target writes: levels of a tree, children, and states. */
enum {
	SPANS_DEPTH = 32,
	SPANS_CHILDREN = 4096,
	SPANS_STATES = 4096,
};

/* The I/O of a disk below a bdev I/O: see disks.h. */
struct disk_io {
	uint64_t begin, end; /* ns: issue and completion */
	uint64_t order;      /* of its line, as spans.lines */
	uint32_t name;       /* of the disk, in disks.names */
	enum {
		DISK_NONE,
		DISK_ONE,
		DISK_UNCLEAR, /* ambiguous: another disk I/O or another bdev I/O fits, too */
	} found;
	bool open; /* a line may match its span */
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
	/* used by self_time.c */
	struct span_path {
		struct span *next;           /* sibling, by their ends, latest first */
		struct span *latest, *chain; /* of its children: the next to look at */
		uint64_t end, self;          /* ns */
	} path;
	struct span *waiting;   /* the next one in spans.first_waiting */
	uint64_t number, value; /* of the object */
	uint64_t tsc;           /* of its first entry */
	/* ns of that, or of the first write that it adopted (spans.c), and of the last one */
	uint64_t first, last;
	uint64_t age;               /* ns from its creation to its first entry: 0 unless it is cut */
	uint64_t reply;             /* ns: the start of the last part of its reply; UINT64_MAX: none so far */
	uint32_t source;            /* in sources; MAP_NONE: the line has none */
	uint64_t lcore, last_lcore; /* of its first and its last entry */
	/*
	 * ns for which the reactors of its entries were held, up to the last entry, and reactor.held at that entry,
	 * both modulo 2^64. So the cost of a reactor's line does not depend on the number of open spans.
	 */
	uint64_t held[REACTORS_KINDS], held_before[REACTORS_KINDS];
	/* ns: the longest silence between two of its entries, and its lcore, in spans.lcores; 0: none */
	uint64_t silent;
	uint32_t silent_lcore;
	struct disk_io disk; /* below a bdev I/O */
	struct io_args io;
	struct span_state *states;
	size_t n, cap;
	uint32_t type, object; /* in lifecycle.types; index in lifecycle.all */
	uint32_t index;        /* in spans.all */
	uint32_t member_of;    /* used by admin.c */
	/* of a command, or a request: its queue of remote.h, from 1 on, and its number there; queue 0: none */
	struct span_place {
		uint32_t queue, number;
	} place;
	uint32_t generation; /* number of spans that were stored here before */
	/* the write before it in replies.writes, and its generation; MAP_NONE: there was none */
	uint32_t earlier, earlier_generation;
	unsigned height, num_children; /* levels below it */
	/* texts of its first entry as written, in text; empty: there was none */
	struct out text;
	size_t parent_n, poller_n, owner_n, args_n, bdev_n;
	/* of a root */
	enum span_queue {
		SPAN_QUEUE_UNKNOWN, /* or it has none */
		SPAN_QUEUE_ADMIN,
		SPAN_QUEUE_IO,
	} queue;
	bool has_parent; /* in the trace, even if it is not stored */
	bool is_remote;  /* a command whose request, of the process that it was sent to, is a child */
	bool has_work;   /* something other than a write to its socket is below it */
	bool is_far;     /* below a command of another source */
	bool unknown;    /* its object has no id: the creation was overwritten */
	bool cut;        /* its creation is not among the lines */
	bool torn;
	bool expected; /* is in a final state, and queued to end */
	bool ended;    /* later entries do not count */
	bool emitted;  /* was passed to emit() */
	bool orphan;   /* a span above it ended before it */
	bool open;     /* it was in no final state when the input ended */
	bool lost;     /* had ended as spans_is_lost() says */
	bool gap;      /* entries of its lcore are missing between two of its own */
	bool stuck;    /* was passed to stuck() */

	/* the caller's */
	uint32_t connection; /* MAP_NONE: not known */
	uint32_t above;      /* of group.h: values of the span above it; MAP_NONE: none */
	struct out kept;     /* bytes; empty when the span starts */
	void *tool;          /* see spans.tool_size */
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
