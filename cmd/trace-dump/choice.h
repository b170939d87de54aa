/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which entries are printed: those that the options -c, -t, -w, --since and --until choose, all together. What is
 * decided for a tracepoint or an owner is kept, so that a pattern is compared once for each of them.
 */
#ifndef TRACE_DUMP_CHOICE_H
#define TRACE_DUMP_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

struct entry;
struct trace;
struct trace_tpoint;
struct us;

enum { CHOICE_LCORES = 1 << 16 };

/* Shell patterns of an option that may be repeated: one that matches will do. */
struct choice_globs {
	const char **all;
	bool *matched; /* anything so far */
	unsigned n;
};

enum choice_tpoint { UNDECIDED, WANTED, UNWANTED };

struct choice_owner {
	struct slice text; /* the description that was looked at last, as a JSON string */
	bool wanted;
};

/* Begins as all zero, but for until. */
struct choice {
	bool *lcores; /* by number, CHOICE_LCORES of them; NULL: all will do */
	struct choice_globs tpoints, owners; /* without one, all will do */
	uint64_t since, until;               /* nanoseconds, both included; UINT64_MAX: no end */

	uint64_t first, end;               /* the same in ticks, the second not included */
	enum choice_tpoint *known_tpoints; /* those of the trace, by id */
	struct choice_owner *known_owners; /* by id, the last of those that share a place */
};

/* Adds the lcores of a list like 0-3,7. False when it is none. A lack of memory, here and below, ends the tool. */
bool choice_lcores(struct choice *c, const char *list);

/* Adds a pattern, which must outlive c. */
void choice_glob(struct choice_globs *globs, const char *glob);

/* Reads a time as trace lines have it, like 27.290, in nanoseconds. False when it is none. */
bool choice_time(const char *text, uint64_t *ns);

/* To be called when the trace's definitions and ticks are known, before the first entry. */
void choice_start(struct choice *c, const struct trace *t, const struct us *us);

/* Whether the entry is wanted, in a trace whose time 0 is at these ticks. */
bool choice_wants(struct choice *c, const struct trace *t, const struct entry *e, uint64_t base);

/* Whether an entry of these ticks is later than all that are wanted. */
bool choice_is_past(const struct choice *c, uint64_t tsc, uint64_t base);

/* Whether the name of a tracepoint, or # and its number, matches a pattern. */
bool choice_tpoint(struct choice *c, const struct trace_tpoint *tp);

void choice_free(struct choice *c);

#endif
