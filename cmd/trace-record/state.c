/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "count.h"
#include "json.h"
#include "mem.h"
#include "minmax.h"
#include "ticks.h"
#include "wall.h"

enum {
	SUBSYSTEMS = 256, /* whose qpairs are asked for */
	SHARE = 64,       /* of the size of all files: a quarter of what the tools leave */
	STATE_MAX = 64 << 20,
	STATE_MS = 5000, /* for all calls, besides the last one */
	FIRST = 2,       /* methods before the connections: they need no other thread */
};

struct state {
	struct rpc *rpc;
	struct out *out;
	uint64_t deadline; /* of clock_ms() */
	uint64_t max;
	const char *why; /* something is missing; NULL: nothing */
	bool is_over;    /* it answers no more */
};

static const struct {
	const char *name, *params;
	bool changes; /* asked for at the end, too */
} methods[] = {
	{"spdk_get_version", NULL, false},      {"trace_get_tpoint_group_mask", NULL, false},
	{"framework_get_reactors", NULL, true}, {"thread_get_stats", NULL, true},
	{"iobuf_get_stats", NULL, true},        {"framework_get_config", "{\"name\":\"iobuf\"}", false},
	{"nvmf_get_transports", NULL, false},   {"framework_get_config", "{\"name\":\"bdev\"}", false},
	{"bdev_get_bdevs", NULL, false},        {"bdev_get_iostat", NULL, true},
};

/* Strings of a reply may have any bytes, and blanks between values may be line feeds. */
static void write_value(struct out *out, struct slice value)
{
	size_t at = out->len;

	out_utf8(out, value);
	for (; at < out->len; at++)
		if (out->buf[at] == '\n' || out->buf[at] == '\r')
			out->buf[at] = ' ';
}

/* Returns false. The first reason counts. */
static bool fail(struct state *s, const char *why, bool is_over)
{
	s->why = s->why ? s->why : why;
	s->is_over |= is_over;
	return false;
}

/* Returns whether there is an answer. */
static bool ask(struct state *s, const char *method, const char *params, struct slice *result)
{
	struct slice reply = {"", 0}, error, value;
	struct out *out = s->out;
	struct wall wall = {};
	char time[WALL_ROOM];
	const char *why;
	uint64_t begin;
	size_t at = out->len;

	if (s->is_over)
		return false;
	if (clock_ms() >= s->deadline)
		return fail(s, "its replies took more than 5 seconds", true);
	*wall_write(&wall, time, clock_wall_ns()) = 0;
	begin = ticks_now().tsc;
	why = rpc_call(s->rpc, method, params, &reply);
	if (s->rpc->error)
		return fail(s, why, true);
	value = json_member(reply, slice_of("result"));
	error = json_member(reply, slice_of("error"));
	/* what qpair-lifetimes compares with the times of owners */
	out_printf(out, "{\"method\":\"%s\",\"time\":\"%s\",\"begin\":%" PRIu64 ",\"end\":%" PRIu64, method, time,
		   begin, ticks_now().tsc);
	if (params) {
		out_text(out, ",\"params\":");
		write_value(out, slice_of(params));
	}
	out_text(out, value.n ? ",\"result\":" : ",\"error\":");
	if (why)
		out_printf(out, "{\"message\":\"%s\"}", why);
	else
		write_value(out, value.n ? value : error.n ? error : slice_of("null"));
	out_text(out, "}\n");
	if (out->len > s->max) {
		out->len = at;
		return fail(s, "its replies are longer than 64 MB, or than a 64th of --max-size", true);
	}
	if (why)
		return fail(s, mem_printf("%s: %s", method, why), false);
	*result = value;
	return true;
}

/* The names in an array of subsystems, as JSON objects for a call. */
static size_t name_subsystems(struct slice result, char *params[SUBSYSTEMS])
{
	size_t n = 0;
	struct slice element;
	struct json j;

	json_init(&j, result.p, result.n);
	if (!result.n)
		return 0;
	for (json_array(&j); n < SUBSYSTEMS && json_element(&j);) {
		struct slice nqn;

		if (!json_value(&j, &element))
			break;
		nqn = json_member(element, slice_of("nqn"));
		if (nqn.n && *nqn.p == '"')
			params[n++] = mem_printf("{\"nqn\":%.*s}", (int)nqn.n, nqn.p);
	}
	return n;
}

/* Whether the first qpair of a result lacks its host, as in v24.05: then those of the controllers are asked for. */
static bool lacks_hosts(struct slice result)
{
	struct slice element;
	struct json j;

	json_init(&j, result.p, result.n);
	return result.n && json_array(&j) && json_element(&j) && json_value(&j, &element) &&
	       !json_member(element, slice_of("hostnqn")).n;
}

static void write_connections(struct state *s)
{
	char *params[SUBSYSTEMS];
	struct slice result = {};
	size_t n = ask(s, "nvmf_get_subsystems", NULL, &result) ? name_subsystems(result, params) : 0;

	for (size_t i = 0; i < n; i++) {
		/* it waits for a subsystem that is paused */
		if (ask(s, "nvmf_subsystem_get_qpairs", params[i], &result) && lacks_hosts(result))
			ask(s, "nvmf_subsystem_get_controllers", params[i], &result);
		free(params[i]);
	}
}

uint64_t state_max(uint64_t max_size)
{
	return min_u64(max_size / SHARE, STATE_MAX);
}

const char *state_write(struct rpc *rpc, bool at_start, struct out *out, uint64_t max)
{
	struct state s = {.rpc = rpc, .out = out, .deadline = clock_ms() + STATE_MS, .max = max};
	struct slice result;

	for (size_t i = 0; i < COUNT(methods); i++) {
		/* a busy target may answer no more after what all its threads are asked */
		if (i == FIRST)
			write_connections(&s);
		if (at_start || methods[i].changes)
			ask(&s, methods[i].name, methods[i].params, &result);
	}
	return s.why;
}

char *state_groups_off(struct rpc *rpc)
{
	struct out names = {.fd = OUT_MEMORY};
	struct slice reply, groups, key, value;
	const char *comma = "";
	char *text;
	struct json j;

	if (rpc_call(rpc, "trace_get_tpoint_group_mask", NULL, &reply))
		return NULL;
	groups = json_member(reply, slice_of("result"));
	if (!groups.n || *groups.p != '{')
		return NULL;
	json_init(&j, groups.p, groups.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);) {
		if (!slice_is(json_member(value, slice_of("enabled")), "false"))
			continue;
		out_text(&names, comma);
		out_visible(&names, key);
		comma = ", ";
	}
	text = mem_copy(out_contents(&names));
	out_close(&names);
	return text;
}
