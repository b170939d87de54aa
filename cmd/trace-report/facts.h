/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tools printed about a recording, from which the page is made: JSON lines, and the page of trace-causes.
 * Functions that read JSON take lines that facts_line() returned, and return empty slices for what is missing.
 */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "intern.h"
#include "json.h"
#include "out.h"

enum {
	FACTS_HOSTS = 4096, /* that have short names */
	FACTS_OLDEST = 3,
};

struct facts {
	/* what was recorded; NULL: was not. The trace may be that of a process. */
	const char *name;
	char *trace, *usdt, *offcpu, *bio;
	pid_t pid;
	bool is_folder;
	struct slice parts, rpc; /* contents of the files */

	struct slice info;                             /* the line of trace-dump -i */
	struct slice layers, lives, reactors, slowest; /* lines of trace-latency and trace-spans */
	struct slice causes;

	/* from all span lines */
	uint64_t admin, requests;          /* the others */
	uint64_t open, incomplete;         /* in flight at the end; and those whose creation is missing, too */
	double longest;                    /* microseconds, of those that have ended */
	struct slice oldest[FACTS_OLDEST]; /* of those in flight, oldest first */
	struct intern hosts;               /* NQNs as written in JSON */
	struct slice *names;               /* of these, ditto */
	size_t num_names, cap_names;
};

/* Sees a span line. */
void facts_span(struct facts *f, struct slice line);

/* Cuts off the first line that is a JSON object. False if there is none. */
bool facts_line(struct slice *text, struct slice *line);

/* Values at a path such as "silence.us", here and below. A number that is missing is 0. */
struct slice facts_text(struct slice line, const char *path);
double facts_number(struct slice line, const char *path);

/* Whether an array or object has another element, which is cut off; key may be NULL, and is as written. */
bool facts_next(struct json *j, struct slice *key, struct slice *value);
void facts_each(struct json *j, struct slice container);

/* The name of a host or connection in a group, as written in JSON. */
struct slice facts_host(const struct facts *f, struct slice host);

/* A string as written in JSON, for a terminal. */
void facts_put(struct out *out, struct slice raw);

/* The entries that trace-dump prints. */
uint64_t facts_entries(const struct facts *f);

#endif
