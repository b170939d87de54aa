/* SPDX-License-Identifier: BSD-3-Clause */
#include "offset.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "search.h"

/*
 * Keeps of the polygon what is on one side of a line: above * (at + slope * t - limit) >= 0. False if that is nothing.
 * If it had too many corners, all of it is kept: then the polygon allows more than the pairs do.
 */
static bool clip(struct offset_polygon *p, double t, double limit, int above)
{
	struct offset_polygon kept = {};

	for (unsigned i = 0; i < p->n; i++) {
		unsigned next = i + 1 < p->n ? i + 1 : 0;
		double a = above * (p->at[i] + p->slope[i] * t - limit);
		double b = above * (p->at[next] + p->slope[next] * t - limit);

		if (kept.n + 2 > OFFSET_CORNERS)
			return true;
		if (a >= 0) {
			kept.slope[kept.n] = p->slope[i];
			kept.at[kept.n++] = p->at[i];
		}
		if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
			double part = a / (a - b);

			kept.slope[kept.n] = p->slope[i] + part * (p->slope[next] - p->slope[i]);
			kept.at[kept.n++] = p->at[i] + part * (p->at[next] - p->at[i]);
		}
	}
	if (!kept.n)
		return false;
	*p = kept;
	return true;
}

/* A line in the middle of the polygon keeps within all bounds, as that is convex. */
static void end_segment(struct offset *o)
{
	struct offset_segment *s = &o->all[o->n - 1];
	const struct offset_polygon *p = &o->polygon;

	for (unsigned i = 0; i < p->n; i++) {
		s->at += p->at[i] / p->n;
		s->slope += p->slope[i] / p->n;
	}
	/* the distance from the corners is convex in time: the largest one is at an end */
	for (unsigned i = 0; i < 2 * p->n; i++) {
		unsigned corner = i / 2;
		double slope = p->slope[corner] - s->slope, length = i % 2 ? (double)(s->to - s->from) : 0;
		double distance = p->at[corner] - s->at + slope * length;

		distance = distance < 0 ? -distance : distance;
		s->even = distance > s->even ? distance : s->even;
	}
}

static void start_segment(struct offset *o, const struct offset_pair *pair)
{
	double room = (double)llabs(pair->largest - pair->least) +
		      OFFSET_SLOPE_MAX * (double)llabs(pair->end - pair->begin) + 1;

	o->all = mem_room(o->all, o->n, &o->cap);
	o->all[o->n++] = (struct offset_segment){.from = pair->begin, .to = pair->begin, .base = pair->least};
	o->polygon = (struct offset_polygon){
		.slope = {-OFFSET_SLOPE_MAX, OFFSET_SLOPE_MAX, OFFSET_SLOPE_MAX, -OFFSET_SLOPE_MAX},
		.at = {-room, -room, 2 * room, 2 * room},
		.n = 4,
	};
}

/* Whether the last segment can have the pair. */
static bool extend(struct offset *o, const struct offset_pair *pair)
{
	struct offset_segment *s = &o->all[o->n - 1];
	struct offset_polygon p = o->polygon;

	if (!clip(&p, (double)(pair->begin - s->from), (double)(pair->least - s->base), 1) ||
	    !clip(&p, (double)(pair->end - s->from), (double)(pair->largest - s->base), -1))
		return false;
	o->polygon = p;
	s->to = pair->begin;
	s->pairs++;
	return true;
}

/*
 * What the pairs up to the one with this number, or from that one on, leave between the true offset and the lines:
 * range has the least and the largest distance at the pair before, and gets them at this one.
 */
static void narrow(const struct offset *o, const struct offset_pair *pair, double apart, double range[2])
{
	double slew = OFFSET_SLEW * apart, bound;
	double least = (double)(pair->least - offset_at(o, pair->begin, &bound));
	/* at the time of begin */
	double largest = (double)(pair->largest - offset_at(o, pair->end, &bound)) +
			 OFFSET_SLEW * (double)llabs(pair->end - pair->begin);

	range[0] = range[0] - slew > least ? range[0] - slew : least;
	range[1] = range[1] + slew < largest ? range[1] + slew : largest;
}

static void find_bounds(struct offset *o, const struct offset_pair *pairs, size_t n)
{
	double(*forward)[2] = mem_array(n, sizeof(*forward)), range[2] = {-1e18, 1e18};

	for (size_t i = 0; i < n; i++) {
		narrow(o, &pairs[i], i ? (double)(pairs[i].begin - pairs[i - 1].begin) : 0, range);
		memcpy(forward[i], range, sizeof(range));
	}
	range[0] = -1e18;
	range[1] = 1e18;
	for (size_t i = n; i-- > 0;) {
		size_t k = search_first(s, o->n, o->all[s].from > pairs[i].begin);
		struct offset_segment *segment = &o->all[k ? k - 1 : 0];
		double low, high;

		narrow(o, &pairs[i], i + 1 < n ? (double)(pairs[i + 1].begin - pairs[i].begin) : 0, range);
		low = -(forward[i][0] > range[0] ? forward[i][0] : range[0]);
		high = forward[i][1] < range[1] ? forward[i][1] : range[1];
		segment->bound = low > segment->bound ? low : segment->bound;
		segment->bound = high > segment->bound ? high : segment->bound;
	}
	free(forward);
}

void offset_find(struct offset *o, const struct offset_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (o->n && extend(o, &pairs[i]))
			continue;
		if (o->n)
			end_segment(o);
		start_segment(o, &pairs[i]);
		/* one that contradicts itself stays without pairs */
		extend(o, &pairs[i]);
	}
	if (!o->n)
		return;
	end_segment(o);
	o->is_known = true;
	find_bounds(o, pairs, n);
}

int64_t offset_at(const struct offset *o, int64_t ns, double *bound)
{
	const struct offset_segment *s;
	size_t i;

	*bound = 0;
	if (!o->n)
		return o->constant;
	i = search_first(k, o->n, o->all[k].from > ns);
	s = &o->all[i ? i - 1 : 0];
	*bound = s->bound;
	return s->base + (int64_t)(s->at + s->slope * ((double)ns - s->from));
}

bool offset_is_plausible(const struct offset *o)
{
	size_t pairs = 0;

	for (size_t i = 0; i < o->n; i++)
		pairs += o->all[i].pairs;
	return o->n <= 1 + pairs / 256;
}

void offset_free(struct offset *o)
{
	free(o->all);
	*o = (struct offset){};
}
