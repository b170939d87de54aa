/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of the requests of a trace, as sums: of kinds of slow requests, and rows of the ledger. All that is
 * printed comes from here.
 */
#pragma once

#include "ledger.h"
#include "traits.h"

/* Kinds of slow requests: most of those of a host, bdev or the like; some of them; all, so nothing can be compared. */
enum slow { SLOW_GROUP, SLOW_TAIL, SLOW_ALIKE, SLOWS };

extern const char *const tally_slows[SLOWS];

enum {
	TALLY_ROWS = 1 << 18,      /* what is beyond is counted */
	TALLY_LEDGER = UINT32_MAX, /* instead of a set: all requests */
	TALLY_STATUSES = 4,        /* of failed requests, by name; the others count as one */
};

/* Sums of n requests, in ns; those of the layers add up to that of their lives. */
struct tally_times {
	uint64_t n;
	unsigned __int128 life, layers[LAYERS], facts[FACTS];
};

/* The slow requests of a kind. */
struct tally_set {
	struct tally_times slow;
	struct tally_times fast; /* n of them, but times of as many as slow ones */
	uint64_t others;         /* requests that are not in the set */
	/* groups of slow ones that overlap in time, and of those that have a fact for a quarter of their life */
	uint64_t bursts, fact_bursts[FACTS];
	unsigned __int128 excess;
	struct traits traits;
};

/* The requests of a value of -g, or all requests. */
struct tally_group {
	uint32_t name; /* in names; MAP_NONE: none */
	uint64_t n;    /* requests that were compared; none of an earlier trace */
	unsigned __int128 total;
	uint64_t failed; /* requests whose status is no success; by the statuses that came first: */
	struct tally_status {
		uint32_t name;
		uint64_t n;
	} statuses[TALLY_STATUSES];
	struct tally_set sets[SLOWS];
};

/* Identifies a row; equal bytes are equal keys. Names are MAP_NONE if they are not known. */
struct tally_key {
	uint32_t set;                     /* tally_set_number(), or TALLY_LEDGER */
	uint32_t fact, of, who;           /* as in ledger.h */
	uint32_t connection, type, lcore; /* of the requests: names */
	uint32_t size;                    /* bits of their blocks */
};

/* A row of the ledger. Rows of FACT_QUEUE overlap the others, which add up to the lives of the requests. */
struct tally_row {
	struct tally_key key;
	uint64_t requests, n; /* n: of these, those that have it for a quarter of their life */
	unsigned __int128 ns, proven;
	uint64_t longest;
	const struct request *example; /* that has the longest; the first one of several */
};

/* All zero, but for names, has no requests. */
struct tally {
	struct intern *names; /* as in JSON, of whoever made the tally */
	struct map map;
	struct tally_group *groups;
	size_t num_groups, cap_groups;
	struct intern keys; /* of rows, by their numbers */
	struct tally_row *rows;
	size_t num_rows, cap_rows;
	uint64_t groups_dropped; /* that have less time than the others */
	uint64_t dropped;        /* times that a row was needed, and there were too many */
	uint64_t older;          /* requests that started before times off CPUs were recorded, and are not compared */
};

/* The group of this name, which is added if it is new. */
struct tally_group *tally_group(struct tally *t, uint32_t name);

static inline uint32_t tally_set_number(const struct tally *t, const struct tally_group *group, enum slow slow)
{
	return (group - t->groups) * SLOWS + slow;
}

/* Adds an entry of a request to its row. */
void tally_add(struct tally *t, uint32_t set, const struct request *q, const struct ledger_entry *entry);

static inline struct slice tally_name(const struct tally *t, uint32_t name)
{
	return name == MAP_NONE ? (struct slice){"", 0} : t->names->all[name];
}

/* The order of names by their bytes; MAP_NONE comes first. */
int tally_compare_names(const struct tally *t, uint32_t a, uint32_t b);

/* A bdev and its legs are one cause when slow requests are compared with fast ones. */
static inline enum fact tally_plain(enum fact fact)
{
	return fact == FACT_LEG ? FACT_BDEV : fact;
}

/* What dropped counts, for messages. */
#define TALLY_DROPPED "time{|s} a row was left out: there are too many of them"

/* What older counts. */
#define TALLY_OLDER "request{|s} left out: {it|they} started before off-CPU times were recorded"

void tally_free(struct tally *t);
