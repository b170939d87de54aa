/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes (writer.h) events of Chrome's Trace Event Format, the JSON that many viewers read; the phases (ph) are
 * described in "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 * The format has processes and, in these, threads. Here a process and a host are processes, and so is a connection
 * whose host is not known; lcores, other threads, and rows are threads. Their ids are one more than the numbers of
 * their tracks.
 */
#ifndef TRACE_CHROME_CHROME_H
#define TRACE_CHROME_CHROME_H

#include "intern.h"
#include "writer.h"

struct chrome_track {
	enum writer_track kind;
	uint32_t parent, rank;
	char *name; /* a full one */
	bool is_process, is_described;
	char head[64]; /* how each of its events starts, up to the time */
	unsigned head_n;
};

struct chrome {
	struct out *out;
	const struct intern *states;
	struct out args; /* of the next event */
	struct chrome_track **tracks;
	uint32_t num_tracks;
	size_t cap_tracks;
	bool has_event;
	uint64_t now;         /* the time of the latest line */
	struct out full_name; /* of a new track */
	/* the latest slice: its events from the name on, and its arrows, which come after its first event */
	struct chrome_track *track;
	uint64_t begin;
	struct out rest, arrows;
};

/* Writes the text before the first event, and returns the writer. c is all zero; states: their names, valid UTF-8. */
struct writer chrome_start(struct chrome *c, struct out *out, const struct intern *states);

/* Writes the text after the last event. */
void chrome_end(struct chrome *c);

void chrome_free(struct chrome *c);

#endif
