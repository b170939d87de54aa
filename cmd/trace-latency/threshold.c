/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "names.h"
#include "number.h"

/* 100 % in thousandths of a percent, and how many values are needed above a percentile. */
enum { ALL = 100 * 1000, ABOVE = 10 };

bool threshold_parse(const char *text, struct threshold *threshold)
{
	const char *colon = strchr(text, ':');
	uint64_t percentile;

	if (text[0] != 'p' || !colon)
		return false;
	/* the name of the key in JSON */
	if (strncmp(text, "p999:", 5) == 0)
		percentile = 99900;
	else if (!number_fixed(slice_between(text + 1, colon), 3, &percentile))
		return false;
	threshold->percentile = percentile;
	return percentile > 0 && percentile < ALL && number_fixed(slice_of(colon + 1), 3, &threshold->percent) &&
	       threshold->percent < UINT32_MAX;
}

/* p99.9 for 99900 */
static const char *percentile_name(unsigned thousandths, char name[16])
{
	int n = sprintf(name, "p%u.%03u", thousandths / 1000, thousandths % 1000);

	while (name[n - 1] == '0')
		name[--n] = 0;
	if (name[n - 1] == '.')
		name[n - 1] = 0;
	return name;
}

/* Reports a row; before is that of the base, or NULL. */
static enum threshold_verdict report(const struct threshold *t, const struct latency *row, const struct latency *before,
				     const char *name, const char *base_name)
{
	const uint64_t needed = (ABOVE * ALL + ALL - t->percentile - 1) / (ALL - t->percentile);
	uint64_t counted = before ? before->times.count : 0, is, was;
	char text[16];
	const char *percentile = percentile_name(t->percentile, text);
	struct out times[2] = {{.fd = OUT_MEMORY}, {.fd = OUT_MEMORY}};

	if (row->times.count < needed || counted < needed) {
		warnx("%s: not judged: %" PRIu64 " samples, %" PRIu64 " in %s; %s needs %" PRIu64, name,
		      row->times.count, counted, base_name, percentile, needed);
		return THRESHOLD_UNKNOWN;
	}
	histogram_percentiles(&row->times, &t->percentile, 1, &is);
	histogram_percentiles(&before->times, &t->percentile, 1, &was);
	if ((unsigned __int128)is * ALL <= (unsigned __int128)was * (ALL + t->percent))
		return THRESHOLD_KEPT;
	out_duration_text(&times[0], is);
	out_duration_text(&times[1], was);
	warnx("%s: worse: %s is %.*s, was %.*s in %s", name, percentile, (int)times[0].len, times[0].buf,
	      (int)times[1].len, times[1].buf, base_name);
	out_close(&times[0]);
	out_close(&times[1]);
	return THRESHOLD_EXCEEDED;
}

bool threshold_applies(const struct rows *rows, const struct rows *base, const char *base_name)
{
	struct out texts[2] = {{.fd = OUT_MEMORY}, {.fd = OUT_MEMORY}};
	bool same;

	if (!rows->num_filled || !base->num_filled)
		return true;
	names_keys(&texts[0], rows->groups.all[rows->filled[0]->group]);
	names_keys(&texts[1], base->groups.all[base->filled[0]->group]);
	same = slice_equal(out_contents(&texts[0]), out_contents(&texts[1]));
	if (!same)
		warnx("%s: groups by %.*s, this run by %.*s: give both the same -g", base_name, (int)texts[1].len,
		      texts[1].buf, (int)texts[0].len, texts[0].buf);
	out_close(&texts[0]);
	out_close(&texts[1]);
	return same;
}

enum threshold_verdict threshold_report(const struct threshold *threshold, const struct rows *rows,
					const struct rows *base, const char *base_name)
{
	struct ranked_row *ranked = rows_ranked(rows);
	size_t verdicts[THRESHOLD_UNKNOWN + 1] = {};

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		struct out name = {.fd = OUT_MEMORY};

		names_row(&name, rows, row);
		out_char(&name, 0);
		verdicts[report(threshold, row, rows_find(base, rows, row), out_contents(&name).p, base_name)]++;
		out_close(&name);
	}
	free(ranked);
	if (verdicts[THRESHOLD_EXCEEDED])
		return THRESHOLD_EXCEEDED;
	if (verdicts[THRESHOLD_KEPT])
		return THRESHOLD_KEPT;
	if (rows->num_filled)
		warnx("0 of %zu rows were judged: record longer, or judge a lower percentile", rows->num_filled);
	return THRESHOLD_UNKNOWN;
}
