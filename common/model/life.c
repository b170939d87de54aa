/* SPDX-License-Identifier: BSD-3-Clause */
#include "life.h"

#include "minmax.h"
#include "spans.h"

uint64_t life_lcore_key(const struct spans *spans, const struct span *s)
{
	const struct traceline line = {.source = s->source == MAP_NONE ? (struct slice){}
								       : spans->seen.names.all[s->source]};

	return traceline_in_source(&line, s->last_lcore);
}

uint64_t life_gap(const struct spans *spans, const struct span *s)
{
	return spans->gaps.n ? latest_of(&spans->gaps, life_lcore_key(spans, s)) : 0;
}

static bool has_entry_since(const struct span *s, uint64_t ns)
{
	bool has = s->last >= ns;

	for (const struct span *child = s->child; child && !has; child = child->next)
		has = has_entry_since(child, ns);
	return has;
}

/* object: of the span, as it was after that one's last entry. */
static bool is_end_lost(const struct spans *spans, const struct span *s, const struct object *object)
{
	return spans->gaps.n && !spans_is_final(spans, object) && !has_entry_since(s, life_gap(spans, s));
}

bool life_is_lost(const struct spans *spans, const struct span *s)
{
	const struct object *object = &spans->lifecycle.all[s->object];

	if (s->end.over || spans->over)
		return s->end.lost;
	return object->note == s->index + 1 && is_end_lost(spans, s, object);
}

bool life_is_open(const struct spans *spans, const struct span *s)
{
	const struct object *object = &spans->lifecycle.all[s->object];

	if (s->end.over || spans->over)
		return s->end.open;
	/*
	 * An object whose address was reused has ended. A set that has started nothing may have ended at any time:
	 * bs_user_op_execute() in lib/blob/request.c gives that of a queued operation back without an entry.
	 */
	return object->note == s->index + 1 && !spans_is_final(spans, object) && !is_end_lost(spans, s, object) &&
	       (s->n > 1 || s->child || spans_kind(spans, s) != SPDK_BLOB_SET);
}

const struct span *life_open_child(const struct spans *spans, const struct span *s)
{
	const struct span *last = NULL;

	for (const struct span *child = s->child; child; child = child->next)
		if (life_is_open(spans, child))
			last = child;
	return last;
}

const struct span *life_innermost(const struct spans *spans, const struct span *s)
{
	const struct span *child = life_open_child(spans, s);

	return child ? life_innermost(spans, child) : s;
}

/* Whether a span, and all above it, are open. */
static bool reaches_end(const struct spans *spans, const struct span *s)
{
	while (life_is_open(spans, s) && !s->orphan) {
		if (!s->parent)
			return true;
		s = s->parent;
	}
	return false;
}

/* The latest entry of a span and of those below it. */
static uint64_t latest_below(const struct span *s)
{
	uint64_t latest = s->last;

	for (const struct span *child = s->child; child; child = child->next)
		latest = max_u64(latest, latest_below(child));
	return latest;
}

uint64_t life_until(const struct spans *spans, const struct span *s)
{
	const struct reactor *reactor;
	uint64_t end;

	if (!reaches_end(spans, s))
		return life_is_lost(spans, s) ? latest_below(s) : s->last;
	if (!spans->over)
		return spans->now;
	end = seen_latest(&spans->seen, s->source);
	reactor = reactors_of_span(&spans->reactors, s, s->last_lcore);
	if (reactor && reactor->entry == end && reactor->stopped)
		end = reactor->stopped;
	return max_u64(end, spans->passed);
}

uint64_t life_ns(const struct spans *spans, const struct span *s)
{
	return s->age + (life_until(spans, s) - s->first);
}

uint64_t life_to_reply(const struct spans *spans, const struct span *s)
{
	return s->age + (min_u64(s->reply.start, life_until(spans, s)) - s->first);
}

void life_held(const struct spans *spans, const struct span *s, reactors_part *part, void *context)
{
	uint64_t from = s->first, until;

	if (!spans->reactors.n)
		return;
	until = life_is_lost(spans, s) ? s->last : life_until(spans, s);
	for (size_t i = 0; i < s->n; i++) {
		const struct span_state *at = &s->states[i], *next = i + 1 < s->n ? at + 1 : NULL;
		uint64_t to = next ? next->ns : until;
		const struct reactor *reactor = NULL;

		/* it is on an lcore until its next entry */
		if (next && next->lcore == at->lcore)
			continue;
		if (at->lcore != MAP_NONE)
			reactor = reactors_of_span(&spans->reactors, s, spans->lcores.all[at->lcore].number);
		if (reactor)
			reactors_each(reactor, from, to, part, context);
		from = to;
	}
}

bool life_is_longer(const struct spans *spans, const struct span *s)
{
	return s->unknown || life_is_lost(spans, s) || life_is_open(spans, s);
}

bool life_may_reply_later(const struct spans *spans, const struct span *s)
{
	return s->unknown || (s->reply.start == UINT64_MAX && (life_is_lost(spans, s) || life_is_open(spans, s)));
}
