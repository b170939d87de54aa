/* SPDX-License-Identifier: BSD-3-Clause */
#include "causes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "label.h"
#include "mem.h"
#include "number.h"

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
	uint32_t *index;

	number_decimal(line->lcore, &number);
	index = map_put(&c->lcores, traceline_in_source(line, number));
	if (*index == MAP_NONE) {
		*index = c->num_lcores;
		c->last = mem_room(c->last, c->num_lcores, &c->cap_lcores);
		c->last[c->num_lcores++] = (struct causes_lcore){};
	}
	return &c->last[*index];
}

/* The owner of a connection from v24.05 on, the address of its qpair before that. */
static bool connection_key(const struct traceline *line, uint64_t *key)
{
	struct slice poller = line->poller;

	if (line->owner.n && poller.n && number_decimal(slice_from(poller, 1), key)) {
		*key |= (uint64_t)(unsigned char)poller.p[0] << 56;
		return true;
	}
	for (size_t i = 0; i < line->num_args; i++)
		if (slice_is(line->args[i].key, "qpair"))
			return traceline_number(line->args[i].value, key);
	*key = line->object_value;
	return !line->object_id.p && line->object_value;
}

static uint32_t connection_of(struct causes *c, const struct traceline *line)
{
	uint32_t *index;
	uint64_t key;

	if (!connection_key(line, &key))
		return MAP_NONE;
	key = traceline_in_source(line, key);
	index = map_put(&c->connections, key);
	if (*index == MAP_NONE) {
		*index = c->num_connections;
		c->all = mem_room(c->all, c->num_connections, &c->cap_connections);
		c->all[c->num_connections++] = (struct causes_connection){};
	}
	return *index;
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
	struct causes_lcore *lcore;
	uint32_t connection;

	/* a line of another tool: no lcore wrote it */
	if (!line->object_id.p && (reactors_is(line->tpoint) || disks_is(line->tpoint)))
		return;
	lcore = lcore_of(c, line);
	lcore->silence = lcore->last && ns > lcore->last ? ns - lcore->last : 0;
	lcore->last = ns > lcore->last ? ns : lcore->last;
	if (receives_pdu(c, line) && (connection = connection_of(c, line)) != MAP_NONE)
		c->all[connection].pdus++;
}

static void leave(struct causes *c, const struct span *s, uint32_t state)
{
	c->waiting -= waits_for_buffer(c, state) && c->waiting;
	if (is_queued(c, state) && s->connection != MAP_NONE)
		c->all[s->connection].queued -= c->all[s->connection].queued > 0;
}

static void name_connection(struct causes *c, const struct span *s)
{
	struct causes_connection *connection = s->connection == MAP_NONE ? NULL : &c->all[s->connection];

	if (connection && !s->has_parent && !connection->label.p)
		connection->label = mem_slice(label_of(&c->text, s));
}

/* Sets others to the number that were already waiting or queued. */
static void enter(struct causes *c, const struct span *s, uint32_t state, struct span_line *line)
{
	if (waits_for_buffer(c, state))
		line->others = c->waiting++;
	if (is_queued(c, state) && s->connection != MAP_NONE)
		line->others = c->all[s->connection].queued++;
}

/* With many connections, c->most may be out of date for a while: this bounds the cost of the search. */
static void find_most(struct causes *c)
{
	c->visits += VISITS;
	if (c->visits < c->num_connections)
		return;
	c->visits = 0;
	for (size_t i = 0; i < c->num_connections; i++)
		if (c->all[i].holders > c->all[c->most].holders)
			c->most = i;
}

static void get_buffer(struct causes *c, struct span *s, struct span_line *line)
{
	struct causes_span *kept = s->tool;

	if (s->connection == MAP_NONE || kept->has_buffer)
		return;
	line->holders = c->holders;
	line->holder = c->most;
	line->held = c->all[c->most].holders;
	kept->has_buffer = true;
	c->holders++;
	c->all[s->connection].holders++;
	if (c->all[s->connection].holders > c->all[c->most].holders)
		c->most = s->connection;
}

static void return_buffer(struct causes *c, const struct span *s)
{
	struct causes_span *kept = s->tool;

	if (!kept->has_buffer)
		return;
	kept->has_buffer = false;
	c->holders--;
	c->all[s->connection].holders--;
	if (s->connection == c->most)
		find_most(c);
}

void causes_store(struct causes *c, struct span *s, uint32_t before, const struct traceline *line,
		  struct span_line *kept)
{
	kept->silence = lcore_of(c, line)->silence;
	if (before == MAP_NONE) {
		s->connection = connection_of(c, line);
		/* a write to a socket does not name its connection */
		if (s->connection == MAP_NONE && s->parent)
			s->connection = s->parent->connection;
		name_connection(c, s);
	}
	leave(c, s, before);
	if (waits_for_buffer(c, before))
		get_buffer(c, s, kept);
	enter(c, s, s->states[s->n - 1].state, kept);
	/* a request holds its buffer until it ends */
	if (!spans_is_open(c->spans, s))
		return_buffer(c, s);
	if (s->connection != MAP_NONE)
		kept->pdus = c->all[s->connection].pdus;
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

static void put_holder(const struct causes *c, struct out *out, const struct span_line *line)
{
	out_printf(out, "%*s   %" PRIu64 " %s a buffer, %" PRIu64 " of them of ", c->indent, "", line->holders,
		   line->holders == 1 ? "request had" : "requests had", line->held);
	out_visible(out, c->all[line->holder].label);
	out_char(out, '\n');
}

void causes_write(const struct causes *c, struct out *out, const struct span *s, size_t n, struct slice lcore,
		  uint64_t gap)
{
	const struct span_line *line = &s->lines[n], *before = line - 1;
	enum layer layer;
	uint32_t state;

	if (line->silence && line->silence >= gap / 2) {
		out_printf(out, "%*s   lcore %.*s wrote nothing for ", c->indent, "", (int)lcore.n, lcore.p);
		out_us(out, line->silence < gap ? line->silence : gap);
		out_text(out, " us\n");
	}
	if (!n)
		return;
	state = s->states[n - 1].state;
	layer = spans_tpoint(c->spans, state)->layer;
	if (layer == LAYER_BUFFER)
		put_cause(c, out, "waited for a buffer while", before->others, "other", "others", "did");
	if (layer == LAYER_BUFFER && line->held && c->all[line->holder].label.n)
		put_holder(c, out, line);
	if (is_queued(c, state) && before->others)
		put_cause(c, out, "queued after", before->others, "other", "others", "on the socket");
	if (layer == LAYER_HOST && line->pdus > before->pdus + 1)
		put_cause(c, out, "the connection received", line->pdus - before->pdus - 1, "other PDU", "other PDUs",
			  "meanwhile");
}

void causes_free(struct causes *c)
{
	map_free(&c->lcores);
	map_free(&c->connections);
	free(c->last);
	for (size_t i = 0; i < c->num_connections; i++)
		free((char *)c->all[i].label.p);
	free(c->all);
	out_close(&c->text);
}
