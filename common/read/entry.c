/* SPDX-License-Identifier: BSD-3-Clause */
#include "entry.h"

#include <stdlib.h>

#include "input.h"
#include "mem.h"
#include "out.h"
#include "table.h"

void entry_reader_open(struct entry_reader *r, const struct trace *t)
{
	*r = (struct entry_reader){.trace = t};
	r->owners = mem_array(t->num_owners, sizeof(*r->owners));
}

void entry_forget_owner(struct entry_reader *r, unsigned id)
{
	free((char *)r->owners[id].text.p);
	r->owners[id].text.p = NULL;
}

void entry_reader_close(struct entry_reader *r)
{
	for (unsigned i = 0; i < r->trace->num_owners; i++)
		free((char *)r->owners[i].text.p);
	free(r->owners);
	for (unsigned i = 0; i < TRACE_TYPES; i++) {
		map_free(&r->types[i].numbers);
		free(r->types[i].known);
	}
}

/*
 * Assembles the arguments, which continue in the slots after the head's. A slot belongs to the head
 * if it has the same ticks and no tracepoint. Returns how many bytes are intact.
 */
static unsigned gather_args(struct entry_reader *r, const struct trace_lcore *lcore, uint64_t slot, unsigned size)
{
	const struct trace_slot *head = &lcore->ring[slot];
	unsigned have = TRACE_HEAD_ARGS;

	memcpy(r->args, head->args, TRACE_HEAD_ARGS);
	for (; have < size; have += TRACE_MORE_ARGS) {
		const struct trace_slot *more;

		slot = slot + 1 == lcore->slots ? 0 : slot + 1;
		more = &lcore->ring[slot];
		if (slot >= lcore->present || input_is_lost(r->trace->in, more, sizeof(*more)) ||
		    more->tpoint != r->trace->num_tpoints || more->tsc != head->tsc)
			break;
		memcpy(r->args + have, more->more_args, TRACE_MORE_ARGS);
	}
	return have;
}

static void read_args(struct entry_reader *r, const struct trace_lcore *lcore, uint64_t slot, struct entry *e)
{
	const struct trace_tpoint *tp = e->tpoint;
	unsigned have = gather_args(r, lcore, slot, tp->args_size);

	e->torn = have < tp->args_size;
	for (e->num_args = 0; e->num_args < tp->num_args; e->num_args++) {
		const struct trace_arg *arg = &tp->args[e->num_args];
		const uint8_t *p = r->args + arg->offset;

		if (arg->offset + arg->size > have)
			break;
		e->value[e->num_args] = 0;
		memcpy(&e->value[e->num_args], p, arg->size < 8 ? arg->size : 8);
		if (arg->type == TRACE_STR)
			e->string[e->num_args] = slice_of_array((const char *)p, arg->size);
	}
}

static void read_object(struct entry_reader *r, struct entry *e)
{
	const struct trace_tpoint *tp = e->tpoint;
	struct entry_object_type *type = &r->types[tp->object_type];
	struct entry_known *known;
	uint32_t index;

	e->was_related = false;
	if (!tp->object_type) {
		e->object = e->object_value || tp->new_object ? OBJECT_UNTYPED : NO_OBJECT;
		return;
	}
	e->object_prefix = r->trace->object_prefix[tp->object_type];
	if (tp->new_object) {
		known = table_put(&type->numbers, e->object_value, type->known, type->num_known, type->cap);
		e->object = OBJECT_CREATED;
		e->object_number = type->created++;
		*known = (struct entry_known){e->object_number, e->tsc, false};
		r->created = known;
		return;
	}
	index = map_get(&type->numbers, e->object_value);
	e->object = index == MAP_NONE ? OBJECT_UNKNOWN : OBJECT_KNOWN;
	if (index != MAP_NONE) {
		e->object_number = type->known[index].number;
		e->object_age = e->tsc - type->known[index].created;
		e->was_related = type->known[index].related;
	}
}

/* The first relation whose argument is the address of a known object counts. */
static void read_related(struct entry_reader *r, struct entry *e)
{
	const struct trace_relation *related = e->tpoint->related;

	e->related = false;
	for (unsigned i = 0; i < TRACE_RELATIONS && related[i].object_type; i++) {
		const struct entry_object_type *type = &r->types[related[i].object_type];
		uint32_t index;

		if (related[i].arg >= e->num_args)
			continue;
		index = map_get(&type->numbers, e->value[related[i].arg]);
		if (index != MAP_NONE) {
			e->related = true;
			e->related_prefix = r->trace->object_prefix[related[i].object_type];
			e->related_number = type->known[index].number;
			return;
		}
	}
}

static void read_owner_text(const struct trace *t, unsigned id, struct entry_owner *owner)
{
	struct out text = {.fd = OUT_MEMORY};
	struct trace_owner record;

	trace_owner(t, id, &record);
	out_json(&text, record.description);
	owner->tsc = record.tsc;
	owner->type = record.type;
	owner->text = (struct slice){text.buf, record.description.n ? text.len : 0};
}

/*
 * Sets the owner's description, if the owner was registered before the entry was written. A later
 * record is that of another owner.
 */
static void read_owner(struct entry_reader *r, unsigned id, struct entry *e)
{
	struct entry_owner *owner;

	e->owner.n = 0;
	if (!id || id >= r->trace->num_owners)
		return;
	owner = &r->owners[id];
	if (!owner->text.p)
		read_owner_text(r->trace, id, owner);
	/* tracepoints of nvme, scsi and ftl have owner types, but their numbers are not owner ids */
	if (owner->tsc < e->tsc && (!e->tpoint->owner_type || owner->type == e->tpoint->owner_type))
		e->owner = owner->text;
}

void entry_read(struct entry_reader *r, unsigned lcore, uint64_t slot, struct entry *e)
{
	const struct trace *t = r->trace;
	const struct trace_slot *head = &t->lcores[lcore].ring[slot];

	e->tsc = head->tsc;
	e->tpoint_id = head->tpoint;
	e->tpoint = trace_tpoint(t, head->tpoint);
	e->lcore = lcore;
	e->size = head->size;
	e->object_value = head->object;
	e->poller = head->owner;
	/* if owners have records, 0 means no poller; otherwise it is the first poller */
	e->poller_prefix = e->poller || !t->owner_descriptions ? t->owner_prefix[e->tpoint->owner_type] : 0;
	read_args(r, &t->lcores[lcore], slot, e);
	read_object(r, e);
	read_related(r, e);
	if (e->object == OBJECT_CREATED)
		r->created->related = e->was_related = e->related;
	read_owner(r, e->poller, e);
}
