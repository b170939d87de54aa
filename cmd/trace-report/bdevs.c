/* SPDX-License-Identifier: BSD-3-Clause */
#include "bdevs.h"

#include <stdio.h>
#include <stdlib.h>

#include "aliases.h"
#include "count.h"
#include "facts.h"
#include "floor.h"

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

static void see_limits(struct requests *r, struct slice bdev)
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

/* What a bdev did until an answer to bdev_get_iostat. */
struct done {
	double ops, ticks;
};

static struct done done_of(struct slice iostat, struct slice name)
{
	static const char *const kinds[] = {"read", "write"};
	struct slice bdev;
	struct json j;
	struct done done = {};

	for (facts_each(&j, facts_text(iostat, "bdevs")); facts_next(&j, NULL, &bdev);) {
		if (!slice_equal(facts_text(bdev, "name"), name))
			continue;
		for (size_t i = 0; i < COUNT(kinds); i++) {
			char ops[32], ticks[32];

			snprintf(ops, sizeof(ops), "num_%s_ops", kinds[i]);
			snprintf(ticks, sizeof(ticks), "%s_latency_ticks", kinds[i]);
			done.ops += facts_number(bdev, ops);
			done.ticks += facts_number(bdev, ticks);
		}
	}
	return done;
}

/* What an I/O of a bdev took on average between two answers, in ns; negative: there was none. */
static double mean_of(struct slice first, struct slice last, struct slice name)
{
	struct done before = done_of(first, name), after = done_of(last, name);
	double rate = facts_number(last, "tick_rate");

	return after.ops > before.ops && rate > 0 ? (after.ticks - before.ticks) / (after.ops - before.ops) / rate * 1e9
						  : -1;
}

/* Of a RAID, the member that takes longer than the fastest one, as far as that is notable. */
static void see_members(struct requests *r, struct slice bdev, struct slice first, struct slice last)
{
	uint32_t name = intern_get(&r->names, aliases_name(bdev));
	struct slice member, slowest = {};
	double most = -1, least = -1;
	struct json j;

	if (name == MAP_NONE)
		return;
	for (facts_each(&j, facts_text(bdev, "driver_specific.raid.base_bdevs_list")); facts_next(&j, NULL, &member);) {
		struct slice text = facts_text(member, "name");
		double mean = mean_of(first, last, text);

		if (mean > most) {
			most = mean;
			slowest = text;
		}
		if (mean >= 0 && (least < 0 || mean < least))
			least = mean;
	}
	if (most >= FLOOR_TIMES * least && most - least >= FLOOR_DEVICE_NS)
		requests_set_leg(r, name, json_unquoted(slowest));
}

void bdevs_mark(struct requests *requests, struct slice rpc)
{
	struct slice bdevs, bdev, rest = rpc, first = {}, last = {}, iostat;
	struct json j;

	while (facts_answer(&rest, "bdev_get_iostat", &iostat)) {
		first = first.n ? first : iostat;
		last = iostat;
	}
	while (facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);) {
			see_limits(requests, bdev);
			see_members(requests, bdev, first, last);
		}
}
