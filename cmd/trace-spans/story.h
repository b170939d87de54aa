/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The story of a span: its entries and those of the spans below it, in their order, with the time
 * before each. After the longest waits comes what the trace proves about them. Among the entries is what
 * held the reactor, and what its disks did, if the lines say so.
 */
#ifndef TRACE_SPANS_STORY_H
#define TRACE_SPANS_STORY_H

#include "causes.h"
#include "spans.h"
#include "text.h"

/* Latest times of a kind that are kept of a reactor, those that a story has, and bytes of what is said about each. */
enum { STORY_KEPT = 2048, STORY_HELD = 64, STORY_CAUSE = 96 };

/* A time in which a reactor was held. */
struct story_held {
	uint64_t sequence, begin, end;
	uint64_t told; /* the story that has it */
	char cause[STORY_CAUSE];
};

struct story {
	struct spans *spans;
	struct causes causes;
	struct story_ring {
		struct story_held *all;
		size_t cap;            /* grows to STORY_KEPT */
		uint64_t n;            /* so far */
		uint64_t dropped;      /* sequence of the latest one that is not kept */
	} (*reactors)[REACTORS_KINDS]; /* as in spans.reactors */
	size_t num_reactors, cap_reactors;
	uint64_t told; /* stories so far */
	/* of the story that is written: its entries, and what comes among them */
	struct story_entry {
		const struct span *span;
		size_t state;
	} * entries;
	size_t cap_entries;
	struct story_aside {
		uint64_t sequence, lcore, ns;
		const struct story_held *held; /* NULL: the I/O of a disk below this span */
		const struct span *span;
	} * asides;
	size_t num_asides, cap_asides;
	bool is_lost;          /* some of them are not kept */
	struct traceline line; /* of an entry that is written */
	struct text_short columns;
	struct out text, label, cause;
};

/* It has seen no lines. Each line goes to causes_see() first, and each span that ends to causes_end(). */
void story_start(struct story *story, struct spans *spans);

/* Keeps the line of an entry, as spans.entry. */
void story_keep(struct story *story, struct span *s, uint32_t before, const struct traceline *line, struct slice text);

/* Keeps a time in which a reactor was held, as spans.held. */
void story_hold(struct story *story, const struct reactor *reactor, const struct reactors_interval *interval,
		const struct traceline *line);

void story_write(struct story *story, struct out *out, const struct span *s);

void story_free(struct story *story);

#endif
