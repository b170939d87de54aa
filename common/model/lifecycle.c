/* SPDX-License-Identifier: BSD-3-Clause */
#include "lifecycle.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "table.h"
#include "utf8.h"

/* The letter of an id may be any character, as it is written in JSON, or missing. */
static bool split_id(struct slice id, struct slice *letter, uint64_t *number)
{
	size_t n = id.n && (id.p[0] < '0' || id.p[0] > '9');

	if (n && id.p[0] == '\\')
		n = id.n > 6 && id.p[1] == 'u' ? 6 : 2;
	else
		while (n && n < id.n && utf8_continues(id.p[n]))
			n++;
	if (id.n <= n)
		return false;
	*letter = slice_cut(&id, n);
	return number_decimal(id, number);
}

static uint32_t add_type(struct lifecycle *l, struct slice letter, struct slice family)
{
	char text[16], *end;

	if (!family.n)
		return intern_add_below(l->types, letter, LIFECYCLE_TYPES);
	end = mempcpy(text, letter.p, letter.n);
	*end++ = 0;
	end = mempcpy(end, family.p, family.n);
	return intern_add_below(l->types, slice_between(text, end), LIFECYCLE_TYPES);
}

static void learn_states(struct lifecycle *l, uint32_t state)
{
	while (l->num_known <= state) {
		struct slice name = l->states->all[l->num_known];

		l->known = mem_room(l->known, l->num_known, &l->cap_known);
		l->known[l->num_known++] = (struct lifecycle_state){
			.type = MAP_NONE, .used_by = MAP_NONE, .tpoint = spdk_tpoint(name)};
	}
}

static inline struct lifecycle_state *learn_state(struct lifecycle *l, uint32_t state)
{
	if (l->num_known <= state)
		learn_states(l, state);
	return &l->known[state];
}

const struct spdk_tpoint *lifecycle_learn(struct lifecycle *l, uint32_t state)
{
	return learn_state(l, state)->tpoint;
}

/* Whether a type has this letter. */
static inline bool has_letter(struct slice type, struct slice letter)
{
	for (size_t i = 0; i < letter.n; i++)
		if (i == type.n || type.p[i] != letter.p[i])
			return false;
	return type.n == letter.n || !type.p[letter.n];
}

/* The type of an object with this letter in this state; MAP_NONE if there are too many types. */
static uint32_t type_of(struct lifecycle *l, struct slice letter, uint32_t state)
{
	uint32_t *type = &learn_state(l, state)->type;

	if (*type == MAP_NONE || !has_letter(l->types->all[*type], letter))
		*type = add_type(l, letter, spdk_family(letter, l->states->all[state]));
	return *type;
}

/* The index in uses of this type and state. */
static uint32_t use_of(struct lifecycle *l, uint32_t type, uint32_t state)
{
	struct lifecycle_state *known = learn_state(l, state);
	uint32_t *index;

	if (known->used_by == type)
		return known->use;
	index = map_put(&l->use_map, (uint64_t)type << 32 | state);
	if (*index == MAP_NONE) {
		*index = l->num_uses;
		l->uses = mem_room(l->uses, l->num_uses, &l->cap_uses);
		l->uses[l->num_uses++] = (struct lifecycle_use){.final_by_name = spdk_is_final(l->states->all[state])};
	}
	known->used_by = type;
	known->use = *index;
	return *index;
}

bool lifecycle_has_ended(const struct lifecycle *l, const struct object *object, uint64_t ns)
{
	return object->last < ns && l->uses[object->use].final_by_name && lifecycle_is_final(l, object);
}

static void enter(struct lifecycle *l, struct object *object, uint32_t state)
{
	object->state = state;
	object->use = use_of(l, object->type, state);
}

/* Moves an object to its next state. False, and counted in out_of_order, if ns is before its last entry. */
static bool step(struct lifecycle *l, struct object *object, uint64_t ns, uint32_t state)
{
	if (ns < object->last) {
		l->out_of_order++;
		return false;
	}
	l->uses[object->use].left++;
	enter(l, object, state);
	object->last = ns;
	object->entries += object->entries < UINT32_MAX;
	return true;
}

/* Starts a life with its first entry. object: without age and use, which are set here. */
static const char *start_life(struct lifecycle *l, const struct traceline *line, struct object object,
			      struct lifecycle_change *change)
{
	const struct object *before = &change->before;
	const bool created = !line->has_age;
	const char *error = created ? NULL : traceline_age(line, &object.age);

	if (before->entries && object.first < before->last) {
		/* a creation certainly starts a life; the lines may be of several traces */
		if (!created) {
			l->out_of_order++;
			return NULL;
		}
		l->restarts++;
	}
	if (error)
		return error;
	if (before->entries)
		l->uses[before->use].ended++;
	enter(l, &object, object.state);
	*change->object = object;
	change->event = LIFECYCLE_STARTS;
	return NULL;
}

const char *lifecycle_line(struct lifecycle *l, const struct traceline *line, uint64_t ns, uint32_t state,
			   struct lifecycle_change *change)
{
	struct object *o;
	struct slice letter;
	uint64_t number;
	uint32_t type;

	change->event = LIFECYCLE_NONE;
	if (!split_id(line->object_id, &letter, &number))
		return "an object's id is a letter and a number, or n/a";
	type = type_of(l, letter, state);
	if (type == MAP_NONE)
		return "more than 256 types of objects";
	o = table_put(&l->addresses[type], traceline_in_source(line, line->object_value), l->all, l->n, l->cap);
	change->object = o;
	if (o->entries && o->number == number && line->has_age) {
		if (step(l, o, ns, state))
			change->event = LIFECYCLE_GOES_ON;
		return NULL;
	}
	change->before = *o;
	return start_life(
		l, line,
		(struct object){.number = number, .first = ns, .last = ns, .type = type, .state = state, .entries = 1},
		change);
}

/* Whether an argument's value is an address, or was one before trace-join replaced it with an object. */
static bool is_address(struct slice value, uint64_t *address)
{
	return traceline_number(value.p[0] == '{' ? json_member(value, slice_of("ptr")) : value, address);
}

/*
 * The object of any type with this letter at an address, with this number unless that is NULL. Of
 * several, the one with the latest entry: the others have ended.
 */
static struct object *find(const struct lifecycle *l, struct slice letter, uint64_t address, const uint64_t *number)
{
	struct object *latest = NULL;

	for (uint32_t type = 0; type < l->types->n; type++) {
		struct object *object;
		uint32_t index;

		if (!has_letter(l->types->all[type], letter))
			continue;
		index = map_get(&l->addresses[type], address);
		object = index == MAP_NONE ? NULL : &l->all[index];
		if (object && object->entries && (!number || object->number == *number) &&
		    (!latest || object->last >= latest->last))
			latest = object;
	}
	return latest;
}

/* A command of another process, as trace-match writes it, has the source of that. */
static uint64_t in_its_source(const struct traceline *line, struct slice value, uint64_t address)
{
	const struct traceline other = {
		.source = value.p[0] == '{' ? traceline_string(json_member(value, slice_of("source"))) : line->source};

	return traceline_in_source(other.source.n ? &other : line, address);
}

struct object *lifecycle_related(const struct lifecycle *l, const struct traceline *line)
{
	struct slice letter, own_letter;
	uint64_t number, own_number;

	if (!line->related.p || !split_id(line->related, &letter, &number))
		return NULL;
	/* no object is related to itself, whatever a line says; nearly all are of another letter */
	if (line->object_id.p && *line->object_id.p == *line->related.p &&
	    split_id(line->object_id, &own_letter, &own_number) && number == own_number &&
	    slice_equal(letter, own_letter))
		return NULL;
	/* one of the arguments is its address */
	for (size_t i = 0; i < line->num_args; i++) {
		struct object *object;
		uint64_t address;

		if (is_address(line->args[i].value, &address) &&
		    (object = find(l, letter, in_its_source(line, line->args[i].value, address), &number)))
			return object;
	}
	return NULL;
}

struct object *lifecycle_linked(const struct lifecycle *l, const struct object *object, const struct traceline *line)
{
	const struct spdk_tpoint *tpoint = lifecycle_tpoint(l, object->state);
	uint64_t address;

	if (!tpoint->parent.arg || !traceline_number(traceline_arg(line, tpoint->parent.arg), &address))
		return NULL;
	address = traceline_in_source(line, address);
	for (const char *letter = tpoint->parent.letters; *letter; letter++) {
		struct object *linked = find(l, (struct slice){letter, 1}, address, NULL);

		if (linked && linked != object && !lifecycle_is_final(l, linked))
			return linked;
	}
	return NULL;
}

void lifecycle_free(struct lifecycle *l)
{
	for (unsigned i = 0; i < LIFECYCLE_TYPES; i++)
		map_free(&l->addresses[i]);
	map_free(&l->use_map);
	free(l->known);
	free(l->uses);
	free(l->all);
	*l = (struct lifecycle){};
}
