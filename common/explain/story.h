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

/* Most times in a story in which a reactor was held: off its CPU, or interrupted. */
enum { STORY_HELD = 64 };

struct story {
	struct measured *measured;
	struct spans *spans; /* of measured, as are the next ones */
	struct connections *connections;
	struct holders *holders;
	const struct proofs *proofs;
	const struct terminal *terminal;
	struct waits waits;   /* of the story being written */
	uint32_t num_stories; /* so far */
	/* the lines among the entries of that story */
	struct story_aside {
		uint64_t lcore, ns;
		const struct reactors_interval *held; /* NULL: the I/O of a disk below this span */
		const struct span *span;
	} * asides;
	size_t num_asides, cap_asides;
	struct traceline line; /* of the entry being written */
	struct shorttext columns;
	struct out text;
	struct out row, sentences; /* that are being written */
};

/* Sets all zero but for its arguments. */
void story_start(struct story *story, struct measured *m, const struct terminal *terminal);

/*
 * Stores an entry of a span; before: as for spans.entry. connection, named: of the entry, as from connections_find().
 */
void story_add(struct story *story, struct span *s, uint32_t before, const struct traceline *line, uint32_t connection,
	       size_t named);

/* Writes to memory. */
void story_write(struct story *story, struct out *out, const struct span *s);

void story_free(struct story *story);
