/* SPDX-License-Identifier: BSD-3-Clause */
#include "unread.h"

#include <stdlib.h>

#include "minmax.h"
#include "table.h"

/* The latest absence of a reactor that ended at or before a time; NULL if it was not away that long. */
static const struct reactors_interval *latest_absence(const struct reactor *reactor, uint64_t ns)
{
	enum { LOOKED_AT = 16 }; /* shorter absences since */

	for (size_t i = reactor->n; i-- && i + LOOKED_AT >= reactor->n;) {
		const struct reactors_interval *part = &reactor->parts[i];

		if (part->kind == REACTORS_OFF_CPU && part->end <= ns && part->end - part->begin >= UNREAD_AWAY_NS)
			return part;
	}
	return NULL;
}

/* Whether it was in the socket, by the time since the absence; k: the number of such requests, with this one. */
static bool was_there(const struct reactors_interval *away, uint64_t after, uint64_t k, double apart)
{
	enum { AT_ONCE = 10 }; /* what comes in the time in which the rest is read is at most a tenth more */

	return after * 2.0 <= k * apart && after <= (away->end - away->begin) / AT_ONCE;
}

/* Counts a request that begins after an absence. Returns how long it has waited, as far as that is known. */
static uint64_t waited(struct unread_connection *c, const struct reactors_interval *away, uint64_t ns)
{
	uint64_t usual, most;

	if (c->away_end != away->end) {
		c->apart = c->n < UNREAD_USUAL ? 0 : (double)(c->last - c->first) / (c->n - 1);
		c->away_end = away->end;
		c->since = 0;
		c->over = false;
	}
	c->since++;
	c->over |= !was_there(away, ns - away->end, c->since, c->apart);
	if (c->over)
		return 0;
	/* if more have come than usually, the latest of k comes so late on average */
	usual = (c->since - 0.5) * c->apart;
	most = (away->end - away->begin) / (c->since + 1) * c->since;
	return ns - away->begin - min_u64(usual, most);
}

static void begin(struct unread *u, const struct span *s)
{
	const struct reactor *reactor = spans_reactor(u->spans, s, s->lcore);
	const struct reactors_interval *away = reactor ? latest_absence(reactor, s->first) : NULL;
	struct unread_wait *wait = table_at(u->waits, u->num_waits, u->cap_waits, s->index);
	struct unread_connection *c;

	*wait = (struct unread_wait){.cause = MAP_NONE};
	if (s->connection == MAP_NONE || s->unknown)
		return;
	c = table_at(u->connections, u->num_connections, u->cap_connections, s->connection);
	if (away && c->n)
		*wait = (struct unread_wait){waited(c, away, s->first), away->cause};
	if (!c->n++)
		c->first = s->first;
	c->last = s->first;
}

void unread_see(struct unread *u, const struct span *s, bool is_first)
{
	struct unread_connection *c;

	if (is_first) {
		begin(u, s);
	} else if (s->reply != UINT64_MAX && s->connection < u->num_connections) {
		c = &u->connections[s->connection];
		c->over |= s->first >= c->away_end;
	}
}

struct unread_wait unread_of(const struct unread *u, const struct span *s)
{
	return s->index < u->num_waits ? u->waits[s->index] : (struct unread_wait){.cause = MAP_NONE};
}

void unread_free(struct unread *u)
{
	free(u->connections);
	free(u->waits);
}
