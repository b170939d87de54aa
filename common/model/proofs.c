/* SPDX-License-Identifier: BSD-3-Clause */
#include "proofs.h"

#include <stdlib.h>

#include "minmax.h"
#include "spanline.h"
#include "table.h"

enum {
	BDEVS = 4096,  /* names: no target has more */
	NOTABLE = 10,  /* no_io counts if it is at least a tenth of the life */
	HELD = 64,     /* commands that found a queue full before that is its size */
	QUEUE_MIN = 8, /* entries: smaller ones are seldom made, but few commands at once are usual */
};

/* The number of a bdev; MAP_NONE: its name is not known, or no rate limit applies to this type of I/O. */
static uint32_t find_bdev(struct proofs *p, const struct span *s)
{
	struct slice text = spans_bdev(s);
	uint32_t name;
	struct proofs_bdev *bdev;

	if (!text.n || !io_args_has(&s->io, IO_TYPE) || !spdk_may_be_limited(s->io.values[IO_TYPE]))
		return MAP_NONE;
	name = intern_add_below(&p->names, text, BDEVS);
	if (name == MAP_NONE)
		return MAP_NONE;
	bdev = table_put(&p->bdevs, (uint64_t)s->source << 32 | name, p->of_bdevs, p->num_bdevs, p->cap_bdevs);
	return bdev - p->of_bdevs;
}

/* The limit of the bdev that applies to the I/O, or NULL; sets the rate. */
static const struct pace *limit_of(const struct proofs_bdev *bdev, const struct span *s, double *rate, bool *of_blocks)
{
	const struct pace *own = spdk_is_write(s->io.values[IO_TYPE]) ? &bdev->writes : &bdev->reads;

	if (pace_is_limited(&bdev->all, rate, of_blocks))
		return &bdev->all;
	return pace_is_limited(own, rate, of_blocks) ? own : NULL;
}

/* A bdev I/O is passed on, or ends: its bdev holds it back no longer. */
static void go(struct proofs *p, const struct span *s, uint64_t ns)
{
	struct proofs_span *area = proofs_of(p, s);
	const struct pace *limit;
	struct proofs_bdev *bdev;
	uint64_t blocks;

	if (area->went || area->bdev == MAP_NONE)
		return;
	area->went = true;
	bdev = &p->of_bdevs[area->bdev];
	blocks = io_args_has(&s->io, IO_BLOCKS) ? s->io.values[IO_BLOCKS] : 0;
	pace_add(&bdev->all, s->first, ns, blocks);
	pace_add(spdk_is_write(s->io.values[IO_TYPE]) ? &bdev->writes : &bdev->reads, s->first, ns, blocks);
	limit = limit_of(bdev, s, &area->rate, &area->of_blocks);
	/* those that come during a burst go at once */
	if (limit && s->first < limit->burst)
		area->limited = ns - s->first;
}

/* A set that still waits for its I/O. */
static const struct span *waiting_set(const struct proofs *p, struct store_ref ref)
{
	const struct span *s = store_find(&p->spans->store, ref);

	return s && s->n == 1 && !s->child ? s : NULL;
}

/*
 * lib/blob/blobstore.c: a write to a cluster that is not allocated starts a set that only queues it, and the first such
 * write starts another one, in the same call, which allocates the cluster and copies the snapshot's. When that ends,
 * blob_allocate_and_copy_cluster_cpl() starts the sets of all writes in the queue, in one call again.
 */
static void start_set(struct proofs *p, const struct span *s, struct proofs_lcore *lcore)
{
	const struct span *waiting = waiting_set(p, lcore->waiting), *io = s->parent;
	struct proofs_span *area;

	lcore->waiting = (struct store_ref){};
	if (!io) {
		if (!waiting || !waiting->parent)
			return;
		proofs_of(p, s)->allocates_for = store_ref(waiting->parent);
		proofs_of(p, waiting->parent)->allocates_since = s->first;
		proofs_of(p, waiting->parent)->copied = 0;
		return;
	}
	if (!spans_is_bdev_io(p->spans, io))
		return;
	area = proofs_of(p, io);
	waiting = waiting_set(p, area->waiting);
	if (waiting && lcore->resumes && waiting->first < lcore->last) {
		area->copy += lcore->last - (waiting->first > lcore->first ? waiting->first : lcore->first);
		area->copied = lcore->blocks;
	}
	area->waiting = lcore->waiting = store_ref(s);
}

/* A bdev I/O of a set: if that allocates a cluster, the I/O writes the copy. */
static void copy(struct proofs *p, const struct span *s)
{
	struct proofs_span *area = proofs_of(p, s->parent);
	const struct span *io = store_find(&p->spans->store, area->allocates_for);

	if (!area->allocates_for.generation || !io_args_has(&s->io, IO_BLOCKS))
		return;
	area->blocks += s->io.values[IO_BLOCKS];
	if (io)
		proofs_of(p, io)->copied = area->blocks;
}

/* A set ends. */
static void end_set(struct proofs *p, const struct span *s, struct proofs_lcore *lcore)
{
	const struct proofs_span *area = proofs_of(p, s);
	const struct span *io = store_find(&p->spans->store, area->allocates_for);

	lcore->resumes = area->allocates_for.generation;
	lcore->first = s->first;
	lcore->last = s->last;
	lcore->blocks = area->blocks;
	if (io)
		proofs_of(p, io)->allocates_since = 0;
}

/* What sets of a blobstore, and the entries of their lcores, show about allocations of clusters. */
static void see_sets(struct proofs *p, const struct span *s, bool starts, enum spdk_kind kind)
{
	struct proofs_lcore *lcore;

	p->has_sets |= kind == SPDK_BLOB_SET;
	if (!p->has_sets || p->spans->lcore == MAP_NONE)
		return;
	lcore = table_at(p->of_lcores, p->num_lcores, p->cap_lcores, p->spans->lcore);
	if (starts && kind == SPDK_BLOB_SET) {
		start_set(p, s, lcore);
		return;
	}
	lcore->waiting = (struct store_ref){};
	if (!starts)
		end_set(p, s, lcore);
}

/* A command is in flight; depth: with it. */
static void fill(struct proofs *p, const struct span *s, uint64_t depth)
{
	struct proofs_queue *q = table_at(p->queues, p->num_queues, p->cap_queues, s->connection);

	if (depth > q->most)
		*q = (struct proofs_queue){.most = depth};
	q->starts++;
	q->full += depth == q->most;
}

static void start(struct proofs *p, const struct span *s, enum spdk_kind kind)
{
	struct proofs_span *area = table_at(p->all, p->n, p->cap, s->index);

	*area = (struct proofs_span){.bdev = MAP_NONE};
	if (kind == SPDK_BDEV_IO) {
		area->bdev = find_bdev(p, s);
		if (s->parent)
			copy(p, s);
	}
	if (s->parent && spans_is_bdev_io(p->spans, s->parent)) {
		/* each part of a split I/O is limited, not the whole */
		if (kind == SPDK_BDEV_IO && slice_equal(spans_bdev(s), spans_bdev(s->parent)))
			proofs_of(p, s->parent)->bdev = MAP_NONE;
		go(p, s->parent, s->first);
	}
	if (io_args_has(&s->io, IO_QPAIR_QD) && s->connection != MAP_NONE)
		fill(p, s, s->io.values[IO_QPAIR_QD]);
}

static void end(struct proofs *p, const struct span *s)
{
	struct proofs_bdev *bdev;

	if (proofs_of(p, s)->bdev == MAP_NONE)
		return;
	bdev = &p->of_bdevs[proofs_of(p, s)->bdev];
	bdev->ended++;
	bdev->passed += s->child != NULL;
	go(p, s, s->last);
}

void proofs_see(struct proofs *p, const struct span *s, uint32_t before)
{
	enum spdk_kind kind = spans_kind(p->spans, s);

	if (before == MAP_NONE)
		start(p, s, kind);
	else if (kind == SPDK_BDEV_IO && s->n == 2)
		end(p, s);
	see_sets(p, s, before == MAP_NONE, kind);
}

const struct span *proofs_first_below(const struct proofs *p, const struct span *s)
{
	const struct span *child = s->child;

	while (child && !spans_is_bdev_io(p->spans, s) && !spans_is_bdev_io(p->spans, child))
		child = child->next;
	return child;
}

/*
 * Whether something has to be below an open object: below a request if the trace has bdev I/Os, below a bdev I/O if all
 * that its bdev completed had something there.
 */
static bool is_passed_on(const struct proofs *p, const struct span *s)
{
	const struct proofs_bdev *bdev;

	/* asynchronous event requests wait for no I/O */
	if (!spans_is_bdev_io(p->spans, s))
		return spans_layer(p->spans, s, s->states[s->n - 1].state) != LAYER_BELOW && !admin_has(s);
	if (proofs_of(p, s)->bdev == MAP_NONE)
		return false;
	bdev = &p->of_bdevs[proofs_of(p, s)->bdev];
	return bdev->ended && bdev->passed == bdev->ended;
}

/*
 * When the call that passed the request of a span on had returned, with all that it did at once in the bdev layer and
 * below; UINT64_MAX: not at all.
 */
static uint64_t passed_at(const struct proofs *p, const struct span *s)
{
	while (s->parent)
		s = s->parent;
	for (size_t i = 0; i < s->n; i++)
		if (spans_tpoint(p->spans, s->states[i].state)->executes)
			return s->states[i].ns;
	return UINT64_MAX;
}

bool proofs_waits_for_limit(const struct proofs *p, const struct span *s, double *rate, bool *of_blocks)
{
	const struct proofs_span *area = proofs_of(p, s);

	return !area->went && area->bdev != MAP_NONE && life_is_open(p->spans, s) &&
	       limit_of(&p->of_bdevs[area->bdev], s, rate, of_blocks);
}

/* ns since `passed`, see passed_at(), for which there was nothing below an object. */
static uint64_t no_io_of(const struct proofs *p, const struct span *s, uint64_t passed)
{
	const struct span *below = proofs_first_below(p, s);
	bool of_blocks;
	double rate;
	uint64_t to = 0, gap = life_gap(p->spans, s);

	if (s->first > passed || (s->parent && !spans_is_bdev_io(p->spans, s)))
		return 0;
	if (proofs_of(p, s)->limited || proofs_waits_for_limit(p, s, &rate, &of_blocks))
		return 0;
	if (below)
		to = below->first;
	else if (life_is_open(p->spans, s) && is_passed_on(p, s))
		to = life_until(p->spans, s);
	/* it may have started what is missing */
	return to > passed && (gap <= passed || gap > to) ? to - passed : 0;
}

uint64_t proofs_no_io(const struct proofs *p, const struct span *s)
{
	return no_io_of(p, s, passed_at(p, s));
}

/* ns for which a bdev I/O waited for clusters; of those still waiting, only the one that started the copy. */
static uint64_t copy_of(const struct proofs *p, const struct span *s)
{
	const struct proofs_span *area = proofs_of(p, s);
	uint64_t until = area->allocates_since ? life_until(p->spans, s) : 0;

	return area->copy + (until > area->allocates_since ? until - area->allocates_since : 0);
}

/*
 * module/bdev/nvme/bdev_nvme.c: an I/O is done when it completes, in __bdev_nvme_io_complete(). If it starts again
 * before, that is bdev_nvme_retry_io(), whose path failed. After that, lib/bdev/bdev.c submits it again for want of
 * memory. Its address is in the bdev I/O.
 */
struct proofs_retries proofs_retries(const struct proofs *p, const struct span *s, const struct span *end)
{
	struct proofs_retries retries = {};
	const struct span *last = NULL;
	bool has_commands = false;

	if (s->num_children < 2 || !spans_is_bdev_io(p->spans, s))
		return retries;
	for (const struct span *child = s->child; child && (!end || last != end); child = child->next) {
		if (spans_kind(p->spans, child) != SPDK_NVME_IO)
			continue;
		if (last && last->n == 1 && last->value == child->value) {
			retries.n++;
			retries.ns += child->first - last->first;
			retries.latest = child;
		}
		has_commands |= child->child != NULL;
		last = child;
	}
	/* that has found no path so far */
	if (last && retries.latest == last && has_commands && !last->child && life_is_open(p->spans, last))
		retries.ns += life_until(p->spans, last) - last->first;
	return retries;
}

/* Recursion is bounded by SPANS_DEPTH. */
static void gather(const struct proofs *p, struct spanline *line, const struct span *s, uint64_t passed)
{
	struct proofs_retries retries = proofs_retries(p, s, NULL);
	uint64_t limited = proofs_of(p, s)->limited, *facts = line->facts;
	bool of_blocks;
	double rate;

	if (proofs_waits_for_limit(p, s, &rate, &of_blocks))
		limited = life_until(p->spans, s) - s->first;
	facts[FACT_NO_IO] = max_u64(facts[FACT_NO_IO], no_io_of(p, s, passed));
	facts[FACT_RATE_LIMIT] = max_u64(facts[FACT_RATE_LIMIT], limited);
	facts[FACT_COPY] = max_u64(facts[FACT_COPY], copy_of(p, s));
	facts[FACT_RETRY] = max_u64(facts[FACT_RETRY], retries.ns);
	line->retries = max_u64(line->retries, retries.n);
	for (const struct span *child = s->child; child; child = child->next)
		gather(p, line, child, passed);
}

uint64_t proofs_queue(const struct proofs *p, const struct span *s)
{
	const struct proofs_queue *q;
	uint64_t size;

	if (!io_args_has(&s->io, IO_QPAIR_QD) || s->connection == MAP_NONE)
		return 0;
	q = &p->queues[s->connection];
	if (s->io.values[IO_QPAIR_QD] != q->most || q->full < HELD || q->full < q->starts / 2)
		return 0;
	/* one of N entries holds N - 1 commands; N is a power of two as a rule, and a depth of N - 1 seldom chosen */
	size = q->most + 1;
	return size >= QUEUE_MIN && !(size & (size - 1)) ? size : 0;
}

void proofs_measure(const struct proofs *p, const struct span *s, struct spanline *line)
{
	line->full_queue = proofs_queue(p, s);
	gather(p, line, s, passed_at(p, s));
	/* an I/O may outlive its request */
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		line->facts[fact_proven[i]] = min_u64(line->facts[fact_proven[i]], line->life);
	if (line->facts[FACT_NO_IO] < line->life / NOTABLE)
		line->facts[FACT_NO_IO] = 0;
}

void proofs_free(struct proofs *p)
{
	map_free(&p->bdevs);
	intern_free(&p->names);
	free(p->all);
	free(p->of_bdevs);
	free(p->of_lcores);
	free(p->queues);
}
