/* SPDX-License-Identifier: BSD-3-Clause */
#include "owner_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "out.h"
#include "reader.h"
#include "spdk.h"
#include "table.h"

/* The connections of NVMe-oF TCP, from their entries. */
struct connections {
	uint64_t *end; /* by owner: ticks when it was destroyed; 0: not known */
	/* an owner, and an lcore that has entries of it, by its index in the trace; each pair once, sorted */
	struct connection_use {
		uint32_t owner, lcore;
	} * uses;
	size_t num_uses, cap;
	struct map known; /* the same as keys, until they are sorted */
};

static int compare_uses(const void *a, const void *b)
{
	const struct connection_use *x = a, *y = b;

	return ORDER(x->owner, y->owner) ?: ORDER(x->lcore, y->lcore);
}

/* By any id that an entry may have. */
static enum spdk_kind *kinds_of(const struct trace *t)
{
	enum spdk_kind *kinds = mem_array(UINT16_MAX + 1, sizeof(*kinds));

	for (unsigned i = 0; i < t->num_tpoints && i <= UINT16_MAX; i++)
		kinds[i] = spdk_tpoint(slice_of(t->tpoints[i].name))->kind;
	return kinds;
}

/* Reads the entries that are newer than their owner's record. An older entry is that of another owner. */
static void read_connections(struct connections *c, const struct trace *t)
{
	enum spdk_kind *kinds = kinds_of(t);

	for (unsigned i = 0; i < t->num_lcores; i++)
		for (uint64_t n = 0; n < t->lcores[i].present; n++) {
			const struct trace_slot *slot = &t->lcores[i].ring[n];
			enum spdk_kind kind = kinds[slot->tpoint];
			struct connection_use *use;
			struct trace_owner owner;

			if (!spdk_is_qpair(kind) || !trace_owner(t, slot->owner, &owner) || owner.tsc >= slot->tsc)
				continue;
			use = table_put(&c->known, (uint64_t)slot->owner << 32 | i, c->uses, c->num_uses, c->cap);
			*use = (struct connection_use){slot->owner, i};
			if (kind == SPDK_QPAIR_DESTROY)
				c->end[slot->owner] = slot->tsc;
		}
	free(kinds);
	if (c->num_uses)
		qsort(c->uses, c->num_uses, sizeof(*c->uses), compare_uses);
}

/* To be called for owners in ascending order. *next: the first use that is neither skipped nor written yet. */
static void write_connection(struct out *out, const struct trace *t, const struct connections *c, unsigned id,
			     size_t *next)
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

void owner_lines_start(struct out *out, unsigned id, char prefix, const struct trace_owner *owner)
{
	out_printf(out, "{\"id\":%u", id);
	if (prefix) {
		struct out poller = {.fd = OUT_MEMORY};

		out_printf(&poller, "%c%02u", prefix, id);
		out_text(out, ",\"poller\":");
		out_json(out, out_contents(&poller));
		out_close(&poller);
	}
	out_printf(out, ",\"tsc\":%" PRIu64 ",\"description\":", owner->tsc);
	out_json(out, owner->description);
}

static void write_table(struct out *out, const struct trace *t)
{
	struct connections connections = {};
	struct trace_owner owner;
	size_t next = 0;

	connections.end = mem_array(t->num_owners, sizeof(*connections.end));
	read_connections(&connections, t);
	for (unsigned id = 1; trace_owner(t, id, &owner); id++) {
		if (!owner.tsc)
			continue;
		owner_lines_start(out, id, t->owner_prefix[owner.type], &owner);
		write_connection(out, t, &connections, id, &next);
		out_text(out, "}\n");
	}
	free(connections.end);
	free(connections.uses);
	map_free(&connections.known);
}

/* table: a checked JSON object of descriptions by id; spdk_trace prints no more of an owner. */
static void write_json(struct out *out, const char *table)
{
	struct slice id, description;
	struct json j;

	json_init(&j, table, strlen(table));
	for (json_object(&j); json_key(&j, &id) && json_string(&j, &description);) {
		char *text = mem_array(description.n, 1);
		uint64_t number = 0;

		number_decimal(id, &number);
		out_printf(out, "{\"id\":%" PRIu64 ",\"description\":", number);
		out_json(out, (struct slice){text, json_unescape(text, description)});
		out_text(out, "}\n");
		free(text);
	}
}

void owner_lines_write(struct out *out, const struct reader *r)
{
	if (!r->is_json)
		write_table(out, &r->trace);
	else if (r->document.owners)
		write_json(out, r->document.owners);
}
