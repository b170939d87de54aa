/* SPDX-License-Identifier: BSD-3-Clause */
#include "findings.h"

#include <stdlib.h>

#include "mem.h"

/* Whether more time of this cause than others have is enough: then the group shows it. */
static bool group_proves(enum fact cause)
{
	return cause == FACT_BDEV || cause == FACT_LEG || cause == FACT_DRIVE || cause == FACT_HOST ||
	       cause == FACT_DISK || cause == FACT_BELOW;
}

/* Whether a cause hits many requests in one moment. */
static bool is_momentary(enum fact cause)
{
	return cause == FACT_OFF_CPU || cause == FACT_IRQ || cause == FACT_SILENT || cause == FACT_REACTOR;
}

/* Whether only a comparison shows that it takes longer than it should. Interrupts come with any request. */
static bool is_by_comparison(enum slow slow, enum fact cause)
{
	/* slow requests of a leg are compared with those of the others */
	return cause == FACT_IRQ ||
	       (group_proves(cause) && cause != FACT_HOST && (cause != FACT_LEG || slow == SLOW_ALIKE));
}

/* Whether only the host itself suffers from it. */
static bool is_its_own(enum fact cause)
{
	return cause == FACT_HOST || cause == FACT_REPLY || cause == FACT_NETWORK || cause == FACT_QUEUE;
}

/* Whether it may be as it should that slow requests have more of a cause. */
static bool is_meant(enum slow slow, enum fact cause)
{
	return slow != SLOW_TAIL && group_proves(cause);
}

enum findings_doubt findings_doubt(const struct finding *f)
{
	enum fact cause = findings_cause(f);

	if (is_momentary(cause) && f->bursts < 2)
		return DOUBT_ONCE;
	if (is_its_own(cause))
		return DOUBT_OWN;
	return is_meant(f->slow, cause) ? DOUBT_MEANT : DOUBT_NONE;
}

static double weight(const struct finding *f)
{
	return findings_doubt(f) == DOUBT_NONE ? f->ns : f->ns / FLOOR_MINOR;
}

static int most_important_first(const void *a, const void *b, void *context)
{
	const struct finding *x = a, *y = b;
	double wx = weight(x), wy = weight(y);

	if (wx != wy)
		return wx < wy ? 1 : -1;
	if (x->slow != y->slow)
		return x->slow < y->slow ? -1 : 1;
	if (findings_cause(x) != findings_cause(y))
		return findings_cause(x) < findings_cause(y) ? -1 : 1;
	return tally_compare_names(context, x->cause.subject, y->cause.subject);
}

static void add(struct findings *f, const struct findings_cause *cause, enum slow slow, double ns, double share)
{
	f->all = mem_room(f->all, f->n, &f->cap);
	f->all[f->n++] = (struct finding){.slow = slow,
					  .cause = *cause,
					  .ns = ns,
					  .share = share,
					  .bursts = f->group->sets[slow].fact_bursts[cause->fact]};
}

/* Without lines of offcpusnoop, a silence in few requests may be that of a machine that is a little busy. */
static bool is_vague(const struct findings *f, enum slow slow, const struct findings_cause *cause)
{
	return cause->fact == FACT_SILENT && slow == SLOW_TAIL &&
	       f->group->sets[SLOW_TAIL].excess < f->group->total / FLOOR_PART && !cause->example->covered;
}

static double extra(const struct tally_set *set)
{
	return (double)set->slow.life - (double)set->fast.life;
}

/* How much more of a cause slow requests have than fast ones, which have it, too: of them, in proportion. */
static double excess_of(const struct findings *f, enum slow slow, const struct findings_cause *cause)
{
	const struct tally_set *set = &f->group->sets[slow];
	enum fact plain = tally_plain(cause->fact);
	double ns = slow == SLOW_GROUP && group_proves(cause->fact) ? cause->ns : cause->proven;

	return ns - (double)set->fast.facts[plain] * ((double)cause->ns / (double)set->slow.facts[plain]);
}

static bool is_own(const struct tally_row *row)
{
	return is_its_own(row->key.fact) || (row->key.who != MAP_NONE && row->key.who == row->example->host);
}

/* Whose it is: what its resource is of, or whoever had that. */
static uint32_t subject_of(const struct tally_key *key)
{
	return fact_is_of(key->fact) ? key->of : fact_table[key->fact].who == FACT_OF_NOBODY ? MAP_NONE : key->who;
}

static int by_cause(const void *a, const void *b, void *context)
{
	const struct tally_key *x = &(*(const struct tally_row *const *)a)->key,
			       *y = &(*(const struct tally_row *const *)b)->key;
	int order;

	if (x->fact != y->fact)
		return x->fact < y->fact ? -1 : 1;
	order = tally_compare_names(context, subject_of(x), subject_of(y));
	return order ? order : tally_compare_names(context, x->connection, y->connection);
}

/* The causes of a set: rows of the same fact and subject, in the order of these. The caller frees them. */
static struct findings_cause *find_causes(const struct tally *t, uint32_t set, size_t *n)
{
	const struct tally_row **rows = mem_array(t->num_rows, sizeof(struct tally_row *));
	struct findings_cause *causes = mem_array(t->num_rows, sizeof(*causes)), *last = NULL;
	size_t num_rows = 0;
	unsigned __int128 most = 0, of_victim = 0;

	*n = 0;
	for (size_t i = 0; i < t->num_rows; i++)
		if (t->rows[i].key.set == set)
			rows[num_rows++] = &t->rows[i];
	qsort_r(rows, num_rows, sizeof(*rows), by_cause, (void *)t);
	for (size_t i = 0; i < num_rows; i++) {
		const struct tally_row *row = rows[i];
		uint32_t subject = subject_of(&row->key);

		if (!last || last->fact != row->key.fact || last->subject != subject) {
			last = &causes[(*n)++];
			*last = (struct findings_cause){row->key.fact, subject, .example = row->example};
			most = of_victim = 0;
		} else if (row->key.connection != rows[i - 1]->key.connection) {
			of_victim = 0;
		}
		last->ns += row->ns;
		last->own += is_own(row) ? row->ns : 0;
		last->proven += row->proven;
		last->n += row->n;
		last->requests += row->requests;
		if (row->longest > last->longest) {
			last->longest = row->longest;
			last->example = row->example;
		}
		of_victim += row->ns;
		if (of_victim > most) {
			most = of_victim;
			last->victim = row->key.connection;
		}
	}
	free(rows);
	return causes;
}

/* meant: the time of all causes that may be as it should. */
static void judge(struct findings *f, enum slow slow, const struct findings_cause *cause, double ns, double meant)
{
	const struct tally_set *set = &f->group->sets[slow];
	double all = extra(set),
	       each = is_by_comparison(slow, cause->fact) ? (double)f->budget_ns : (double)f->least_ns;
	/* what all have counts for all */
	uint64_t n = slow == SLOW_ALIKE ? cause->requests : cause->n;

	if (all <= 0 || is_vague(f, slow, cause) || (!set->fast.n && cause->fact == FACT_IRQ))
		return;
	if (!floor_matters(ns, set->slow.n, (double)f->group->total) || ns < each * (n ? n : 1))
		return;
	/* what may be as it should hides nothing that others do to a host */
	if (!is_meant(slow, cause->fact) && cause->own <= cause->ns / 2)
		all -= meant * (1 - 1.0 / FLOOR_MINOR);
	if (ns > 0 && ns >= all / FLOOR_SHARE)
		add(f, cause, slow, ns, ns / extra(set));
}

/* Whether it is one cause, whoever has it: what many do to a reactor together is no less than what one does. */
static bool is_of_anybody(enum fact fact)
{
	return fact_table[fact].who == FACT_OF_ANYBODY;
}

/*
 * Judges n causes of a fact. Of several of whom none has half of the time, it is one, which is said of the one with
 * most; of those with as much, of the first.
 */
static void judge_fact(struct findings *f, enum slow slow, const struct findings_cause *causes, size_t n, double meant)
{
	struct findings_cause all = *causes;
	double sum = 0, most = 0;
	uint64_t n_of = 0, requests = 0;

	for (size_t i = 0; i < n; i++) {
		double ns = excess_of(f, slow, &causes[i]);

		if (ns > most) {
			all = causes[i];
			most = ns;
		}
		n_of += causes[i].n;
		requests += causes[i].requests;
		sum += ns;
	}
	if (is_of_anybody(causes->fact) && most < sum / 2) {
		all.n = n_of;
		all.requests = requests;
		all.of_several = true;
		judge(f, slow, &all, sum, meant);
		return;
	}
	for (size_t i = 0; i < n; i++)
		judge(f, slow, &causes[i], excess_of(f, slow, &causes[i]), meant);
}

/* The host that most of the slow requests which filled a queue are of, if it has half of them. */
static void judge_queues(struct findings *f, enum slow slow, const struct findings_cause *causes, size_t n)
{
	const struct tally_set *set = &f->group->sets[slow];
	const struct findings_cause *most = causes;

	for (size_t i = 1; i < n; i++)
		if (causes[i].n > most->n)
			most = &causes[i];
	if (extra(set) > 0 && most->n >= set->slow.n / 2)
		add(f, most, slow, extra(set), (double)most->n / set->slow.n);
}

static void judge_set(struct findings *f, enum slow slow)
{
	size_t n, end;
	struct findings_cause *causes = find_causes(f->tally, tally_set_number(f->tally, f->group, slow), &n);
	double meant = 0;

	for (size_t i = 0; i < n; i++) {
		double ns = is_meant(slow, causes[i].fact) ? excess_of(f, slow, &causes[i]) : 0;

		meant += ns > 0 ? ns : 0;
	}
	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && causes[end].fact == causes[i].fact;)
			end++;
		if (causes[i].fact == FACT_QUEUE)
			judge_queues(f, slow, causes + i, end - i);
		else
			judge_fact(f, slow, causes + i, end - i, meant);
	}
	free(causes);
}

void findings_find(struct findings *f, const struct tally *t, const struct tally_group *group)
{
	f->tally = t;
	f->group = group;
	for (enum slow slow = 0; slow < SLOWS; slow++)
		judge_set(f, slow);
	if (f->n)
		qsort_r(f->all, f->n, sizeof(*f->all), most_important_first, (void *)t);
}

enum slow findings_main(const struct findings *f)
{
	const struct tally_set *sets = f->group->sets;

	if (f->n)
		return f->all[0].slow;
	if (sets[SLOW_GROUP].slow.n && (!sets[SLOW_TAIL].slow.n || sets[SLOW_GROUP].excess > sets[SLOW_TAIL].excess))
		return SLOW_GROUP;
	return sets[SLOW_TAIL].slow.n ? SLOW_TAIL : SLOW_ALIKE;
}

void findings_free(struct findings *f)
{
	free(f->all);
}
