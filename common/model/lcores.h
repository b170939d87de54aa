/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lcores of a trace wrote, those of each source: when, how much, and for whom. A silence is the time between
 * two consecutive entries of an lcore, unless entries are missing between them: that is a gap; or it has worked between
 * them: it counts as active then, as it does between entries that come within LCORES_ACTIVE_NS of each other. The cost
 * of an entry does not depend on what came before it, and the memory of an lcore is bounded.
 */
#pragma once

#include "map.h"
#include "traceline.h"

enum {
	LCORES_MAX = 4096,
	LCORES_KEPT = 65536,   /* latest entries of each lcore */
	LCORES_BLOCK = 32,     /* of them: sums are kept of what was before each */
	LCORES_WHO = 128,      /* sums of an lcore */
	LCORES_SILENCES = 256, /* of decreasing lengths: no target writes so many */
	LCORES_GAPS = 64,      /* latest ones of each lcore: a copy has few */
	LCORES_ACTIVE_NS = 100 * 1000,
};

/* A silence, and the index of its lcore in lcores.all. All zero: none. */
struct lcores_silent {
	uint64_t ns;
	uint32_t lcore;
};

/* What an lcore wrote for one of the caller's numbers, and for how long: from the entry before each to that one. */
struct lcores_sum {
	uint32_t who, entries;
	uint64_t ns;
};

struct lcores_sums {
	struct lcores_sum *all;
	size_t n, cap;
	size_t latest; /* that was added to */
};

struct lcore {
	uint64_t number;      /* SPDK's */
	struct slice source;  /* as in JSON; no p: its lines have none */
	uint64_t first, last; /* ns: time of the first entry, and latest time of one */
	uint64_t entries;     /* so far */
	/* each the longest one since the one before it */
	struct lcores_silence {
		uint64_t end, ns;
	} * silences;
	size_t num_silences;
	uint64_t gaps[LCORES_GAPS]; /* number of the entry after each */
	uint64_t num_gaps;          /* so far */
	/* silences by the number of bits of their length */
	struct lcores_length {
		uint64_t n, ns;
	} lengths[65];
	uint32_t call; /* for spans.c: the request that it is in the call for, plus 1 */
	/* rings of entries, and of the sums before each block of them with the silences in the block before */
	struct lcores_entry {
		uint64_t ns : 63, is_work : 1;
		uint32_t order, who;
	} * kept;
	struct lcores_block {
		struct lcores_sums sums;
		struct lcores_pauses {
			uint64_t longest, active; /* ns */
			uint32_t who;             /* the entry that ended the longest was for */
		} pauses;
	} * blocks;
	size_t cap_kept, num_blocks, cap_blocks;
	uint64_t num_kept; /* so far */
	struct lcores_sums sums;
	size_t replaced; /* in sums: the latest one that made room for another */
};

/* All zero at first. */
struct lcores {
	struct map map;      /* by source and number */
	uint32_t recent[16]; /* by the last digits of the number */
	struct lcore *all;
	size_t n, cap;
};

/* Adds an entry at a time in ns. Returns the index of its lcore in all; MAP_NONE: there are too many. */
uint32_t lcores_add(struct lcores *l, const struct traceline *line, uint64_t ns);

/*
 * Keeps the latest entry of an lcore for lcores_work(). order: its position in the trace, modulo 2^32; who: whom it was
 * for, a number of the caller; is_work: the lcore has worked since the entry before. To be called for each entry or for
 * none.
 */
void lcores_keep(struct lcores *l, uint32_t lcore, uint32_t order, uint32_t who, bool is_work);

/*
 * Keeps the longest silence of an lcore between two times, in ns, if it is longer: one that began before or that lasts
 * on counts as far as it is between them. `to` is not before the latest entry.
 */
void lcores_longer(const struct lcores *l, struct lcores_silent *longest, uint32_t lcore, uint64_t from, uint64_t to);

/*
 * Whether silences that have as many bits as this one, in ns, end at most at one in a hundred entries of the lcore so
 * far, and are at most half of its time: else it has little to do, and is silent for that reason.
 */
bool lcores_is_rare(const struct lcores *l, uint32_t lcore, uint64_t ns);

/* The mean of its silences so far that are longer than LCORES_ACTIVE_NS; 0: there was none. */
uint64_t lcores_usual_silence(const struct lcores *l, uint32_t lcore);

struct lcores_moment {
	uint64_t ns;
	uint32_t order; /* position in the trace, modulo 2^32 */
	/* of the entry that was written then: its lcore, and its number among those of it, modulo 2^32 */
	uint32_t lcore, entry;
};

/* All zero before the first call. */
struct lcores_work {
	uint64_t entries;
	uint64_t read;    /* the latest ones of them: the others are not kept */
	uint64_t silence; /* ns: the longest one */
	uint64_t active;  /* ns, at least since the first entry that was read */
	bool gap;         /* entries are missing */
	/* of those, without the time of that silence; if an lcore writes for more than LCORES_WHO, some are missing */
	struct lcores_sums sums;
};

/*
 * Sets *work to what the lcore of a moment's entry wrote between that and a later moment, which may be that of an entry
 * of another lcore, or of none: MAP_NONE.
 */
void lcores_work(const struct lcores *l, const struct lcores_moment *from, const struct lcores_moment *to,
		 struct lcores_work *work);

void lcores_work_free(struct lcores_work *work);

void lcores_free(struct lcores *l);
