/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <stdlib.h>
#include <sys/auxv.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Depends on random numbers, as that of the map does: nobody can choose names that collide. */
static uint64_t hash(const struct names *names, struct slice s)
{
	uint64_t word = 0, h = names->seed[0] ^ s.n;

	for (; s.n >= 8; s.p += 8, s.n -= 8) {
		memcpy(&word, s.p, 8);
		h = mix(h ^ word, names->seed[1]);
	}
	word = 0;
	for (size_t i = 0; i < s.n; i++)
		word = word << 8 | (unsigned char)s.p[i];
	return mix(h ^ word, names->seed[1]);
}

/* A key of the map belongs to one text: one whose hash is taken uses the next number. */
static uint32_t find(const struct names *names, struct slice text, uint64_t *key)
{
	uint32_t number;

	for (*key = hash(names, text); (number = map_get(&names->map, *key)) != MAP_NONE; ++*key)
		if (slice_equal(names->all[number], text))
			break;
	return number;
}

uint32_t names_get(const struct names *names, struct slice text)
{
	uint64_t key;

	return find(names, text, &key);
}

static int add(struct names *names, struct slice text, uint64_t key)
{
	char *copy;
	uint32_t *number;

	if (names->n == names->cap) {
		uint32_t cap = names->cap ? 2 * names->cap : 64;
		struct slice *all = reallocarray(names->all, cap, sizeof(*all));

		if (!all)
			return -1;
		names->all = all;
		names->cap = cap;
	}
	copy = malloc(text.n + 1);
	number = copy ? map_put(&names->map, key) : NULL;
	if (!number) {
		free(copy);
		return -1;
	}
	memcpy(copy, text.p, text.n);
	copy[text.n] = 0;
	*number = names->n;
	names->all[names->n++] = (struct slice){copy, text.n};
	return 0;
}

uint32_t names_add(struct names *names, struct slice text)
{
	uint64_t key;
	uint32_t number;

	if (!names->seed[1]) {
		memcpy(names->seed, (const void *)getauxval(AT_RANDOM), sizeof(names->seed));
		names->seed[1] |= 1;
	}
	number = find(names, text, &key);
	if (number == MAP_NONE && add(names, text, key) == 0)
		number = names->n - 1;
	return number;
}

void names_free(struct names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free((char *)names->all[i].p);
	free(names->all);
	map_free(&names->map);
	*names = (struct names){};
}
