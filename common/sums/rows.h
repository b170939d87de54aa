/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of times: a histogram for every group, type of objects, and transition from one
 * state to the next; one for the whole life, and one for the time to the reply of requests that have
 * one. Values are nanoseconds, because trace lines have no rate of the ticks.
 */
#pragma once

#include "connection.h"
#include "histogram.h"
#include "intern.h"
#include "interval.h"
#include "map.h"
#include "slice.h"

enum {
	ROWS_GROUPS = 1 << 24,
	ROWS_TYPES = 256,
	ROWS_STATES = 65535,
	ROWS_RECENT = 256,
	/* as `from`: a row of no transition; then as `to`, what it is of: the whole life, or that up to the reply */
	ROWS_LIFE = ROWS_STATES,
	ROWS_TO_REPLY = 0,
};

enum { STAT_MEAN, STAT_P50, STAT_P90, STAT_P99, STAT_P999, STAT_MAX, NUM_STATS };

struct latency {
	uint32_t group, type, from, to;
	struct histogram times;
};

/* What is printed of a row, in nanoseconds. */
struct latency_stats {
	uint64_t ns[NUM_STATS];
};

/* All zero has no rows. */
struct rows {
	/* groups as JSON objects, "" being none; types of lifecycle.h; states as JSON strings without quotes */
	struct intern groups, types, states;
	/* for people, by group: with names of hosts for NQNs; those without are as in groups */
	struct rows_shown {
		struct slice text;
		uint64_t known; /* connections.known when it was made, plus 1 */
	} * shown;
	size_t num_shown, cap_shown;
	struct connections *connections;
	struct map map;
	struct latency **all;
	size_t n, cap;
	struct latency *recent[ROWS_RECENT]; /* most samples are of few rows */

	/* rows that have values: an interval only costs as much as it has of these */
	struct latency **filled;
	size_t num_filled, cap_filled;

	struct interval interval; /* that the rows cover */
};

/*
 * Counts a value in the row of a transition. from: ROWS_LIFE for the whole life (to: ROWS_LIFE) or that up to the reply
 * (to: ROWS_TO_REPLY).
 */
void rows_record(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to, uint64_t ns);

/* A row by its texts. family may be empty; from and to are NULL for the whole life, or with to_reply. */
struct rows_key {
	struct slice group, letter, family;
	const struct slice *from, *to;
	bool to_reply;
};

/* Adds a histogram that is not empty. Returns NULL; or why it cannot, with nothing changed. */
const char *rows_merge(struct rows *rows, struct rows_key key, const struct histogram *times);

/* The row of `rows` that has the same texts as the row `other` of `others`, and has values; or NULL. */
const struct latency *rows_find(const struct rows *rows, const struct rows *others, const struct latency *other);

static inline bool rows_is_life(const struct latency *row)
{
	return row->from == ROWS_LIFE && row->to == ROWS_LIFE;
}

static inline bool rows_is_transition(const struct latency *row)
{
	return row->from != ROWS_LIFE;
}

/* A group for people; valid until the next call for it. */
struct slice rows_group(const struct rows *rows, uint32_t group);

/* Names the hosts of the groups so far in rows_group(), after those that were learned and those in the groups. */
void rows_name_hosts(struct rows *rows, struct connections *connections);

/* The letter of a row's type, and its family; that is empty unless SPDK has several types of this letter. */
struct slice rows_letter(const struct rows *rows, uint32_t type);
struct slice rows_family(const struct rows *rows, uint32_t type);

struct latency_stats rows_stats(const struct latency *row);

/* What the rows of the other tables start with. */
struct rows_name {
	uint32_t group, type;
};

/*
 * Pointers to n rows of that many bytes, each of which starts with a struct rows_name, by group, then by type. The
 * caller frees the array.
 */
const void **rows_sorted(const struct rows *rows, const void *all, size_t n, size_t size);

/*
 * The rows that have values, in the order for people: by group, by type, the whole life and the
 * time to the reply before the transitions, and these by their total time, the longest first. Equal
 * ones are sorted by name, so the order does not depend on that of the input. The caller frees the
 * array.
 */
struct ranked_row {
	const struct latency *row;
	double share; /* of the time of all transitions of its group and type, 0 to 1 */
} * rows_ranked(const struct rows *rows);

/* Makes all histograms empty. */
void rows_clear(struct rows *rows);

void rows_free(struct rows *rows);
