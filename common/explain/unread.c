/* SPDX-License-Identifier: BSD-3-Clause */
#include "unread.h"

#include <stdlib.h>

#include "floor.h"
#include "minmax.h"
#include "table.h"

static struct unread_away *add_away(struct unread_lcore *l, struct unread_away away)
{
	struct unread_away *new = &l->all[l->n++ % UNREAD_KEPT];

	*new = away;
	return new;
}

static struct unread_away *latest_away(struct unread_lcore *l)
{
	return l->n ? &l->all[(l->n - 1) % UNREAD_KEPT] : NULL;
}

/* The latest time of a reactor off its CPU that ended at or before a time; NULL if it was not away that long. */
static const struct reactors_interval *latest_off_cpu(const struct reactor *reactor, uint64_t ns)
{
	enum { LOOKED_AT = 16 }; /* shorter ones since */

	for (size_t i = reactor ? reactor->n : 0, left = LOOKED_AT; i-- && left--;) {
		const struct reactors_interval *part = &reactor->parts[i];

		if (part->kind == REACTORS_OFF_CPU && part->end <= ns && part->end - part->begin >= FLOOR_STALL_NS)
			return part;
	}
	return NULL;
}

/* The latest absence of an lcore at the first entry of a span; NULL: none so far. */
static struct unread_away *find_away(struct unread *u, struct unread_lcore *l, const struct span *s)
{
	const struct reactor *reactor = reactors_of_span(&u->spans->reactors, s, s->lcore);
	const struct reactors_interval *off = latest_off_cpu(reactor, s->first);
	struct unread_away *latest = latest_away(l);

	if (!off || (latest && off->end <= latest->begin))
		return latest;
	/* it is most of what looked like something else */
	if (latest && latest->cause == MAP_NONE && off->end - off->begin < (latest->end - latest->begin) / 2)
		return latest;
	if (latest && latest->begin == off->begin && latest->cause == off->cause)
		return latest;
	return add_away(l, (struct unread_away){off->begin, off->end, MAP_NONE, off->cause, .is_proven = true});
}

/* Whether the reactor of the current span was off its CPU for most of a time that ends now. */
static bool was_off_cpu(const struct unread *u, uint64_t begin, uint64_t end)
{
	const struct span *s = end - begin < FLOOR_STALL_NS ? NULL : u->spans->current;
	const struct reactor *reactor = s ? reactors_of_span(&u->spans->reactors, s, s->last_lcore) : NULL;
	const struct reactors_interval *off = latest_off_cpu(reactor, end);

	return off && off->begin >= begin && off->end - off->begin >= (end - begin) / 2;
}

/* Calls with little between them are one time of work: else the lcore may have looked at its sockets. */
static void work(struct unread_lcore *l, uint64_t begin, uint64_t end, uint32_t who)
{
	struct unread_work *w = &l->work;
	struct unread_away *latest = latest_away(l);
	bool is_same = latest && latest->begin == w->begin && latest->cause == MAP_NONE && !latest->thread;

	if (!w->end || begin > w->end + FLOOR_ROUND_TRIP_NS) {
		*w = (struct unread_work){.begin = begin};
		is_same = false;
	}
	w->end = end;
	if (end - begin > w->longest) {
		w->longest = end - begin;
		w->who = who;
	}
	if (w->end - w->begin < FLOOR_STALL_NS)
		return;
	if (!is_same)
		latest = add_away(l, (struct unread_away){w->begin, .cause = MAP_NONE, .is_proven = true});
	latest->end = w->end;
	latest->who = w->who;
}

/* A thread of SPDK that may have had the lcore of the current line for so long; NULL: none. */
static struct unread_thread *find_thread(const struct unread *u, uint64_t ns)
{
	uint64_t usual = lcores_usual_silence(&u->spans->lcores, u->spans->lcore);

	for (size_t i = 0; i < u->num_threads; i++)
		if (u->threads[i].lcore == u->spans->lcores.all[u->spans->lcore].number && u->threads[i].ns >= ns &&
		    ns >= FLOOR_TIMES * usual)
			return &u->threads[i];
	return NULL;
}

static void pass(struct unread *u, struct unread_lcore *l, uint64_t ns, bool is_lost)
{
	uint64_t gap = l->last && ns > l->last && !is_lost ? ns - l->last : 0;
	struct unread_thread *thread = gap >= FLOOR_STALL_NS ? find_thread(u, gap) : NULL;

	if (thread)
		add_away(l, (struct unread_away){l->last, ns, MAP_NONE, MAP_NONE, .thread = thread});
	l->last = max_u64(l->last, ns);
}

void unread_line(struct unread *u, const struct traceline *line, uint32_t who)
{
	struct unread_lcore *l = table_at(u->lcores, u->num_lcores, u->cap_lcores, u->spans->lcore);
	uint64_t ns = u->spans->lcores.all[u->spans->lcore].last;

	if (!u->spans->is_work) {
		pass(u, l, ns, line->lost);
		return;
	}
	if (l->last && ns > l->last && !line->lost && !was_off_cpu(u, l->last, ns))
		work(l, l->last, ns, who);
	l->last = max_u64(l->last, ns);
}

/* Whether it was in the socket, by the time since the absence; k: the number of such requests, with this one. */
static bool was_there(const struct unread_away *away, uint64_t after, uint64_t k, double apart)
{
	enum { AT_ONCE = 10 }; /* what comes in the time in which the rest is read is at most a tenth more */

	return after * 2.0 <= k * apart && after <= (away->end - away->begin) / AT_ONCE;
}

/* Enough requests prove an absence for a thread, as long as that was busy for so long. */
static void count(struct unread_away *away)
{
	uint64_t ns = away->end - away->begin;

	if (++away->read != FLOOR_EVENTS || away->is_proven || away->thread->ns < ns)
		return;
	away->is_proven = true;
	away->thread->ns -= ns;
}

/* Counts a request that begins after an absence. Returns how long it has waited, as far as that is known. */
static uint64_t waited(struct unread_connection *c, struct unread_away *away, uint64_t ns)
{
	uint64_t usual, most;

	if (c->away_end != away->end) {
		c->apart = c->n < UNREAD_USUAL ? 0 : (double)(c->last - c->first) / (c->n - 1);
		c->away_end = away->end;
		c->from = max_u64(away->begin, c->last);
		c->since = 0;
		c->over = false;
	}
	c->since++;
	c->over |= (c->replied == away->end && c->was_full) || !was_there(away, ns - away->end, c->since, c->apart);
	if (c->over)
		return 0;
	count(away);
	/* if more have come than usually, the latest of k comes so late on average */
	usual = (c->since - 0.5) * c->apart;
	most = (away->end - min_u64(c->from, away->end)) / (c->since + 1) * c->since;
	return ns - c->from - min_u64(usual, most);
}

static bool is_request(const struct unread *u, const struct span *s)
{
	return !s->has_parent && spans_kind(u->spans, s) == SPDK_OTHER;
}

static void begin(struct unread *u, const struct span *s, const struct traceline *line)
{
	struct unread_wait *wait = table_at(u->waits, u->num_waits, u->cap_waits, s->index);
	struct unread_lcore *l;
	struct unread_away *away;
	struct unread_connection *c;

	*wait = (struct unread_wait){.lcore = u->spans->lcore};
	if (!is_request(u, s) || s->connection == MAP_NONE || s->unknown || u->spans->lcore == MAP_NONE)
		return;
	l = table_at(u->lcores, u->num_lcores, u->cap_lcores, u->spans->lcore);
	pass(u, l, s->first, line->lost);
	away = find_away(u, l, s);
	c = table_at(u->connections, u->num_connections, u->cap_connections, s->connection);
	if (away && c->n) {
		wait->ns = waited(c, away, s->first);
		wait->away = l->n;
	}
	c->most = max_u64(c->most, ++c->in_flight);
	if (!c->n++)
		c->first = s->first;
	c->last = s->first;
}

static void reply(struct unread *u, const struct span *s)
{
	struct unread_wait *wait = &u->waits[s->index];
	struct unread_connection *c = &u->connections[s->connection];
	const struct unread_away *away = u->spans->lcore < u->num_lcores ? latest_away(&u->lcores[u->spans->lcore])
									 : NULL;

	if (wait->replied)
		return;
	wait->replied = true;
	c->over |= s->first >= c->away_end;
	if (away && c->replied != away->end) {
		c->replied = away->end;
		c->was_full = c->in_flight >= c->most;
	}
	c->in_flight -= c->in_flight > 0;
}

void unread_see(struct unread *u, const struct span *s, const struct traceline *line, bool is_first)
{
	if (is_first)
		begin(u, s, line);
	else if (is_request(u, s) && s->reply.start != UINT64_MAX && s->connection < u->num_connections)
		reply(u, s);
}

const struct unread_away *unread_of(const struct unread *u, const struct span *s, uint64_t *ns)
{
	const struct unread_wait *wait = s->index < u->num_waits ? &u->waits[s->index] : NULL;
	const struct unread_away *away;

	if (!wait || !wait->ns || u->lcores[wait->lcore].n - wait->away >= UNREAD_KEPT)
		return NULL;
	away = &u->lcores[wait->lcore].all[(wait->away - 1) % UNREAD_KEPT];
	*ns = wait->ns;
	return away->is_proven ? away : NULL;
}

void unread_free(struct unread *u)
{
	free(u->connections);
	free(u->waits);
	free(u->lcores);
	free(u->threads);
}
