/* SPDX-License-Identifier: BSD-3-Clause */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static struct map_slot *find(struct map *m, uint64_t key)
{
	size_t i = map_hash(m, key);

	while (m->slots[i & m->mask].key != key && m->slots[i & m->mask].value != MAP_NONE)
		i++;
	return &m->slots[i & m->mask];
}

static int grow(struct map *m)
{
	size_t size = m->slots ? 2 * (m->mask + 1) : 64;
	struct map bigger = {malloc(size * sizeof(*bigger.slots)), size - 1, m->used, {}};

	if (!bigger.slots)
		return -1;
	/* key 0 in a free slot looks like a hit in map_get(), and its value says that it is none */
	for (size_t i = 0; i < size; i++)
		bigger.slots[i] = (struct map_slot){0, MAP_NONE};
	/* the kernel gives every process 16 random bytes */
	memcpy(bigger.seed, (const void *)getauxval(AT_RANDOM), sizeof(bigger.seed));
	bigger.seed[1] |= 1;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value != MAP_NONE)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

uint32_t *map_put(struct map *m, uint64_t key)
{
	struct map_slot *slot;

	if (2 * m->used >= m->mask && grow(m) != 0)
		return NULL;
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
