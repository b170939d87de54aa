/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture (picture.h) as events of Chrome's Trace Event Format, the JSON that many viewers read; the phases (ph) are
 * described in "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 * The format has processes and, in these, threads. Here a process and a connection are processes; lcores, other
 * threads, and rows are threads. Their ids are the numbers of their tracks, from 1.
 */
#ifndef TRACE_CHROME_EVENTS_H
#define TRACE_CHROME_EVENTS_H

#include "arguments.h"
#include "intern.h"
#include "picture.h"

struct track {
	enum picture_kind kind;
	uint32_t parent, rank;
	char *name; /* a full one */
	bool is_described;
	char head[64]; /* how each of its events starts, up to the time */
	unsigned head_n;
};

struct picture {
	struct out *out;             /* set before the first call */
	const struct intern *states; /* valid UTF-8; set before the first call, too */
	struct notes notes;
	struct track **tracks;
	uint32_t num_tracks;
	size_t cap_tracks;
	bool has_event;
	uint64_t now;         /* the time of the latest line */
	struct out full_name; /* of a new track */
	/* the latest slice: its name, and its arrows, which come after its first event */
	struct track *track;
	uint64_t begin;
	struct out name, arrows;
};

/* The text before the first event and after the last one. */
void events_start(struct picture *p);
void events_end(struct picture *p);

/* Notes the time of a line, before it is drawn. */
void events_pass(struct picture *p, uint64_t ns);

void events_free(struct picture *p);

#endif
