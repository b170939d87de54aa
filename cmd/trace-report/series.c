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
	heat_free(&s->heat);
	map_free(&s->buffers_map);
}
