/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes Chrome's Trace Event Format, the JSON that chrome://tracing and Perfetto read; the phases
 * (ph) are described in "Trace Event Format",
 * docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
 *
 * Times are in nanoseconds here, and in microseconds with three decimals in the output. Texts are valid UTF-8, as
 * written in JSON between quotes.
 */
#ifndef TRACE_CHROME_EVENT_H
#define TRACE_CHROME_EVENT_H

#include <stdint.h>

#include "out.h"
#include "traceline.h"

/* When and where something happened, and the same encoded, for several events. */
struct event_at {
	uint64_t ns;
	uint32_t lcore;
	uint32_t process; /* EVENT_PROCESS; for merged lines, plus the number of their source, from 1 */
	char text[96];    /* process and time, then the lcore's track */
	unsigned process_n, time_n, n;
};

enum { EVENT_PROCESS = 1 };

/* An object's id, encoded for several events. */
struct event_id {
	char text[80];
	unsigned n;
};

struct event_at event_at(uint64_t ns, uint32_t lcore, uint32_t process);

/*
 * Letter and number of an object, and its family if another type has the same letter. The letter is one character, the
 * family at most 9.
 */
struct event_id event_id(struct slice letter, struct slice family, uint64_t number);

/* The text before the first event and after the last one. */
void event_open(struct out *out);
void event_close(struct out *out);

/* Names the process of a source. */
void event_process(struct out *out, uint32_t process, struct slice name);

/* Names the track of an lcore. */
void event_track(struct out *out, uint32_t process, uint32_t lcore, struct slice name);

/*
 * Writes what a line has besides name, time and lcore, as a JSON object. It is for args of the functions below, which
 * accept any valid object, or an empty text.
 */
void event_args(struct out *out, const struct traceline *line);

/* A point in time on an lcore's track. */
void event_instant(struct out *out, const struct event_at *at, struct slice name, struct slice args);

/* The same for an entry about an object: a short slice, because an arrow must point to a slice. */
void event_entry(struct out *out, const struct event_at *at, struct slice name, struct slice args);

/* A slice of an lcore's track from a time on, for ns. */
void event_slice(struct out *out, const struct event_at *at, uint64_t ns, struct slice name, struct slice args);

/* Start a slice on the object's own track, inside those that are open there, and end the innermost one. */
void event_begin(struct out *out, const struct event_at *at, const struct event_id *id, struct slice name,
		 struct slice args);
void event_end(struct out *out, const struct event_at *at, const struct event_id *id, struct slice name);

/* The two ends of an arrow between entries; they have the same number. */
void event_arrow_from(struct out *out, const struct event_at *at, uint64_t number);
void event_arrow_to(struct out *out, const struct event_at *at, uint64_t number);

/* Sets the number of objects of a type that are in work. letter, family: as for event_id(). */
void event_depth(struct out *out, const struct event_at *at, struct slice letter, struct slice family, uint64_t depth);

#endif
