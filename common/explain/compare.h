/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares requests, and finds those that are slow. A class is what has the same type, size, connection, bdev, leg and
 * lcore. It is slow as a whole if others of its type and size are much faster; else the tail of it is.
 */
#pragma once

#include "floor.h"
#include "requests.h"

enum compare_set {
	SET_FAST, /* the faster half of those that the slow ones are compared with */
	SET_REST, /* neither fast nor slow */
	SET_GROUP,
	SET_TAIL,
	SET_ALIKE, /* of a class in which nothing is slow */
	SETS
};

struct compare_options {
	uint64_t min_ns; /* requests from here on are slow; 0: not given */
	/* devices differ by their kind: the least by which a class is slower than others as a whole */
	uint64_t budget_ns;
	bool against; /* those of the earlier trace are the fast ones, all others are slow */
};

/* Requests are numbered by their places in the order that is given. */
struct compare {
	const struct requests *requests;
	uint32_t *order;
	size_t n;
	struct intern keys; /* of classes, by their numbers */
	struct compare_class {
		/* names; MAP_NONE: not known. size: bits of the number of blocks */
		struct compare_key {
			uint32_t family, type, size, connection, bdev, leg, lcore;
		} key;
		uint64_t n; /* requests */
		uint64_t median;
		uint64_t base;  /* ns: its median, or that of the class with which it is compared */
		uint64_t fast;  /* with --against: requests of the earlier trace */
		uint32_t other; /* the class with the fast ones to compare with */
		bool is_alike;  /* no group in it is slow: but for those of the tail, its requests are alike */
	} * classes;
	size_t num_classes, cap_classes;
	uint32_t *class_of; /* by request */
	uint8_t *set_of;    /* by request: enum compare_set */
	uint64_t counts[SETS];
	unsigned __int128 total; /* ns of all that are compared */
	unsigned __int128 excess[SETS];
	bool tail_is_slow; /* else it is too small to matter */
};

/*
 * Compares n requests, given by their numbers in the store. c is all zero; the order must outlive it. Those that cannot
 * be compared become the last ones of it.
 */
void compare_run(struct compare *c, const struct requests *requests, uint32_t *order, size_t n,
		 const struct compare_options *options);

static inline const struct request *compare_request(const struct compare *c, size_t i)
{
	return &c->requests->all[c->order[i]];
}

void compare_free(struct compare *c);
