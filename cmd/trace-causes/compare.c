/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <stdlib.h>

#include "table.h"

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

static uint64_t number_or_none(uint32_t name)
{
	return name == MAP_NONE ? UINT64_MAX : name;
}

uint64_t compare_trait(const struct requests *r, const struct request *q, enum trait trait)
{
	switch (trait) {
	case TRAIT_HOST:
		return number_or_none(q->host);
	case TRAIT_QUEUE:
		return number_or_none(q->connection);
	case TRAIT_BDEV:
		return number_or_none(q->bdev);
	case TRAIT_LEG:
		return requests_has_legs(r, q->bdev) ? number_or_none(q->leg) : UINT64_MAX;
	case TRAIT_LCORE:
		return q->lcore;
	case TRAIT_TYPE:
		return number_or_none(q->type);
	case TRAIT_SIZE:
		return q->has_blocks ? q->blocks : UINT64_MAX;
	case TRAIT_STATUS:
		return number_or_none(q->status);
	case TRAIT_REGION:
		return q->has_lba && q->bdev != MAP_NONE ? (uint64_t)q->bdev << 32 | (uint32_t)(q->lba >> 16)
							 : UINT64_MAX;
	case TRAIT_DEPTH:
		return q->has_qd ? bits_of(q->qd) : UINT64_MAX;
	case TRAITS:
		break;
	}
	return UINT64_MAX;
}

/* Whether the family of each request is one of hosts; if there are no such families, all are. */
static bool *find_families(const struct requests *r)
{
	bool *is_front = mem_array(r->names.n + 1, sizeof(*is_front)), any = false;

	for (size_t i = 0; i < r->n; i++) {
		uint32_t family = r->all[i].family;

		if (r->all[i].front && family != MAP_NONE)
			any = is_front[family] = true;
	}
	for (uint32_t i = 0; i <= r->names.n && !any; i++)
		is_front[i] = true;
	return is_front;
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

/* A request in an array to be sorted. */
struct item {
	uint64_t value, life;
	uint32_t class, request;
};

static int by_class(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->life > y->life) - (x->life < y->life);
}

/* Requests by class and by the trait, from the fastest on. */
static size_t sort_items(const struct compare *c, struct item *items, enum trait trait)
{
	const struct requests *r = c->requests;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] != SET_NONE)
			items[n++] = (struct item){trait == TRAITS ? 0 : compare_trait(r, &r->all[i], trait),
						   r->all[i].life, c->class_of[i], i};
	qsort(items, n, sizeof(*items), by_class);
	return n;
}

/* The end of the group that starts at i. */
static size_t group_end(const struct item *items, size_t i, size_t n)
{
	size_t end = i;

	while (end < n && items[end].class == items[i].class && items[end].value == items[i].value)
		end++;
	return end;
}

static void find_base(struct compare *c, struct item *items, enum trait trait)
{
	size_t n = sort_items(c, items, trait);

	for (size_t i = 0, end; i < n; i = end) {
		struct compare_class *class = &c->classes[items[i].class];
		uint64_t median;

		end = group_end(items, i, n);
		median = items[i + (end - i - 1) / 2].life;
		if (trait == TRAITS)
			class->base = class->median = median;
		else if (items[i].value != UINT64_MAX && end - i >= BASE_LEAST && end - i >= class->n / BASE_PART &&
			 median < class->base)
			class->base = median;
	}
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
	const struct requests *r = c->requests;
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
	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] != SET_NONE && c->classes[c->class_of[i]].size == PART &&
		    (slowest == SIZE_MAX || !is_slow(c, c->class_of[i], r->all[i].life)))
			c->set_of[i] = SET_NONE;
}

/* Marks the requests of groups whose median is slow, except for the fast ones among them. */
static void mark_groups(struct compare *c, struct item *items, enum trait trait)
{
	size_t n = sort_items(c, items, trait);

	for (size_t i = 0, end; i < n; i = end) {
		end = group_end(items, i, n);
		if (items[i].value == UINT64_MAX || end - i < GROUP_LEAST ||
		    !is_slow(c, items[i].class, items[i + (end - i - 1) / 2].life))
			continue;
		for (size_t k = i; k < end; k++)
			if (2 * items[k].life >= TIMES * c->classes[items[k].class].base)
				c->set_of[items[k].request] = SET_GROUP;
	}
}

static void mark_tail(struct compare *c, const struct compare_options *options)
{
	const struct requests *r = c->requests;

	for (size_t i = 0; i < r->n; i++) {
		const struct compare_class *class;

		if (c->set_of[i] != SET_REST)
			continue;
		class = &c->classes[c->class_of[i]];
		if (options->min_ns ? r->all[i].life >= options->min_ns : r->all[i].life >= TIMES * class->base)
			c->set_of[i] = SET_TAIL;
		else if (r->all[i].life <= class->base)
			c->set_of[i] = SET_FAST;
	}
}

/* With -p: in each class the slowest ones. */
static void mark_percent(struct compare *c, struct item *items, double percent)
{
	size_t n = sort_items(c, items, TRAITS);

	for (size_t i = 0, end; i < n; i = end) {
		end = group_end(items, i, n);
		for (size_t k = i; k < end; k++)
			if (k - i >= (end - i) * (1 - percent / 100))
				c->set_of[items[k].request] = SET_TAIL;
			else if (k - i < (end - i + 1) / 2)
				c->set_of[items[k].request] = SET_FAST;
	}
}

static void count(struct compare *c)
{
	const struct requests *r = c->requests;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t life = r->all[i].life, excess;
		struct compare_class *class;

		if (c->set_of[i] == SET_NONE)
			continue;
		class = &c->classes[c->class_of[i]];
		excess = life > class->base ? life - class->base : 0;
		c->counts[c->set_of[i]]++;
		c->total += life;
		c->excess[c->set_of[i]] += excess;
		class->fast += c->set_of[i] == SET_FAST;
		if (c->set_of[i] == SET_TAIL && excess > c->longest && life >= PEAK_TIMES * class->base)
			c->longest = excess;
	}
}

/* If nothing in a class is slow, its requests are alike. */
static void mark_alike(struct compare *c)
{
	const struct requests *r = c->requests;
	bool *is_slow = mem_array(c->num_classes, sizeof(*is_slow));

	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] == SET_GROUP || (c->set_of[i] == SET_TAIL && c->tail_is_slow))
			is_slow[c->class_of[i]] = true;
	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] != SET_NONE && !is_slow[c->class_of[i]]) {
			c->counts[c->set_of[i]]--;
			c->counts[SET_ALIKE]++;
			c->set_of[i] = SET_ALIKE;
		}
	free(is_slow);
}

/* All that are not of the earlier trace, as far as that has such requests. */
static void mark_against(struct compare *c)
{
	const struct requests *r = c->requests;

	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] != SET_NONE && r->all[i].base)
			c->classes[c->class_of[i]].fast++;
	for (size_t i = 0; i < r->n; i++) {
		if (c->set_of[i] == SET_NONE)
			continue;
		if (r->all[i].base)
			c->set_of[i] = SET_FAST;
		else
			c->set_of[i] = c->classes[c->class_of[i]].fast ? SET_GROUP : SET_REST;
		c->counts[c->set_of[i]]++;
		c->total += r->all[i].life;
	}
}

static void mark_slow(struct compare *c, struct item *items, const struct compare_options *options)
{
	bool by_hand = options->percent || options->min_ns;

	for (enum trait trait = 0; trait < COMPARE_GROUPS; trait++)
		find_base(c, items, trait);
	find_others(c);
	compare_parts(c);
	if (options->percent)
		mark_percent(c, items, options->percent);
	for (enum trait trait = 0; trait < COMPARE_GROUPS && !by_hand; trait++)
		mark_groups(c, items, trait);
	mark_tail(c, options);
	count(c);
	c->tail_is_slow = c->counts[SET_TAIL] &&
			  (by_hand || c->excess[SET_TAIL] >= c->total / NOTABLE_PART || c->longest >= PEAK_NS);
	if (!by_hand)
		mark_alike(c);
}

static bool is_compared(const struct request *q, const bool *is_front, const struct compare_options *options)
{
	if (!q->wanted || (q->family != MAP_NONE && !is_front[q->family]))
		return false;
	if ((q->open && !options->open) || (q->cut && options->against))
		return false;
	return !options->has_group || q->group == options->group;
}

void compare_run(struct compare *c, const struct requests *requests, const struct compare_options *options)
{
	bool *is_front = find_families(requests);
	struct item *items = mem_array(requests->n, sizeof(*items));
	*c = (struct compare){.requests = requests};
	c->class_of = mem_array(requests->n, sizeof(*c->class_of));
	c->set_of = mem_array(requests->n, sizeof(*c->set_of));
	for (size_t i = 0; i < requests->n; i++) {
		const struct request *q = &requests->all[i];

		if (!is_compared(q, is_front, options))
			continue;
		c->set_of[i] = SET_REST;
		c->class_of[i] = class_of(c, q);
	}
	find_base(c, items, TRAITS);
	if (options->against)
		mark_against(c);
	else
		mark_slow(c, items, options);
	free(items);
	free(is_front);
}

void compare_free(struct compare *c)
{
	free(c->classes);
	free(c->class_of);
	free(c->set_of);
	map_free(&c->map);
}
