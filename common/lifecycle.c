/* SPDX-License-Identifier: BSD-3-Clause */
#include "lifecycle.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"

/* The letter of an id may be any character, as it is written in JSON, or none. */
static bool split_id(struct slice id, struct slice *letter, uint64_t *number)
{
	size_t n = id.n && (id.p[0] < '0' || id.p[0] > '9');

	if (n && id.p[0] == '\\')
		n = id.n > 6 && id.p[1] == 'u' ? 6 : 2;
	else
		while (n && n < id.n && (id.p[n] & 0xc0) == 0x80)
			n++;
	if (id.n <= n)
		return false;
	*letter = slice_cut(&id, n);
	return number_decimal(id, number);
}

/* The place of an object of this type at this address. */
static struct object *at_address(struct lifecycle *l, uint32_t type, uint64_t address)
{
	uint32_t *index = map_put(&l->addresses[type], address);

	if (*index == MAP_NONE) {
		*index = l->n;
		l->all = mem_room(l->all, l->n, &l->cap);
		l->all[l->n++] = (struct object){};
	}
	return &l->all[*index];
}

/* An object without a creation counts once, until one is created at its address. */
static void count_unknown(struct lifecycle *l, uint64_t address)
{
	uint32_t *counted = map_put(&l->unknown, address);

	l->no_creation += *counted != true;
	*counted = true;
}

static void forget_unknown(struct lifecycle *l, uint64_t address)
{
	if (map_get(&l->unknown, address) != MAP_NONE)
		*map_put(&l->unknown, address) = false;
}

static bool ends_with(struct slice s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && slice_is(slice_from(s, s.n - n), end);
}

static bool final_by_name(struct slice state)
{
	return ends_with(state, "COMPLETED") || ends_with(state, "DONE") ||
	       (ends_with(state, "COMPLETE") && !ends_with(state, "RDY_TO_COMPLETE"));
}

/* The index of how objects of this type use this state. */
static uint32_t use_of(struct lifecycle *l, uint32_t type, uint32_t state)
{
	uint32_t *index = map_put(&l->use_map, (uint64_t)type << 32 | state);

	if (*index == MAP_NONE) {
		*index = l->num_uses;
		l->uses = mem_room(l->uses, l->num_uses, &l->cap_uses);
		l->uses[l->num_uses++] = (struct lifecycle_use){.type = type,
								.final_by_name = final_by_name(l->states->all[state])};
	}
	return *index;
}

static bool is_final(const struct lifecycle *l, const struct lifecycle_use *use)
{
	uint64_t ended = use->ended + (l->over ? use->present : 0);

	return ended == use->left ? use->final_by_name : ended > use->left;
}

bool lifecycle_is_final(const struct lifecycle *l, const struct object *object)
{
	return is_final(l, &l->uses[object->use]);
}

static uint64_t in_work(const struct lifecycle *l, const struct lifecycle_use *use)
{
	return is_final(l, use) ? 0 : use->present;
}

static void enter(struct lifecycle *l, struct object *object, uint32_t state)
{
	struct lifecycle_use *use;

	object->state = state;
	object->use = use_of(l, object->type, state);
	use = &l->uses[object->use];
	l->in_work[use->type] -= in_work(l, use);
	use->present++;
	l->in_work[use->type] += in_work(l, use);
}

/* to_another: it goes on in another state; else its life has ended in this one. */
static void leave(struct lifecycle *l, const struct object *object, bool to_another)
{
	struct lifecycle_use *use = &l->uses[object->use];

	l->in_work[use->type] -= in_work(l, use);
	use->present--;
	*(to_another ? &use->left : &use->ended) += 1;
	l->in_work[use->type] += in_work(l, use);
}

void lifecycle_end(struct lifecycle *l)
{
	l->over = true;
}

bool lifecycle_step(struct lifecycle *l, struct object *object, uint64_t ns, uint32_t state)
{
	if (ns < object->last) {
		l->out_of_order++;
		return false;
	}
	leave(l, object, true);
	enter(l, object, state);
	object->last = ns;
	object->entries += object->entries < UINT32_MAX;
	return true;
}

/* The first entry of a life: the object, without its age and use, takes its place. */
static const char *start_life(struct lifecycle *l, const struct traceline *line, struct object object,
			      struct lifecycle_change *change)
{
	const struct object *before = &change->before;
	const bool created = !line->object_us.p;
	const char *error = created ? NULL : traceline_ns(line->object_us, &object.age);

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
	forget_unknown(l, line->object_value);
	if (before->entries)
		leave(l, before, false);
	enter(l, &object, object.state);
	*change->object = object;
	change->event = LIFECYCLE_STARTS;
	return NULL;
}

const char *lifecycle_line(struct lifecycle *l, const struct traceline *line, uint64_t ns, uint32_t state,
			   struct lifecycle_change *change)
{
	struct object object = {.first = ns, .last = ns, .state = state, .entries = 1}, *o;
	struct slice letter;

	change->event = LIFECYCLE_NONE;
	if (!line->object_id.p)
		return NULL;
	if (slice_is(line->object_id, "n/a")) {
		count_unknown(l, line->object_value);
		return NULL;
	}
	if (!split_id(line->object_id, &letter, &object.number))
		return "an object's id is a letter and a number, or n/a";
	object.type = intern_add_below(l->types, letter, LIFECYCLE_TYPES);
	if (object.type == MAP_NONE)
		return "more than 256 types of objects";
	change->object = o = at_address(l, object.type, line->object_value);
	change->before = *o;
	if (!o->entries || o->number != object.number || !line->object_us.p) {
		object.marks = o->marks;
		return start_life(l, line, object, change);
	}
	if (lifecycle_step(l, o, ns, state))
		change->event = LIFECYCLE_GOES_ON;
	return NULL;
}

/* The address that an argument's value is, or was before trace-join made an object of it. */
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

struct object *lifecycle_related(const struct lifecycle *l, const struct traceline *line)
{
	struct slice letter, own_letter;
	uint64_t number, own_number;
	uint32_t type;

	if (!line->related.p || !split_id(line->related, &letter, &number))
		return NULL;
	/* no object is related to itself, whatever a line says */
	if (line->object_id.p && split_id(line->object_id, &own_letter, &own_number) && number == own_number &&
	    slice_equal(letter, own_letter))
		return NULL;
	type = intern_get(l->types, letter);
	if (type == MAP_NONE)
		return NULL;
	/* one of the arguments is its address */
	for (size_t i = 0; i < line->num_args; i++) {
		uint64_t address;
		uint32_t index;

		if (!is_address(line->args[i].value, &address))
			continue;
		index = map_get(&l->addresses[type], address);
		if (index != MAP_NONE && l->all[index].entries && l->all[index].number == number)
			return &l->all[index];
	}
	return NULL;
}

void lifecycle_free(struct lifecycle *l)
{
	for (unsigned i = 0; i < LIFECYCLE_TYPES; i++)
		map_free(&l->addresses[i]);
	map_free(&l->unknown);
	map_free(&l->use_map);
	free(l->uses);
	free(l->all);
	*l = (struct lifecycle){};
}
