/* SPDX-License-Identifier: BSD-3-Clause */
#include "findings.h"

#include <stdlib.h>

#include "mem.h"

static const double LEAST_SHARE = 0.2; /* of the extra time, or of all where nothing can be compared */
enum { NOTABLE_PART = 20 };            /* of all time: less is no finding about a group */

static const double DOUBTFUL = 0.1; /* the weight of a finding with a doubt */

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
static bool is_by_comparison(enum fact cause)
{
	return cause == FACT_IRQ || (group_proves(cause) && cause != FACT_HOST && cause != FACT_LEG);
}

/* Whether only the host itself suffers from it. */
static bool is_its_own(enum fact cause)
{
	return cause == FACT_HOST || cause == FACT_REPLY || cause == FACT_NETWORK || cause == FACT_QUEUE;
}

enum findings_doubt findings_doubt(const struct finding *f)
{
	enum fact cause = findings_cause(f);

	if (is_momentary(cause) && f->cause->bursts < 2)
		return DOUBT_ONCE;
	if (is_its_own(cause))
		return DOUBT_OWN;
	return f->slow != SLOW_TAIL && group_proves(cause) ? DOUBT_MEANT : DOUBT_NONE;
}

static double weight(const struct finding *f)
{
	return findings_doubt(f) == DOUBT_NONE ? f->ns : f->ns * DOUBTFUL;
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
	return tally_compare_names(context, x->cause->key.a, y->cause->key.a);
}

static struct finding *add(struct findings *f, const struct tally_cause *cause, enum slow slow, double ns, double share)
{
	f->all = mem_room(f->all, f->n, &f->cap);
	f->all[f->n] = (struct finding){.slow = slow, .cause = cause, .victim = MAP_NONE, .ns = ns, .share = share};
	return &f->all[f->n++];
}

/* Without lines of offcpusnoop, a silence in few requests may be that of a machine that is a little busy. */
static bool is_vague(const struct findings *f, enum slow slow, const struct tally_cause *cause)
{
	return cause->key.what == FACT_SILENT && slow == SLOW_TAIL &&
	       f->group->sets[SLOW_TAIL].excess < f->group->total / NOTABLE_PART && !cause->example.covered;
}

static double extra(const struct tally_set *set)
{
	return (double)set->slow.life - (double)set->fast.life;
}

/* How much more of a cause slow requests have than fast ones, which have it, too: of them, in proportion. */
static double excess_of(const struct findings *f, enum slow slow, const struct tally_cause *cause)
{
	const struct tally_set *set = &f->group->sets[slow];
	enum fact plain = tally_plain(cause->key.what);
	double ns = slow == SLOW_GROUP && group_proves(cause->key.what) ? cause->ns : cause->proven;

	return ns - (double)set->fast.causes[plain] * ((double)cause->ns / (double)set->slow.causes[plain]);
}

/* A cause of one, or of all who have it. */
struct suspects {
	const struct tally_cause *most;
	double ns, most_ns;
	uint64_t n; /* requests that have it for a quarter of their life */
};

/* Of those with as much, the first name counts. */
static void suspect(struct suspects *s, const struct tally *t, const struct tally_cause *cause, double ns)
{
	if (!s->most || ns > s->most_ns ||
	    (ns == s->most_ns && tally_compare_names(t, cause->key.a, s->most->key.a) < 0)) {
		s->most = cause;
		s->most_ns = ns;
	}
	s->ns += ns;
	s->n += cause->n;
}

static void judge(struct findings *f, enum slow slow, const struct suspects *s)
{
	const struct tally_set *set = &f->group->sets[slow];
	enum fact cause = s->most->key.what;
	double all = extra(set), least = all * LEAST_SHARE;
	double each = (double)f->least_ns;

	if (all <= 0 || is_vague(f, slow, s->most) || (!set->fast.n && cause == FACT_IRQ))
		return;
	if (is_by_comparison(cause))
		each = (double)f->budget_ns;
	if ((slow != SLOW_TAIL && s->ns < (double)f->group->total / NOTABLE_PART) || s->ns < each * (s->n ? s->n : 1))
		return;
	if (s->ns > 0 && s->ns >= least)
		add(f, s->most, slow, s->ns, s->ns / all)->of_several = s->most_ns < s->ns / 2;
}

/* Whether it is one cause, whoever has it: what many do to a reactor together is no less than what one does. */
static bool is_of_anybody(enum fact cause)
{
	return fact_table[cause].who == FACT_OF_ANYBODY && cause != FACT_LEG;
}

/* The causes of a set: those of several by themselves, unless all who have it together are one. */
static void judge_set(struct findings *f, enum slow slow, uint32_t set)
{
	const struct tally *t = f->tally;
	struct suspects all[FACTS] = {};

	for (size_t i = 0; i < t->num_causes; i++)
		if (t->causes[i].key.set == set && t->causes[i].key.what != FACT_QUEUE)
			suspect(&all[t->causes[i].key.what], t, &t->causes[i], excess_of(f, slow, &t->causes[i]));
	for (enum fact cause = 0; cause < FACTS; cause++)
		if (all[cause].most && is_of_anybody(cause) && all[cause].most_ns < all[cause].ns / 2)
			judge(f, slow, &all[cause]);
	for (size_t i = 0; i < t->num_causes; i++) {
		const struct tally_cause *cause = &t->causes[i];
		const struct suspects *of = &all[cause->key.what];
		struct suspects one = {};

		if (cause->key.set != set || cause->key.what == FACT_QUEUE ||
		    (is_of_anybody(cause->key.what) && of->most_ns < of->ns / 2))
			continue;
		suspect(&one, t, cause, excess_of(f, slow, cause));
		judge(f, slow, &one);
	}
}

/* The host that most of the slow requests which filled a queue are of, if it has half of them. */
static void judge_queues(struct findings *f, enum slow slow, uint32_t set)
{
	const struct tally *t = f->tally;
	const struct tally_times *times = &f->group->sets[slow].slow;
	const struct tally_cause *most = NULL;

	for (size_t i = 0; i < t->num_causes; i++) {
		const struct tally_cause *cause = &t->causes[i];

		if (cause->key.set != set || cause->key.what != FACT_QUEUE)
			continue;
		if (!most || cause->n > most->n ||
		    (cause->n == most->n && tally_compare_names(t, cause->key.a, most->key.a) < 0))
			most = cause;
	}
	if (most && extra(&f->group->sets[slow]) > 0 && most->n >= times->n / 2)
		add(f, most, slow, extra(&f->group->sets[slow]), (double)most->n / times->n);
}

/* The connection with most time of each finding. */
static void find_victims(struct findings *f)
{
	const struct tally *t = f->tally;
	struct finding **of = mem_array(t->num_causes, sizeof(*of));
	unsigned __int128 *most = mem_array(f->n, sizeof(*most));

	for (size_t i = 0; i < f->n; i++)
		of[f->all[i].cause - t->causes] = &f->all[i];
	for (size_t i = 0; i < t->num_victims; i++) {
		const struct tally_victim *v = &t->victims[i];
		uint32_t cause = tally_find_cause(t, v);
		struct finding *finding = cause == MAP_NONE ? NULL : of[cause];
		unsigned __int128 *ns;

		if (!finding)
			continue;
		ns = &most[finding - f->all];
		if (v->ns > *ns || (v->ns == *ns && tally_compare_names(t, v->key.b, finding->victim) < 0)) {
			*ns = v->ns;
			finding->victim = v->key.b;
		}
	}
	free(most);
	free(of);
}

void findings_find(struct findings *f, const struct tally *t, const struct tally_group *group)
{
	uint32_t first = tally_set_number(t, group, 0);

	f->tally = t;
	f->group = group;
	for (enum slow slow = 0; slow < SLOWS; slow++) {
		judge_set(f, slow, first + slow);
		judge_queues(f, slow, first + slow);
	}
	find_victims(f);
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
