/* SPDX-License-Identifier: BSD-3-Clause */
#include "choose.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "table.h"

void choose_add(struct choose *c, const char *glob)
{
	c->globs = mem_room(c->globs, c->n, &c->cap);
	c->globs[c->n++] = glob;
}

static bool state_matches(struct choose *c, const struct spans *spans, uint32_t state)
{
	struct choose_state *s = table_at(c->known, c->num_known, c->cap_known, state);
	struct slice name = spans->states->all[state];
	char *text;

	if (s->known)
		return s->matches;
	s->known = true;
	c->text.fd = OUT_MEMORY;
	text = out_room(&c->text, name.n + 1);
	text[json_unescape(text, name)] = 0;
	for (size_t i = 0; i < c->n; i++)
		s->matches |= fnmatch(c->globs[i], text, 0) == 0;
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
	return !c->n || was_in_state(c, spans, s);
}

void choose_free(struct choose *c)
{
	free(c->globs);
	free(c->known);
	out_close(&c->text);
}
