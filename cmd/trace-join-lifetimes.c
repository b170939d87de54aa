/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace-join-lifetimes.h"

#include <err.h>
#include <stdlib.h>

#include "json.h"
#include "lines.h"
#include "number.h"
#include "probeline.h"
#include "utf8.h"

/* Memory, or the end of the tool. */
static void *allocate(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

static struct slice copy(struct slice s)
{
	return (struct slice){memcpy(allocate(NULL, s.n + 1, 1), s.p, s.n), s.n};
}

/* Finds the kind of this name or adds it. Returns NULL, or what is wrong. */
static const char *find_kind(struct lifetimes *l, struct slice name, unsigned *number)
{
	struct lifetime_kind *kind = lifetimes_kind(l, name);

	*number = kind ? kind - l->kinds : l->num_kinds;
	if (kind)
		return NULL;
	if (l->num_kinds == LIFETIMES_KINDS)
		return "more than 64 kinds of objects";
	l->kinds[l->num_kinds++] = (struct lifetime_kind){.name = copy(name)};
	return NULL;
}

static bool is_json_number(struct slice s)
{
	uint64_t v;

	return number_decimal(s, &v) && (s.p[0] != '0' || s.n == 1);
}

/* Makes the annotation of a lifetime's fields, begin and end left out. */
static void make_annotation(struct lifetime *lifetime)
{
	struct slice fields = lifetime->fields;
	/* every byte of them may become 4 in the text and 6 in JSON, and no field is short of 3 */
	char *text = allocate(NULL, 10 * fields.n + 64, 1),
	     *json = allocate(NULL, 10 * fields.n + 64, 1);
	char *plain = allocate(NULL, fields.n + 1, 1), *t = text, *j = json;
	struct probeline_field f;
	const char *error;

	while (probeline_next(&fields, &f, &error) > 0) {
		struct slice value = {plain, probeline_unescape(plain, f.value)};

		if (slice_is(f.key, "begin") || slice_is(f.key, "end"))
			continue;
		t = stpcpy(t, t == text ? "" : ", ");
		t = mempcpy(t, f.key.p, f.key.n);
		*t++ = '=';
		t = utf8_visible(t, value);
		j = stpcpy(j, j == json ? "{" : ",");
		j = json_quote(j, f.key);
		*j++ = ':';
		if (!f.quoted && is_json_number(f.value))
			j = mempcpy(j, f.value.p, f.value.n);
		else
			j = json_quote(j, value);
	}
	*j++ = '}';
	lifetime->text = copy((struct slice){text, t - text});
	lifetime->json = copy((struct slice){json, j - json});
	free(text);
	free(json);
	free(plain);
}

bool lifetimes_owner(struct slice text, uint64_t *owner)
{
	uint64_t number;

	if (text.n < 2 ||
	    !((*text.p >= 'a' && *text.p <= 'z') || (*text.p >= 'A' && *text.p <= 'Z')))
		return false;
	/* SPDK's numbers have 16 bits */
	if (!number_decimal((struct slice){text.p + 1, text.n - 1}, &number) || number >> 32)
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
			has[LIFETIME_PTR] = valid = number_hex(f.value,
							       &lifetime->key[LIFETIME_PTR]);
		else if (slice_is(f.key, "owner"))
			/* one of another form is only shown */
			has[LIFETIME_OWNER] = lifetimes_owner(f.value,
							      &lifetime->key[LIFETIME_OWNER]);
		if (!valid)
			return "begin and end are decimal numbers, ptr is a hexadecimal one";
	}
	if (found < 0)
		return error;
	if (!begin || (!has[LIFETIME_PTR] && !has[LIFETIME_OWNER]))
		return "begin or ptr is missing: not a lifetime line, which qpair-lifetimes prints";
	if (lifetime->end < lifetime->begin)
		return "the end is before the begin";
	return NULL;
}

/* A lines_take. A line that has no NAME: is none of ours. */
static const char *add_line(void *context, struct slice line)
{
	struct lifetimes *l = context;
	struct lifetime lifetime = {.order = l->n};
	const char *error;
	struct slice name;

	if (!probeline_name(&line, &name))
		return NULL;
	error = find_kind(l, name, &lifetime.kind);
	if (!error)
		error = parse_lifetime(&lifetime, line);
	if (error)
		return error;
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 256;
		l->all = allocate(l->all, l->cap, sizeof(*l->all));
	}
	lifetime.fields = copy(line);
	l->all[l->n++] = lifetime;
	return NULL;
}

int lifetimes_read(struct lifetimes *l, const char *path)
{
	struct lines lines;

	int status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_LIFETIMES, "trace-join -l - TRACE-LINES");
	status = lines_each(&lines, add_line, l);
	if (lines.is)
		exit(EXIT_FAILURE);
	return status;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b, void *key)
{
	const struct lifetime *x = *(struct lifetime *const *)a, *y = *(struct lifetime *const *)b;
	enum lifetime_key k = *(enum lifetime_key *)key;
	int c = compare(x->kind, y->kind);

	c = c ? c : compare(x->key[k], y->key[k]);
	c = c ? c : compare(x->begin, y->begin);
	return c ? c : compare(x->order, y->order);
}

/* The lifetimes of one address that have begun and may not have ended, a heap: the one to count on top. */
struct active {
	struct lifetime **heap;
	size_t n;
};

static void push(struct active *a, struct lifetime *lifetime)
{
	size_t at = a->n++;

	for (; at && lifetime->order < a->heap[(at - 1) / 2]->order; at = (at - 1) / 2)
		a->heap[at] = a->heap[(at - 1) / 2];
	a->heap[at] = lifetime;
}

static void pop(struct active *a)
{
	struct lifetime *lifetime = a->heap[--a->n];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < a->n; at = child) {
		child += child + 1 < a->n && a->heap[child + 1]->order < a->heap[child]->order;
		if (a->heap[child]->order > lifetime->order)
			break;
		a->heap[at] = a->heap[child];
	}
	a->heap[at] = lifetime;
}

static void add_span(struct lifetimes *l, size_t first, uint64_t begin, uint64_t end,
		     struct lifetime *lifetime)
{
	struct lifetime_span *last = l->num_spans > first ? &l->spans[l->num_spans - 1] : NULL;

	if (last && last->lifetime == lifetime && last->end + 1 == begin)
		last->end = end;
	else
		l->spans[l->num_spans++] = (struct lifetime_span){begin, end, lifetime};
}

/*
 * Cuts the time of one address into spans, each of which belongs to the first of the lifetimes that are
 * active. Every step ends a lifetime or begins one, so there are at most two spans for each.
 */
static void add_spans(struct lifetimes *l, struct lifetime **from, struct lifetime **to,
		      struct active *active)
{
	size_t first = l->num_spans;
	uint64_t now = 0, end;

	active->n = 0;
	while (from < to || active->n) {
		if (!active->n)
			now = (*from)->begin;
		for (; from < to && (*from)->begin <= now; from++)
			push(active, *from);
		while (active->n && active->heap[0]->end < now)
			pop(active);
		if (!active->n)
			continue;
		end = active->heap[0]->end;
		if (from < to && (*from)->begin <= end)
			end = (*from)->begin - 1;
		add_span(l, first, now, end, active->heap[0]);
		if (end == UINT64_MAX)
			break;
		now = end + 1;
	}
}

/* Makes the spans of all lifetimes that have this key. */
static void sort_by(struct lifetimes *l, enum lifetime_key key)
{
	struct lifetime **sorted = allocate(NULL, l->n + 1, sizeof(*sorted));
	struct active active = {.heap = allocate(NULL, l->n + 1, sizeof(*active.heap))};
	size_t n = 0, from, to;

	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].has[key])
			sorted[n++] = &l->all[i];
	qsort_r(sorted, n, sizeof(*sorted), by_key, &key);
	for (from = 0; from < n; from = to) {
		const struct lifetime *first = sorted[from];
		uint32_t *index = map_put(&l->kinds[first->kind].keys[key], first->key[key]);
		struct lifetime_value *value = &l->values[l->num_values];

		if (!index)
			err(EXIT_FAILURE, NULL);
		*index = l->num_values++;
		for (to = from + 1; to < n && sorted[to]->kind == first->kind &&
				    sorted[to]->key[key] == first->key[key];
		     to++)
			;
		value->first = value->last = l->num_spans;
		add_spans(l, sorted + from, sorted + to, &active);
		value->end = l->num_spans;
	}
	free(active.heap);
	free(sorted);
}

void lifetimes_sort(struct lifetimes *l)
{
	l->spans = allocate(NULL, LIFETIME_KEYS * 2 * l->n + 1, sizeof(*l->spans));
	l->values = allocate(NULL, LIFETIME_KEYS * l->n + 1, sizeof(*l->values));
	for (enum lifetime_key key = 0; key < LIFETIME_KEYS; key++)
		sort_by(l, key);
}

struct lifetime_kind *lifetimes_kind(struct lifetimes *l, struct slice name)
{
	for (unsigned i = 0; i < l->num_kinds; i++)
		if (slice_equal(l->kinds[i].name, name))
			return &l->kinds[i];
	return NULL;
}

/* The span of this time, which is often the one that was asked for last; NULL when there is none. */
static const struct lifetime_span *find_span(const struct lifetimes *l, struct lifetime_value *a,
					     uint64_t tsc)
{
	const struct lifetime_span *span = &l->spans[a->last];
	size_t low = a->first, high = a->end;

	if (span->begin <= tsc && tsc <= span->end)
		return span;
	/* the last one that begins at this time or before */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->spans[middle].begin <= tsc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == a->first || l->spans[low - 1].end < tsc)
		return NULL;
	a->last = low - 1;
	return &l->spans[a->last];
}

const struct lifetime *lifetimes_find(struct lifetimes *l, const struct lifetime_kind *kind,
				      enum lifetime_key key, uint64_t value, uint64_t tsc)
{
	uint32_t index = map_get(&kind->keys[key], value);
	const struct lifetime_span *span;

	if (index == MAP_NONE)
		return NULL;
	span = find_span(l, &l->values[index], tsc);
	if (!span)
		return NULL;
	if (!span->lifetime->text.p)
		make_annotation(span->lifetime);
	return span->lifetime;
}

void lifetimes_free(struct lifetimes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free((char *)l->all[i].fields.p);
		free((char *)l->all[i].text.p);
		free((char *)l->all[i].json.p);
	}
	for (unsigned i = 0; i < l->num_kinds; i++) {
		free((char *)l->kinds[i].name.p);
		for (unsigned key = 0; key < LIFETIME_KEYS; key++)
			map_free(&l->kinds[i].keys[key]);
	}
	free(l->all);
	free(l->spans);
	free(l->values);
	*l = (struct lifetimes){};
}
