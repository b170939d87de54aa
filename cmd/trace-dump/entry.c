/* SPDX-License-Identifier: BSD-3-Clause */
#include "entry.h"

#include <stdlib.h>

#include "input.h"
#include "json.h"

const struct trace_tpoint *entry_tpoint(const struct trace *t, uint16_t id)
{
	static struct trace_tpoint undefined;

	if (id < t->num_tpoints && t->tpoints[id].name[0])
		return &t->tpoints[id];
	undefined.id = id;
	return &undefined;
}

int entry_reader_open(struct entry_reader *r, const struct trace *t)
{
	*r = (struct entry_reader){.trace = t,
				   .owners = calloc(t->num_owners + 1, sizeof(*r->owners))};
	return r->owners ? 0 : -1;
}

void entry_reader_close(struct entry_reader *r)
{
	for (unsigned i = 0; i < r->trace->num_owners; i++)
		free((char *)r->owners[i].text.p);
	free(r->owners);
	free(r->record);
	for (unsigned i = 0; i < TRACE_TYPES; i++) {
		map_free(&r->types[i].numbers);
		free(r->types[i].known);
	}
}

/*
 * Puts the arguments together, which continue in the slots behind the head's: those belong to it when they
 * have its ticks and no tracepoint. Returns how many bytes are intact.
 */
static unsigned gather(struct entry_reader *r, const struct trace_lcore *lcore, uint64_t slot,
		       unsigned size)
{
	const uint8_t *head = lcore->ring + TRACE_SLOT * slot;
	unsigned have = TRACE_HEAD_ARGS;

	memcpy(r->args, head + 24, TRACE_HEAD_ARGS);
	for (; have < size; have += TRACE_MORE_ARGS) {
		const uint8_t *more;

		slot = slot + 1 == lcore->slots ? 0 : slot + 1;
		more = lcore->ring + TRACE_SLOT * slot;
		if (slot >= lcore->present || slot_tpoint(more) != r->trace->num_tpoints ||
		    slot_tsc(more) != slot_tsc(head))
			break;
		memcpy(r->args + have, more + 10, TRACE_MORE_ARGS);
	}
	return have;
}

static void read_args(struct entry_reader *r, const struct trace_lcore *lcore, uint64_t slot,
		      struct entry *e)
{
	const struct trace_tpoint *tp = e->tpoint;
	unsigned have = gather(r, lcore, slot, tp->args_size);

	e->torn = have < tp->args_size;
	for (e->num_args = 0; e->num_args < tp->num_args; e->num_args++) {
		const struct trace_arg *arg = &tp->args[e->num_args];
		const uint8_t *p = r->args + arg->offset;

		if (arg->offset + arg->size > have)
			break;
		e->value[e->num_args] = 0;
		memcpy(&e->value[e->num_args], p, arg->size < 8 ? arg->size : 8);
		if (arg->type == TRACE_STR)
			e->string[e->num_args] = (struct slice){
				(const char *)p, strnlen((const char *)p, arg->size)};
	}
}

/* Gives a new object its number. Returns -1 when there is no memory. */
static int create(struct entry_object_type *type, struct entry *e)
{
	uint32_t *index = map_put(&type->numbers, e->object_value);

	if (!index)
		return -1;
	if (*index == MAP_NONE) {
		if (type->num_known == type->cap) {
			uint32_t cap = type->cap ? 2 * type->cap : 256;
			void *known = reallocarray(type->known, cap, sizeof(*type->known));

			if (!known)
				return -1;
			type->known = known;
			type->cap = cap;
		}
		*index = type->num_known++;
	}
	e->object_number = type->created++;
	type->known[*index].number = e->object_number;
	type->known[*index].created = e->tsc;
	return 0;
}

static int read_object(struct entry_reader *r, struct entry *e)
{
	const struct trace_tpoint *tp = e->tpoint;
	struct entry_object_type *type = &r->types[tp->object_type];
	uint32_t index;

	if (!tp->object_type) {
		e->object = e->object_value || tp->new_object ? OBJECT_UNTYPED : NO_OBJECT;
		return 0;
	}
	e->object_prefix = r->trace->object_prefix[tp->object_type];
	if (tp->new_object) {
		e->object = OBJECT_CREATED;
		return create(type, e);
	}
	index = map_get(&type->numbers, e->object_value);
	e->object = index == MAP_NONE ? OBJECT_UNKNOWN : OBJECT_KNOWN;
	if (index != MAP_NONE) {
		e->object_number = type->known[index].number;
		e->object_age = e->tsc - type->known[index].created;
	}
	return 0;
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

/* Makes the JSON string of an owner's description. Returns -1 when there is no memory. */
static int make_owner(const struct trace *t, unsigned id, struct entry_owner *made)
{
	struct trace_owner owner;
	char *p;

	if (!trace_owner(t, id, &owner))
		return 0;
	p = malloc(JSON_QUOTED(owner.description.n));
	if (!p)
		return -1;
	made->tsc = owner.tsc;
	made->text = (struct slice){p,
				    owner.description.n ? json_quote(p, owner.description) - p : 0};
	return 0;
}

/* Reads the owner's record again. Returns -1 when there is no memory. */
static int refresh_owner(struct entry_reader *r, unsigned id, struct entry_owner *owner)
{
	const struct trace *t = r->trace;
	uint8_t *record = (uint8_t *)t->owners + (size_t)id * t->owner_size;

	owner->round = r->round;
	if (!r->record)
		r->record = malloc(t->owner_size);
	if (!r->record)
		return -1;
	if (input_again(t->in, record, r->record, t->owner_size) &&
	    memcmp(record, r->record, t->owner_size) != 0) {
		memcpy(record, r->record, t->owner_size);
		free((char *)owner->text.p);
		owner->text.p = NULL;
	}
	return 0;
}

/* The description of an owner that was registered before the entry was written; a later one is another's. */
static int read_owner(struct entry_reader *r, unsigned id, struct entry *e)
{
	struct entry_owner *owner;

	e->owner.n = 0;
	if (!id || id >= r->trace->num_owners)
		return 0;
	owner = &r->owners[id];
	if (owner->round != r->round && refresh_owner(r, id, owner) != 0)
		return -1;
	if (!owner->text.p && make_owner(r->trace, id, owner) != 0)
		return -1;
	if (owner->tsc < e->tsc)
		e->owner = owner->text;
	return 0;
}

int entry_read(struct entry_reader *r, unsigned lcore, uint64_t slot, struct entry *e)
{
	const struct trace *t = r->trace;
	const uint8_t *head = t->lcores[lcore].ring + TRACE_SLOT * slot;
	uint16_t owner = slot_owner(head);

	e->tsc = slot_tsc(head);
	e->tpoint = entry_tpoint(t, slot_tpoint(head));
	e->lcore = lcore;
	memcpy(&e->size, head + 12, sizeof(e->size));
	memcpy(&e->object_value, head + 16, sizeof(e->object_value));
	e->poller = owner;
	/* poller 0 is one where pollers are numbered; where owners have records it means that there is none */
	e->poller_prefix = owner || !t->owner_descriptions ? t->owner_prefix[e->tpoint->owner_type]
							   : 0;
	read_args(r, &t->lcores[lcore], slot, e);
	if (read_object(r, e) != 0)
		return -1;
	read_related(r, e);
	return read_owner(r, owner, e);
}
