/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include <inttypes.h>
#include <stdlib.h>

#include "anchors.h"
#include "input.h"
#include "mem.h"
#include "minmax.h"
#include "missing.h"
#include "out.h"
#include "reader.h"
#include "spdk.h"
#include "us.h"
#include "wall.h"

/* Between which ticks entries of an lcore are missing. */
static void write_gaps(struct out *out, const struct reader_counts *c, unsigned lcore)
{
	bool any = false;

	for (uint64_t i = 0; i < c->gaps && i < READER_GAPS; i++) {
		const struct reader_gap *gap = &c->first_gaps[i];

		if (gap->lcore != lcore)
			continue;
		out_printf(out, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}", any ? "," : ",\"gaps\":[", gap->from,
			   gap->to);
		any = true;
	}
	out_text(out, any ? "]" : "");
}

static void write_us(struct out *out, const struct us *rate, const char *key, uint64_t ticks)
{
	char us[US_ROOM];

	*us_format(rate, us, ticks) = 0;
	out_printf(out, ",\"%s\":%s", key, us);
}

static void write_lcores(struct out *out, const struct reader *r, const struct us *rate)
{
	const struct merge_ring *rings = r->merge.rings; /* NULL for JSON, which has none */
	const struct trace *t = &r->trace;
	const char *comma = "";

	out_text(out, ",\"lcores\":[");
	for (unsigned i = 0; i < t->num_lcores; i++) {
		const struct trace_lcore *lcore = &t->lcores[i];

		if (!r->counts.by_lcore[i] && !(rings && rings[i].used) && !lcore->thread[0])
			continue;
		out_printf(out, "%s{\"lcore\":%u", comma, lcore->id);
		if (lcore->thread[0]) {
			out_text(out, ",\"thread\":");
			out_json(out, slice_of(lcore->thread));
		}
		out_printf(out, ",\"entries\":%" PRIu64, r->counts.by_lcore[i]);
		if (rings)
			out_printf(out, ",\"slots\":%" PRIu64 ",\"used\":%" PRIu64 ",\"wrapped\":%s", lcore->slots,
				   rings[i].used, rings[i].full ? "true" : "false");
		if (r->counts.oldest[i] && r->counts.oldest[i] <= r->highest)
			write_us(out, rate, "back_us", r->highest - r->counts.oldest[i]);
		write_gaps(out, &r->counts, i);
		out_text(out, "}");
		comma = ",";
	}
	out_text(out, "]");
}

/* The number of entries of each defined tracepoint that has any. */
static void write_tpoints(struct out *out, const struct reader *r)
{
	const char *comma = "";

	out_text(out, ",\"tpoints\":{");
	for (unsigned i = 0; i < r->trace.num_tpoints; i++) {
		const struct trace_tpoint *tp = &r->trace.tpoints[i];

		if (!tp->name[0] || !r->counts.by_tpoint[i])
			continue;
		out_text(out, comma);
		out_json(out, slice_of(tp->name));
		out_printf(out, ":%" PRIu64, r->counts.by_tpoint[i]);
		comma = ",";
	}
	out_text(out, "}");
}

static void write_damage(struct out *out, const struct reader *r)
{
	const struct trace *t = &r->trace;
	const char *comma = "";

	if (t->cut_off) {
		out_text(out, "\"cut off\"");
		comma = ",";
	}
	if (r->in->unreadable) {
		out_printf(out, "%s\"%zu bytes from offset %zu on could not be read: %s\"", comma, r->in->unreadable,
			   r->in->first_unreadable, strerror(r->in->read_error));
		comma = ",";
	}
	for (unsigned i = 0; i < trace_num_damage(t); i++) {
		out_text(out, comma);
		out_json(out, slice_of(t->damage[i]));
		comma = ",";
	}
}

static void write_time(struct out *out, const char *key, uint64_t ns)
{
	char text[WALL_ROOM], *end = wall_write(&(struct wall){}, text, ns);

	out_printf(out, ",\"%s\":\"%.*s\"", key, (int)(end - text), text);
}

/* The measured rate, which the one in the trace may differ from, and the times of day of the first and last entry. */
static void write_times(struct out *out, const struct reader *r, struct anchors *anchors)
{
	uint64_t rate = anchors_rate(anchors), file_rate = r->trace.tsc_rate;

	if (rate)
		out_printf(out, ",\"clock_rate\":%" PRIu64, rate);
	if (!r->counts.returned)
		return;
	write_time(out, "first", anchors_time(anchors, r->first, file_rate));
	write_time(out, "last", anchors_time(anchors, r->highest, file_rate));
}

/* A group of tracepoints, which SPDK enables together. */
struct group {
	unsigned id;       /* the first tracepoint has this times TRACE_GROUP */
	struct slice name; /* as SPDK's RPCs call it; else the first word of a tracepoint */
	unsigned num, off; /* defined tracepoints, and those of them that were not enabled, if the trace says so */
	uint64_t entries;  /* that reader_next() returned */
};

static struct slice group_name(const struct trace_tpoint *tp)
{
	struct slice name = slice_of(tp->name), group = spdk_group(name);
	const char *end = memchr(name.p, '_', name.n);

	if (group.n)
		return group;
	return end && end > name.p ? slice_between(name.p, end) : name;
}

static int by_entries(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return ORDER(y->entries, x->entries) ?: ORDER(x->id, y->id);
}

/* Those with defined tracepoints, those with most entries first. Returns how many. The caller frees them. */
static size_t count_groups(struct group **groups, const struct reader *r)
{
	const struct trace *t = &r->trace;
	size_t n = 0, cap = 0;

	*groups = NULL;
	for (unsigned i = 0; i < t->num_tpoints; i++) {
		const struct trace_tpoint *tp = &t->tpoints[i];

		if (!tp->name[0])
			continue;
		if (!n || (*groups)[n - 1].id != i / TRACE_GROUP) {
			*groups = mem_room(*groups, n, &cap);
			(*groups)[n++] = (struct group){.id = i / TRACE_GROUP, .name = group_name(tp)};
		}
		(*groups)[n - 1].num++;
		(*groups)[n - 1].off += tp->off;
		(*groups)[n - 1].entries += r->counts.by_tpoint[i];
	}
	if (n)
		qsort(*groups, n, sizeof(**groups), by_entries);
	return n;
}

static void write_groups(struct out *out, const struct reader *r)
{
	struct group *groups;
	size_t n = count_groups(&groups, r);

	out_text(out, ",\"groups\":[");
	for (size_t i = 0; i < n; i++) {
		const struct group *g = &groups[i];

		out_printf(out, "%s{\"id\":%u,\"group\":", i ? "," : "", g->id);
		out_json(out, g->name);
		out_printf(out, ",\"entries\":%" PRIu64 ",\"tpoints\":%u", g->entries, g->num);
		if (r->trace.has_masks)
			out_printf(out, ",\"off\":%u", g->off);
		out_char(out, '}');
	}
	out_char(out, ']');
	free(groups);
}

static void write_missing(struct out *out, const struct info *info)
{
	struct missing found[MISSING_MAX];
	size_t n = missing_find(found, info->r, info->rate, info->anchors);

	out_text(out, ",\"missing\":[");
	for (size_t i = 0; i < n; i++) {
		out_printf(out, "%s{\"what\":\"%s\",\"text\":", i ? "," : "", found[i].what);
		out_json(out, slice_of(found[i].text));
		out_text(out, ",\"try\":");
		out_json(out, slice_of(found[i].cure));
		out_char(out, '}');
	}
	out_char(out, ']');
	missing_free(found, n);
}

void info_write(struct out *out, const struct info *info)
{
	const struct reader *r = info->r;
	const struct reader_counts *counts = &r->counts;
	const struct trace *t = &r->trace;
	unsigned lcore;

	out_printf(out, "{\"layout\":\"%s\",\"releases\":\"%s\",\"tsc_rate\":%" PRIu64, t->layout, t->releases,
		   t->tsc_rate);
	if (info->anchors)
		write_times(out, r, info->anchors);
	if (counts->returned)
		write_us(out, info->rate, "us", r->highest - r->first);
	if (t->clear_tsc)
		out_printf(out, ",\"clear_tsc\":%" PRIu64, t->clear_tsc);
	if (r->merge.window)
		out_printf(out, ",\"window_start\":%" PRIu64, r->merge.window);
	if (reader_window_lcore(r, &lcore))
		out_printf(out, ",\"window_lcore\":%u", t->lcores[lcore].id);
	out_printf(out, ",\"entries\":%" PRIu64 ",\"before_window\":%" PRIu64 ",\"cleared\":%" PRIu64, counts->entries,
		   counts->before_window, counts->cleared);
	out_printf(out, ",\"torn\":%" PRIu64 ",\"undefined\":%" PRIu64, counts->torn, counts->undefined);
	write_tpoints(out, r);
	write_lcores(out, r, info->rate);
	out_text(out, ",\"damage\":[");
	write_damage(out, r);
	out_printf(out, "],\"gaps\":%" PRIu64 ",\"lost\":%" PRIu64, counts->gaps, r->merge.marked);
	write_groups(out, r);
	write_missing(out, info);
	out_text(out, "}\n");
}

/* A member with a type's character, when it has one. */
static void type_member(struct out *out, const char *key, char prefix)
{
	if (!prefix)
		return;
	out_printf(out, ",\"%s\":", key);
	out_json(out, (struct slice){&prefix, 1});
}

static void write_definition(struct out *out, const struct trace *t, const struct trace_tpoint *tp)
{
	static const char *const types[] = {"int", "ptr", "str"};

	out_text(out, "{\"tpoint\":");
	out_json(out, slice_of(tp->name));
	out_printf(out, ",\"id\":%u", tp->id);
	type_member(out, "owner_type", t->owner_prefix[tp->owner_type]);
	type_member(out, "object_type", t->object_prefix[tp->object_type]);
	out_printf(out, ",\"new_object\":%s,\"args\":[", tp->new_object ? "true" : "false");
	for (unsigned i = 0; i < tp->num_args; i++) {
		out_text(out, i ? ",{\"name\":" : "{\"name\":");
		out_json(out, slice_of(tp->args[i].name));
		out_printf(out, ",\"type\":\"%s\",\"size\":%u}", types[tp->args[i].type], tp->args[i].size);
	}
	out_text(out, "]");
	for (unsigned i = 0; i < TRACE_RELATIONS && tp->related[i].object_type; i++) {
		const struct trace_relation *r = &tp->related[i];

		out_text(out, i ? ",{\"arg\":" : ",\"related\":[{\"arg\":");
		out_json(out, slice_of(r->arg < tp->num_args ? tp->args[r->arg].name : ""));
		type_member(out, "object_type", t->object_prefix[r->object_type]);
		out_text(out, "}");
	}
	out_text(out, tp->related[0].object_type ? "]" : "");
	out_text(out, tp->off ? ",\"off\":true}\n" : "}\n");
}

void info_write_definitions(struct out *out, const struct trace *t)
{
	for (unsigned i = 0; i < t->num_tpoints; i++)
		if (t->tpoints[i].name[0])
			write_definition(out, t, &t->tpoints[i]);
}
