/* SPDX-License-Identifier: BSD-3-Clause */
#include "findings.h"

#include <stdlib.h>

#include "table.h"

static const double LEAST_SHARE = 0.2;   /* of the extra time */
static const double ALIKE_SHARE = 0.25;  /* of all time, where nothing can be compared */
static const double CHANCE_WEIGHT = 0.5; /* of what happened once, by chance as a rule */

/* The time of a cause in a set. */
struct sum {
	enum cause cause;
	uint32_t who;
	double ns, proven;
	uint32_t example;
	uint64_t longest;
};

struct sums {
	struct map map;
	struct sum *all;
	size_t n, cap;
};

/* What fast requests of a class spend. */
struct reference {
	uint64_t n;
	double causes[CAUSES];
	unsigned __int128 layers[LAYERS], life, off_cpu, irq, disk;
};

/* A bdev and its legs are one cause here. */
static enum cause plain_cause(enum cause cause)
{
	return cause == CAUSE_LEG ? CAUSE_BDEV : cause;
}

static struct reference *find_references(struct blame *b, const struct compare *c)
{
	struct reference *references = mem_array(c->num_classes, sizeof(*references));
	const struct requests *r = b->requests;

	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		struct reference *reference;

		if (c->set_of[i] != SET_FAST)
			continue;
		reference = &references[c->class_of[i]];
		blame_request(b, q);
		reference->n++;
		for (unsigned k = 0; k < b->n; k++)
			reference->causes[plain_cause(b->parts[k].cause)] += b->parts[k].ns;
		for (unsigned k = 0; k < LAYERS; k++)
			reference->layers[k] += q->layers[k];
		reference->life += q->life;
		reference->off_cpu += q->off_cpu;
		reference->irq += q->irq;
		reference->disk += q->disk;
	}
	return references;
}

static void add_part(struct sums *sums, uint32_t request, const struct blame_part *part)
{
	uint64_t key = (uint64_t)part->cause << 32 | part->who;
	size_t n = sums->n;
	struct sum *sum = table_put(&sums->map, key, sums->all, sums->n, sums->cap);

	if (sums->n > n)
		*sum = (struct sum){.cause = part->cause, .who = part->who};
	sum->ns += part->ns;
	sum->proven += part->proven ? part->ns : 0;
	if (part->ns > sum->longest) {
		sum->longest = part->ns;
		sum->example = request;
	}
}

static void add_extra(struct findings_extra *extra, const struct request *q)
{
	extra->slow++;
	extra->slow_ns += q->life;
	for (unsigned i = 0; i < LAYERS; i++)
		extra->layers[i] += q->layers[i];
	extra->off_cpu += q->off_cpu;
	extra->irq += q->irq;
	extra->disk += q->disk;
}

/* The part of a sum that n requests out of all have. */
static unsigned __int128 scale(unsigned __int128 sum, uint64_t n, uint64_t all)
{
	return sum / all * n + sum % all * n / all;
}

/* Subtracts what as many fast requests spend; what rounding leaves goes to the largest layer, so that all add up. */
static void subtract(struct findings_extra *extra, const struct reference *reference, uint64_t n)
{
	unsigned __int128 life = scale(reference->life, n, reference->n), left = life;
	unsigned largest = 0;

	for (unsigned i = 0; i < LAYERS; i++) {
		unsigned __int128 part = scale(reference->layers[i], n, reference->n);

		extra->layers[i] -= part;
		left -= part;
		largest = reference->layers[i] > reference->layers[largest] ? i : largest;
	}
	extra->layers[largest] -= left;
	extra->fast_ns += life;
	extra->fast += reference->n;
	extra->off_cpu -= scale(reference->off_cpu, n, reference->n);
	extra->irq -= scale(reference->irq, n, reference->n);
	extra->disk -= scale(reference->disk, n, reference->n);
}

/* Whether more time of this cause than others have is enough: then the group shows it. */
static bool group_proves(enum cause cause)
{
	return cause == CAUSE_BDEV || cause == CAUSE_LEG || cause == CAUSE_DRIVE || cause == CAUSE_HOST ||
	       cause == CAUSE_DISK || cause == CAUSE_BELOW;
}

bool findings_is_momentary(enum cause cause)
{
	return cause == CAUSE_OFF_CPU || cause == CAUSE_IRQ || cause == CAUSE_SILENT || cause == CAUSE_REACTOR;
}

/* Whether only a comparison shows that it takes longer than it should. */
static bool is_by_comparison(enum cause cause)
{
	return group_proves(cause) && cause != CAUSE_HOST && cause != CAUSE_LEG;
}

struct interval {
	uint64_t begin, end;
	uint32_t connection;
	uint64_t ns;
};

static int by_begin(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_connection(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->connection > y->connection) - (x->connection < y->connection);
}

static uint64_t count_bursts(struct interval *all, size_t n)
{
	uint64_t end = 0, bursts = 0;

	qsort(all, n, sizeof(*all), by_begin);
	for (size_t i = 0; i < n; i++) {
		bursts += !i || all[i].begin > end;
		end = all[i].end > end ? all[i].end : end;
	}
	return bursts;
}

static uint32_t find_victim(struct interval *all, size_t n)
{
	unsigned __int128 most = 0, sum = 0;
	uint32_t victim = MAP_NONE;

	qsort(all, n, sizeof(*all), by_connection);
	for (size_t i = 0; i < n; i++) {
		sum = i && all[i].connection == all[i - 1].connection ? sum + all[i].ns : all[i].ns;
		if (sum > most) {
			most = sum;
			victim = all[i].connection;
		}
	}
	return victim;
}

/* The requests that have it mostly. */
static void find_members(struct findings *f, struct finding *finding, struct blame *b, const struct compare *c,
			 struct interval *scratch)
{
	const struct requests *r = b->requests;
	size_t n = 0;

	(void)f;
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		uint64_t ns = 0;

		if (c->set_of[i] != finding->set)
			continue;
		blame_request(b, q);
		for (unsigned k = 0; k < b->n; k++)
			if (b->parts[k].cause == finding->cause && b->parts[k].who == finding->who)
				ns += b->parts[k].ns;
		if (ns && ns >= q->life / 4)
			scratch[n++] = (struct interval){q->start, q->start + q->life, q->connection, ns};
	}
	finding->n = n;
	finding->bursts = n ? count_bursts(scratch, n) : 0;
	finding->victim = n ? find_victim(scratch, n) : MAP_NONE;
}

static double weight(const struct finding *f)
{
	return f->ns * (f->set == SET_GROUP && group_proves(f->cause) && f->cause != CAUSE_HOST ? 0.5 : 1) *
	       (findings_is_momentary(f->cause) && f->bursts < 2 ? CHANCE_WEIGHT : 1) *
	       (f->cause == CAUSE_QUEUE ? 2 : 1);
}

static int most_important_first(const void *a, const void *b)
{
	double x = weight(a), y = weight(b);

	return (x < y) - (x > y);
}

static struct finding *add_finding(struct findings *f, struct finding finding)
{
	f->all = mem_room(f->all, f->n, &f->cap);
	f->all[f->n] = finding;
	return &f->all[f->n++];
}

/* A host whose requests mostly fill its queue. */
static void find_queue(struct findings *f, enum compare_set set, const struct requests *r, const struct compare *c,
		       double extra)
{
	uint64_t *full = mem_array(r->names.n + 1, sizeof(*full)), n = 0;
	uint32_t host = 0, example = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (c->set_of[i] != set)
			continue;
		n++;
		if (!r->all[i].queue || r->all[i].host == MAP_NONE)
			continue;
		example = i;
		if (++full[r->all[i].host] > full[host])
			host = r->all[i].host;
	}
	if (n && full[host] >= n / 2 && full[host])
		add_finding(f, (struct finding){.set = set,
						.cause = CAUSE_QUEUE,
						.who = host,
						.victim = r->all[example].connection,
						.ns = extra,
						.share = (double)full[host] / n,
						.n = full[host],
						.bursts = 1,
						.example = example});
	free(full);
}

/* Without lines of offcpusnoop, a silence in few requests may be that of a machine that is a little busy. */
static bool is_vague(enum compare_set set, const struct sum *sum, const struct blame *b, const struct compare *c)
{
	return sum->cause == CAUSE_SILENT && set == SET_TAIL && c->excess[SET_TAIL] < c->total / 20 &&
	       !b->requests->all[sum->example].covered;
}

static void judge(struct findings *f, enum compare_set set, struct blame *b, const struct compare *c,
		  const struct sums *sums, const double *causes, struct interval *scratch)
{
	const struct findings_extra *extra = &f->extra[set];
	double all = (double)extra->slow_ns - (double)extra->fast_ns, of_cause[CAUSES] = {};

	for (size_t i = 0; i < sums->n; i++)
		of_cause[plain_cause(sums->all[i].cause)] += sums->all[i].ns;
	for (size_t i = 0; i < sums->n; i++) {
		const struct sum *sum = &sums->all[i];
		enum cause plain = plain_cause(sum->cause);
		double ns = set == SET_GROUP && group_proves(sum->cause) ? sum->ns : sum->proven;
		struct finding *finding;

		if (sum->ns <= 0 || is_vague(set, sum, b, c))
			continue;
		ns -= causes[plain] * (sum->ns / of_cause[plain]);
		if (ns < all * (set == SET_ALIKE ? ALIKE_SHARE : LEAST_SHARE) || ns <= 0 ||
		    (set != SET_TAIL && ns < (double)c->total / 20) ||
		    (set == SET_ALIKE && is_by_comparison(sum->cause)))
			continue;
		finding = add_finding(f, (struct finding){.set = set,
							  .cause = sum->cause,
							  .who = sum->who,
							  .ns = ns,
							  .share = ns / all,
							  .example = sum->example});
		find_members(f, finding, b, c, scratch);
	}
	find_queue(f, set, b->requests, c, all);
}

static void count_set(struct findings *f, enum compare_set set, const struct requests *r, const struct compare *c,
		      struct interval *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (c->set_of[i] == set)
			scratch[n++] = (struct interval){.begin = r->all[i].start,
							 .end = r->all[i].start + r->all[i].life};
		else
			f->extra[set].others += c->set_of[i] != SET_NONE;
	f->extra[set].bursts = n ? count_bursts(scratch, n) : 0;
}

static void find_in(struct findings *f, enum compare_set set, struct blame *b, const struct compare *c,
		    const struct reference *references, struct interval *scratch)
{
	uint64_t *of_class = mem_array(c->num_classes, sizeof(*of_class));
	double causes[CAUSES] = {};
	struct sums sums = {};

	for (size_t i = 0; i < b->requests->n; i++) {
		const struct request *q = &b->requests->all[i];

		if (c->set_of[i] != set)
			continue;
		of_class[c->classes[c->class_of[i]].other]++;
		add_extra(&f->extra[set], q);
		blame_request(b, q);
		for (unsigned k = 0; k < b->n; k++)
			add_part(&sums, i, &b->parts[k]);
	}
	for (size_t i = 0; i < c->num_classes && set != SET_ALIKE; i++) {
		if (!of_class[i] || !references[i].n)
			continue;
		subtract(&f->extra[set], &references[i], of_class[i]);
		for (unsigned k = 0; k < CAUSES; k++)
			causes[k] += references[i].causes[k] / references[i].n * of_class[i];
	}
	count_set(f, set, b->requests, c, scratch);
	if (f->extra[set].slow)
		judge(f, set, b, c, &sums, causes, scratch);
	free(of_class);
	free(sums.all);
	map_free(&sums.map);
}

void findings_find(struct findings *f, struct blame *b, const struct compare *c)
{
	struct reference *references = find_references(b, c);
	struct interval *scratch = mem_array(b->requests->n, sizeof(*scratch));

	find_in(f, SET_GROUP, b, c, references, scratch);
	if (c->tail_is_slow)
		find_in(f, SET_TAIL, b, c, references, scratch);
	find_in(f, SET_ALIKE, b, c, references, scratch);
	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), most_important_first);
	free(scratch);
	free(references);
}

void findings_free(struct findings *f)
{
	free(f->all);
}
