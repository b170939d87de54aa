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
	globs->all[globs->n++] = glob;
}

/* Decodes a JSON string, given without its quotes. */
static const char *plain_string(struct choose *c, struct slice raw)
{
	char *to;

	c->text.fd = OUT_MEMORY;
	c->text.len = 0;
	to = out_room(&c->text, raw.n + 1);
	to[json_unescape(to, raw)] = 0;
	return to;
}

static bool matches_any(const struct choose_globs *globs, const char *text)
{
	for (size_t i = 0; i < globs->n; i++)
		if (fnmatch(globs->all[i], text, 0) == 0)
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

void choose_free(struct choose *c)
{
	free(c->states.all);
	free(c->owners.all);
	free(c->known);
	out_close(&c->text);
}
