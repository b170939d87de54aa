/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a recording, from which the page is made: sums over its spans, what explains them, and JSON lines.
 * Functions that read JSON take lines that json_line() returned, and return empty slices for what is missing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "causes.h"
#include "intern.h"
#include "json.h"
#include "keys.h"
#include "lcore_rows.h"
#include "measured.h"
#include "network.h"
#include "out.h"
#include "pools.h"
#include "rows.h"
#include "series.h"
#include "shares.h"
#include "spdk.h"
#include "unpack.h"
#include "still.h"
#include "story.h"

enum {
	FACTS_HOSTS = 4096, /* that have short names */
	FACTS_ROWS = 8,     /* of hosts */
	FACTS_SLOWEST = 3,  /* if -n does not say how many */
};

struct facts {
	/* what the page is about */
	struct keys keys;
	uint64_t since, until; /* ns, both included, in which requests lived; UINT64_MAX: no end */
	uint64_t num_slowest;
	bool wants_stories; /* of the slowest requests */
	bool is_short;      /* without what was recorded, and commands */
	struct terminal terminal;

	/* what was recorded; NULL: was not. The trace may be that of a process. */
	const char *name;
	char *trace, *usdt, *offcpu, *bio;
	bool offcpu_differs, bio_differs; /* left out: their times are not of the trace's clock */
	bool is_lines;                    /* the trace is trace lines */
	pid_t pid;
	char *parts_file;
	char *kernel_file;
	char *answers; /* the file of rpc, if it lists connections */
	int trace_fd, usdt_fd, offcpu_fd, bio_fd, parts_fd, rpc_fd,
		kernel_fd;    /* of those that are not NULL, until they are read */
	struct unpack unpack; /* of a trace that is compressed: then trace_fd is a pipe */
	bool is_folder;
	struct slice parts, rpc, kernel; /* contents of the files; kernel: of threads, connections and CPU quotas */
	struct slice last_offcpu;        /* the last lines of the file */
	char *min_us;      /* the least microseconds of a slow request, of the flight recorder; NULL: any */
	struct out unread; /* lines, in memory: what is there but could not be read, and why */
	bool names_unread; /* what has the names of hosts is among these, or has malformed lines */
	bool has_owners;   /* those of the trace itself name hosts */

	struct slice info;    /* the line of trace-dump -i; empty: there is no trace */
	struct out info_text; /* in memory, as is that */

	uint64_t base; /* ticks of time 0 */
	double rate;   /* ticks of a second; 0: not known, of lines */
	struct still still;

	struct measured measured;
	struct lcore_rows lcores;
	struct intern groups; /* hosts, as written in JSON: their NQNs, or names where these are not known */
	struct slice *names;  /* of these, at the end: those of hosts get longer when others come */
	struct shares shares; /* their groups: numbers of these plus 1, or 0 */
	struct rows lives;    /* ditto; rows of whole lives only, at the end with bounds of others */
	struct facts_bound {  /* a life that is at least so long, in ns */
		struct rows_name name;
		uint64_t ns;
	} * bounds;
	size_t num_bounds, cap_bounds;
	/* what the rows of facts_hosts() have of these */
	struct facts_bounded {
		const struct share *row;
		uint64_t n;
		struct latency_stats without; /* them */
	} bounded[FACTS_ROWS];
	struct out text; /* in memory: scratch */

	/* from all requests */
	uint64_t seen;            /* that could be chosen; below, only those that are: */
	uint64_t admin, requests; /* those of admin, and all others */
	uint64_t incomplete;      /* in flight at the end, or their creation is missing */
	struct facts_span {
		struct slice line, story; /* empty: none */
		double us;
	} * slowest, *slowest_own; /* of hosts, and of the target itself */
	struct story story;
	struct intern hosts; /* NQNs as written in JSON */
	bool *probed;        /* of these: a probe names a connection of it; else only the target's answers do */
	size_t num_probed, cap_probed;
	struct causes causes;
	struct network network;
	struct pools pools;
	struct series series;
};

/* Whether some of the time from start to end, in ns, is that of the page. */
static inline bool facts_is_between(const struct facts *f, uint64_t start, uint64_t end)
{
	return start <= f->until && end >= f->since;
}

/* Before the first line goes to measured.spans, and after the last one. */
void facts_start(struct facts *f);
void facts_end(struct facts *f);

/* Cuts off the lines of answers until the first one to this method. Returns false if there is none. */
bool facts_answer(struct slice *rpc, const char *method, struct slice *result);

/* The parameters of a call in the configuration that the target has answered with; empty: not known. */
struct slice facts_config(struct slice rpc, const char *method);

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
 * The rows of shares that are shown, those with most time first: of hosts, or of types of objects where no host is
 * known. *others is set to the number of the rest.
 */
size_t facts_hosts(const struct facts *f, const struct share *rows[FACTS_ROWS], size_t *others);

/* The name of the host of a row, as written in JSON; empty: it has none. After facts_end(). */
struct slice facts_host(const struct facts *f, const struct share *row);

/*
 * The lives of its requests, with the time that they were in the socket, if that is known. Those that did not start
 * and end in the trace count with what is known of them, if that is more than half of the others took: what this makes
 * larger than *without is a lower bound. NULL: no request has ended after its first entry.
 */
const struct latency *facts_life(const struct facts *f, const struct share *row, struct latency_stats *without);

/* How many requests of the rows are such lower bounds. */
uint64_t facts_bounded(const struct facts *f);

/* The name of a row, for a terminal. */
void facts_put_host(struct out *out, const struct facts *f, const struct share *row);

/* The slowest requests, num_slowest of them; those of hosts, if there are any. */
const struct facts_span *facts_slowest(const struct facts *f);

/* What a request was, for a terminal. */
void facts_put_what(struct out *out, struct slice span);

/* Microseconds as nanoseconds. */
uint64_t facts_ns(double us);

/* Microseconds for people, as out_duration_text(). */
void facts_put_time(struct out *out, double us);

/* A string as written in JSON, for a terminal. */
void facts_put(struct out *out, struct slice raw);

/* The entries that trace-dump prints. */
uint64_t facts_entries(const struct facts *f);

/* Frees what was counted; contents of files stay. */
void facts_free(struct facts *f);
