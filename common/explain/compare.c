/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <stdlib.h>

#include "table.h"

/* Instead of the size: of a request without its creation, which does not say what it was. Sizes are below. */
enum { PART = 128 };

static uint32_t class_of(struct compare *c, struct compare_key key)
{
	size_t n = c->num_classes;
	uint32_t number = intern_add(&c->keys, (struct slice){(const char *)&key, sizeof(key)});
	struct compare_class *class = table_at(c->classes, c->num_classes, c->cap_classes, number);

	if (c->num_classes > n)
		*class = (struct compare_class){.key = key, .other = n};
	class->n++;
	return number;
}

static struct compare_key key_of(const struct compare *c, const struct request *q)
{
	return (struct compare_key){
		.family = q->family,
		.type = q->type,
		.size = q->cut && q->type == MAP_NONE ? PART : requests_size(q),
		.connection = q->connection,
		.bdev = q->bdev,
		.leg = requests_has_legs(c->requests, q->bdev) ? q->leg : MAP_NONE,
		.lcore = q->lcore,
	};
}

/* Requests of a small class are compared with all others of their type and size. */
static void find_classes(struct compare *c, bool against)
{
	for (size_t i = 0; i < c->n; i++)
		c->class_of[i] = class_of(c, key_of(c, compare_request(c, i)));
	for (size_t i = 0; i < c->n; i++) {
		struct compare_class *class = &c->classes[c->class_of[i]];
		struct compare_key key = class->key;

		/* connections and lcores of an earlier trace are others */
		if (class->n >= FLOOR_EVENTS && !against)
			continue;
		class->n--;
		key.connection = key.bdev = key.leg = key.lcore = MAP_NONE;
		c->class_of[i] = class_of(c, key);
	}
}

struct life {
	uint64_t ns;
	uint32_t class;
};

static int by_class(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void find_medians(struct compare *c)
{
	struct life *all = mem_array(c->n, sizeof(*all));

	for (size_t i = 0; i < c->n; i++)
		all[i] = (struct life){compare_request(c, i)->life, c->class_of[i]};
	qsort(all, c->n, sizeof(*all), by_class);
	for (size_t i = 0, end; i < c->n; i = end) {
		struct compare_class *class = &c->classes[all[i].class];

		for (end = i; end < c->n && all[end].class == all[i].class;)
			end++;
		class->base = class->median = all[i + (end - i - 1) / 2].ns;
	}
	free(all);
}

/* Classes of a type and size follow each other. */
static int by_size(const void *a, const void *b, void *context)
{
	const struct compare_class *classes = context;
	const struct compare_key *x = &classes[*(const uint32_t *)a].key, *y = &classes[*(const uint32_t *)b].key;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Compares n classes of a type and size with the fastest of them that has enough requests. */
static void compare_alike(struct compare *c, const uint32_t *order, size_t n, uint64_t budget)
{
	uint32_t fastest = MAP_NONE;
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += c->classes[order[i]].n;
	for (size_t i = 0; i < n; i++) {
		const struct compare_class *class = &c->classes[order[i]];

		if (class->n >= FLOOR_EVENTS && class->n >= all / FLOOR_PART &&
		    (fastest == MAP_NONE || class->median < c->classes[fastest].median))
			fastest = order[i];
	}
	for (size_t i = 0; i < n && fastest != MAP_NONE; i++) {
		struct compare_class *class = &c->classes[order[i]];
		uint64_t base = c->classes[fastest].median;

		if (base >= class->median || class->median < FLOOR_TIMES * base || class->median - base < budget)
			continue;
		class->base = base;
		class->other = fastest;
	}
}

static void compare_classes(struct compare *c, uint64_t budget)
{
	uint32_t *order = mem_array(c->num_classes, sizeof(*order));

	for (size_t i = 0; i < c->num_classes; i++)
		order[i] = i;
	if (c->num_classes)
		qsort_r(order, c->num_classes, sizeof(*order), by_size, c->classes);
	for (size_t i = 0, end; i < c->num_classes; i = end) {
		for (end = i; end < c->num_classes && by_size(&order[i], &order[end], c->classes) == 0;)
			end++;
		compare_alike(c, order + i, end - i, budget);
	}
	free(order);
}

static bool is_slow(const struct compare *c, uint32_t class, uint64_t life)
{
	return life >= FLOOR_TIMES * c->classes[class].base;
}

/*
 * The life of a request that does not say what it was is a lower bound. It is compared with the slowest class, and left
 * out if it is not slow even so.
 */
static void leave_out_parts(struct compare *c)
{
	size_t slowest = SIZE_MAX, n = 0;

	for (size_t i = 0; i < c->num_classes; i++)
		if (c->classes[i].key.size != PART && c->classes[i].n >= FLOOR_EVENTS &&
		    (slowest == SIZE_MAX || c->classes[i].median > c->classes[slowest].median))
			slowest = i;
	for (size_t i = 0; i < c->n; i++) {
		uint32_t number = c->class_of[i], request = c->order[i];
		struct compare_class *class = &c->classes[number];

		if (class->key.size == PART && slowest == SIZE_MAX)
			continue;
		if (class->key.size == PART) {
			class->base = c->classes[slowest].median;
			class->other = slowest;
			if (!is_slow(c, number, compare_request(c, i)->life))
				continue;
		}
		c->order[i] = c->order[n];
		c->order[n] = request;
		c->class_of[n++] = number;
	}
	c->n = n;
}

/* Marks the requests of classes that are slow as a whole, except for the fast ones among them. */
static void mark_groups(struct compare *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_class *class = &c->classes[c->class_of[i]];

		if (class->key.size != PART && class->other != c->class_of[i] && class->n >= FLOOR_EVENTS &&
		    2 * compare_request(c, i)->life >= FLOOR_TIMES * class->base)
			c->set_of[i] = SET_GROUP;
	}
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

static void count(struct compare *c)
{
	for (size_t i = 0; i < c->n; i++) {
		uint64_t life = compare_request(c, i)->life, excess;
		struct compare_class *class = &c->classes[c->class_of[i]];

		excess = life > class->base ? life - class->base : 0;
		c->counts[c->set_of[i]]++;
		c->total += life;
		c->excess[c->set_of[i]] += excess;
	}
}

/*
 * Classes without slow requests are alike as a whole, unless slow ones of others are compared with them. Parts that are
 * left are slow.
 */
static void mark_alike(struct compare *c)
{
	bool *is_compared = mem_array(c->num_classes, sizeof(*is_compared));

	for (size_t i = 0; i < c->num_classes; i++)
		c->classes[i].is_alike = true;
	for (size_t i = 0; i < c->n; i++) {
		struct compare_class *class = &c->classes[c->class_of[i]];

		class->is_alike &= c->set_of[i] != SET_GROUP && class->key.size != PART;
		is_compared[class->other] |= c->set_of[i] == SET_GROUP || (c->set_of[i] == SET_TAIL && c->tail_is_slow);
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->classes[c->class_of[i]].is_alike && !is_compared[c->class_of[i]]) {
			c->counts[c->set_of[i]]--;
			c->counts[SET_ALIKE]++;
			c->set_of[i] = SET_ALIKE;
		}
	free(is_compared);
}

enum { CHOICES = 2000, MOST = CHOICES / (2 * FLOOR_CHANCE) }; /* half: traces may differ either way */

/* Of a fixed sequence, so that equal input has an equal answer. */
static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double sum(const double *all, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += all[i];
	return sum;
}

/*
 * A permutation test: whether the first of n numbers, which are `first`, have a larger mean than the others, so large
 * that less than one in 200 random choices of as many have as large a one. Changes the order of the numbers.
 */
static bool is_larger(double *all, size_t first, size_t n)
{
	double observed = sum(all, first);
	unsigned as_large = 0;
	uint64_t state = 0;

	if (!first || first == n || observed / first <= (sum(all, n) - observed) / (n - first))
		return false;
	for (unsigned choice = 0; choice < CHOICES && as_large < MOST; choice++) {
		for (size_t i = 0; i < first; i++) {
			size_t other = i + next(&state) % (n - i);
			double kept = all[i];

			all[i] = all[other];
			all[other] = kept;
		}
		as_large += sum(all, first) >= observed;
	}
	return as_large < MOST;
}

/* Each trace is divided into this many parts with the same number of requests: what hits several is in one of them. */
enum { BURSTS = 32 };

/* Whether requests take longer than those of the earlier trace, more than chance makes them, in any class of both. */
static bool is_slower(const struct compare *c)
{
	double *means = mem_array(c->num_classes, sizeof(*means)), parts[2 * BURSTS] = {};
	uint64_t n[2] = {}, seen[2] = {}, counts[2 * BURSTS] = {};
	size_t used = 0, first = 0;
	bool slower;

	for (size_t i = 0; i < c->n; i++)
		means[c->class_of[i]] += (double)compare_request(c, i)->life / c->classes[c->class_of[i]].n;
	for (size_t i = 0; i < c->n; i++)
		n[compare_request(c, i)->base]++;
	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);
		const struct compare_class *class = &c->classes[c->class_of[i]];
		size_t part = q->base * BURSTS + seen[q->base]++ * BURSTS / n[q->base];

		if (!class->fast || class->fast == class->n)
			continue;
		parts[part] += (double)q->life - means[c->class_of[i]];
		counts[part]++;
	}
	for (size_t i = 0; i < 2 * BURSTS; i++) {
		if (counts[i])
			parts[used++] = parts[i] / counts[i];
		if (i == BURSTS - 1)
			first = used;
	}
	slower = is_larger(parts, first, used);
	free(means);
	return slower;
}

/* All that are not of the earlier trace, as far as that has such requests, if they are slower. */
static void mark_against(struct compare *c)
{
	bool slower;

	for (size_t i = 0; i < c->n; i++)
		c->classes[c->class_of[i]].fast += compare_request(c, i)->base;
	slower = is_slower(c);
	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);

		if (q->base)
			c->set_of[i] = SET_FAST;
		else
			c->set_of[i] = slower && c->classes[c->class_of[i]].fast ? SET_GROUP : SET_REST;
		c->counts[c->set_of[i]]++;
		c->total += q->life;
	}
}

static void mark_slow(struct compare *c, const struct compare_options *options)
{
	bool by_hand = options->min_ns;

	compare_classes(c, options->budget_ns);
	leave_out_parts(c);
	if (!by_hand)
		mark_groups(c);
	mark_tail(c, options);
	count(c);
	c->tail_is_slow = by_hand ? c->counts[SET_TAIL] > 0
				  : floor_matters((double)c->excess[SET_TAIL], c->counts[SET_TAIL], (double)c->total);
	if (!by_hand)
		mark_alike(c);
}

void compare_run(struct compare *c, const struct requests *requests, uint32_t *order, size_t n,
		 const struct compare_options *options)
{
	*c = (struct compare){.requests = requests, .order = order, .n = n};
	c->class_of = mem_array(n, sizeof(*c->class_of));
	c->set_of = mem_array(n, sizeof(*c->set_of));
	memset(c->set_of, SET_REST, n);
	find_classes(c, options->against);
	if (options->against) {
		mark_against(c);
		return;
	}
	find_medians(c);
	mark_slow(c, options);
}

void compare_free(struct compare *c)
{
	free(c->classes);
	free(c->class_of);
	free(c->set_of);
	intern_free(&c->keys);
}
