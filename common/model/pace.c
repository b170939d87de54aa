/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <float.h>

enum {
	SLICE = 1000 * 1000, /* ns: SPDK_BDEV_QOS_TIMESLICE_IN_USEC */
	PAUSE = SLICE / 5,   /* ns without an I/O, before a burst */
	SPREAD = SLICE / 4,  /* ns: of the distances of bursts from their timeslices, which random ones exceed */
	ENOUGH = 32, /* timeslices in a run that proves a limit: a host's response time exceeds SPREAD / ENOUGH */
};

static void add(struct pace_spread *s, double value)
{
	double distance = value - s->first;

	s->sum += distance;
	s->squares += distance * distance;
}

static double variance(const struct pace_spread *s, uint64_t n)
{
	return s->squares / n - s->sum / n * (s->sum / n);
}

static void start_run(struct pace *p, uint64_t wait, uint64_t ns)
{
	p->run = true;
	p->since = ns;
	p->early = p->late = 0;
	p->slices = p->bursts = p->proofs = p->largest = 0;
	p->times = (struct pace_spread){};
	p->waits = (struct pace_spread){.first = wait};
	p->ios = p->blocks = (struct pace_count){0, 0, DBL_MAX};
}

/* Narrows the rate to what explains the sum, give or take `one`. False if no rate does. */
static bool narrow(struct pace_count *c, uint64_t slices, uint64_t one)
{
	double least = ((double)c->sum - one) / slices, most = ((double)c->sum + one) / slices;

	c->least = least > c->least ? least : c->least;
	c->most = most < c->most ? most : c->most;
	return c->least <= c->most;
}

/* Whether a burst at ns continues the run. */
static bool continues(struct pace *p, uint64_t wait, uint64_t ns)
{
	uint64_t slices = (ns - p->since + SLICE / 2) / SLICE;
	int64_t distance = ns - p->since - slices * SLICE;
	bool even, even_blocks;

	p->early = distance < p->early ? distance : p->early;
	p->late = distance > p->late ? distance : p->late;
	if (p->late - p->early > SPREAD || slices <= p->slices)
		return false;
	p->slices = slices;
	p->bursts++;
	p->proofs += p->chose;
	add(&p->times, distance);
	add(&p->waits, wait);
	even = narrow(&p->ios, slices, 1);
	even_blocks = narrow(&p->blocks, slices, p->largest);
	return even || even_blocks;
}

/* The first I/O after a pause. */
static void start_burst(struct pace *p, uint64_t since, uint64_t ns)
{
	bool waited = since <= p->latest + (ns - p->latest) / 2;

	/* a bdev that had nothing to do held nothing back */
	if (!waited)
		p->run = false;
	else if (!p->run || !continues(p, ns - since, ns))
		start_run(p, ns - since, ns);
	p->before = waited ? p->burst : 0;
	p->burst = ns;
	p->chose = false;
}

void pace_add(struct pace *p, uint64_t since, uint64_t ns, uint64_t blocks)
{
	/* lines of several lcores may be out of order */
	ns = ns > p->latest ? ns : p->latest;
	if (ns - p->latest >= PAUSE)
		start_burst(p, since, ns);
	p->chose |= since > p->burst || (p->before && since < p->before);
	p->latest = ns;
	p->ios.sum++;
	p->blocks.sum += blocks;
	p->largest = blocks > p->largest ? blocks : p->largest;
}

bool pace_is_limited(const struct pace *p, double *rate, bool *of_blocks)
{
	bool even = p->ios.least <= p->ios.most;
	const struct pace_count *c = even ? &p->ios : &p->blocks;

	if (!p->run || p->slices < ENOUGH || p->bursts < ENOUGH / 2 || p->proofs < p->bursts - p->bursts / 4)
		return false;
	if (variance(&p->waits, p->bursts) <= variance(&p->times, p->bursts))
		return false;
	*rate = (c->least + c->most) / 2;
	*of_blocks = !even;
	return true;
}
