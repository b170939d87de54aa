/* SPDX-License-Identifier: BSD-3-Clause */
#include "quota.h"

#include "facts.h"
#include "recording.h"

static bool is_of(struct slice line, const char *when, struct slice group)
{
	return slice_is(json_unquoted(facts_text(line, RECORDING_WHEN)), when) &&
	       slice_equal(facts_text(line, RECORDING_CGROUP), group);
}

static void put(struct out *out, struct slice before, struct slice after)
{
	double throttled = facts_number(after, "throttled") - facts_number(before, "throttled");
	double us = facts_number(after, "throttled_us") - facts_number(before, "throttled_us");

	if (throttled <= 0 || us <= 0)
		return;
	out_text(out, "\nCPU quota of cgroup ");
	facts_put(out, json_unquoted(facts_text(after, RECORDING_CGROUP)));
	out_printf(out, ": %.2f CPUs, used up in %.0f of %.0f periods, off its CPUs for ",
		   facts_number(after, "quota") / facts_number(after, "period"), throttled,
		   facts_number(after, "periods") - facts_number(before, "periods"));
	facts_put_time(out, us);
	out_char(out, '\n');
}

void quota_put(struct out *out, struct slice kernel)
{
	struct slice before, after;

	while (json_line(&kernel, &before)) {
		struct slice group = facts_text(before, RECORDING_CGROUP), rest = kernel;

		if (!group.n || !is_of(before, RECORDING_START, group))
			continue;
		while (json_line(&rest, &after))
			if (is_of(after, RECORDING_END, group)) {
				put(out, before, after);
				break;
			}
	}
}
