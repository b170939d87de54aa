/* SPDX-License-Identifier: BSD-3-Clause */
#include "busy.h"

#include "facts.h"
#include "mem.h"

/* The member with this name in an array; empty: there is none. */
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
