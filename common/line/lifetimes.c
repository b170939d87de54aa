/* SPDX-License-Identifier: BSD-3-Clause */
#include "lifetimes.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "out.h"
#include "probeline.h"
#include "search.h"
#include "table.h"

/* Finds the kind of this name or adds it. Returns NULL, or what is wrong. */
static const char *find_kind(struct lifetimes *l, struct slice name, unsigned *number)
{
	struct lifetime_kind *kind = lifetimes_kind(l, name);

	*number = kind ? kind - l->kinds : l->num_kinds;
	if (kind)
		return NULL;
	if (l->num_kinds == LIFETIMES_KINDS)
		return "more than 64 kinds of objects";
	l->kinds[l->num_kinds++] = (struct lifetime_kind){.name = mem_slice(name)};
	return NULL;
}

static bool is_json_number(struct slice s)
{
	uint64_t v;

	return number_decimal(s, &v) && (s.p[0] != '0' || s.n == 1);
}

static void annotate(struct out *text, struct out *json, const struct probeline_field *f)
{
	struct slice value = probeline_decode(f->value);

	out_text(text, text->len ? ", " : "");
	out_slice(text, f->key);
	out_char(text, '=');
	out_escaped(text, value, ",()");
	out_char(json, json->len ? ',' : '{');
	out_json(json, f->key);
	out_char(json, ':');
	if (!f->quoted && is_json_number(f->value))
		out_slice(json, f->value);
	else
		out_json(json, value);
	free((char *)value.p);
}

/* Formats a lifetime's fields as its annotation, without begin and end. */
static void make_annotation(struct lifetime *lifetime)
{
	struct slice fields = lifetime->fields;
	struct out text = {.fd = OUT_MEMORY}, json = {.fd = OUT_MEMORY};
	struct probeline_field f;
	const char *error;

	while (probeline_next(&fields, &f, &error) > 0)
		if (!slice_is(f.key, "begin") && !slice_is(f.key, "end"))
			annotate(&text, &json, &f);
	out_char(&json, '}');
	lifetime->text = mem_slice(out_contents(&text));
	lifetime->json = mem_slice(out_contents(&json));
	out_close(&text);
	out_close(&json);
}

bool lifetimes_owner(struct slice text, uint64_t *owner)
{
	uint64_t number;

	if (text.n < 2 || !((*text.p >= 'a' && *text.p <= 'z') || (*text.p >= 'A' && *text.p <= 'Z')))
		return false;
	/* SPDK's numbers have 16 bits */
	if (!number_decimal(slice_from(text, 1), &number) || number >> 32)
		return false;
	*owner = (uint64_t)(unsigned char)*text.p << 32 | number;
	return true;
}

/* Returns NULL, or what is wrong with the line. */
static const char *parse_lifetime(struct lifetime *lifetime, struct slice fields)
{
	bool *has = lifetime->has, begin = false;
	struct probeline_field f;
	const char *error;
	int found;

	lifetime->end = UINT64_MAX;
	while ((found = probeline_next(&fields, &f, &error)) > 0) {
		bool valid = true;

		if (slice_is(f.key, "begin"))
			begin = valid = number_decimal(f.value, &lifetime->begin);
		else if (slice_is(f.key, "end"))
			valid = number_decimal(f.value, &lifetime->end);
		else if (slice_is(f.key, "ptr"))
			has[LIFETIME_PTR] = valid = number_hex(f.value, &lifetime->key[LIFETIME_PTR]);
		else if (slice_is(f.key, "owner"))
			/* an owner of another form is only shown */
			has[LIFETIME_OWNER] = lifetimes_owner(f.value, &lifetime->key[LIFETIME_OWNER]);
		if (!valid)
			return "begin and end are decimal numbers, ptr is a hexadecimal one";
	}
	if (found < 0)
		return error;
	if (!begin || (!has[LIFETIME_PTR] && !has[LIFETIME_OWNER]))
		return "begin or ptr is missing: not a lifetime line, which qpair-lifetimes prints";
	if (lifetime->end < lifetime->begin)
		return "end is before begin";
	return NULL;
}

/*
 * The array with room for one element more than n. Its capacity is the next power of two, from 1
 * on: most addresses have one lifetime.
 */
static void *room_for_one(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : mem_resize(array, n ? 2 * n : 1, size);
}

/* Finds an address or owner, or adds it. Valid until the next call. */
static struct lifetime_value *find_value(struct lifetimes *l, unsigned kind, enum lifetime_key key, uint64_t value)
{
	return table_put(&l->kinds[kind].keys[key], value, l->values, l->num_values, l->cap_values);
}

/* Invalidates the spans from tsc on. */
static void invalidate(struct lifetime_value *value, uint64_t tsc)
{
	if (!value->invalid || tsc < value->valid_until)
		value->valid_until = tsc;
	value->invalid = true;
	value->answer = (struct lifetime_span){1, 0, NULL};
}

/* Adds a lifetime to those of its address or owner. */
static void file(struct lifetimes *l, struct lifetime *lifetime, enum lifetime_key key)
{
	struct lifetime_value *value = find_value(l, lifetime->kind, key, lifetime->key[key]);
	size_t n = value->n++;

	value->all = room_for_one(value->all, n, sizeof(*value->all));
	value->all[n].lifetime = lifetime;
	value->unsorted |= n && lifetime->begin < value->all[n - 1].lifetime->begin;
	invalidate(value, lifetime->begin);
}

/* The key that identifies a lifetime among those of its kind that begin at the same time. */
static enum lifetime_key identity(const struct lifetime *lifetime)
{
	return lifetime->has[LIFETIME_PTR] ? LIFETIME_PTR : LIFETIME_OWNER;
}

static bool same_object(const struct lifetime *a, const struct lifetime *b)
{
	enum lifetime_key key = identity(a);

	return a->kind == b->kind && a->begin == b->begin && key == identity(b) && a->key[key] == b->key[key];
}

/* Returns the place of the index of the object's lifetime; MAP_NONE if it is new. */
static uint32_t *find_object(struct lifetimes *l, const struct lifetime *lifetime)
{
	enum lifetime_key key = identity(lifetime);
	size_t value = find_value(l, lifetime->kind, key, lifetime->key[key]) - l->values;
	uint64_t hash = map_hash(&l->kinds[lifetime->kind].keys[key], lifetime->begin) + value * 0x9e3779b97f4a7c15;

	/* try the next hash when another object has this one */
	for (;; hash++) {
		uint32_t *number = map_put(&l->objects, hash);

		if (*number == MAP_NONE || same_object(lifetime, l->all[*number]))
			return number;
	}
}

static void free_texts(struct lifetime *lifetime)
{
	free((char *)lifetime->fields.p);
	free((char *)lifetime->text.p);
	free((char *)lifetime->json.p);
}

/* Replaces a lifetime with that of a later line about the same object. */
static void replace(struct lifetimes *l, struct lifetime *old, struct lifetime lifetime)
{
	bool filed[LIFETIME_KEYS];

	for (enum lifetime_key key = 0; key < LIFETIME_KEYS; key++) {
		filed[key] = old->has[key] && lifetime.has[key] && old->key[key] == lifetime.key[key];
		if (old->has[key]) {
			struct lifetime_value *value = find_value(l, old->kind, key, old->key[key]);

			/* sort() drops a lifetime that has another value now */
			value->unsorted |= !filed[key];
			invalidate(value, old->begin);
		}
	}
	free_texts(old);
	lifetime.order = old->order;
	lifetime.revision = old->revision + 1;
	*old = lifetime;
	for (enum lifetime_key key = 0; key < LIFETIME_KEYS; key++)
		if (old->has[key] && !filed[key])
			file(l, old, key);
}

static void add(struct lifetimes *l, const struct lifetime *lifetime)
{
	struct lifetime *added = mem_array(1, sizeof(*added));

	*added = *lifetime;
	added->order = l->n;
	l->all = room_for_one(l->all, l->n, sizeof(struct lifetime *));
	l->all[l->n++] = added;
	for (enum lifetime_key key = 0; key < LIFETIME_KEYS; key++)
		if (added->has[key])
			file(l, added, key);
}

const char *lifetimes_add(void *context, struct slice line)
{
	struct lifetimes *l = context;
	struct lifetime lifetime = {};
	const char *error;
	struct slice name;
	uint32_t *number;

	/* a line of another form, such as a comment */
	if (!probeline_name(&line, &name)) {
		l->num_skipped++;
		return NULL;
	}
	if (line.n > LIFETIMES_LINE)
		return "a lifetime line of more than 4096 bytes";
	error = find_kind(l, name, &lifetime.kind);
	if (!error)
		error = parse_lifetime(&lifetime, line);
	if (error)
		return error;
	lifetime.fields = mem_slice(line);
	number = find_object(l, &lifetime);
	if (*number != MAP_NONE) {
		replace(l, l->all[*number], lifetime);
		return NULL;
	}
	*number = l->n;
	add(l, &lifetime);
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct lifetime *x = ((const struct lifetime_entry *)a)->lifetime;
	const struct lifetime *y = ((const struct lifetime_entry *)b)->lifetime;

	return ORDER(x->begin, y->begin) ?: ORDER(x->order, y->order);
}

/* Sorts the lifetimes of a value; drops duplicates and those that have another value now. */
static void sort(struct lifetime_value *v, enum lifetime_key key, uint64_t value)
{
	size_t n = 0;

	qsort(v->all, v->n, sizeof(*v->all), by_begin);
	for (size_t i = 0; i < v->n; i++) {
		struct lifetime *lifetime = v->all[i].lifetime;

		if (lifetime->has[key] && lifetime->key[key] == value && (!n || v->all[n - 1].lifetime != lifetime))
			v->all[n++] = v->all[i];
	}
	v->n = n;
	v->unsorted = false;
}

/* Adds an active lifetime to the heap, whose top is the first one in the files. */
static void push(struct lifetimes *l, struct lifetime *lifetime)
{
	struct lifetime **heap;
	size_t at = l->num_active++;

	l->active = heap = room_for_one(l->active, at, sizeof(struct lifetime *));
	for (; at && lifetime->order < heap[(at - 1) / 2]->order; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = lifetime;
}

static void pop(struct lifetimes *l)
{
	struct lifetime **heap = l->active, *lifetime = heap[--l->num_active];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < l->num_active; at = child) {
		child += child + 1 < l->num_active && heap[child + 1]->order < heap[child]->order;
		if (heap[child]->order > lifetime->order)
			break;
		heap[at] = heap[child];
	}
	heap[at] = lifetime;
}

static void add_span(struct lifetime_value *v, uint64_t begin, uint64_t end, struct lifetime *lifetime)
{
	struct lifetime_span *last = v->num_spans ? &v->spans[v->num_spans - 1] : NULL;

	if (last && last->lifetime == lifetime && last->end + 1 == begin) {
		last->end = end;
		return;
	}
	v->spans = room_for_one(v->spans, v->num_spans, sizeof(*v->spans));
	v->spans[v->num_spans++] = (struct lifetime_span){begin, end, lifetime};
}

/*
 * Divides the time from `now` on into spans, each of which belongs to the first of the active
 * lifetimes. Each step ends or starts a lifetime, so there are at most two spans for each. from:
 * the first one that begins at `now` or later.
 */
static void add_spans(struct lifetimes *l, struct lifetime_value *v, size_t from, uint64_t now)
{
	uint64_t end;

	while (from < v->n || l->num_active) {
		if (!l->num_active)
			now = v->all[from].lifetime->begin;
		for (; from < v->n && v->all[from].lifetime->begin <= now; from++)
			push(l, v->all[from].lifetime);
		while (l->num_active && l->active[0]->end < now)
			pop(l);
		if (!l->num_active)
			continue;
		end = l->active[0]->end;
		if (from < v->n && v->all[from].lifetime->begin <= end)
			end = v->all[from].lifetime->begin - 1;
		add_span(v, now, end, l->active[0]);
		if (end == UINT64_MAX)
			break;
		now = end + 1;
	}
}

/*
 * Rebuilds the invalid spans. These are usually the last ones, so the cost does not grow each time
 * that an address is reused.
 */
static void make_spans(struct lifetimes *l, struct lifetime_value *v, uint64_t now)
{
	size_t from = v->n;

	while (v->num_spans && v->spans[v->num_spans - 1].begin >= now)
		v->num_spans--;
	if (v->num_spans && v->spans[v->num_spans - 1].end >= now)
		v->spans[v->num_spans - 1].end = now - 1;
	while (from && v->all[from - 1].lifetime->begin >= now)
		from--;
	for (size_t i = from; i < v->n; i++) {
		v->all[i].reach = v->all[i].lifetime->end;
		if (i && v->all[i - 1].reach > v->all[i].reach)
			v->all[i].reach = v->all[i - 1].reach;
	}
	l->num_active = 0;
	for (size_t i = from; i-- > 0 && v->all[i].reach >= now;)
		if (v->all[i].lifetime->end >= now)
			push(l, v->all[i].lifetime);
	add_spans(l, v, from, now);
	v->invalid = false;
}

struct lifetime_kind *lifetimes_kind(struct lifetimes *l, struct slice name)
{
	for (unsigned i = 0; i < l->num_kinds; i++)
		if (slice_equal(l->kinds[i].name, name))
			return &l->kinds[i];
	return NULL;
}

const struct lifetime *lifetimes_find(struct lifetimes *l, const struct lifetime_kind *kind, enum lifetime_key key,
				      uint64_t value, uint64_t tsc)
{
	uint32_t index = map_get(&kind->keys[key], value);
	struct lifetime_value *v;
	size_t next;

	if (index == MAP_NONE)
		return NULL;
	v = &l->values[index];
	/* after invalidate() there is no answer */
	if (tsc < v->answer.begin || tsc > v->answer.end) {
		if (v->unsorted)
			sort(v, key, value);
		if (v->invalid)
			make_spans(l, v, v->valid_until);
		next = search_first(i, v->num_spans, v->spans[i].begin > tsc);
		if (!next || v->spans[next - 1].end < tsc)
			return NULL;
		v->answer = v->spans[next - 1];
	}
	if (!v->answer.lifetime->text.p)
		make_annotation(v->answer.lifetime);
	return v->answer.lifetime;
}

void lifetimes_free(struct lifetimes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free_texts(l->all[i]);
		free(l->all[i]);
	}
	for (unsigned i = 0; i < l->num_kinds; i++) {
		free((char *)l->kinds[i].name.p);
		for (unsigned key = 0; key < LIFETIME_KEYS; key++)
			map_free(&l->kinds[i].keys[key]);
	}
	for (size_t i = 0; i < l->num_values; i++) {
		free(l->values[i].all);
		free(l->values[i].spans);
	}
	map_free(&l->objects);
	free(l->active);
	free(l->all);
	free(l->values);
	*l = (struct lifetimes){};
}
