/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tools printed about a recording, from which the page is made: JSON lines, and what span lines explain.
 * Functions that read JSON take lines that facts_line() returned, and return empty slices for what is missing.
 */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "causes.h"
#include "intern.h"
#include "json.h"
#include "out.h"
#include "series.h"
#include "spdk.h"

enum {
	FACTS_HOSTS = 4096, /* that have short names */
	FACTS_OLDEST = 3,
	FACTS_ROWS = 8, /* of hosts */
	FACTS_SLOWEST = 3,
};

struct facts {
	/* what was recorded; NULL: was not. The trace may be that of a process. */
	const char *name;
	char *trace, *usdt, *offcpu, *bio;
	bool offcpu_differs, bio_differs; /* left out: their times are not of the trace's clock */
	pid_t pid;
	bool is_folder;
	struct slice parts, rpc; /* contents of the files */
	char *answers;           /* the file of rpc, if it lists connections */
	char *min_us;            /* the least microseconds of a slow request, of the flight recorder; NULL: any */
	struct out unread;       /* lines, in memory: what is there but could not be read, and why */
	bool names_unread;       /* what has the names of hosts is among these, or qpair-lifetimes has failed */

	struct slice info;                    /* the line of trace-dump -i -j */
	struct slice layers, lives, reactors; /* lines of trace-latency */
	struct slice over_time; /* those of trace-latency --layers for each step of series; for pictures only */

	/* from all span lines */
	uint64_t admin, requests;  /* those of admin, and all others */
	uint64_t open, incomplete; /* in flight at the end; and those whose creation is missing, too */
	uint64_t longest;          /* ns, of those that have ended */
	struct facts_span {
		struct slice line; /* empty: none */
		double us;
	} oldest[FACTS_OLDEST];                       /* of those in flight, oldest first */
	struct facts_span slowest[FACTS_SLOWEST];     /* of hosts, by the time to their reply */
	struct facts_span slowest_own[FACTS_SLOWEST]; /* ditto, of the target itself */
	struct intern hosts;                          /* NQNs as written in JSON */
	bool *probed; /* of these: a probe names a connection of it; else only the target's answers do */
	size_t num_probed, cap_probed;
	struct spanline span; /* the latest one */
	struct causes causes;
	struct series series;
};

/* Reads a span line. */
void facts_span(struct facts *f, struct slice line);

/* Cuts off the first line that is a JSON object. Returns false if no line is one. */
bool facts_line(struct slice *text, struct slice *line);

/* Values at a path such as "silence.us", here and below. A number that is missing is 0. */
struct slice facts_text(struct slice line, const char *path);
double facts_number(struct slice line, const char *path);

/*
 * Walks through an object, or an array, for which key is NULL:
 *
 *	for (facts_each(&j, object); facts_next(&j, &key, &value);)
 */
void facts_each(struct json *j, struct slice container);
bool facts_next(struct json *j, struct slice *key, struct slice *value);

/* The name in an object with the largest number, or with the largest first number of an array. */
struct slice facts_largest(struct slice object, double *most);

/*
 * The rows of layers that are shown, those with most time first: of hosts, or of types of objects where no host is
 * known. *others is set to the number of the rest.
 */
size_t facts_hosts(const struct facts *f, struct slice rows[FACTS_ROWS], size_t *others);

/* Whether a row of another table is about the same. */
bool facts_same_row(struct slice a, struct slice b);

/* The name of a row, for a terminal. */
void facts_put_host(struct out *out, struct slice row);

/* The slowest requests, FACTS_SLOWEST of them; those of hosts, if there are any. */
const struct facts_span *facts_slowest(const struct facts *f);

/* What a request was, for a terminal. */
void facts_put_what(struct out *out, struct slice span);

/* Microseconds as nanoseconds. */
uint64_t facts_ns(double us);

/* Microseconds for people, as out_duration_text(). */
void facts_put_time(struct out *out, double us);

/* The layer with this name; LAYER_UNKNOWN if no layer has it. */
enum layer facts_layer(struct slice name);

/* A string as written in JSON, for a terminal. */
void facts_put(struct out *out, struct slice raw);

/* The entries that trace-dump prints. */
uint64_t facts_entries(const struct facts *f);

/* Frees what was counted; contents of files stay. */
void facts_free(struct facts *f);

#endif
