/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects.h"

#include <stdlib.h>

#include "json.h"
#include "number.h"

/* The letter of an id may be any character, as it is written in JSON, or none. */
static bool split(struct slice raw, struct slice *letter, uint64_t *number)
{
	size_t n = raw.n && (raw.p[0] < '0' || raw.p[0] > '9');

	if (n && raw.p[0] == '\\')
		n = raw.n > 6 && raw.p[1] == 'u' ? 6 : 2;
	else
		while (n && n < raw.n && (raw.p[n] & 0xc0) == 0x80)
			n++;
	*letter = (struct slice){raw.p, n};
	return raw.n > n && number_decimal((struct slice){raw.p + n, raw.n - n}, number);
}

static struct object *new_object(struct objects *objects, uint32_t *index)
{
	if (objects->n == objects->cap) {
		uint32_t cap = objects->cap ? 2 * objects->cap : 256;
		struct object *all = reallocarray(objects->all, cap, sizeof(*all));

		if (!all)
			return NULL;
		objects->all = all;
		objects->cap = cap;
	}
	*index = objects->n++;
	objects->all[*index] = (struct object){};
	return &objects->all[*index];
}

/* What is at this address of this type. NULL when there is no memory. */
static struct object *at_address(struct objects *objects, uint32_t type, uint64_t value)
{
	uint32_t *index = map_put(&objects->addresses[type], value);

	if (!index)
		return NULL;
	return *index == MAP_NONE ? new_object(objects, index) : &objects->all[*index];
}

static enum object_event error_is(const char **error, const char *text)
{
	*error = text;
	return OBJECT_ERROR;
}

/* An object whose creation is not in the trace counts once, until one is created at its address. */
static enum object_event take_unknown(struct objects *objects, uint64_t value, const char **error)
{
	uint32_t *known = map_put(&objects->unknown, value);

	if (!known)
		return error_is(error, "no memory");
	objects->unknowns += *known != true;
	*known = true;
	return OBJECT_NONE;
}

static void forget_unknown(struct objects *objects, uint64_t value)
{
	if (map_get(&objects->unknown, value) != MAP_NONE)
		*map_put(&objects->unknown, value) = false;
}

static bool ends_with(struct slice s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

static bool last_by_name(struct slice state)
{
	return ends_with(state, "COMPLETED") || ends_with(state, "DONE") ||
	       (ends_with(state, "COMPLETE") && !ends_with(state, "RDY_TO_COMPLETE"));
}

/* The index of how objects of this type use this state. MAP_NONE when there is no memory. */
static uint32_t use_of(struct objects *objects, uint32_t type, uint32_t state)
{
	uint32_t *index = map_put(&objects->use_map, (uint64_t)type << 32 | state);

	if (!index || *index != MAP_NONE)
		return index ? *index : MAP_NONE;
	if (objects->num_uses == objects->cap_uses) {
		uint32_t cap = objects->cap_uses ? 2 * objects->cap_uses : 64;
		struct object_use *uses = reallocarray(objects->uses, cap, sizeof(*uses));

		if (!uses)
			return MAP_NONE;
		objects->uses = uses;
		objects->cap_uses = cap;
	}
	*index = objects->num_uses++;
	objects->uses[*index] = (struct object_use){
		.last_by_name = last_by_name(objects->states->all[state])};
	return *index;
}

static bool is_final(const struct object_use *use, bool at_end)
{
	uint64_t ended = use->ended + (at_end ? use->stay : 0);

	return ended == use->left ? use->last_by_name : ended > use->left;
}

bool objects_is_final(const struct objects *objects, const struct object *object, bool at_end)
{
	return is_final(&objects->uses[object->use], at_end);
}

static uint64_t in_work(const struct object_use *use)
{
	return is_final(use, false) ? 0 : use->stay;
}

static void enter(struct objects *objects, uint32_t type, uint32_t index)
{
	struct object_use *use = &objects->uses[index];

	objects->depths[type] -= in_work(use);
	use->stay++;
	objects->depths[type] += in_work(use);
}

/* moved: to another state; else its life has ended there. */
static void leave(struct objects *objects, const struct object *object, bool moved)
{
	struct object_use *use = &objects->uses[object->use];

	objects->depths[object->type] -= in_work(use);
	use->stay--;
	use->left += moved;
	use->ended += !moved;
	objects->depths[object->type] += in_work(use);
}

enum object_event objects_step(struct objects *objects, struct object *object, uint64_t ns,
			       uint32_t state)
{
	uint32_t use;

	if (ns < object->last) {
		objects->late++;
		return OBJECT_NONE;
	}
	use = use_of(objects, object->type, state);
	if (use == MAP_NONE)
		return OBJECT_ERROR;
	leave(objects, object, true);
	enter(objects, object->type, use);
	object->use = use;
	object->last = ns;
	object->state = state;
	object->entries += object->entries < UINT32_MAX;
	return OBJECT_GOES_ON;
}

enum object_event objects_take(struct objects *objects, const struct traceline *line, uint64_t ns,
			       uint32_t state, struct object **object, struct object *before,
			       const char **error)
{
	const bool created = !line->object_us.p;
	uint64_t number, age = 0;
	enum object_event event;
	struct slice letter;
	struct object *o;
	uint32_t type, use;

	if (!line->object_id.p)
		return OBJECT_NONE;
	if (slice_is(line->object_id, "n/a"))
		return take_unknown(objects, line->object_value, error);
	if (!split(line->object_id, &letter, &number))
		return error_is(error, "an object's id is a letter and a number, or n/a");
	type = intern_add(objects->types, letter);
	if (type >= OBJECTS_TYPES)
		return error_is(error, "more than 256 types of objects");
	o = at_address(objects, type, line->object_value);
	if (!o)
		return error_is(error, "no memory");
	*object = o;
	*before = *o;
	if (o->entries && o->number == number && !created) {
		event = objects_step(objects, o, ns, state);
		return event == OBJECT_ERROR ? error_is(error, "no memory") : event;
	}
	if (o->entries && ns < o->last) {
		/* a creation tells for sure that something begins; lines may have come from several traces */
		if (!created) {
			objects->late++;
			return OBJECT_NONE;
		}
		objects->restarts++;
	}
	if (!created && !traceline_ns(line->object_us, &age))
		return error_is(error, "a time is negative or longer than 584 years");
	use = use_of(objects, type, state);
	if (use == MAP_NONE)
		return error_is(error, "no memory");
	forget_unknown(objects, line->object_value);
	if (o->entries)
		leave(objects, o, false);
	enter(objects, type, use);
	*o = (struct object){.number = number,
			     .first = ns,
			     .last = ns,
			     .age = age,
			     .type = type,
			     .state = state,
			     .entries = 1,
			     .use = use,
			     .marks = o->marks};
	return OBJECT_BEGINS;
}

/* The address that an argument's value is, or that it was before trace-join made an object of it. */
static bool is_address(struct slice value, uint64_t *address)
{
	struct slice key, member;
	struct json j;

	if (value.p[0] != '{')
		return traceline_number(value, address);
	json_init(&j, value.p, value.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &member);)
		if (json_is(key, "ptr"))
			return traceline_number(member, address);
	return false;
}

struct object *objects_related(const struct objects *objects, const struct traceline *line)
{
	struct slice letter, own_letter;
	uint64_t number, own_number;
	uint32_t type;

	if (!line->related.p || !split(line->related, &letter, &number))
		return NULL;
	/* no object is related to itself, whatever a line says */
	if (line->object_id.p && split(line->object_id, &own_letter, &own_number) &&
	    number == own_number && slice_equal(letter, own_letter))
		return NULL;
	type = intern_get(objects->types, letter);
	if (type >= OBJECTS_TYPES)
		return NULL;
	/* one of the arguments is its address */
	for (unsigned i = 0; i < line->num_args; i++) {
		uint64_t value;
		uint32_t index;

		if (!is_address(line->args[i].value, &value))
			continue;
		index = map_get(&objects->addresses[type], value);
		if (index != MAP_NONE && objects->all[index].entries &&
		    objects->all[index].number == number)
			return &objects->all[index];
	}
	return NULL;
}

void objects_free(struct objects *objects)
{
	for (unsigned i = 0; i < OBJECTS_TYPES; i++)
		map_free(&objects->addresses[i]);
	map_free(&objects->unknown);
	map_free(&objects->use_map);
	free(objects->uses);
	free(objects->all);
	*objects = (struct objects){};
}
