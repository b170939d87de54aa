/* SPDX-License-Identifier: BSD-3-Clause */
#include "network.h"

#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "facts.h"
#include "page.h"
#include "recording.h"
#include "table.h"

enum {
	ROWS = 8,
	ADDRESS = 128,   /* bytes of an address with its port */
	LONG_RTT = 1000, /* us: on a local network it is a tenth of that */
};

/* Shares of the time: below the first a full window is normal, as after each large reply; the second is a cause. */
static const double TOLD = 0.01, NOTABLE = 0.2;

static struct network_connection *find(struct network *n, struct slice address)
{
	return table_at(n->all, n->n, n->cap, intern_add(&n->names, address));
}

static void see(struct network *n, struct slice line, double ticks_a_us)
{
	struct network_connection *c = find(n, json_unquoted(facts_text(line, "connection")));
	const double now = facts_number(line, "tsc") / ticks_a_us;

	c->address = json_unquoted(facts_text(line, "connection"));
	c->least_rtt = facts_number(line, "min_rtt");
	c->window = facts_number(line, "window_full");
	c->retransmitted = facts_number(line, "retransmitted");
	if (slice_is(json_unquoted(facts_text(line, RECORDING_WHEN)), RECORDING_START)) {
		c->begin = now;
		c->window_before = c->window;
		c->retransmitted_before = c->retransmitted;
	} else if (c->begin) {
		c->us = now - c->begin;
		c->ended = true;
	}
}

/* The names of hosts by the addresses of their connections. */
static void see_qpairs(struct network *n, struct slice qpairs)
{
	struct slice qpair;
	char address[ADDRESS];
	struct json j;

	for (facts_each(&j, qpairs); facts_next(&j, NULL, &qpair);) {
		struct slice host = json_unquoted(facts_text(qpair, "peer_address.traddr")),
			     port = json_unquoted(facts_text(qpair, "peer_address.trsvcid"));
		int length = snprintf(address, sizeof(address), "%.*s:%.*s", (int)host.n, host.p, (int)port.n, port.p);
		uint32_t i = length < ADDRESS ? intern_get(&n->names, (struct slice){address, length}) : MAP_NONE;

		if (i != MAP_NONE)
			n->all[i].host = json_unquoted(facts_text(qpair, "hostnqn"));
	}
}

void network_read(struct network *n, const struct facts *f)
{
	struct slice lines = f->kernel, answers = f->rpc, line, qpairs;
	const double ticks_a_us = facts_number(f->info, "tsc_rate") / 1e6;

	while (ticks_a_us > 0 && json_line(&lines, &line))
		if (facts_text(line, "connection").n)
			see(n, line, ticks_a_us);
	while (n->n && facts_answer(&answers, "nvmf_subsystem_get_qpairs", &qpairs))
		see_qpairs(n, qpairs);
}

double network_full(const struct network_connection *c)
{
	return c->ended && c->us > 0 ? (c->window - c->window_before) / c->us : 0;
}

const struct network_connection *network_deaf(const struct network *n)
{
	const struct network_connection *most = NULL;

	for (size_t i = 0; i < n->n; i++)
		if (network_full(&n->all[i]) >= NOTABLE && (!most || network_full(&n->all[i]) > network_full(most)))
			most = &n->all[i];
	return most;
}

static double retransmitted(const struct network_connection *c)
{
	return c->ended ? c->retransmitted - c->retransmitted_before : 0;
}

void network_put_name(struct out *out, struct facts *f, const struct network_connection *c)
{
	struct slice name = connections_named(&f->measured.connections, c->host);

	if (name.n)
		out_visible(out, name);
	else
		facts_put(out, c->host.n ? c->host : c->address);
}

void network_write(struct out *out, struct facts *f, const struct network_connection *c)
{
	struct out name = {.fd = OUT_MEMORY};

	network_put_name(&name, f, c);
	out_text(out, "{\"cause\":\"reply\",\"who\":");
	out_json(out, out_contents(&name));
	out_text(out, ",\"victim\":");
	out_json(out, out_contents(&name));
	out_printf(out, ",\"kind\":\"network\",\"window_full\":%.3f}\n", network_full(c));
	out_close(&name);
}

/* The largest share first. */
static int by_window(const void *a, const void *b)
{
	const struct network_connection *const *x = a, *const *y = b;
	double more = network_full(*y) - network_full(*x);

	return more ? (more > 0 ? 1 : -1) : *x < *y ? -1 : 1;
}

static void put_row(struct columns *table, struct facts *f, const struct network_connection *c)
{
	struct out name = {.fd = OUT_MEMORY};

	network_put_name(&name, f, c);
	const struct column columns[] = {
		{"the network, by the kernel", NULL, 20, columns_text(out_contents(&name))},
		{"", NULL, 22, columns_raw(c->address)},
		{"round trip", NULL, -10, columns_duration(facts_ns(c->least_rtt))},
		{"window full", NULL, -11, columns_percent(100 * network_full(c))},
		{"retransmitted", NULL, -13, columns_real(0, retransmitted(c))},
	};
	columns_row(table, columns, COUNT(columns));
	out_close(&name);
}

void network_put(struct out *out, struct facts *f, const struct network *n)
{
	const struct network_connection **rows = mem_array(n->n, sizeof(*rows));
	struct columns table = page_table(out, f);
	size_t told = 0;

	for (size_t i = 0; i < n->n; i++) {
		const struct network_connection *c = &n->all[i];

		if (network_full(c) >= TOLD || retransmitted(c) || c->least_rtt >= LONG_RTT)
			rows[told++] = c;
	}
	if (told) {
		qsort(rows, told, sizeof(*rows), by_window);
		out_char(out, '\n');
	}
	for (size_t i = 0; i < told && i < ROWS; i++)
		put_row(&table, f, rows[i]);
	columns_end(&table);
	if (told > ROWS)
		out_printf(out, "  and %zu others\n", told - ROWS);
	free(rows);
}

void network_free(struct network *n)
{
	intern_free(&n->names);
	free(n->all);
}
