/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which entries are printed: those that match all of the options -c, -t, -w, --since and --until.
 * The decision for a tracepoint or an owner is kept, so that a pattern is compared once for each of
 * them.
 */
#ifndef TRACE_DUMP_FILTER_H
#define TRACE_DUMP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct entry;
struct trace;
struct us;

/*
 * Shell patterns of an option that may be given more than once; an entry matches if one of them
 * does.
 */
struct filter_globs {
	const char **all;
	size_t n, cap;
};

/* What the options say; all zero but for until: every entry. */
struct filter_options {
	bool *lcores; /* by number, FILTER_LCORES of them; NULL: all */
	struct filter_globs tpoints, owners;
	uint64_t since, until; /* nanoseconds, both included; UINT64_MAX: no end */
};

enum { FILTER_LCORES = 1 << 16 };

/* Adds the lcores of a list like 0-3,7. False when it is not one. */
bool filter_add_lcores(struct filter_options *o, const char *list);

/* Adds a pattern, which must outlive the filter. */
void filter_add_glob(struct filter_globs *globs, const char *glob);

/*
 * Reads a time as trace lines have it, like 27.290, in nanoseconds; UINT64_MAX for later ones.
 * False when it is not one.
 */
bool filter_parse_time(const char *text, uint64_t *ns);

struct filter {
	const struct filter_options *options;
	const struct trace *trace;
	uint64_t first, end;                  /* since and until in ticks, the second one not included */
	bool *tpoint_matched, *owner_matched; /* by pattern: anything so far */
	enum filter_decision { UNDECIDED, MATCHES, DIFFERS } * tpoints; /* by id */
	struct filter_owner {
		struct slice text; /* the description that was decided last, as a JSON string */
		bool matches;
	} * owners; /* a cache with a place for each id, which it shares with others */
};

/*
 * Starts when the trace's definitions are known. The options, the trace and its ticks must outlive
 * f.
 */
void filter_open(struct filter *f, const struct filter_options *o, const struct trace *t, const struct us *us);

/* Whether the entry is to be printed, in a trace whose time 0 is at these ticks. */
bool filter_match(struct filter *f, const struct entry *e, uint64_t base);

/* Whether an entry of these ticks is later than all that are to be printed. */
bool filter_is_past(const struct filter *f, uint64_t tsc, uint64_t base);

/*
 * Says which lcores and patterns matched nothing in a trace with these numbers of entries, by index
 * of lcore. quiet: as in cli_notice().
 */
void filter_report(struct filter *f, const uint64_t *by_lcore, const char *name, bool quiet);

void filter_close(struct filter *f);

#endif
