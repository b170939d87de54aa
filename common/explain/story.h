/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The story of a span: its entries and those of the spans below it, in order, with the time before
 * each. The longest waits are followed by the causes that the trace proves. If lines of other tools
 * show what held the reactor, and I/O of its disks, that is printed among the entries.
 */
#pragma once

#include "measured.h"
#include "shorttext.h"
#include "spans.h"
#include "terminal.h"

/* Latest intervals that are stored for each reactor and kind, most intervals in a story, and bytes of a cause. */
enum { STORY_KEPT = 2048, STORY_HELD = 64, STORY_CAUSE = 96 };

/* An interval in which a reactor was held: off its CPU, or interrupted. */
struct story_held {
	uint64_t sequence, begin, end;
	uint64_t latest_story; /* that it is in */
	char cause[STORY_CAUSE];
};

struct story {
	struct measured *measured;
	struct spans *spans; /* of measured, as are the next ones */
	struct connections *connections;
	struct holders *holders;
	const struct proofs *proofs;
	const struct terminal *terminal;
	struct waits waits; /* of the story being written */
	struct story_ring {
		struct story_held *all;
		size_t cap;            /* grows to STORY_KEPT */
		uint64_t n;            /* so far */
		uint64_t dropped;      /* sequence of the latest one that was overwritten */
	} (*reactors)[REACTORS_KINDS]; /* as in spans.reactors */
	size_t num_reactors, cap_reactors;
	uint64_t num_stories; /* so far */
	/* the lines among the entries of that story */
	struct story_aside {
		uint64_t sequence, lcore, ns;
		const struct story_held *held; /* NULL: the I/O of a disk below this span */
		const struct span *span;
	} * asides;
	size_t num_asides, cap_asides;
	bool is_lost;          /* intervals of this story were overwritten */
	struct traceline line; /* of the entry being written */
	struct shorttext columns;
	struct out text, cause;
	struct out row, sentences; /* that are being written */
};

/* Sets all zero but for its arguments. */
void story_start(struct story *story, struct measured *m, const struct terminal *terminal);

/*
 * Stores an entry of a span; before: as for spans.entry. connection, named: of the entry, as from connections_find().
 */
void story_add(struct story *story, struct span *s, uint32_t before, const struct traceline *line, uint32_t connection,
	       size_t named);

/* Stores an interval in which a reactor was held; for spans.held. */
void story_hold(struct story *story, const struct reactor *reactor, const struct reactors_interval *interval,
		const struct traceline *line);

/* Writes to memory. */
void story_write(struct story *story, struct out *out, const struct span *s);

void story_free(struct story *story);
