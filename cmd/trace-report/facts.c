/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <stdlib.h>

#include "mem.h"
#include "table.h"

bool facts_line(struct slice *text, struct slice *line)
{
	while (text->n) {
		const char *end = memchr(text->p, '\n', text->n);
		struct json j;

		*line = slice_cut(text, end ? (size_t)(end - text->p) : text->n);
		if (text->n)
			slice_cut(text, 1);
		json_init(&j, line->p, line->n);
		if (json_peek(&j) == '{' && json_skip(&j) && json_end(&j))
			return true;
	}
	return false;
}

struct slice facts_text(struct slice line, const char *path)
{
	return json_path(line, slice_of(path));
}

double facts_number(struct slice line, const char *path)
{
	struct slice value = facts_text(line, path);

	/* what follows it in the object ends it */
	return value.n ? strtod(value.p, NULL) : 0;
}

void facts_each(struct json *j, struct slice container)
{
	json_init(j, container.p, container.n);
	if (json_peek(j) == '{')
		json_object(j);
	else
		json_array(j);
}

bool facts_next(struct json *j, struct slice *key, struct slice *value)
{
	return (key ? json_key(j, key) : json_element(j)) && json_value(j, value);
}

void facts_put(struct out *out, struct slice raw)
{
	struct slice text = json_decode(raw);

	out_visible(out, text);
	free((char *)text.p);
}

struct slice facts_host(const struct facts *f, struct slice host)
{
	uint32_t i;

	host = json_unquoted(host);
	i = intern_get(&f->hosts, host);
	return i == MAP_NONE ? host : f->names[i];
}

/* The latest name is that which trace-spans would use for all, had it known all hosts from the start. */
static void see_name(struct facts *f, struct slice connection, struct slice args)
{
	struct slice nqn = json_unquoted(facts_text(args, "qpair.hostnqn")), name = json_unquoted(connection), *known;
	uint32_t i;

	while (name.n && name.p[name.n - 1] != '/')
		name.n--;
	if (!nqn.n || name.n < 2)
		return;
	name.n--;
	i = intern_add_below(&f->hosts, nqn, FACTS_HOSTS);
	if (i == MAP_NONE)
		return;
	known = table_at(f->names, f->num_names, f->cap_names, i);
	if (slice_equal(*known, name))
		return;
	free((char *)known->p);
	*known = mem_slice(name);
}

static void see_open(struct facts *f, struct slice line, double life)
{
	size_t i = FACTS_OLDEST;

	f->open++;
	while (i && (!f->oldest[i - 1].n || facts_number(f->oldest[i - 1], "life") < life))
		i--;
	if (i == FACTS_OLDEST)
		return;
	free((char *)f->oldest[FACTS_OLDEST - 1].p);
	memmove(&f->oldest[i + 1], &f->oldest[i], (FACTS_OLDEST - 1 - i) * sizeof(*f->oldest));
	f->oldest[i] = mem_slice(line);
}

enum { LIFE, CONNECTION, ARGS, ADMIN, MAYBE_ADMIN, OPEN, CUT, KEYS };

void facts_span(struct facts *f, struct slice line)
{
	static const char *const keys[KEYS] = {"life", "connection", "args", "admin", "maybe_admin", "open", "cut"};
	struct slice values[KEYS] = {}, key, value;
	struct json j;
	double life;

	facts_each(&j, line);
	while (facts_next(&j, &key, &value))
		for (unsigned i = 0; i < KEYS; i++)
			if (slice_is(key, keys[i]))
				values[i] = value;
	if (j.error || !values[LIFE].n)
		return;
	if (values[ADMIN].n) {
		f->admin++;
		return;
	}
	f->requests++;
	f->incomplete += values[OPEN].n || values[CUT].n;
	life = strtod(values[LIFE].p, NULL);
	see_name(f, values[CONNECTION], values[ARGS]);
	if (!values[OPEN].n)
		f->longest = life > f->longest ? life : f->longest;
	else if (!values[MAYBE_ADMIN].n)
		see_open(f, line, life);
}

uint64_t facts_entries(const struct facts *f)
{
	return facts_number(f->info, "entries") - facts_number(f->info, "before_window") -
	       facts_number(f->info, "cleared");
}
