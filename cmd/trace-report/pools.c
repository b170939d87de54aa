/* SPDX-License-Identifier: BSD-3-Clause */
#include "pools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aliases.h"
#include "facts.h"
#include "mem.h"
#include "requests.h"

/* ns: who has a buffer sooner has not waited for it. */
enum { AT_ONCE = 5000 };

enum { SMALL, LARGE, POOLS };

/* What the target says of its pools, or SPDK's defaults; count 0: not known. */
struct pool {
	const char *name;
	uint64_t bytes, count;
	/* of requests: their buffers, those that waiting ones want, and the most of both */
	uint64_t held, waiting, wanted, at;
	uint64_t there;            /* the most that were held while others waited */
	uint64_t short_for, since; /* ns */
	uint64_t waiters;
};

struct event {
	uint64_t ns;
	enum { RETURN, WANT, GET } what;
	uint32_t pool, n;
};

void pools_see(struct pools *p, const struct spans *spans, const struct span *s, const struct spanline *line)
{
	struct pools_use use = {.end = line->open ? UINT64_MAX : s->last,
				.blocks = line->io.numbers[REQUEST_IO_BLOCKS]};
	bool has_data = slice_is(line->io.texts[REQUEST_IO_TYPE], "read");
	size_t i = 0;

	while (i < s->n && spans_tpoint(spans, s->states[i].state)->layer != LAYER_BUFFER)
		i++;
	if (i == s->n || s->cut || line->lost || p->n == REQUESTS_MAX)
		return;
	for (size_t k = i; k < s->n; k++)
		has_data |= spans_tpoint(spans, s->states[k].state)->layer == LAYER_HOST;
	use.wanted = s->states[i].ns;
	use.got = i + 1 < s->n ? s->states[i + 1].ns : UINT64_MAX;
	/* data that came with the command needs no buffer of a pool */
	if (use.blocks && !has_data)
		return;
	use.bdev = intern_add(&p->bdevs, line->io.texts[REQUEST_IO_BDEV]);
	p->all = mem_room(p->all, p->n, &p->cap);
	p->all[p->n++] = use;
}

/* The size of blocks by bdev, 512 if it is not known. The caller frees it. */
static uint64_t *block_sizes(const struct pools *p, struct slice rpc)
{
	uint64_t *sizes = mem_array(p->bdevs.n + 1, sizeof(*sizes));
	struct slice bdevs, bdev;
	struct json j;

	for (size_t i = 0; i < p->bdevs.n; i++)
		sizes[i] = 512;
	while (facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);) {
			uint32_t i = intern_get(&p->bdevs, aliases_name(bdev));
			double size = facts_number(bdev, "block_size");

			if (i != MAP_NONE && size >= 512 && size <= 1 << 20)
				sizes[i] = size;
		}
	return sizes;
}

static uint64_t at_least_one(double value, uint64_t otherwise)
{
	return value >= 1 && value < 1e12 ? (uint64_t)value : otherwise;
}

static void read_options(struct pool pools[POOLS], struct slice rpc)
{
	struct slice options = facts_config(rpc, "iobuf_set_options");

	pools[SMALL].count = at_least_one(facts_number(options, "small_pool_count"), 0);
	pools[LARGE].count = at_least_one(facts_number(options, "large_pool_count"), 0);
	pools[SMALL].bytes = at_least_one(facts_number(options, "small_bufsize"), pools[SMALL].bytes);
	pools[LARGE].bytes = at_least_one(facts_number(options, "large_bufsize"), pools[LARGE].bytes);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int)x->what - (int)y->what;
}

static void see(struct pool *pool, const struct event *e)
{
	bool was_short = pool->waiting;

	if (was_short && pool->held > pool->there)
		pool->there = pool->held;
	pool->held -= e->what == RETURN ? e->n : 0;
	pool->held += e->what == GET ? e->n : 0;
	pool->waiting += e->what == WANT ? e->n : 0;
	pool->waiting -= e->what == GET ? e->n : 0;
	if (pool->held + pool->waiting > pool->wanted) {
		pool->wanted = pool->held + pool->waiting;
		pool->at = e->ns;
	}
	if (!was_short && pool->waiting)
		pool->since = e->ns;
	else if (was_short && !pool->waiting)
		pool->short_for += e->ns - pool->since;
}

/* All events of the uses, sorted. The caller frees them. */
static struct event *list_events(const struct pools *p, struct pool pools[POOLS], const uint64_t *sizes, size_t *n)
{
	struct event *events = mem_array(3 * p->n + 1, sizeof(*events));

	*n = 0;
	for (unsigned unknown = 0; unknown < 2; unknown++)
		for (size_t i = 0; i < p->n; i++) {
			const struct pools_use *use = &p->all[i];
			uint64_t bytes = use->blocks * sizes[use->bdev];
			/* who waits at the end waits for what most have waited for */
			unsigned k = use->blocks ? bytes > pools[SMALL].bytes
						 : pools[LARGE].waiters >= pools[SMALL].waiters;
			uint32_t buffers = use->blocks ? (bytes - 1) / pools[k].bytes + 1 : 1;
			bool waits = use->got - use->wanted > AT_ONCE;

			if (unknown != !use->blocks)
				continue;
			pools[k].waiters += waits;
			events[(*n)++] = (struct event){use->wanted, WANT, k, buffers};
			if (use->got != UINT64_MAX)
				events[(*n)++] = (struct event){waits ? use->got : use->wanted, GET, k, buffers};
			if (use->got != UINT64_MAX && use->end != UINT64_MAX)
				events[(*n)++] = (struct event){use->end, RETURN, k, buffers};
		}
	qsort(events, *n, sizeof(*events), by_time);
	return events;
}

/* Whether the target has found the pool empty, or does not say. */
static bool was_empty(struct slice rpc, const char *name)
{
	char path[32];
	struct slice modules, module;
	bool any = false, empty = false;
	struct json j;

	snprintf(path, sizeof(path), "%s_pool.retry", name);
	while (facts_answer(&rpc, "iobuf_get_stats", &modules))
		for (facts_each(&j, modules); facts_next(&j, NULL, &module);) {
			if (!slice_starts(json_unquoted(facts_text(module, "module")), "nvmf"))
				continue;
			any = true;
			empty |= facts_number(module, path) > 0;
		}
	return empty || !any;
}

static void write_pool(struct out *out, const struct pool *pool, uint64_t more)
{
	out_printf(out, "%s buffers: %" PRIu64 " wanted at once at us=", pool->name, pool->wanted + more);
	out_us(out, pool->at);
	out_printf(out, ", %" PRIu64 " there", pool->there);
	if (pool->waiting) {
		out_text(out, "; some are waited for\n");
	} else {
		out_text(out, "; some were waited for, in ");
		out_duration_text(out, pool->short_for);
		out_text(out, " in all\n");
	}
	if (!pool->count)
		return;
	out_printf(out, "  try: iobuf_set_options %s_pool_count=%" PRIu64 " (it is %" PRIu64 ")\n", pool->name,
		   pool->count + pool->wanted + more - pool->there, pool->count);
}

void pools_write(struct out *out, const struct pools *p, struct slice rpc, uint64_t more)
{
	struct pool pools[POOLS] = {{.name = "small", .bytes = 8192}, {.name = "large", .bytes = 135168}};
	uint64_t *sizes = block_sizes(p, rpc);
	struct event *events;
	size_t n;

	read_options(pools, rpc);
	events = list_events(p, pools, sizes, &n);
	for (size_t i = 0; i < n; i++)
		see(&pools[events[i].pool], &events[i]);
	for (unsigned i = 0; i < POOLS; i++)
		if (pools[i].waiters && was_empty(rpc, pools[i].name))
			write_pool(out, &pools[i], i == (pools[LARGE].waiters >= pools[SMALL].waiters) ? more : 0);
	free(events);
	free(sizes);
}

void pools_free(struct pools *p)
{
	free(p->all);
	intern_free(&p->bdevs);
}
