/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains the waits of spans as far as the trace proves a cause: what their lcore wrote meanwhile, and for whom;
 * buffers that others held, writes that were queued earlier.
 */
#pragma once

#include "connection.h"
#include "spans.h"
#include "waits.h"

/* What was counted while a span waited in a state. */
struct holders_fact {
	size_t state;    /* in span.states */
	uint64_t others; /* requests that waited for a buffer, or were queued, when it started to */
	/* when it got a buffer: requests with one, and those of the connection with most */
	uint64_t holders, held;
	uint32_t holder;
};

/* The area of each span: span.tool. */
struct holders_span {
	bool has_buffer;
	uint32_t who; /* see holders_who() */
	struct holders_fact *facts;
	size_t num_facts, cap_facts;
	size_t *entries; /* for story.c: by state, in span.kept */
	size_t n, cap;
};

static inline struct holders_span *holders_of(const struct span *s)
{
	return s->tool;
}

struct holders {
	struct spans *spans;
	struct connections *connections; /* of the spans */

	struct holders_connection {
		uint64_t queued;  /* writes in the queue of its socket */
		uint64_t holders; /* requests that hold a buffer */
	} * counts;               /* by connection */
	size_t num_counts, cap_counts;
	uint64_t waiting, holders; /* requests that wait for a buffer, and that hold one */
	uint32_t most;             /* the connection with the most holders */
	size_t visits;             /* credit for the next search for it, see VISITS */
	struct intern words;       /* of tracepoints: see holders_who() */
	struct lcores_work work;   /* of the wait that was explained last */
	/* scratch: of its entries; connections of one host together */
	struct holders_group {
		uint32_t who; /* the first of them */
		uint64_t entries, ns;
		unsigned members;
	} * groups;
	size_t num_groups, cap_groups;
	struct out text; /* scratch */
};

/*
 * Sets all zero but for its arguments, and store.tool_size and free_tool(). The caller passes each span that ends to
 * holders_end().
 */
void holders_start(struct holders *h, struct spans *spans, struct connections *connections);

/*
 * Counts the entry of a line after holders_store(), for spans.who. Returns whom it was for: the connection of the
 * request that its span, if any, is part of, or else the connection or owner of the line, or else the first word of its
 * tracepoint.
 */
uint32_t holders_who(struct holders *h, struct span *s, const struct traceline *line);

/* The name of it, for terminals; valid until the next call. */
struct slice holders_who_name(struct holders *h, uint32_t who);

/* Counts an entry of a span, whose connection is set. before: the state that it left, MAP_NONE for the first entry. */
void holders_store(struct holders *h, struct span *s, uint32_t before);

/* Counts the end of a span, in its latest state. */
void holders_end(struct holders *h, const struct span *s);

/* What is known about a wait. */
struct holders_wait {
	uint64_t ns, at;                  /* at: from the start of the span */
	uint32_t state;                   /* that the object was in that went on after it; MAP_NONE: none */
	const struct spdk_tpoint *tpoint; /* of the state; NULL: none */
	enum layer layer;                 /* of the state; LAYER_UNKNOWN: none */
	const struct holders_fact *fact;  /* NULL: none */
	uint32_t lcore;                   /* of the entry before it, in spans.lcores; MAP_NONE: not known */
	struct lcores_work *work; /* of that lcore, if it is known: valid until the next call; the longest time first */
};

void holders_explain(struct holders *h, const struct waits *waits, const struct wait *wait, struct holders_wait *known);

/* What a span waited for before this entry of it, or of one below it, or since the last one. */
enum layer holders_layer(const struct holders *h, const struct waits *waits, size_t entry);

/* Sets groups to whom the entries of the work were for, with the connections of a host as one. */
void holders_find_groups(struct holders *h, const struct lcores_work *work);

void holders_free(struct holders *h);
