/* SPDX-License-Identifier: BSD-3-Clause */
#include "missing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "out.h"
#include "reader.h"
#include "spdk.h"
#include "us.h"

static const char enable[] = "rpc.py trace_enable_tpoint_group";

/* What tracepoints record that a good answer needs. */
enum part { HOST_REQUESTS, OTHER_REQUESTS, PASSES_ON, REPLIES, BDEV_IO, WRITES, OTHERS, PARTS };

struct parts {
	bool defined[PARTS]; /* there are such tracepoints */
	bool on[PARTS];      /* one of them was enabled, or has entries */
};

static void see_part(struct parts *parts, enum part part, bool on)
{
	parts->defined[part] = true;
	parts->on[part] |= on;
}

static enum part request_part(struct slice name)
{
	struct slice letter = spdk_letter(name);

	return slice_is(letter, "r") ? HOST_REQUESTS : slice_is(letter, "t") ? OTHER_REQUESTS : OTHERS;
}

static void see_parts(struct parts *parts, const struct reader *r)
{
	for (unsigned i = 0; i < r->trace.num_tpoints; i++) {
		const struct trace_tpoint *tp = &r->trace.tpoints[i];
		const struct spdk_tpoint *row = spdk_tpoint(slice_of(tp->name));
		bool on = r->counts.by_tpoint[i] || (r->trace.has_masks && !tp->off);

		if (!tp->name[0])
			continue;
		see_part(parts, request_part(slice_of(tp->name)), on);
		if (row->passes_on)
			see_part(parts, PASSES_ON, on);
		if (row->replies)
			see_part(parts, REPLIES, on);
		if (row->kind == SPDK_BDEV_IO)
			see_part(parts, BDEV_IO, on);
		if (row->sends)
			see_part(parts, WRITES, on);
	}
}

/* Whether such tracepoints are defined, but were not enabled and have no entries. */
static bool is_off(const struct parts *parts, enum part part)
{
	return parts->defined[part] && !parts->on[part];
}

static void add(struct missing *found, size_t *n, const char *what, char *text, char *cure)
{
	found[(*n)++] = (struct missing){what, text, cure};
}

static char *copy(const char *text)
{
	return mem_copy(slice_of(text));
}

/* The groups that have requests of hosts, as alternatives. */
static char *request_groups(const struct trace *t)
{
	struct slice last = {"", 0};
	char *text = mem_printf("%s ", enable);
	bool any = false;

	for (unsigned i = 0; i < t->num_tpoints; i++) {
		struct slice name = slice_of(t->tpoints[i].name), group = spdk_group(name);
		char *more;

		if (!name.n || request_part(name) == OTHERS || slice_equal(group, last))
			continue;
		more = mem_printf("%s%s%.*s", text, any ? "|" : "", (int)group.n, group.p);
		free(text);
		text = more;
		last = group;
		any = true;
	}
	return text;
}

static void find_off(struct missing *found, size_t *n, const struct parts *parts, const struct trace *t)
{
	bool has_requests = parts->defined[HOST_REQUESTS] || parts->defined[OTHER_REQUESTS];
	bool are_on = parts->on[HOST_REQUESTS] || parts->on[OTHER_REQUESTS];

	if (has_requests && !are_on)
		add(found, n, "requests",
		    copy(t->has_masks ? "no requests of hosts: the groups that show them are off"
				      : "no requests of hosts"),
		    request_groups(t));
	else if (!has_requests && t->has_masks && is_off(parts, OTHERS))
		add(found, n, "entries", copy("no entries: all groups are off"), mem_printf("%s NAME", enable));
	if (parts->on[PASSES_ON] && is_off(parts, BDEV_IO))
		add(found, n, "bdev", copy("no bdev I/O: while requests execute, they are in the layer below"),
		    mem_printf("%s bdev", enable));
	if (parts->on[REPLIES] && is_off(parts, WRITES))
		add(found, n, "sock", copy("no writes to sockets: replies that queue for a host count as reply"),
		    mem_printf("%s sock", enable));
	if (parts->on[HOST_REQUESTS])
		add(found, n, "names", copy("no names of hosts: a trace has only addresses"),
		    copy(t->num_owners ? "trace-record, which asks the target over TCP, or usdt-record while the hosts "
					 "connect"
				       : "usdt-record, while the hosts connect"));
}

/* The latest start of the other rings, in ticks; 0 if there is no other ring. */
static uint64_t next_start(const struct reader *r, unsigned but)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < r->trace.num_lcores; i++)
		if (i != but)
			latest = max_u64(latest, r->counts.oldest[i]);
	return latest;
}

static char *duration(const struct us *rate, uint64_t ticks)
{
	struct out out = {.fd = OUT_MEMORY};
	char *copied;

	out_duration_text(&out, us_ns(rate, ticks));
	copied = mem_copy(out_contents(&out));
	out_close(&out);
	return copied;
}

/* In shared memory all rings have the same size, in a recording that of their entries. */
static bool is_recording(const struct trace *t)
{
	for (unsigned i = 1; i < t->num_lcores; i++)
		if (t->lcores[i].slots != t->lcores[0].slots)
			return true;
	return false;
}

/* The option that makes the rings reach back this many times as far. */
static char *larger_rings(uint64_t slots, double times)
{
	static const uint64_t most = 1 << 26; /* slots of 32 bytes for each lcore: then a recording is better */
	uint64_t n = 1;

	while (n < slots * times && n < most)
		n *= 2;
	if (n < slots * times)
		return copy("trace-dump -F --record, for which no ring is too short");
	return mem_printf("--num-trace-entries %" PRIu64 ", or trace-dump -F --record", n);
}

/* Whether older entries of some lcores are left out, since another one has none. */
static void find_window(struct missing *found, size_t *n, const struct reader *r, const struct us *rate)
{
	const struct trace_lcore *lcore;
	char *reach, *others;
	uint64_t start, from, next;
	unsigned i;
	bool lost;

	if (!r->counts.before_window || !reader_window_lcore(r, &i))
		return;
	lcore = &r->trace.lcores[i];
	/* the first slot may belong to an entry whose head is overwritten */
	start = r->counts.oldest[i] ? r->counts.oldest[i] : r->merge.window;
	from = r->highest > start ? r->highest - start : 0;
	next = r->highest - next_start(r, i);
	if (next <= from)
		return;
	lost = r->merge.rings[i].full && !is_recording(&r->trace);
	reach = duration(rate, from);
	others = duration(rate, next);
	add(found, n, "window",
	    mem_printf(lost ? "the ring of lcore %u is full: it reaches back %s, others %s"
			    : "lcore %u has no entries before the last %s, others for %s",
		       lcore->id, reach, others),
	    lost ? larger_rings(lcore->slots, from ? (double)next / (double)from : INFINITY)
		 : copy("trace-dump -a, which prints the older entries of the others"));
	free(reach);
	free(others);
}

static void find_lost(struct missing *found, size_t *n, const struct reader *r)
{
	bool recorded = r->merge.marked;

	if (!r->counts.gaps)
		return;
	add(found, n, "lost",
	    mem_printf("entries are missing in %" PRIu64 " place%s: written faster than %s", r->counts.gaps,
		       r->counts.gaps == 1 ? "" : "s", recorded ? "recorded" : "copied"),
	    copy(recorded ? "a larger --num-trace-entries, or fewer groups" : "trace-dump -p PID, or -F --record"));
}

/* One tracepoint that repeats without end, as of a connection that cannot be closed, leaves no room for others. */
static void find_flood(struct missing *found, size_t *n, const struct reader *r)
{
	static const double flood = 0.9;
	const struct trace *t = &r->trace;
	unsigned most = 0;
	bool is_full = false;
	struct slice group;

	for (unsigned i = 0; r->merge.rings && i < t->num_lcores; i++)
		is_full |= r->merge.rings[i].full;
	for (unsigned i = 1; i < t->num_tpoints; i++)
		most = r->counts.by_tpoint[i] > r->counts.by_tpoint[most] ? i : most;
	if (!is_full || !t->num_tpoints || r->counts.by_tpoint[most] < flood * r->counts.returned)
		return;
	group = spdk_group(slice_of(t->tpoints[most].name));
	if (!group.n)
		return;
	add(found, n, "flood",
	    mem_printf("%.0f %% of the entries are %s: they have overwritten what was before",
		       floor(100.0 * r->counts.by_tpoint[most] / r->counts.returned), t->tpoints[most].name),
	    mem_printf("rpc.py trace_clear_tpoint_mask %.*s 0x%" PRIx64, (int)group.n, group.p,
		       UINT64_C(1) << most % TRACE_GROUP));
}

size_t missing_find(struct missing found[MISSING_MAX], const struct reader *r, const struct us *rate, bool has_times)
{
	struct parts parts = {};
	size_t n = 0;

	see_parts(&parts, r);
	find_off(found, &n, &parts, &r->trace);
	if (r->counts.returned) {
		find_window(found, &n, r, rate);
		find_lost(found, &n, r);
		find_flood(found, &n, r);
		if (!has_times)
			add(found, &n, "time", copy("no time of day: entries have ticks"),
			    copy("-T while the target runs, or --clock with what usdt-record recorded"));
	}
	return n;
}

void missing_free(struct missing *found, size_t n)
{
	while (n--) {
		free(found[n].text);
		free(found[n].cure);
	}
}
