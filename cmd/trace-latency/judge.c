/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "number.h"
#include "print.h"

enum { ALL = 100 * 1000, ABOVE = 10 };

bool limit_parse(const char *text, struct limit *limit)
{
	const char *colon = strchr(text, ':');
	uint64_t percentile;

	if (text[0] != 'p' || !colon)
		return false;
	/* the name of its column in JSON */
	if (strncmp(text, "p999:", 5) == 0)
		percentile = 99900;
	else if (!number_fixed((struct slice){text + 1, colon - text - 1}, 3, &percentile))
		return false;
	limit->percentile = percentile;
	return percentile > 0 && percentile < ALL &&
	       number_fixed(slice_of(colon + 1), 3, &limit->percent) && limit->percent < UINT32_MAX;
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

uint32_t limit_judge(const struct limit *limit, const struct rows *rows, const struct rows *base,
		     const char *base_name)
{
	const uint64_t needed = (ABOVE * ALL + ALL - limit->percentile - 1) /
				(ALL - limit->percentile);
	char percentile[16];
	uint32_t n, worse = 0;
	struct ranked *ranked = rows_ranked(rows, &n);

	percentile_name(limit->percentile, percentile);
	for (uint32_t i = 0; i < n; i++) {
		const struct row *row = ranked[i].row, *before = rows_like(base, rows, row);
		uint64_t counted = before ? before->times.count : 0, is, was;
		char *name = print_name(rows, row);

		is = histogram_percentile(&row->times, limit->percentile);
		was = before ? histogram_percentile(&before->times, limit->percentile) : 0;
		if (row->times.count < needed || counted < needed) {
			warnx("%s: not judged: %" PRIu64 " samples, %" PRIu64
			      " in %s; %s needs %" PRIu64,
			      name, row->times.count, counted, base_name, percentile, needed);
		} else if ((unsigned __int128)is * ALL >
			   (unsigned __int128)was * (ALL + limit->percent)) {
			worse++;
			warnx("%s: worse: %s is %" PRIu64 ".%03u us, was %" PRIu64 ".%03u us in %s",
			      name, percentile, is / 1000, (unsigned)(is % 1000), was / 1000,
			      (unsigned)(was % 1000), base_name);
		}
		free(name);
	}
	free(ranked);
	return worse;
}
