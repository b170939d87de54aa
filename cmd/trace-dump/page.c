/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "anchors.h"
#include "groups.h"
#include "input.h"
#include "missing.h"
#include "reader.h"
#include "us.h"
#include "utf8.h"
#include "wall.h"

enum {
	WIDTH = 80,
	NAME = 12,  /* columns of the trace's name, at least */
	GROUP = 12, /* of a group's name */
	THREAD = 24,
	STATE = 33, /* columns before what is off in a group */
};

/* Writes the words of a text in lines that start with this many blanks; the first one has used columns already. */
static void put_wrapped(struct out *out, struct slice text, size_t indent, size_t used)
{
	size_t column = used;

	while (text.n) {
		const char *blank = memchr(text.p, ' ', text.n);
		struct slice word = blank ? slice_between(text.p, blank) : text;
		size_t width = utf8_count(word);

		if (column > indent && column + 1 + width > WIDTH) {
			out_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			out_char(out, ' ');
			column++;
		}
		out_visible(out, word);
		column += width;
		slice_cut(&text, word.n + !!blank);
	}
	out_char(out, '\n');
}

static void put_title(struct out *out, const struct info *info)
{
	const struct reader *r = info->r;
	const char *base = strrchr(info->name, '/'), *name = base && base[1] ? base + 1 : info->name;
	uint64_t printed = r->counts.returned;
	struct out rest = {.fd = OUT_MEMORY};
	unsigned lcores = 0;

	for (unsigned i = 0; i < r->trace.num_lcores; i++)
		lcores += r->counts.by_lcore[i] > 0;
	out_text(&rest, printed ? ": " : ": no entries");
	if (printed) {
		out_duration_text(&rest, us_ns(info->rate, r->highest - r->first));
		out_printf(&rest, ", %" PRIu64 " entr%s of %u lcore%s", printed, printed == 1 ? "y" : "ies", lcores,
			   lcores == 1 ? "" : "s");
	}
	out_printf(&rest, ", %s%s\n", *r->trace.releases == 'v' ? "SPDK " : "", r->trace.releases);
	out_short(out, slice_of(name), rest.len + NAME < WIDTH ? WIDTH + 1 - rest.len : NAME);
	out_slice(out, out_contents(&rest));
	out_close(&rest);
}

static void put_time(struct out *out, struct anchors *anchors, uint64_t tsc, uint64_t rate)
{
	char text[WALL_ROOM], *end = wall_write(&(struct wall){}, text, anchors_time(anchors, tsc, rate));

	out_bytes(out, text, end - text);
}

static void put_clock(struct out *out, const struct info *info)
{
	const struct reader *r = info->r;
	const struct trace *t = &r->trace;
	uint64_t measured = info->anchors ? anchors_rate(info->anchors) : 0;

	out_printf(out, "layout %s, %" PRIu64 " ticks a second", t->layout, t->tsc_rate);
	if (measured)
		out_printf(out, " in the trace, %" PRIu64 " as measured", measured);
	out_char(out, '\n');
	if (!info->anchors || !r->counts.returned)
		return;
	out_text(out, "from ");
	put_time(out, info->anchors, r->first, t->tsc_rate);
	out_text(out, " to ");
	put_time(out, info->anchors, r->highest, t->tsc_rate);
	out_char(out, '\n');
}

static void put_damage(struct out *out, const struct reader *r)
{
	const struct trace *t = &r->trace;

	if (t->cut_off)
		out_text(out, "damaged: cut off\n");
	if (r->in->unreadable)
		out_printf(out, "damaged: %zu bytes from offset %zu on could not be read\n", r->in->unreadable,
			   r->in->first_unreadable);
	for (unsigned i = 0; i < trace_num_damage(t); i++) {
		out_text(out, "damaged: ");
		put_wrapped(out, slice_of(t->damage[i]), 9, 9);
	}
	if (t->faults > TRACE_DAMAGE)
		out_printf(out, "damaged: %u more such faults\n", t->faults - TRACE_DAMAGE);
	if (t->is_followed)
		out_text(out, "damaged: more than a trace: what follows it was not read\n");
}

struct count {
	uint64_t n;
	const char *what;
};

/* A line with the counts that are not 0; a count without a text ends the list. */
static void put_counts(struct out *out, const char *title, const struct count *counts)
{
	struct out text = {.fd = OUT_MEMORY};

	for (; counts->what; counts++)
		if (counts->n)
			out_printf(&text, "%s%" PRIu64 " %s", text.len ? ", " : title, counts->n, counts->what);
	if (text.len)
		put_wrapped(out, out_contents(&text), 2, 0);
	out_close(&text);
}

static void put_exceptions(struct out *out, const struct reader *r)
{
	const struct reader_counts *c = &r->counts;

	put_counts(out, r->options.all ? "among them: " : "left out: ",
		   (const struct count[]){{c->before_window, "older than the start of another ring"},
					  {c->cleared, "older than trace_clear"},
					  {}});
	put_counts(out, "among them: ",
		   (const struct count[]){{c->torn, "torn"}, {c->undefined, "without a definition"}, {}});
	put_counts(out, "besides: ",
		   (const struct count[]){{r->merge.marked, "slots lost while it was recorded"},
					  {r->trace.short_histories, "lcores truncated by spdk_trace_record"},
					  {}});
}

static void put_lcore(struct out *out, const struct info *info, unsigned i, bool is_window)
{
	const struct reader *r = info->r;
	const struct trace_lcore *lcore = &r->trace.lcores[i];
	const struct merge_ring *ring = r->merge.rings ? &r->merge.rings[i] : NULL;
	uint64_t oldest = r->counts.oldest[i];

	out_printf(out, "%5u %11" PRIu64 "       ", lcore->id, r->counts.by_lcore[i]);
	if (oldest && oldest <= r->highest)
		out_duration(out, us_ns(info->rate, r->highest - oldest));
	else
		out_printf(out, "%*s", OUT_DURATION, "-");
	if (ring)
		out_printf(out, " %10" PRIu64 " %4.0f%%%s%s", lcore->slots,
			   lcore->slots ? 100.0 * (double)ring->used / (double)lcore->slots : 0,
			   ring->full ? " full" : "", is_window ? " *" : "");
	if (lcore->thread[0]) {
		out_text(out, "  ");
		out_short(out, slice_of(lcore->thread), THREAD);
	}
	out_char(out, '\n');
}

static void put_lcores(struct out *out, const struct info *info)
{
	const struct reader *r = info->r;
	const struct merge_ring *rings = r->merge.rings;
	bool any = false, has_window;
	unsigned window;

	/* the window matters only if it leaves entries out */
	has_window = reader_window_lcore(r, &window) && r->counts.before_window;
	for (unsigned i = 0; i < r->trace.num_lcores; i++) {
		if (!r->counts.by_lcore[i] && !(rings && rings[i].used) && !r->trace.lcores[i].thread[0])
			continue;
		if (!any)
			out_printf(out, "\nlcore     entries  reaches back%s\n", rings ? "      slots  used" : "");
		any = true;
		put_lcore(out, info, i, has_window && i == window);
	}
	if (has_window)
		out_text(out, "* here starts the time in which all lcores are complete\n");
}

/* The tracepoints of a group that were not enabled. */
static void put_off(struct out *out, const struct trace *t, const struct group *g)
{
	struct out names = {.fd = OUT_MEMORY};

	out_printf(&names, "%u of %u on, without", g->num - g->off, g->num);
	for (unsigned i = g->id * TRACE_GROUP; i < t->num_tpoints && i / TRACE_GROUP == g->id; i++)
		if (t->tpoints[i].off)
			out_printf(&names, " %s", t->tpoints[i].name);
	put_wrapped(out, out_contents(&names), STATE, STATE);
	out_close(&names);
}

static void put_group(struct out *out, const struct reader *r, const struct group *g)
{
	out_shortened(out, g->name, GROUP);
	out_printf(out, " %11" PRIu64, g->entries);
	if (g->entries)
		out_printf(out, " %5.1f%%  ", 100.0 * (double)g->entries / (double)r->counts.returned);
	else
		out_printf(out, "%9s", "");
	if (!r->trace.has_masks)
		out_printf(out, "%u\n", g->num);
	else if (g->off == g->num)
		out_text(out, "off\n");
	else if (g->off)
		put_off(out, &r->trace, g);
	else
		out_printf(out, "%u on\n", g->num);
}

static void put_groups(struct out *out, const struct reader *r)
{
	struct group *groups;
	size_t n = groups_count(&groups, r);

	out_text(out, n ? "\ngroup            entries      %  tracepoints\n" : "");
	for (size_t i = 0; i < n; i++)
		put_group(out, r, &groups[i]);
	free(groups);
}

static void put_missing(struct out *out, const struct info *info)
{
	struct missing found[MISSING_MAX];
	size_t n = missing_find(found, info->r, info->rate, info->anchors);

	out_text(out, n ? "\nmissing for a good answer\n" : "");
	for (size_t i = 0; i < n; i++) {
		out_text(out, "  ");
		put_wrapped(out, slice_of(found[i].text), 2, 2);
		out_text(out, "    try: ");
		put_wrapped(out, slice_of(found[i].cure), 9, 9);
	}
	missing_free(found, n);
}

void page_write(struct out *out, const struct info *info)
{
	put_title(out, info);
	put_clock(out, info);
	put_damage(out, info->r);
	put_exceptions(out, info->r);
	put_lcores(out, info);
	put_groups(out, info->r);
	put_missing(out, info);
}
