/* SPDX-License-Identifier: BSD-3-Clause */
#include "series.h"

#include <stdlib.h>

#include "facts.h"
#include "mem.h"
#include "table.h"

/* In steps; UINT32_MAX if it is beyond any trace. */
static uint32_t step_of(const struct series *s, double us)
{
	double x = us / s->step;

	return x >= 0 && x < UINT32_MAX ? x : UINT32_MAX;
}

void series_start(struct series *s, double step)
{
	s->step = step;
	s->heat.step = step * 1000 >= 1 ? step * 1000 : 1;
}

void series_request(struct series *s, double us, double life)
{
	const double longest = 1e16; /* microseconds; in nanoseconds it still fits 64 bits */

	if (s->step && life >= 0 && us >= 0 && us + life < longest)
		heat_add(&s->heat, 0, (us + life) * 1000, life * 1000);
}

static void see_wait(struct series *s, double us, struct slice wait)
{
	double all = facts_number(wait, "buffers"), most;
	struct slice holder = facts_largest(facts_text(wait, "holders"), &most);
	struct series_buffers *b;
	uint32_t x;

	if (!holder.n || !(all >= most) || s->num_buffers == SERIES_MAX)
		return;
	x = step_of(s, us + facts_number(wait, "at") + facts_number(wait, "us"));
	if (x == UINT32_MAX)
		return;
	b = table_put(&s->buffers_map, x, s->buffers, s->num_buffers, s->cap_buffers);
	if (all <= b->all)
		return;
	free((char *)b->holder.p);
	*b = (struct series_buffers){x, all, most, mem_slice(holder)};
}

void series_waits(struct series *s, double us, struct slice waits)
{
	struct slice wait;
	struct json j;

	if (!s->step)
		return;
	for (facts_each(&j, waits); facts_next(&j, NULL, &wait);)
		see_wait(s, us, wait);
}

void series_free(struct series *s)
{
	for (size_t i = 0; i < s->num_buffers; i++)
		free((char *)s->buffers[i].holder.p);
	free(s->buffers);
	heat_free(&s->heat);
	map_free(&s->buffers_map);
}
