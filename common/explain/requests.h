/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of span lines, each as a record of numbers. Memory grows with the number of requests, up to
 * REQUESTS_MAX, and with distinct names, up to REQUESTS_NAMES.
 */
#pragma once

#include "intern.h"
#include "spanline.h"

enum { REQUESTS_MAX = 1 << 20, REQUESTS_NAMES = 1 << 20 };

/* The time that a name has in a request; n: entries. name: in names, MAP_NONE if there were too many. */
struct request_share {
	uint64_t ns;
	uint32_t name, n;
};

struct request_wait {
	uint64_t ns, begin, silent; /* begin: absolute */
	uint64_t active;            /* of the lcore; UINT64_MAX: not known */
	uint32_t buffers, held;     /* buffers that requests had, and those of holder */
	uint32_t lcore;             /* in lcores; MAP_NONE: not known */
	uint32_t holder;            /* MAP_NONE: none */
	uint32_t first;             /* in shares: for whom the lcore wrote meanwhile */
	uint8_t n;                  /* of these */
	uint8_t layer;              /* enum layer */
	bool is_rare, is_queued;    /* as in spanline.h */
};

/* What few requests have. All zero without it. */
struct request_facts {
	uint64_t ns[FACTS];          /* as in spanline.h */
	uint64_t queue;              /* the size of the one that it filled */
	uint32_t off_cpu_by, irq_by; /* the first ones, in shares */
	uint8_t num_off_cpu_by, num_irq_by;
	/* its lcore worked for so long before it was read, and for whom: a name */
	uint64_t unread;
	uint32_t unread_for;
};

/* Its life includes the time for which it was unread, in LAYER_NETWORK. */
struct request {
	uint64_t start, life;
	uint64_t us; /* the start in its span line, in ns: when it was read */
	uint64_t layers[LAYERS];
	uint64_t blocks;
	/* in names; MAP_NONE: not known */
	uint32_t family, type, connection, host, bdev, leg, status, source, group, behind;
	uint32_t lcore;  /* in lcores */
	uint32_t facts;  /* in facts; 0: none */
	uint32_t waits;  /* the first one, in waits */
	uint32_t region; /* of the bdev, of REQUESTS_REGION blocks */
	uint8_t num_waits;
	uint8_t qd;       /* bits of the queue depth */
	bool wanted;      /* matches -k */
	bool base;        /* of the earlier trace of --against */
	bool front;       /* is a request of a host, by its id */
	bool maybe_admin; /* its start is missing, and it may be one that waits for events */
	bool open, cut, covered, has_blocks, has_region, has_qd;
};

/* Bits of a region's blocks. */
enum { REQUESTS_REGION = 16 };

/* All zero at first. */
struct requests {
	struct request *all;
	size_t n, cap;
	struct request_wait *waits;
	size_t num_waits, cap_waits;
	struct request_share *shares;
	size_t num_shares, cap_shares;
	struct request_facts *facts; /* the first one is that of requests without any */
	size_t num_facts, cap_facts;
	struct intern names;
	/* by name: whether it is a connection of a request, and the name of its host; legs of a bdev */
	struct requests_name {
		bool is_connection, known, has_leg, has_legs, is_limited;
		uint32_t host, leg;
		uint32_t others; /* requests of another leg than the first one's */
	} * of_names;
	size_t num_names, cap_names;
	/* those of two sources, or of the earlier trace, are different, but may have the same name */
	uint32_t *lcores; /* names: the number, and "of" the source, if any */
	size_t num_lcores, cap_lcores;
	struct map lcore_map;
	uint64_t dropped, admin, open,
		lost; /* admin and lost ones are never added; what lost ones waited for is not known */
};

/* What the line of a request does not say; group: its value of -g, in names, or MAP_NONE. */
struct requests_role {
	bool wanted, base;
	uint32_t group;
};

/* Sees a span. Returns whether it is a request that may be added; the others are counted. */
bool requests_see(struct requests *r, const struct spanline *line);

/* Adds a request, or counts it if there are too many. */
void requests_add(struct requests *r, const struct spanline *line, struct requests_role role);

/* The name of the host of a connection: it without its queue. */
uint32_t requests_host(struct requests *r, uint32_t connection);

/* Whether a name is that of a connection. */
static inline bool requests_is_connection(const struct requests *r, uint32_t name)
{
	return name < r->num_names && r->of_names[name].is_connection;
}

/* Says that I/O of a bdev waits for a rate limit. */
void requests_limit(struct requests *r, uint32_t bdev);

/* Says which of the bdevs below a bdev takes longest: that is the leg of its requests that have none. */
void requests_set_leg(struct requests *r, uint32_t bdev, struct slice leg);

static inline bool requests_is_limited(const struct requests *r, uint32_t bdev)
{
	return bdev < r->num_names && r->of_names[bdev].is_limited;
}

/* Whether I/O of a bdev goes to several others below it, of which one can be the cause. */
static inline bool requests_has_legs(const struct requests *r, uint32_t bdev)
{
	return bdev < r->num_names && r->of_names[bdev].has_legs;
}

/* Bits of a number: sizes and queue depths of as many bits are alike. */
static inline unsigned requests_bits(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* Bits of the number of blocks of a request, and 1; 0: it has none. */
static inline unsigned requests_size(const struct request *q)
{
	return q->has_blocks ? 1 + requests_bits(q->blocks) : 0;
}

/* Requests that overlap in time, in the order of their starts; all zero at first. */
struct requests_burst {
	uint64_t end;
	bool has_any;
};

/* Whether a request starts after all before it have ended. */
static inline bool requests_start_burst(struct requests_burst *b, const struct request *q)
{
	uint64_t end = q->start + q->life;
	bool starts = !b->has_any || q->start > b->end;

	b->end = !b->has_any || end > b->end ? end : b->end;
	b->has_any = true;
	return starts;
}

/*
 * Removes from the numbers of n requests those that started before off-CPU times were recorded, unless they are most:
 * less is known of them, and tools that record were starting. Returns how many are left.
 */
size_t requests_window(const struct requests *r, uint32_t *order, size_t n);

static inline struct slice requests_name(const struct requests *r, uint32_t name)
{
	return name == MAP_NONE ? (struct slice){"", 0} : r->names.all[name];
}

static inline const struct request_facts *requests_facts(const struct requests *r, const struct request *q)
{
	return &r->facts[q->facts];
}

/* The name of an lcore, MAP_NONE if the lcore is. */
static inline uint32_t requests_lcore_name(const struct requests *r, uint32_t lcore)
{
	return lcore == MAP_NONE ? MAP_NONE : r->lcores[lcore];
}

/* What dropped counts, for messages. */
#define REQUESTS_DROPPED "request{|s} left out: there are too many"

void requests_free(struct requests *r);
