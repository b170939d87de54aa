/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The story of a span: its entries and those of the spans below it, in their order, with the time
 * before each. After the longest waits comes what the trace proves about them.
 */
#ifndef TRACE_SPANS_STORY_H
#define TRACE_SPANS_STORY_H

#include "spans.h"

struct lifetime;

/* All zero has seen no lines. */
struct story {
	struct spans *spans; /* set before the first line */
	uint64_t lines;
	struct map lcores;
	struct story_lcore {
		uint64_t last, silence; /* ns: its latest entry, and the time before that */
	} * last;                       /* by lcore */
	size_t num_lcores, cap_lcores;
	struct map connections;
	struct story_connection {
		uint64_t pdus;   /* received */
		uint64_t queued; /* writes that its socket has not taken */
	} * all;
	size_t num_connections, cap_connections;
	uint64_t buffers; /* requests that wait for one */
	struct story_entry {
		const struct span *span;
		size_t state;
	} * entries; /* of the story that is written */
	size_t cap_entries;
	struct traceline line;        /* of an entry that is written */
	struct lifetime *annotations; /* of its arguments, of which only the texts are set */
	size_t cap_annotations;
	struct out text;
};

/* Sees each line before spans_line() does. */
void story_see(struct story *story, const struct traceline *line, uint64_t ns);

/* Keeps the line of an entry, as spans.entry. */
void story_keep(struct story *story, struct span *s, uint32_t before, const struct traceline *line, struct slice text);

/* A span ends in the state that it is in. */
void story_end(struct story *story, const struct span *s);

void story_write(struct story *story, struct out *out, const struct span *s);

void story_free(struct story *story);

#endif
