/* SPDX-License-Identifier: BSD-3-Clause */
#include "choose.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "table.h"

void choose_add(struct choose_globs *globs, const char *glob)
{
	globs->all = mem_room(globs->all, globs->n, &globs->cap);
	globs->all[globs->n++] = (struct choose_glob){.glob = glob};
}

bool choose_add_key(struct choose *c, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return false;
	choose_add(&c->keys, equals + 1);
	c->keys.all[c->keys.n - 1].key = text;
	return true;
}

/* Room for a C string of n bytes. */
static char *text_room(struct choose *c, size_t n)
{
	c->text.fd = OUT_MEMORY;
	c->text.len = 0;
	return out_room(&c->text, n + 1);
}

/* Decodes a JSON string, given without its quotes. */
static const char *plain_string(struct choose *c, struct slice raw)
{
	char *to = text_room(c, raw.n);

	to[json_unescape(to, raw)] = 0;
	return to;
}

/* A value as a C string: a string decoded, anything else as it is written. */
static const char *plain(struct choose *c, struct slice value)
{
	char *to;

	if (value.n > 1 && value.p[0] == '"')
		return plain_string(c, json_unquoted(value));
	to = text_room(c, value.n);
	*(char *)mempcpy(to, value.p, value.n) = 0;
	return to;
}

static bool matches_any(const struct choose_globs *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (fnmatch(globs->all[i].glob, text, 0) == 0)
			return true;
	return false;
}

static bool state_matches(struct choose *c, const struct spans *spans, uint32_t state)
{
	struct choose_state *s = table_at(c->known, c->num_known, c->cap_known, state);

	if (!s->known)
		*s = (struct choose_state){true, matches_any(&c->states, plain_string(c, spans->states->all[state]))};
	return s->matches;
}

/* Whether the span, or one below it, was in a state that is wanted. */
static bool was_in_state(struct choose *c, const struct spans *spans, const struct span *s)
{
	bool was = false;

	for (size_t i = 0; i < s->n && !was; i++)
		was = state_matches(c, spans, s->states[i].state);
	for (const struct span *child = s->child; child && !was; child = child->next)
		was = was_in_state(c, spans, child);
	return was;
}

bool choose_span(struct choose *c, const struct spans *spans, const struct span *s)
{
	if (c->owners.n && (!span_owner(s).n || !matches_any(&c->owners, plain_string(c, span_owner(s)))))
		return false;
	return !c->states.n || was_in_state(c, spans, s);
}

bool choose_keys(struct choose *c, struct print *print, const struct span *s)
{
	bool wanted = true;

	c->num_compared++;
	print_measure(print, s);
	for (size_t i = 0; i < c->keys.n; i++) {
		struct choose_glob *key = &c->keys.all[i];
		struct slice path = slice_between(key->key, strchr(key->key, '=')), value;
		bool found = print_value(print, s, &path, &value);

		if (found && path.p)
			value = json_path(value, path);
		found = found && value.n;
		key->found |= found;
		wanted &= found && fnmatch(key->glob, plain(c, value), 0) == 0;
	}
	return wanted;
}

void choose_free(struct choose *c)
{
	free(c->keys.all);
	free(c->states.all);
	free(c->owners.all);
	free(c->known);
	out_close(&c->text);
}
