/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of the requests of any number of traces: counts and sums, by names. Those of several traces add up, in
 * any order. All that is printed comes from here.
 */
#ifndef TALLY_H
#define TALLY_H

#include "blame.h"
#include "overlaps.h"
#include "trait.h"

/* Kinds of slow requests: most of those of a host, bdev or the like; some of them; all, so nothing can be compared. */
enum slow { SLOW_GROUP, SLOW_TAIL, SLOW_ALIKE, SLOWS };

extern const char *const tally_slows[SLOWS];

/* Groups, and rows of each other table; what is beyond is counted. */
enum { TALLY_GROUPS = 4096, TALLY_ROWS = 1 << 18 };

/* What is in flight at the end of a trace is as old as the slow ones, as a rule; what is this much older may hang. */
enum { TALLY_OLD = 2 };

/* Sums of n requests, in ns; those of the layers add up to that of their lives. */
struct tally_times {
	uint64_t n;
	unsigned __int128 life, layers[LAYERS], overlaps[OVERLAPS], causes[FACTS];
};

/*
 * The window of time that has most slow requests compared with others, of one trace: those that start from begin to
 * end, in ns.
 */
struct tally_window {
	uint64_t begin, end;
	uint64_t slow, others, bursts; /* slow 0: none was looked for */
	uint64_t candidates;           /* windows that it was chosen from */
};

/* The slow requests of a kind. */
struct tally_set {
	struct tally_times slow;
	struct tally_times fast; /* n of them, but times of as many as slow ones */
	uint64_t others;         /* requests that are not in the set, of traces that have a slow one */
	uint64_t bursts;         /* groups of slow ones that overlap in time */
	unsigned __int128 excess;
	struct tally_window window; /* is not added to that of another trace */
};

/* The requests of a value of -g, or all requests. */
struct tally_group {
	uint32_t name; /* in names; MAP_NONE: none */
	uint64_t n;    /* requests that were compared; none of an earlier trace */
	unsigned __int128 total;
	uint64_t longest; /* life, of these requests */
	/* requests in flight at the end, which are left out, that are TALLY_OLD times as old as that, in their trace */
	uint64_t old, oldest; /* oldest: the most ns */
	struct tally_set sets[SLOWS];
};

/* Identifies a row; equal bytes are equal keys. */
struct tally_key {
	uint32_t set;  /* tally_set_number() */
	uint32_t what; /* cause, trait, or what was waited for */
	uint32_t a, b; /* names */
	uint64_t c;    /* a name or a number */
};

/* The request that has most of a cause: of its proven time, else of all of it. */
struct tally_example {
	uint64_t proven, ns, start;
	uint32_t source; /* in names; MAP_NONE: none */
	bool covered;    /* by lines of offcpusnoop */
};

/* A cause; key.a: who caused it. */
struct tally_cause {
	struct tally_key key;
	unsigned __int128 ns, proven;
	uint64_t n;      /* requests that have it for a quarter of their life */
	uint64_t bursts; /* groups of these that overlap in time */
	uint64_t end;    /* of the latest one, while a trace is counted */
	struct tally_example example;
};

/* The time of a cause in requests of the connection key.b that have it for a quarter of their life. */
struct tally_victim {
	struct tally_key key;
	unsigned __int128 ns;
};

/* A value of a trait: key.a and key.c. */
struct tally_value {
	struct tally_key key;
	uint64_t slow, others; /* requests that have it */
	uint64_t hash;         /* of these requests: equal ones select the same */
};

/* What the host key.a waited for: key.what and key.b, and who had that: key.c. */
struct tally_wait {
	struct tally_key key;
	unsigned __int128 ns;
};

/* All zero, but for names, has no requests. */
struct tally {
	struct intern *names; /* as in JSON, of whoever made the tally */
	uint64_t traces;
	struct map map;
	struct tally_group *groups;
	size_t num_groups, cap_groups;
	struct intern cause_keys, victim_keys, value_keys, wait_keys;
	struct tally_cause *causes;
	size_t num_causes, cap_causes;
	struct tally_victim *victims;
	size_t num_victims, cap_victims;
	struct tally_value *values;
	size_t num_values, cap_values;
	struct tally_wait *waits;
	size_t num_waits, cap_waits;
	uint64_t groups_dropped; /* that have less time than the others, or came later */
	uint64_t dropped;        /* times that a row was needed, and there were too many */
};

/* The group of this name, which is added if it is new. NULL if there are too many. */
struct tally_group *tally_group(struct tally *t, uint32_t name);

static inline uint32_t tally_set_number(const struct tally *t, const struct tally_group *group, enum slow slow)
{
	return (group - t->groups) * SLOWS + slow;
}

static inline struct tally_set *tally_set(const struct tally *t, uint32_t number)
{
	return &t->groups[number / SLOWS].sets[number % SLOWS];
}

/* The row of a key, which is added if it is new. NULL, and counted, if there are too many. */
struct tally_cause *tally_cause(struct tally *t, struct tally_key key);
struct tally_victim *tally_victim(struct tally *t, struct tally_key key);
struct tally_value *tally_value(struct tally *t, struct tally_key key);
struct tally_wait *tally_wait(struct tally *t, struct tally_key key);

/* The number of the cause of a victim; MAP_NONE if it has no row. */
uint32_t tally_find_cause(const struct tally *t, const struct tally_victim *victim);

/* Keeps the example with more time; of equal ones the earlier one. */
void tally_keep_example(const struct tally *t, struct tally_example *kept, const struct tally_example *other);

static inline struct slice tally_name(const struct tally *t, uint32_t name)
{
	return name == MAP_NONE ? (struct slice){"", 0} : t->names->all[name];
}

/* The order of names by their bytes; MAP_NONE comes first. */
int tally_compare_names(const struct tally *t, uint32_t a, uint32_t b);

/* A bdev and its legs are one cause when slow requests are compared with fast ones. */
static inline enum fact tally_plain(enum fact cause)
{
	return cause == FACT_LEG ? FACT_BDEV : cause;
}

/* What dropped counts, for messages. */
#define TALLY_DROPPED "time{|s} a cause, a wait or a value was left out: there are too many of them"

void tally_free(struct tally *t);

#endif
