/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <stdlib.h>

#include "table.h"
#include "trait.h"

enum {
	TIMES = 4,         /* slow is this many times the median of comparable ones */
	GROUP_LEAST = 5,   /* requests of a group that may be slow */
	BASE_LEAST = 20,   /* of one that others are compared with */
	BASE_PART = 100,   /* and the part of its class */
	NOTABLE_PART = 20, /* the part of all time that is enough for a tail to matter */
	PEAK_NS = 1000000, /* or one peak as long as this */
	PEAK_TIMES = 20,   /* and as many medians */
	MOST_BITS = 16,    /* by which sizes that are compared may differ */
};

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* Instead of the size: of a request without its creation, which does not say what it was. */
enum { PART = 128 };

static uint32_t class_of(struct compare *c, const struct request *q)
{
	bool is_part = q->cut && q->type == MAP_NONE;
	unsigned size = is_part ? PART : q->has_blocks ? 1 + bits_of(q->blocks) : 0;
	/* names are below 2^20 */
	uint64_t key = (uint64_t)(q->family & 0xffffff) << 40 | (uint64_t)(q->type & 0xffffff) << 8 | size;
	size_t n = c->num_classes;
	struct compare_class *class = table_put(&c->map, key, c->classes, c->num_classes, c->cap_classes);

	if (c->num_classes > n)
		*class = (struct compare_class){.family = q->family, .type = q->type, .size = size, .other = n};
	class->n++;
	return class - c->classes;
}

/* Requests of a class follow each other, from the fastest on. */
struct ranks {
	struct rank {
		uint64_t life;
		uint32_t class, request;
	} * all;
	size_t n;
};

static int by_class(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

static struct ranks rank(const struct compare *c)
{
	struct ranks ranks = {mem_array(c->n, sizeof(*ranks.all)), c->n};

	for (size_t i = 0; i < c->n; i++)
		ranks.all[i] = (struct rank){compare_request(c, i)->life, c->class_of[i], i};
	qsort(ranks.all, ranks.n, sizeof(*ranks.all), by_class);
	return ranks;
}

static size_t class_end(const struct ranks *ranks, size_t i)
{
	size_t end = i;

	while (end < ranks->n && ranks->all[end].class == ranks->all[i].class)
		end++;
	return end;
}

static void find_medians(struct compare *c, const struct ranks *ranks)
{
	for (size_t i = 0, end; i < ranks->n; i = end) {
		struct compare_class *class = &c->classes[ranks->all[i].class];

		end = class_end(ranks, i);
		class->base = class->median = ranks->all[i + (end - i - 1) / 2].life;
	}
}

/* The requests of a class that have the same value of a trait. */
struct groups {
	struct map map;
	struct group {
		uint32_t class;
		uint64_t n, seen, median;
	} * all;
	size_t n, cap;
	uint32_t *of; /* by request; MAP_NONE: none */
};

static void find_groups(struct groups *groups, const struct compare *c, const struct ranks *ranks, enum trait trait)
{
	*groups = (struct groups){.of = mem_array(c->n, sizeof(*groups->of))};
	for (size_t i = 0; i < c->n; i++) {
		struct trait_value value;
		struct group *group;

		groups->of[i] = MAP_NONE;
		if (c->set_of[i] == SET_NONE || !trait_of(c->requests, compare_request(c, i), trait, &value))
			continue;
		group = table_put(&groups->map, (uint64_t)c->class_of[i] << 32 | value.name, groups->all, groups->n,
				  groups->cap);
		group->class = c->class_of[i];
		group->n++;
		groups->of[i] = group - groups->all;
	}
	for (size_t i = 0; i < ranks->n; i++) {
		uint32_t of = groups->of[ranks->all[i].request];
		struct group *group;

		if (of == MAP_NONE)
			continue;
		group = &groups->all[of];
		if (group->seen++ == (group->n - 1) / 2)
			group->median = ranks->all[i].life;
	}
}

static void free_groups(struct groups *groups)
{
	map_free(&groups->map);
	free(groups->all);
	free(groups->of);
}

static void find_base(struct compare *c, const struct ranks *ranks, enum trait trait)
{
	struct groups groups;

	find_groups(&groups, c, ranks, trait);
	for (size_t i = 0; i < groups.n; i++) {
		const struct group *group = &groups.all[i];
		struct compare_class *class = &c->classes[group->class];

		if (group->n >= BASE_LEAST && group->n >= class->n / BASE_PART && group->median < class->base)
			class->base = group->median;
	}
	free_groups(&groups);
}

/* A class of a type comes before its larger sizes. */
static int by_size(const void *a, const void *b, void *context)
{
	const struct compare_class *classes = context, *x = &classes[*(const uint32_t *)a],
				   *y = &classes[*(const uint32_t *)b];

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Compares a class with requests of another size, which may take less in proportion, if all of its own are slow. */
static void compare_sizes(struct compare_class *class, const struct compare_class *other, uint32_t number,
			  uint64_t base)
{
	unsigned bits = other->size < class->size ? class->size - other->size : 0;

	if (!other->size || !class->size || other->n < BASE_LEAST || bits > MOST_BITS ||
	    base < TIMES * (other->base << bits) || class->base <= other->base << bits)
		return;
	class->base = other->base << bits;
	class->other = number;
}

/* If all requests of a class are slow, they have nothing to compare with but requests of other sizes. */
static void find_others(struct compare *c)
{
	uint32_t *order = mem_array(c->num_classes, sizeof(*order));
	uint64_t *bases = mem_array(c->num_classes, sizeof(*bases));

	for (size_t i = 0; i < c->num_classes; i++) {
		order[i] = i;
		bases[i] = c->classes[i].base;
	}
	if (c->num_classes)
		qsort_r(order, c->num_classes, sizeof(*order), by_size, c->classes);
	for (size_t i = 0, end; i < c->num_classes; i = end) {
		const struct compare_class *first = &c->classes[order[i]];

		/* classes of a type differ by their size: there are few */
		for (end = i; end < c->num_classes && c->classes[order[end]].family == first->family &&
			      c->classes[order[end]].type == first->type;)
			end++;
		for (size_t k = i; k < end; k++)
			for (size_t m = i; m < end; m++)
				compare_sizes(&c->classes[order[k]], &c->classes[order[m]], order[m], bases[order[k]]);
	}
	free(order);
	free(bases);
}

static bool is_slow(const struct compare *c, uint32_t class, uint64_t life)
{
	return life >= TIMES * c->classes[class].base;
}

/*
 * The type and size of a request without its creation are unknown, and its life is a lower bound. It is compared with
 * the slowest class. Without any class, it is not compared.
 */
static void compare_parts(struct compare *c)
{
	size_t slowest = SIZE_MAX;

	for (size_t i = 0; i < c->num_classes; i++)
		if (c->classes[i].size != PART && c->classes[i].n >= BASE_LEAST &&
		    (slowest == SIZE_MAX || c->classes[i].median > c->classes[slowest].median))
			slowest = i;
	for (size_t i = 0; i < c->num_classes && slowest != SIZE_MAX; i++)
		if (c->classes[i].size == PART) {
			c->classes[i].base = c->classes[slowest].median;
			c->classes[i].other = slowest;
		}
	for (size_t i = 0; i < c->n; i++)
		if (c->classes[c->class_of[i]].size == PART &&
		    (slowest == SIZE_MAX || !is_slow(c, c->class_of[i], compare_request(c, i)->life)))
			c->set_of[i] = SET_NONE;
}

/* Marks the requests of groups whose median is slow, except for the fast ones among them. */
static void mark_groups(struct compare *c, const struct ranks *ranks, enum trait trait)
{
	struct groups groups;

	find_groups(&groups, c, ranks, trait);
	for (size_t i = 0; i < c->n; i++) {
		const struct group *group;

		if (groups.of[i] == MAP_NONE)
			continue;
		group = &groups.all[groups.of[i]];
		if (group->n >= GROUP_LEAST && is_slow(c, group->class, group->median) &&
		    2 * compare_request(c, i)->life >= TIMES * c->classes[group->class].base)
			c->set_of[i] = SET_GROUP;
	}
	free_groups(&groups);
}

static void mark_tail(struct compare *c, const struct compare_options *options)
{
	for (size_t i = 0; i < c->n; i++) {
		uint64_t life = compare_request(c, i)->life;

		if (c->set_of[i] != SET_REST)
			continue;
		if (options->min_ns ? life >= options->min_ns : is_slow(c, c->class_of[i], life))
			c->set_of[i] = SET_TAIL;
		else if (life <= c->classes[c->class_of[i]].base)
			c->set_of[i] = SET_FAST;
	}
}

/* With --percent: in each class the slowest ones. */
static void mark_percent(struct compare *c, const struct ranks *ranks, double percent)
{
	for (size_t i = 0, end; i < ranks->n; i = end) {
		end = class_end(ranks, i);
		for (size_t k = i; k < end; k++)
			if (c->set_of[ranks->all[k].request] == SET_NONE)
				continue;
			else if (k - i >= (end - i) * (1 - percent / 100))
				c->set_of[ranks->all[k].request] = SET_TAIL;
			else if (k - i < (end - i + 1) / 2)
				c->set_of[ranks->all[k].request] = SET_FAST;
	}
}

static void count(struct compare *c)
{
	for (size_t i = 0; i < c->n; i++) {
		uint64_t life = compare_request(c, i)->life, excess;
		struct compare_class *class = &c->classes[c->class_of[i]];

		if (c->set_of[i] == SET_NONE)
			continue;
		excess = life > class->base ? life - class->base : 0;
		c->counts[c->set_of[i]]++;
		c->total += life;
		c->excess[c->set_of[i]] += excess;
		if (c->set_of[i] == SET_TAIL && excess > c->longest && life >= PEAK_TIMES * class->base)
			c->longest = excess;
	}
}

/* Classes without slow requests are alike as a whole, unless slow ones of other sizes are compared with them. */
static void mark_alike(struct compare *c)
{
	bool *is_compared = mem_array(c->num_classes, sizeof(*is_compared));

	for (size_t i = 0; i < c->num_classes; i++)
		c->classes[i].is_alike = true;
	for (size_t i = 0; i < c->n; i++) {
		struct compare_class *class = &c->classes[c->class_of[i]];

		class->is_alike &= c->set_of[i] != SET_GROUP;
		is_compared[class->other] |= c->set_of[i] == SET_GROUP || (c->set_of[i] == SET_TAIL && c->tail_is_slow);
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->set_of[i] != SET_NONE && c->classes[c->class_of[i]].is_alike && !is_compared[c->class_of[i]]) {
			c->counts[c->set_of[i]]--;
			c->counts[SET_ALIKE]++;
			c->set_of[i] = SET_ALIKE;
		}
	free(is_compared);
}

/* All that are not of the earlier trace, as far as that has such requests. */
static void mark_against(struct compare *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->classes[c->class_of[i]].fast += compare_request(c, i)->base;
	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);

		if (q->base)
			c->set_of[i] = SET_FAST;
		else
			c->set_of[i] = c->classes[c->class_of[i]].fast ? SET_GROUP : SET_REST;
		c->counts[c->set_of[i]]++;
		c->total += q->life;
	}
}

static void mark_slow(struct compare *c, const struct ranks *ranks, const struct compare_options *options)
{
	bool by_hand = options->percent || options->min_ns;

	for (enum trait trait = 0; trait < TRAIT_GROUPS; trait++)
		find_base(c, ranks, trait);
	find_others(c);
	compare_parts(c);
	for (enum trait trait = 0; trait < TRAIT_GROUPS && !by_hand; trait++)
		mark_groups(c, ranks, trait);
	if (options->percent)
		mark_percent(c, ranks, options->percent);
	else
		mark_tail(c, options);
	count(c);
	c->tail_is_slow = c->counts[SET_TAIL] &&
			  (by_hand || c->excess[SET_TAIL] >= c->total / NOTABLE_PART || c->longest >= PEAK_NS);
	if (!by_hand)
		mark_alike(c);
}

void compare_run(struct compare *c, const struct requests *requests, const uint32_t *order, size_t n,
		 const struct compare_options *options)
{
	struct ranks ranks;

	*c = (struct compare){.requests = requests, .order = order, .n = n};
	c->class_of = mem_array(n, sizeof(*c->class_of));
	c->set_of = mem_array(n, sizeof(*c->set_of));
	for (size_t i = 0; i < n; i++) {
		c->set_of[i] = SET_REST;
		c->class_of[i] = class_of(c, compare_request(c, i));
	}
	if (options->against) {
		mark_against(c);
		return;
	}
	ranks = rank(c);
	find_medians(c, &ranks);
	mark_slow(c, &ranks, options);
	free(ranks.all);
}

void compare_free(struct compare *c)
{
	free(c->classes);
	free(c->class_of);
	free(c->set_of);
	map_free(&c->map);
}
