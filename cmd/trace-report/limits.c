/* SPDX-License-Identifier: BSD-3-Clause */
#include "limits.h"

#include <stdlib.h>

#include "aliases.h"
#include "facts.h"

/* From this share of a limit on, requests that come at random wait for it in some of its timeslices. */
static const double NEAR = 0.8;

/* What a bdev did in a second: I/Os, and bytes. */
struct rate {
	double ios, reads, writes;
};

static struct rate rate_of(const struct requests *r, uint32_t bdev, double block_size)
{
	uint32_t read = intern_get(&r->names, slice_of("read")), write = intern_get(&r->names, slice_of("write"));
	uint64_t first = UINT64_MAX, last = 0;
	struct rate rate = {};

	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		double bytes = q->blocks * block_size;

		first = q->start < first ? q->start : first;
		last = q->start > last ? q->start : last;
		if (q->bdev != bdev || q->type == MAP_NONE)
			continue;
		rate.ios++;
		rate.reads += q->type == read ? bytes : 0;
		rate.writes += q->type == write ? bytes : 0;
	}
	if (last > first) {
		double seconds = (last - first) / 1e9;

		rate = (struct rate){rate.ios / seconds, rate.reads / seconds, rate.writes / seconds};
	}
	return rate;
}

static bool is_near(double rate, struct slice limits, const char *key, double unit)
{
	double limit = facts_number(limits, key) * unit;

	return limit > 0 && rate >= NEAR * limit;
}

static void see_bdev(struct requests *r, struct slice bdev)
{
	struct slice limits = facts_text(bdev, "assigned_rate_limits");
	uint32_t name = intern_get(&r->names, aliases_name(bdev));
	const double mebi = 1 << 20;
	struct rate rate;

	if (name == MAP_NONE || !limits.n)
		return;
	rate = rate_of(r, name, facts_number(bdev, "block_size"));
	if (is_near(rate.ios, limits, "rw_ios_per_sec", 1) ||
	    is_near(rate.reads + rate.writes, limits, "rw_mbytes_per_sec", mebi) ||
	    is_near(rate.reads, limits, "r_mbytes_per_sec", mebi) ||
	    is_near(rate.writes, limits, "w_mbytes_per_sec", mebi))
		requests_limit(r, name);
}

void limits_mark(struct requests *requests, struct slice rpc)
{
	struct slice bdevs, bdev;
	struct json j;

	while (facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);)
			see_bdev(requests, bdev);
}
