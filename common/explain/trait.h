/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests may have in common. */
#pragma once

#include "requests.h"

enum trait {
	TRAIT_HOST,
	TRAIT_CONNECTION,
	TRAIT_BDEV,
	TRAIT_LEG,
	TRAIT_LCORE,
	TRAIT_TYPE,
	TRAIT_SIZE,
	TRAIT_STATUS,
	TRAIT_REGION,
	TRAIT_DEPTH,
	TRAIT_OFF_CPU, /* the process or call that held the reactor longest, for a tenth of its life or more */
	TRAIT_IRQ,     /* the interrupt, likewise */
	TRAIT_FULL,    /* the host, if its queue was full */
	TRAITS
};

extern const char *const trait_names[TRAITS];

/* A value: a name, a number, or both. */
struct trait_value {
	uint32_t name; /* MAP_NONE: none */
	uint64_t number;
};

/* The value of a request. False if it has none. */
bool trait_of(const struct requests *r, const struct request *q, enum trait trait, struct trait_value *value);
