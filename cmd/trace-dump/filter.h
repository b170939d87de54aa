/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the entries that are printed: those that match all of the options -c, -t, -w, --requests,
 * --since and --until. The decision for a tracepoint or an owner is cached, so patterns are not matched for
 * every entry.
 */
#pragma once

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

/* The options. All zero, except UINT64_MAX in until, selects every entry. */
struct filter_options {
	bool *lcores; /* by number, FILTER_LCORES of them; NULL: all */
	struct filter_globs tpoints, owners;
	bool requests;         /* what starts or ends an object that nothing else has started */
	uint64_t since, until; /* nanoseconds, both included; UINT64_MAX: no end */
};

enum { FILTER_LCORES = 1 << 16 };

/* Adds the lcores of a list like 0-3,7. False when it is not one. */
bool filter_add_lcores(struct filter_options *o, const char *list);

/* Adds a pattern, which must outlive the filter. */
void filter_add_glob(struct filter_globs *globs, const char *glob);

struct filter {
	const struct filter_options *options;
	const struct trace *trace;
	uint64_t first, end;                  /* since and until in ticks; end is excluded */
	bool *tpoint_matched, *owner_matched; /* by pattern: whether it has matched anything */
	enum filter_decision { UNDECIDED, MATCHES, DIFFERS } * tpoints; /* by id */
	enum filter_part {
		FILTER_MIDDLE,
		FILTER_START,
		FILTER_REQUEST, /* starts a request of a host */
		FILTER_BDEV_IO, /* starts a bdev I/O */
		FILTER_END,
		FILTER_CONNECTION, /* shows which requests are admin requests */
		FILTER_ALWAYS,     /* of an object whose end has no name */
	} *
		parts;    /* by id of the tracepoint */
	bool has_unnamed; /* requests whose connection has no description */
	struct filter_owner {
		struct slice text; /* the latest description, as a JSON string */
		bool matches;
	} * owners; /* a direct-mapped cache by id */
};

/*
 * To be called when the trace's definitions are known. The options and the trace must outlive f.
 */
void filter_open(struct filter *f, const struct filter_options *o, const struct trace *t, const struct us *us);

/* Whether the entry matches. base: the ticks of time 0. */
bool filter_match(struct filter *f, const struct entry *e, uint64_t base);

/* Whether these ticks are after --until. */
bool filter_is_past(const struct filter *f, uint64_t tsc, uint64_t base);

/*
 * Prints which lcores and patterns matched nothing. by_lcore: numbers of entries, by index of the
 * lcore in the trace. quiet: as in cli_notice().
 */
void filter_report(struct filter *f, const uint64_t *by_lcore, const char *name, bool quiet);

void filter_close(struct filter *f);
