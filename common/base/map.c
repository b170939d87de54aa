/* SPDX-License-Identifier: BSD-3-Clause */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "mem.h"

static struct map_slot *find(struct map *m, uint64_t key)
{
	size_t i = map_hash(m, key);

	while (m->slots[i & m->mask].key != key && m->slots[i & m->mask].value != MAP_NONE)
		i++;
	return &m->slots[i & m->mask];
}

void map_seed(uint64_t seed[2])
{
	/* early in boot it may fail; the kernel gives each process 16 random bytes */
	if (getrandom(seed, 2 * sizeof(*seed), GRND_NONBLOCK) != 2 * sizeof(*seed))
		memcpy(seed, (const void *)getauxval(AT_RANDOM), 2 * sizeof(*seed));
	seed[1] |= 1;
}

static void grow(struct map *m)
{
	size_t size = m->slots ? 2 * (m->mask + 1) : 64;
	struct map bigger = {mem_resize(NULL, size, sizeof(*bigger.slots)), size - 1, m->used, {}};

	/* key 0 in a free slot looks like a hit in map_get(), and its value is that of a miss */
	for (size_t i = 0; i < size; i++)
		bigger.slots[i] = (struct map_slot){0, MAP_NONE};
	map_seed(bigger.seed);
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value != MAP_NONE)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
}

uint32_t *map_put(struct map *m, uint64_t key)
{
	struct map_slot *slot;

	if (2 * m->used >= m->mask)
		grow(m);
	slot = find(m, key);
	if (slot->value == MAP_NONE) {
		slot->key = key;
		m->used++;
	}
	return &slot->value;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){};
}
