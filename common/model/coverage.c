/* SPDX-License-Identifier: BSD-3-Clause */
#include "coverage.h"

#include "minmax.h"
#include "number.h"
#include "spans.h"

void coverage_line(struct coverage *c, enum coverage_tool tool, const struct traceline *line, const char *argument,
		   uint64_t ns)
{
	struct coverage_time *time = &c->tools[tool];
	uint64_t length = 0;

	if (!time->any) {
		number_fixed(traceline_arg(line, argument), 3, &length);
		time->begin = ns - min_u64(length, ns);
	}
	time->any = true;
	time->end = max_u64(ns, time->end);
}

bool coverage_may_come(const struct coverage *c, const struct span *s)
{
	for (enum coverage_tool tool = 0; tool < COVERAGE_TOOLS; tool++) {
		const struct coverage_time *time = &c->tools[tool];

		if (time->any && s->first >= time->begin && s->last > time->end)
			return true;
	}
	return false;
}

bool coverage_has(const struct spans *spans, const struct span *s, enum coverage_tool tool)
{
	const struct coverage_time *time = &spans->coverage.tools[tool];

	/* its reactor's lines count for another source */
	if (tool == COVERAGE_OFFCPUSNOOP && reactors_of(&spans->reactors, s->last_lcore) &&
	    !reactors_of_span(&spans->reactors, s, s->last_lcore))
		return false;
	return time->any && s->first >= time->begin && s->first - time->begin >= s->age &&
	       life_until(spans, s) <= time->end + spans->coverage.slack_ns;
}
