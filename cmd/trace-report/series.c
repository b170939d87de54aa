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
	s->length = step * 1000 >= 1 ? step * 1000 + 0.5 : 1;
	s->heat.step = step * 1000 >= 1 ? step * 1000 : 1;
}

void series_request(struct series *s, const struct span *span, struct rows_name name, const struct spanline *line)
{
	struct series_step *step;
	struct interval interval;

	if (!s->step || s->num_steps == SERIES_MAX)
		return;
	interval = interval_of(span->last, s->length);
	step = table_put(&s->steps_map, interval.from, s->steps, s->num_steps, s->cap_steps);
	step->interval = interval;
	shares_add(&step->shares, name, line, false);
}

void series_heat(struct series *s, uint64_t start, uint64_t life)
{
	if (s->step && start + life >= start)
		heat_add(&s->heat, start + life, life);
}

static void see_wait(struct series *s, uint64_t end, const struct spanline_wait *wait)
{
	struct series_buffers *b;
	uint32_t x;

	if (!wait->held || wait->buffers < wait->held || s->num_buffers == SERIES_MAX)
		return;
	x = step_of(s, end / 1e3);
	if (x == UINT32_MAX)
		return;
	b = table_put(&s->buffers_map, x, s->buffers, s->num_buffers, s->cap_buffers);
	if (wait->buffers <= b->all)
		return;
	free((char *)b->holder.p);
	*b = (struct series_buffers){x, wait->buffers, wait->held, mem_slice(wait->holder)};
}

void series_waits(struct series *s, const struct spanline *span)
{
	for (unsigned i = 0; i < span->num_waits && s->step; i++)
		see_wait(s, span->start + span->waits[i].at + span->waits[i].ns, &span->waits[i]);
}

void series_free(struct series *s)
{
	for (size_t i = 0; i < s->num_buffers; i++)
		free((char *)s->buffers[i].holder.p);
	free(s->buffers);
	for (size_t i = 0; i < s->num_steps; i++)
		shares_free(&s->steps[i].shares);
	free(s->steps);
	map_free(&s->steps_map);
	heat_free(&s->heat);
	map_free(&s->buffers_map);
}
