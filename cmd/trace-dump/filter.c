/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "entry.h"
#include "mem.h"
#include "spdk.h"
#include "us.h"

/* What is known about the objects of a type. */
struct type {
	bool ends, executes;
};

static enum filter_part part_of(const struct trace_tpoint *tp, const struct spdk_tpoint *row, struct type type)
{
	if (!tp->object_type)
		return row->disconnects ? FILTER_CONNECTION : FILTER_MIDDLE;
	if (!type.ends)
		return FILTER_ALWAYS;
	if (tp->new_object)
		return row->kind == SPDK_BDEV_IO ? FILTER_BDEV_IO : type.executes ? FILTER_REQUEST : FILTER_START;
	if (spdk_is_final(slice_of(tp->name)))
		return FILTER_END;
	return row->executes ? FILTER_CONNECTION : FILTER_MIDDLE;
}

static void find_parts(struct filter *f)
{
	const struct trace *t = f->trace;
	struct type types[TRACE_TYPES] = {};

	f->parts = mem_array(t->num_tpoints, sizeof(*f->parts));
	for (unsigned i = 0; i < t->num_tpoints; i++) {
		struct slice name = slice_of(t->tpoints[i].name);
		struct type *type = &types[t->tpoints[i].object_type];

		type->ends |= spdk_is_final(name);
		type->executes |= spdk_tpoint(name)->executes;
	}
	for (unsigned i = 0; i < t->num_tpoints; i++) {
		const struct trace_tpoint *tp = &t->tpoints[i];

		f->parts[i] = part_of(tp, spdk_tpoint(slice_of(tp->name)), types[tp->object_type]);
	}
}

void filter_open(struct filter *f, const struct filter_options *o, const struct trace *t, const struct us *us)
{
	*f = (struct filter){.options = o, .trace = t, .first = us_ticks(us, o->since)};
	f->end = o->until < UINT64_MAX ? us_ticks(us, o->until + 1) : UINT64_MAX;
	f->matched = mem_array(o->tpoints.n, sizeof(*f->matched));
	if (o->requests)
		find_parts(f);
	if (o->tpoints.n)
		f->tpoints = mem_array(t->num_tpoints, sizeof(*f->tpoints));
}

/*
 * Compares the name of a tracepoint, or # and its number, with all patterns, also after a match: filter_report() prints
 * those that match nothing.
 */
static bool match_tpoint(struct filter *f, const struct trace_tpoint *tp, unsigned id)
{
	const struct filter_options *o = f->options;
	char undefined[16];
	bool any = false;

	snprintf(undefined, sizeof(undefined), "#%u", id);
	for (size_t i = 0; i < o->tpoints.n; i++)
		if (fnmatch(o->tpoints.all[i], tp->name[0] ? tp->name : undefined, 0) == 0)
			any = f->matched[i] = true;
	return any;
}

static bool tpoint_matches(struct filter *f, const struct entry *e)
{
	enum filter_decision *decision;

	if (e->tpoint_id >= f->trace->num_tpoints)
		return match_tpoint(f, e->tpoint, e->tpoint_id);
	decision = &f->tpoints[e->tpoint_id];
	if (*decision == UNDECIDED)
		*decision = match_tpoint(f, e->tpoint, e->tpoint_id) ? MATCHES : DIFFERS;
	return *decision == MATCHES;
}

/*
 * Whether it starts or ends an object that no other one has started. Requests of a connection without a description may
 * be admin requests: what shows that is printed as well, see model/admin.h.
 */
static bool request_matches(struct filter *f, const struct entry *e)
{
	enum filter_part part = e->tpoint_id < f->trace->num_tpoints ? f->parts[e->tpoint_id] : FILTER_MIDDLE;

	switch (part) {
	case FILTER_MIDDLE:
		return false;
	case FILTER_REQUEST:
		f->has_unnamed |= !e->was_related && !e->owner.n;
		return !e->was_related;
	case FILTER_START:
		return !e->was_related;
	case FILTER_END:
		/* what started it may be known by now */
		return e->object == OBJECT_KNOWN ? !e->was_related : !e->related;
	case FILTER_BDEV_IO:
		return !e->was_related || f->has_unnamed;
	case FILTER_CONNECTION:
		return f->has_unnamed;
	default:
		return true;
	}
}

bool filter_match(struct filter *f, const struct entry *e, uint64_t base)
{
	const struct filter_options *o = f->options;
	uint64_t ticks = e->tsc > base ? e->tsc - base : 0;

	return (!o->requests || request_matches(f, e)) && (!o->tpoints.n || tpoint_matches(f, e)) &&
	       ticks >= f->first && ticks < f->end;
}

bool filter_is_past(const struct filter *f, uint64_t tsc, uint64_t base)
{
	return tsc > base && tsc - base >= f->end;
}

void filter_report(struct filter *f, const char *name, bool quiet)
{
	const struct filter_options *o = f->options;

	for (unsigned i = 0; o->tpoints.n && i < f->trace->num_tpoints; i++)
		if (f->trace->tpoints[i].name[0])
			match_tpoint(f, &f->trace->tpoints[i], i);
	for (size_t i = 0; i < o->tpoints.n; i++)
		if (!f->matched[i])
			cli_notice(quiet, "%s: no tracepoint matches '%s'; -d lists them", name, o->tpoints.all[i]);
}

void filter_close(struct filter *f)
{
	free(f->parts);
	free(f->tpoints);
	free(f->matched);
}
