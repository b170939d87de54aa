/* SPDX-License-Identifier: BSD-3-Clause */
#include "causes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "number.h"
#include "table.h"

/* Connections that find_most() visits per returned buffer, on average. */
enum { VISITS = 64 };

static bool waits_for_buffer(const struct causes *c, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(c->spans, state)->layer == LAYER_BUFFER;
}

static bool is_queued(const struct causes *c, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(c->spans, state)->kind == SPDK_SOCKET_WRITE;
}

static struct causes_lcore *lcore_of(struct causes *c, const struct traceline *line)
{
	uint64_t number = 0;

	number_decimal(line->lcore, &number);
	return table_put(&c->lcores, traceline_in_source(line, number), c->last, c->num_lcores, c->cap_lcores);
}

/* The counts of a connection; NULL: it is not known, since a poller alone may be that of several. */
static struct causes_connection *counts_of(struct causes *c, uint32_t connection)
{
	if (connection == MAP_NONE || c->connections->all[connection].kind == CONNECTION_POLLER)
		return NULL;
	return table_at(c->counts, c->num_counts, c->cap_counts, connection);
}

static bool receives_pdu(const struct causes *c, const struct traceline *line)
{
	const struct spdk_tpoint *tpoint = spans_tpoint_of(c->spans, line->tpoint);
	uint64_t state;

	return tpoint->kind == SPDK_QPAIR_RECEIVE && traceline_number(traceline_arg(line, tpoint->state), &state) &&
	       state == SPDK_HAS_PDU;
}

void causes_see(struct causes *c, const struct traceline *line, uint64_t ns)
{
	struct causes_connection *counts;
	struct causes_lcore *lcore;
	size_t arg;

	/* a line of another tool: no lcore wrote it */
	if (!line->object_id.p && (reactors_is(line->tpoint) || disks_is(line->tpoint)))
		return;
	lcore = lcore_of(c, line);
	lcore->silence = lcore->last && ns > lcore->last ? ns - lcore->last : 0;
	lcore->last = ns > lcore->last ? ns : lcore->last;
	if (!receives_pdu(c, line))
		return;
	counts = counts_of(c, connections_find(c->connections, line, &arg));
	if (!counts)
		counts = counts_of(c, connections_qpair(c->connections, line, line->object_value));
	if (counts)
		counts->pdus++;
}

static void leave(struct causes *c, const struct span *s, uint32_t state)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	c->waiting -= waits_for_buffer(c, state) && c->waiting;
	if (is_queued(c, state) && counts)
		counts->queued -= counts->queued > 0;
}

/* Sets others to the number that were already waiting or queued. */
static void enter(struct causes *c, const struct span *s, uint32_t state, struct causes_entry *entry)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	if (waits_for_buffer(c, state))
		entry->others = c->waiting++;
	if (is_queued(c, state) && counts)
		entry->others = counts->queued++;
}

/* With many connections, c->most may be out of date for a while: this bounds the cost of the search. */
static void find_most(struct causes *c)
{
	c->visits += VISITS;
	if (c->visits < c->num_counts)
		return;
	c->visits = 0;
	for (size_t i = 0; i < c->num_counts; i++)
		if (c->counts[i].holders > c->counts[c->most].holders)
			c->most = i;
}

static void get_buffer(struct causes *c, struct span *s, struct causes_entry *entry)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	if (!counts || causes_of(s)->has_buffer)
		return;
	entry->holders = c->holders;
	entry->holder = c->most;
	entry->held = c->counts[c->most].holders;
	causes_of(s)->has_buffer = true;
	c->holders++;
	counts->holders++;
	if (counts->holders > c->counts[c->most].holders)
		c->most = s->connection;
}

static void return_buffer(struct causes *c, const struct span *s)
{
	if (!causes_of(s)->has_buffer)
		return;
	causes_of(s)->has_buffer = false;
	c->holders--;
	c->counts[s->connection].holders--;
	if (s->connection == c->most)
		find_most(c);
}

void causes_store(struct causes *c, struct span *s, uint32_t before, const struct traceline *line,
		  struct causes_entry *entry)
{
	const struct causes_connection *counts = counts_of(c, s->connection);

	entry->silence = lcore_of(c, line)->silence;
	leave(c, s, before);
	if (waits_for_buffer(c, before))
		get_buffer(c, s, entry);
	enter(c, s, s->states[s->n - 1].state, entry);
	/* a request holds its buffer until it ends */
	if (!spans_is_open(c->spans, s))
		return_buffer(c, s);
	if (counts)
		entry->pdus = counts->pdus;
}

void causes_end(struct causes *c, const struct span *s)
{
	leave(c, s, s->states[s->n - 1].state);
	return_buffer(c, s);
}

/* Prints a line with a number, its noun in singular or plural, and a text on each side. */
static void put_cause(const struct causes *c, struct out *out, const char *before, uint64_t n, const char *one,
		      const char *many, const char *after)
{
	out_printf(out, "%*s   %s %" PRIu64 " %s %s\n", c->indent, "", before, n, n == 1 ? one : many, after);
}

/* What causes_store() would have set by now, after the last entry of a span. */
static struct causes_entry rest_of(const struct causes *c, const struct span *s)
{
	const struct causes_connection *counts = counts_of((struct causes *)c, s->connection);
	const struct slice *source = s->source == MAP_NONE ? NULL : &c->spans->sources.all[s->source];
	const struct traceline line = {.source = source ? *source : (struct slice){}};
	uint32_t lcore = map_get(&c->lcores, traceline_in_source(&line, s->last_lcore));
	uint64_t end = spans_until(c->spans, s);
	struct causes_entry rest = {.pdus = counts ? counts->pdus : 0};

	if (lcore != MAP_NONE && end > c->last[lcore].last)
		rest.silence = end - c->last[lcore].last;
	return rest;
}

void causes_write(const struct causes *c, struct out *out, const struct span *s, size_t n, struct slice lcore,
		  uint64_t gap)
{
	const struct causes_entry *before = &causes_of(s)->entries[n] - 1;
	struct causes_entry rest, *entry = &rest;
	enum layer layer;
	uint32_t state;

	if (n < s->n)
		entry = &causes_of(s)->entries[n];
	else
		rest = rest_of(c, s);
	if (entry->silence && entry->silence >= gap / 2) {
		out_printf(out, "%*s   lcore %.*s wrote nothing for ", c->indent, "", (int)lcore.n, lcore.p);
		out_us(out, entry->silence < gap ? entry->silence : gap);
		out_text(out, " us\n");
	}
	if (!n)
		return;
	state = s->states[n - 1].state;
	layer = spans_tpoint(c->spans, state)->layer;
	if (layer == LAYER_BUFFER)
		put_cause(c, out, "waited for a buffer while", before->others, "other", "others", "did");
	if (layer == LAYER_BUFFER && entry->held) {
		out_printf(out, "%*s   %" PRIu64 " %s a buffer, %" PRIu64 " of them of ", c->indent, "", entry->holders,
			   entry->holders == 1 ? "request had" : "requests had", entry->held);
		out_slice(out, connections_name(c->connections, entry->holder)->name);
		out_char(out, '\n');
	}
	if (is_queued(c, state) && before->others)
		put_cause(c, out, "queued after", before->others, "other", "others", "on the socket");
	if (layer == LAYER_HOST && entry->pdus > before->pdus + 1)
		put_cause(c, out, "the connection received", entry->pdus - before->pdus - 1, "other PDU", "other PDUs",
			  "meanwhile");
}

void causes_free(struct causes *c)
{
	map_free(&c->lcores);
	free(c->last);
	free(c->counts);
}
