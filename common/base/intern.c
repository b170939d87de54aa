/* SPDX-License-Identifier: BSD-3-Clause */
#include "intern.h"

#include <stdlib.h>

#include "count.h"
#include "mem.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Seeded with random numbers, like the map's hash: nobody can choose names that collide. In a text of more than eight
 * bytes, the last word may overlap the one before it.
 */
static uint64_t hash(const struct intern *names, struct slice s)
{
	uint64_t h = names->seed[0] ^ s.n, word = 0;

	if (s.n < 8) {
		for (size_t i = 0; i < s.n; i++)
			word = word << 8 | (unsigned char)s.p[i];
		return mix(h ^ word, names->seed[1]);
	}
	for (; s.n > 8; s = slice_from(s, s.n < 16 ? s.n - 8 : 8))
		h = mix(h ^ word_at(s.p), names->seed[1]);
	return mix(h ^ word_at(s.p), names->seed[1]);
}

/* Each key of the map belongs to one text. If the hash of a text is in use, the next free one is its key. */
static uint32_t find(const struct intern *names, struct slice text, uint64_t *key)
{
	uint32_t number;

	for (*key = hash(names, text); (number = map_get(&names->map, *key)) != MAP_NONE; ++*key)
		if (slice_equal(names->all[number], text))
			break;
	return number;
}

uint32_t intern_get(const struct intern *names, struct slice text)
{
	uint64_t key;

	return find(names, text, &key);
}

/* As slice_equal(), without a call: names are short. */
static inline bool is_same(struct slice a, struct slice b)
{
	size_t n = a.n;

	if (n != b.n)
		return false;
	if (n < 8) {
		for (size_t i = 0; i < n; i++)
			if (a.p[i] != b.p[i])
				return false;
		return true;
	}
	for (size_t i = 0; i + 8 < n; i += 8)
		if (word_at(a.p + i) != word_at(b.p + i))
			return false;
	return word_at(a.p + n - 8) == word_at(b.p + n - 8);
}

static __attribute__((noinline)) uint32_t look_up(struct intern *names, struct slice text, uint32_t max,
						  uint32_t *recent)
{
	uint32_t number;
	uint64_t key;

	if (!names->seed[1])
		map_seed(names->seed);
	number = find(names, text, &key);
	if (number == MAP_NONE && names->n < max) {
		number = names->n;
		*map_put(&names->map, key) = number;
		mem_add(names->all, names->n, names->cap, mem_slice(text));
	}
	if (number != MAP_NONE)
		*recent = number;
	return number;
}

uint32_t intern_add_below(struct intern *names, struct slice text, uint32_t max)
{
	/* few names are used often: most are found without the hash */
	unsigned last = text.n ? text.p[text.n - 1] : 0, middle = text.n ? text.p[text.n / 2] : 0;
	uint32_t *recent = &names->recent[(text.n + 5 * last + 23 * middle) % COUNT(names->recent)];

	if (*recent < names->n && is_same(names->all[*recent], text))
		return *recent;
	return look_up(names, text, max, recent);
}

uint32_t intern_add(struct intern *names, struct slice text)
{
	return intern_add_below(names, text, MAP_NONE);
}

uint32_t *intern_sort(const struct intern *names, int (*compare)(const void *, const void *, void *),
		      const void *context)
{
	uint32_t *numbers = mem_array(names->n, sizeof(*numbers));

	for (uint32_t i = 0; i < names->n; i++)
		numbers[i] = i;
	qsort_r(numbers, names->n, sizeof(*numbers), compare, (void *)context);
	return numbers;
}

void intern_free(struct intern *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free((char *)names->all[i].p);
	free(names->all);
	map_free(&names->map);
	*names = (struct intern){};
}
