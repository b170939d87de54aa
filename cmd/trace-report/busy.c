/* SPDX-License-Identifier: BSD-3-Clause */
#include "busy.h"

#include <stdlib.h>

#include "connection.h"
#include "mem.h"

/* The member with this name in an array; empty: no member has it. */
static struct slice find(struct slice array, struct slice name)
{
	struct slice member;
	struct json j;

	for (facts_each(&j, array); facts_next(&j, NULL, &member);)
		if (slice_equal(json_unquoted(facts_text(member, "name")), name))
			return member;
	return (struct slice){};
}

/* Whether a thread serves no connection, as far as the target has said which one serves which. */
static bool serves_none(struct slice rpc, struct slice thread)
{
	struct slice qpairs, qpair;
	bool any = false;
	struct json j;

	while (facts_answer(&rpc, "nvmf_subsystem_get_qpairs", &qpairs))
		for (facts_each(&j, qpairs); facts_next(&j, NULL, &qpair); any = true)
			if (slice_equal(json_unquoted(facts_text(qpair, "thread")), thread))
				return false;
	return any;
}

/* The lcore that a thread is on; false: it is not known. */
static bool find_lcore(struct slice rpc, struct slice thread, uint64_t *lcore)
{
	struct slice answer, reactor;
	struct json j;

	while (facts_answer(&rpc, "framework_get_reactors", &answer))
		for (facts_each(&j, facts_text(answer, "reactors")); facts_next(&j, NULL, &reactor);)
			if (find(facts_text(reactor, "lw_threads"), thread).n) {
				*lcore = facts_number(reactor, "lcore");
				return true;
			}
	return false;
}

void busy_read(struct unread *u, struct slice rpc)
{
	struct slice rest = rpc, line, first = {}, last = {}, thread;
	struct json j;
	double rate, all;

	while (json_line(&rest, &line))
		if (json_is(json_unquoted(facts_text(line, "method")), "thread_get_stats")) {
			first = first.n ? first : line;
			last = line;
		}
	rate = facts_number(last, "result.tick_rate");
	all = facts_number(last, "begin") - facts_number(first, "begin");
	for (facts_each(&j, facts_text(last, "result.threads")); rate > 0 && facts_next(&j, NULL, &thread);) {
		struct unread_thread new = {.name = json_unquoted(facts_text(thread, "name"))};
		struct slice before = find(facts_text(first, "result.threads"), new.name);
		double ticks = facts_number(thread, "busy") - facts_number(before, "busy");

		/* the JSON-RPC of a recording, and the pollers of any target, take up to half as much */
		if (!before.n || all <= 0 || ticks < 0.01 * all || ticks / rate > 1e9 || !serves_none(rpc, new.name) ||
		    !find_lcore(rpc, new.name, &new.lcore))
			continue;
		new.ns = ticks / rate * 1e9;
		u->threads = mem_room(u->threads, u->num_threads, &u->cap_threads);
		u->threads[u->num_threads++] = new;
	}
}

double busy_part(struct slice rpc, uint64_t lcore)
{
	double first_busy = 0, first_idle = 0, busy = 0, idle = 0;
	struct slice answer, reactor;
	struct json j;
	size_t n = 0;

	while (facts_answer(&rpc, "framework_get_reactors", &answer))
		for (facts_each(&j, facts_text(answer, "reactors")); facts_next(&j, NULL, &reactor);) {
			if ((uint64_t)facts_number(reactor, "lcore") != lcore)
				continue;
			busy = facts_number(reactor, "busy");
			idle = facts_number(reactor, "idle");
			if (n++)
				continue;
			first_busy = busy;
			first_idle = idle;
		}
	busy -= first_busy;
	idle -= first_idle;
	return n > 1 && busy >= 0 && idle >= 0 && busy + idle > 0 ? busy / (busy + idle) : -1;
}

bool busy_is_full(struct facts *f, struct busy_full *full)
{
	struct lcore_sum *sums = f->info.n ? lcore_rows_end(&f->lcores) : NULL;

	*full = (struct busy_full){.part = 1 - 1.0 / FLOOR_MINOR};
	for (size_t i = 0; sums && i < f->lcores.n; i++) {
		double part = sums[i].num_uses ? busy_part(f->rpc, sums[i].row->lcore) : -1;

		if (part < full->part)
			continue;
		*full = (struct busy_full){sums[i].row->lcore, part,
					   connections_name(f->lcores.connections, sums[i].uses->connection)->name};
	}
	free(sums);
	return full->who.n;
}
