/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "entry.h"
#include "json.h"
#include "mem.h"
#include "number.h"
#include "spdk.h"
#include "us.h"

/* Size of the direct-mapped cache of decisions about owners. */
enum { OWNERS = 1024 };

bool filter_add_lcores(struct filter_options *o, const char *list)
{
	const char *p = list;

	if (!o->lcores)
		o->lcores = mem_array(FILTER_LCORES, sizeof(*o->lcores));
	for (bool more = true; more;) {
		size_t n = strcspn(p, ","), dash = strcspn(p, "-,");
		struct slice low = {p, dash}, high = low;
		uint64_t from, to;

		if (dash < n)
			high = slice_from((struct slice){p, n}, dash + 1);
		if (!number_decimal(low, &from) || !number_decimal(high, &to) || from > to || to >= FILTER_LCORES)
			return false;
		for (; from <= to; from++)
			o->lcores[from] = true;
		more = p[n] == ',';
		p += n + 1;
	}
	return true;
}

void filter_add_glob(struct filter_globs *globs, const char *glob)
{
	globs->all = mem_room(globs->all, globs->n, &globs->cap);
	globs->all[globs->n++] = glob;
}

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
	f->tpoint_matched = mem_array(o->tpoints.n, sizeof(*f->tpoint_matched));
	f->owner_matched = mem_array(o->owners.n, sizeof(*f->owner_matched));
	if (o->requests)
		find_parts(f);
	if (o->tpoints.n)
		f->tpoints = mem_array(t->num_tpoints, sizeof(*f->tpoints));
	if (o->owners.n)
		f->owners = mem_array(OWNERS, sizeof(*f->owners));
}

/* Compares all patterns, also after a match: filter_report() prints those that match nothing. */
static bool match(const struct filter_globs *globs, bool *matched, const char *text)
{
	bool any = false;

	for (size_t i = 0; i < globs->n; i++)
		if (fnmatch(globs->all[i], text, 0) == 0)
			any = matched[i] = true;
	return any;
}

/* Compares the name of a tracepoint, or # and its number. */
static bool match_tpoint(struct filter *f, const struct trace_tpoint *tp, unsigned id)
{
	char undefined[16];

	snprintf(undefined, sizeof(undefined), "#%u", id);
	return match(&f->options->tpoints, f->tpoint_matched, tp->name[0] ? tp->name : undefined);
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

/*
 * An owner's description changes when a host connects, and when another owner reuses its id.
 */
static bool owner_matches(struct filter *f, const struct entry *e)
{
	struct filter_owner *known = &f->owners[e->poller % OWNERS];
	struct slice quoted = e->owner;
	char *text;

	if (!quoted.n)
		return false;
	if (known->text.p && slice_equal(known->text, quoted))
		return known->matches;
	text = mem_array(quoted.n, 1);
	json_unescape(text, (struct slice){quoted.p + 1, quoted.n - 2});
	known->matches = match(&f->options->owners, f->owner_matched, text);
	free(text);
	free((char *)known->text.p);
	known->text = (struct slice){mem_copy(quoted), quoted.n};
	return known->matches;
}

bool filter_match(struct filter *f, const struct entry *e, uint64_t base)
{
	const struct filter_options *o = f->options;
	uint64_t ticks = e->tsc > base ? e->tsc - base : 0;

	return (!o->lcores || o->lcores[f->trace->lcores[e->lcore].id]) && (!o->requests || request_matches(f, e)) &&
	       (!o->tpoints.n || tpoint_matches(f, e)) && ticks >= f->first && ticks < f->end &&
	       (!o->owners.n || owner_matches(f, e));
}

bool filter_is_past(const struct filter *f, uint64_t tsc, uint64_t base)
{
	return tsc > base && tsc - base >= f->end;
}

static void report_lcores(const struct filter *f, const uint64_t *by_lcore, const char *name, bool quiet)
{
	bool *seen = mem_array(FILTER_LCORES, sizeof(*seen));
	unsigned missing = 0, first = 0;

	for (unsigned i = 0; i < f->trace->num_lcores; i++)
		if (by_lcore[i])
			seen[f->trace->lcores[i].id] = true;
	for (unsigned i = 0; i < FILTER_LCORES; i++)
		if (f->options->lcores[i] && !seen[i] && !missing++)
			first = i;
	if (missing)
		cli_notice(quiet, "%s: no entries of lcore %u%s", name, first, missing > 1 ? " and others" : "");
	free(seen);
}

void filter_report(struct filter *f, const uint64_t *by_lcore, const char *name, bool quiet)
{
	const struct filter_options *o = f->options;

	if (o->lcores)
		report_lcores(f, by_lcore, name, quiet);
	for (unsigned i = 0; o->tpoints.n && i < f->trace->num_tpoints; i++)
		if (f->trace->tpoints[i].name[0])
			match_tpoint(f, &f->trace->tpoints[i], i);
	for (size_t i = 0; i < o->tpoints.n; i++)
		if (!f->tpoint_matched[i])
			cli_notice(quiet, "%s: no tracepoint matches '%s'; -d lists them", name, o->tpoints.all[i]);
	for (size_t i = 0; i < o->owners.n; i++)
		if (!f->owner_matched[i])
			cli_notice(quiet, "%s: no entry to print has an owner '%s'; -O lists the owners", name,
				   o->owners.all[i]);
}

void filter_close(struct filter *f)
{
	for (unsigned i = 0; f->owners && i < OWNERS; i++)
		free((char *)f->owners[i].text.p);
	free(f->owners);
	free(f->parts);
	free(f->tpoints);
	free(f->tpoint_matched);
	free(f->owner_matched);
}
