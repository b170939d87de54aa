/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "map.h"
#include "merge.h"
#include "number.h"
#include "out.h"
#include "tracefile.h"

static void quote(struct out *out, struct slice text)
{
	char *p = out_room(out, JSON_QUOTED(text.n));

	if (p)
		out_commit(out, json_quote(p, text));
}

/* A member with a string, and the comma before it. */
static void text_member(struct out *out, const char *key, struct slice text)
{
	out_printf(out, ",\"%s\":", key);
	quote(out, text);
}

static void write_lcores(struct out *out, const struct trace *t, const struct merge_ring *rings,
			 const struct info_counts *counts)
{
	const char *comma = "";

	out_text(out, ",\"lcores\":[");
	for (unsigned i = 0; i < t->num_lcores; i++) {
		const struct trace_lcore *lcore = &t->lcores[i];

		if (!counts->by_lcore[i] && !(rings && rings[i].used) && !lcore->thread[0])
			continue;
		out_printf(out, "%s{\"lcore\":%u", comma, lcore->id);
		if (lcore->thread[0])
			text_member(out, "thread", slice_of(lcore->thread));
		out_printf(out, ",\"entries\":%" PRIu64, counts->by_lcore[i]);
		if (rings)
			out_printf(out,
				   ",\"slots\":%" PRIu64 ",\"used\":%" PRIu64 ",\"wrapped\":%s",
				   lcore->slots, rings[i].used, rings[i].full ? "true" : "false");
		out_text(out, "}");
		comma = ",";
	}
	out_text(out, "]");
}

void info_write(struct out *out, const struct trace *t, const struct merge_ring *rings,
		uint64_t window, const struct info_counts *counts)
{
	out_printf(out, "{\"layout\":\"%s\",\"releases\":\"%s\",\"tsc_rate\":%" PRIu64, t->layout,
		   t->releases, t->tsc_rate);
	if (t->clear_tsc)
		out_printf(out, ",\"clear_tsc\":%" PRIu64, t->clear_tsc);
	if (window)
		out_printf(out, ",\"window_start\":%" PRIu64, window);
	out_printf(out,
		   ",\"entries\":%" PRIu64 ",\"before_window\":%" PRIu64 ",\"cleared\":%" PRIu64,
		   counts->entries, counts->before_window, counts->cleared);
	out_printf(out, ",\"torn\":%" PRIu64 ",\"undefined\":%" PRIu64, counts->torn,
		   counts->undefined);
	write_lcores(out, t, rings, counts);
	out_text(out, ",\"damage\":[");
	if (t->cut_off)
		out_text(out, "\"cut off\"");
	for (unsigned i = 0; i < TRACE_DAMAGE && t->damage[i]; i++) {
		out_text(out, i || t->cut_off ? "," : "");
		quote(out, slice_of(t->damage[i]));
	}
	out_text(out, "]}\n");
}

/* A member with a type's character, when it has one. */
static void type_member(struct out *out, const char *key, char prefix)
{
	if (prefix)
		text_member(out, key, (struct slice){&prefix, 1});
}

static void write_definition(struct out *out, const struct trace *t, const struct trace_tpoint *tp)
{
	static const char *const types[] = {"int", "ptr", "str"};

	out_text(out, "{\"tpoint\":");
	quote(out, slice_of(tp->name));
	out_printf(out, ",\"id\":%u", tp->id);
	type_member(out, "owner_type", t->owner_prefix[tp->owner_type]);
	type_member(out, "object_type", t->object_prefix[tp->object_type]);
	out_printf(out, ",\"new_object\":%s,\"args\":[", tp->new_object ? "true" : "false");
	for (unsigned i = 0; i < tp->num_args; i++) {
		out_text(out, i ? ",{\"name\":" : "{\"name\":");
		quote(out, slice_of(tp->args[i].name));
		out_printf(out, ",\"type\":\"%s\",\"size\":%u}", types[tp->args[i].type],
			   tp->args[i].size);
	}
	out_text(out, "]");
	for (unsigned i = 0; i < TRACE_RELATIONS && tp->related[i].object_type; i++) {
		const struct trace_relation *r = &tp->related[i];

		out_text(out, i ? ",{\"arg\":" : ",\"related\":[{\"arg\":");
		quote(out, slice_of(r->arg < tp->num_args ? tp->args[r->arg].name : ""));
		type_member(out, "object_type", t->object_prefix[r->object_type]);
		out_text(out, "}");
	}
	out_text(out, tp->related[0].object_type ? "]}\n" : "}\n");
}

void info_definitions(struct out *out, const struct trace *t)
{
	for (unsigned i = 0; i < t->num_tpoints; i++)
		if (t->tpoints[i].name[0])
			write_definition(out, t, &t->tpoints[i]);
}

/* What the entries of the tracepoints TCP_QP_* tell of the connections of NVMe-oF TCP. */
struct connections {
	uint64_t *end; /* by owner: ticks when it was destroyed; 0: not known */
	struct connection_use {
		uint32_t owner, lcore; /* the second by its index in the trace */
	} * uses;                      /* which have entries, each once, in order */
	size_t num_uses, cap;
	struct map known; /* the same, as keys */
};

static int compare_uses(const void *a, const void *b)
{
	const struct connection_use *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->lcore < y->lcore ? -1 : x->lcore > y->lcore;
}

static void add_use(struct connections *c, unsigned owner, unsigned lcore)
{
	uint32_t *known = map_put(&c->known, (uint64_t)owner << 32 | lcore);

	if (known && *known != MAP_NONE)
		return;
	if (c->num_uses == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->uses = reallocarray(c->uses, c->cap, sizeof(*c->uses));
	}
	if (!known || !c->uses)
		err(EXIT_FAILURE, NULL);
	*known = 0;
	c->uses[c->num_uses++] = (struct connection_use){owner, lcore};
}

/* Counts what was written since the entry's owner was registered; what is older is another's. */
static void read_connections(struct connections *c, const struct trace *t)
{
	for (unsigned i = 0; i < t->num_lcores; i++)
		for (uint64_t n = 0; n < t->lcores[i].present; n++) {
			const uint8_t *slot = t->lcores[i].ring + TRACE_SLOT * n;
			unsigned id = slot_owner(slot), tpoint = slot_tpoint(slot);
			struct trace_owner owner;

			if (tpoint >= t->num_tpoints ||
			    strncmp(t->tpoints[tpoint].name, "TCP_QP_", 7) != 0 ||
			    !trace_owner(t, id, &owner) || owner.tsc >= slot_tsc(slot))
				continue;
			add_use(c, id, i);
			if (strcmp(t->tpoints[tpoint].name, "TCP_QP_DESTROY") == 0)
				c->end[id] = slot_tsc(slot);
		}
	if (c->num_uses)
		qsort(c->uses, c->num_uses, sizeof(*c->uses), compare_uses);
}

/* To be called for owners in order; *next is the first use that is not passed by. */
static void write_connection(struct out *out, const struct trace *t, const struct connections *c,
			     unsigned id, size_t *next)
{
	const char *before = ",\"lcores\":[", *after = "";

	for (; *next < c->num_uses && c->uses[*next].owner <= id; ++*next) {
		if (c->uses[*next].owner < id)
			continue;
		out_printf(out, "%s%u", before, t->lcores[c->uses[*next].lcore].id);
		before = ",";
		after = "]";
	}
	out_text(out, after);
	if (c->end[id])
		out_printf(out, ",\"end\":%" PRIu64, c->end[id]);
}

/* All but the end of the line. */
static void write_owner(struct out *out, unsigned id, char prefix, const struct trace_owner *owner)
{
	char poller[16] = {prefix};

	out_printf(out, "{\"id\":%u", id);
	snprintf(poller + 1, sizeof(poller) - 1, "%02u", id);
	if (prefix)
		text_member(out, "poller", slice_of(poller));
	out_printf(out, ",\"tsc\":%" PRIu64, owner->tsc);
	text_member(out, "description", owner->description);
}

void info_owner(struct out *out, unsigned id, char prefix, const struct trace_owner *owner)
{
	write_owner(out, id, prefix, owner);
	out_text(out, "}\n");
}

void info_owners(struct out *out, const struct trace *t)
{
	struct connections connections = {
		.end = calloc(t->num_owners + 1, sizeof(*connections.end))};
	struct trace_owner owner;
	size_t next = 0;

	if (!connections.end)
		err(EXIT_FAILURE, NULL);
	read_connections(&connections, t);
	for (unsigned id = 1; trace_owner(t, id, &owner); id++) {
		if (!owner.tsc)
			continue;
		write_owner(out, id, t->owner_prefix[owner.type], &owner);
		write_connection(out, t, &connections, id, &next);
		out_text(out, "}\n");
	}
	free(connections.end);
	free(connections.uses);
	map_free(&connections.known);
}

void info_json_owners(struct out *out, struct slice table)
{
	struct slice id, description;
	struct json j;
	char *text = malloc(table.n + 1);

	if (!text) {
		out->error = ENOMEM;
		return;
	}
	json_init(&j, table.p, table.n);
	for (json_object(&j); json_key(&j, &id) && json_string(&j, &description);) {
		uint64_t number = 0;

		number_decimal(id, &number);
		out_printf(out, "{\"id\":%" PRIu64, number);
		text_member(out, "description",
			    (struct slice){text, json_unescape(text, description)});
		out_text(out, "}\n");
	}
	free(text);
}
