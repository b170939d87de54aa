/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the entries that are printed: those that match all of the options -t, --requests, --since and --until. The
 * decision for a tracepoint is cached, so patterns are not matched for every entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

struct entry;
struct trace;
struct us;

/* The options. All zero, except UINT64_MAX in until, selects every entry. */
struct filter_options {
	struct cli_list tpoints; /* shell patterns, of which one must match; none: all */
	bool requests;           /* what starts or ends an object that nothing else has started */
	uint64_t since, until;   /* nanoseconds, both included; UINT64_MAX: no end */
};

struct filter {
	const struct filter_options *options;
	const struct trace *trace;
	uint64_t first, end; /* since and until in ticks; end is excluded */
	bool *matched;       /* by pattern: whether it has matched anything */
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
};

/*
 * To be called when the trace's definitions are known. The options and the trace must outlive f.
 */
void filter_open(struct filter *f, const struct filter_options *o, const struct trace *t, const struct us *us);

/* Whether the entry matches. base: the ticks of time 0. */
bool filter_match(struct filter *f, const struct entry *e, uint64_t base);

/* Whether these ticks are after --until. */
bool filter_is_past(const struct filter *f, uint64_t tsc, uint64_t base);

/* Prints which patterns matched nothing. quiet: as in cli_notice(). */
void filter_report(struct filter *f, const char *name, bool quiet);

void filter_close(struct filter *f);
