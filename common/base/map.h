/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A map from 64-bit keys (addresses, mostly) to 32-bit values, usually indices into the caller's
 * array.
 *
 * Open addressing with linear probing, at most half full: a look-up usually touches one cache line.
 * Keys come from input that may be hostile, so the hash depends on random numbers, and nobody can
 * choose keys that collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value; /* MAP_NONE: the slot is free */
};

/* All zero is an empty map. */
struct map {
	struct map_slot *slots;
	size_t mask, used;
	uint64_t seed[2];
};

/* Random numbers for a hash that input cannot predict; the second is odd. */
void map_seed(uint64_t seed[2]);

/* Both halves of a full product, so that every bit of the key affects every bit of the hash. */
static inline size_t map_hash(const struct map *m, uint64_t key)
{
	unsigned __int128 product = (unsigned __int128)(key ^ m->seed[0]) * m->seed[1];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the key's value, MAP_NONE if it has none. */
static inline uint32_t map_get(const struct map *m, uint64_t key)
{
	if (!m->slots)
		return MAP_NONE;
	for (size_t i = map_hash(m, key);; i++) {
		const struct map_slot *slot = &m->slots[i & m->mask];

		if (slot->key == key || slot->value == MAP_NONE)
			return slot->value;
	}
}

/* The key's value, to be read and set. A new one is MAP_NONE: set it before the next call. */
uint32_t *map_put(struct map *m, uint64_t key);

void map_free(struct map *m);
