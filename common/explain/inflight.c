/* SPDX-License-Identifier: BSD-3-Clause */
#include "inflight.h"

#include <inttypes.h>
#include <stdlib.h>

#include "floor.h"
#include "json.h"
#include "minmax.h"

enum {
	SECOND = 1000000000,
	OLD = 2, /* times the longest life that has ended: these are no longer usual */
};

static const char deadlock[] = "deadlock";

static uint64_t end_of(const struct request *q)
{
	return q->start + q->life;
}

static enum layer layer_of(const struct requests *r, const struct request *q)
{
	const struct request_wait *w = q->num_waits ? &r->waits[q->waits + q->num_waits - 1] : NULL;
	enum layer largest = 0;

	/* the wait that lasts until the end; else none is long */
	if (w && w->begin + w->ns >= end_of(q))
		return w->layer;
	for (enum layer layer = 0; layer < LAYERS; layer++)
		if (q->layers[layer] > q->layers[largest])
			largest = layer;
	return largest;
}

static void add(struct inflight *f, const struct request *q, uint64_t age)
{
	enum layer layer = layer_of(f->requests, q);
	struct inflight_group *g = f->groups;
	size_t i = 0;

	while (i < f->num_groups && (g[i].host != q->host || g[i].type != q->type || g[i].bdev != q->bdev ||
				     g[i].behind != q->behind || g[i].layer != layer))
		i++;
	f->n++;
	f->oldest = max_u64(f->oldest, age);
	if (i == INFLIGHT_GROUPS)
		return;
	if (i == f->num_groups)
		g[f->num_groups++] = (struct inflight_group){q->host, q->type, q->bdev, q->behind, layer, 0, 0, 0};
	g[i].n++;
	g[i].oldest = max_u64(g[i].oldest, age);
	g[i].time += age;
}

static int oldest_first(const void *a, const void *b)
{
	const struct inflight_group *x = a, *y = b;

	if (x->oldest != y->oldest)
		return x->oldest < y->oldest ? 1 : -1;
	return (x->n < y->n) - (x->n > y->n);
}

static struct slice head_of(const struct inflight *f, const struct inflight_group *g)
{
	struct slice text = requests_name(f->requests, g->behind), rest = text;
	const char *next;

	while ((next = memmem(rest.p, rest.n, BEHIND_STEP, strlen(BEHIND_STEP))))
		rest = slice_between(next + strlen(BEHIND_STEP), text.p + text.n);
	return rest;
}

static bool is_behind(const struct inflight *f, const struct inflight_group *g, struct slice head)
{
	return slice_equal(head_of(f, g), head);
}

/* The time of all requests that are behind the head of a group. */
static uint64_t time_behind(const struct inflight *f, struct slice head)
{
	uint64_t time = 0;

	for (size_t i = 0; i < f->num_groups; i++)
		time += is_behind(f, &f->groups[i], head) ? f->groups[i].time : 0;
	return time;
}

static void find_head(struct inflight *f)
{
	uint64_t most = 0;

	for (size_t i = 0; i < f->num_groups; i++) {
		struct slice head = head_of(f, &f->groups[i]);
		uint64_t time = head.n ? time_behind(f, head) : 0;

		if (time > most)
			f->head = head;
		most = max_u64(most, time);
	}
}

void inflight_find(struct inflight *f, const struct requests *r, uint64_t end)
{
	uint64_t first = UINT64_MAX;
	bool of_hosts = false;

	*f = (struct inflight){.requests = r};
	for (size_t i = 0; i < r->n; i++)
		of_hosts |= r->all[i].connection != MAP_NONE;
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];

		if (q->base || (q->open && q->maybe_admin) || (of_hosts && q->connection == MAP_NONE))
			continue;
		if (!q->open) {
			f->longest = max_u64(f->longest, q->life);
			continue;
		}
		if (!q->wanted)
			continue;
		first = min_u64(first, q->start);
		/* the parts of a recording end one after the other */
		add(f, q, end >= end_of(q) + SECOND ? end - q->start : q->life);
	}
	for (size_t i = 0; i < r->n; i++)
		f->ended += r->all[i].wanted && !r->all[i].open && !r->all[i].base && end_of(&r->all[i]) > first;
	f->is_older = f->n && f->oldest >= FLOOR_STALL_NS && f->oldest / OLD >= f->longest;
	qsort(f->groups, f->num_groups, sizeof(*f->groups), oldest_first);
	find_head(f);
}

void inflight_unseen(struct inflight *f, const struct behind *b)
{
	const struct spans *spans = b->spans;

	/* of span lines there is no trace */
	if (!spans)
		return;
	f->seen = seen_elapsed(&spans->seen);
	if (f->seen >= INFLIGHT_HANGS && f->seen / OLD >= f->longest)
		f->unseen = behind_unseen(b, &f->unseen_of);
}

static void write_unseen(struct out *out, const struct inflight *f)
{
	out_printf(out, "hang: %" PRIu64 " I/O%s of bdev ", f->unseen, f->unseen == 1 ? "" : "s");
	out_visible_json(out, f->unseen_of);
	out_text(out, f->unseen == 1 ? " has" : " have");
	out_text(out, " been in flight since before the trace, for more than ");
	out_duration_text(out, f->seen);
	out_char(out, '\n');
}

static void write_name(struct out *out, const struct inflight *f, const char *before, uint32_t name)
{
	if (name == MAP_NONE)
		return;
	out_text(out, before);
	out_visible_json(out, requests_name(f->requests, name));
}

static struct slice first_step(const struct inflight *f, uint32_t behind)
{
	struct slice text = requests_name(f->requests, behind);
	const char *end = memmem(text.p, text.n, BEHIND_STEP, strlen(BEHIND_STEP));

	return end ? slice_between(text.p, end) : text;
}

/* What the groups behind the head have in common. holders: only those that wait for no buffer themselves. */
static struct inflight_group sum_of(const struct inflight *f, bool holders)
{
	struct inflight_group sum = {.host = MAP_NONE, .type = MAP_NONE, .bdev = MAP_NONE, .behind = MAP_NONE};

	for (size_t i = 0; i < f->num_groups; i++) {
		const struct inflight_group *g = &f->groups[i];

		if (!is_behind(f, g, f->head) || (holders && slice_is(first_step(f, g->behind), "buffer")))
			continue;
		if (!sum.n)
			sum = (struct inflight_group){
				.host = g->host, .type = g->type, .bdev = g->bdev, .behind = g->behind};
		sum.host = sum.host == g->host ? sum.host : MAP_NONE;
		sum.type = sum.type == g->type ? sum.type : MAP_NONE;
		sum.bdev = sum.bdev == g->bdev ? sum.bdev : MAP_NONE;
		sum.behind = sum.behind == g->behind ? sum.behind : MAP_NONE;
		sum.n += g->n;
		sum.oldest = max_u64(sum.oldest, g->oldest);
	}
	return sum;
}

static void write_deadlock(struct out *out, const struct inflight *f)
{
	const struct inflight_group d = sum_of(f, true);

	out_printf(out, "deadlock: %" PRIu64 " request%s", d.n, d.n == 1 ? "" : "s");
	write_name(out, f, " of ", d.host);
	write_name(out, f, " to ", d.bdev);
	out_text(out, d.n == 1 ? " holds the buffer, for " : " hold all buffers, for ");
	out_duration_text(out, f->oldest);
	out_text(out, d.n == 1 ? "\n  it waits for " : "\n  they wait for ");
	out_visible_json(out, d.behind == MAP_NONE ? slice_of("requests of several") : first_step(f, d.behind));
	out_text(out, ", which wait for a buffer\n");
}

/* Of those that do not wait for the head themselves, the first step of most. */
static struct slice most_first(const struct inflight *f, uint64_t *most)
{
	struct slice found = {};

	*most = 0;
	for (size_t i = 0; i < f->num_groups; i++) {
		struct slice first = first_step(f, f->groups[i].behind);
		uint64_t n = 0;

		if (!is_behind(f, &f->groups[i], f->head) || slice_equal(first, f->head))
			continue;
		for (size_t k = 0; k < f->num_groups; k++)
			n += is_behind(f, &f->groups[k], f->head) &&
					     slice_equal(first_step(f, f->groups[k].behind), first)
				     ? f->groups[k].n
				     : 0;
		if (n > *most)
			found = first;
		*most = max_u64(*most, n);
	}
	return found;
}

static void write_head(struct out *out, const struct inflight *f, struct slice note)
{
	const struct inflight_group h = sum_of(f, false);
	uint64_t n;
	struct slice first = most_first(f, &n);

	out_printf(out, "hang: %" PRIu64 " of %" PRIu64 " requests", h.n, f->n);
	write_name(out, f, " of ", h.host);
	out_text(out, h.n == 1 ? " waits for " : " wait for ");
	out_visible_json(out, f->head);
	out_slice(out, note);
	if (n) {
		out_printf(out, ", %" PRIu64 " for ", n);
		out_visible_json(out, first);
	}
	out_text(out, ", for ");
	out_duration_text(out, h.oldest);
	out_char(out, '\n');
}

void inflight_write(struct out *out, const struct inflight *f, size_t max, struct slice note)
{
	if (inflight_hangs(f) && slice_is(f->head, deadlock))
		write_deadlock(out, f);
	else if (inflight_hangs(f) && f->head.n)
		write_head(out, f, note);
	if (f->unseen)
		write_unseen(out, f);
	if (!f->n)
		return;
	out_printf(out, "in flight at the end: %" PRIu64 ", the oldest for ", f->n);
	out_duration_text(out, f->oldest);
	out_char(out, '\n');
	for (size_t i = 0; i < f->num_groups && i < max; i++) {
		const struct inflight_group *g = &f->groups[i];

		out_text(out, "  ");
		out_duration_text(out, g->oldest);
		out_printf(out, ": %" PRIu64, g->n);
		write_name(out, f, " of ", g->host);
		write_name(out, f, ", ", g->type);
		write_name(out, f, ", ", g->bdev);
		out_printf(out, ": in %s", spdk_layers[g->layer]);
		write_name(out, f, ", behind ", g->behind);
		out_char(out, '\n');
	}
}

static void write_member(struct out *out, const struct inflight *f, const char *key, uint32_t name)
{
	struct slice text = requests_name(f->requests, name);

	if (name != MAP_NONE)
		out_printf(out, ",\"%s\":\"%.*s\"", key, (int)text.n, text.p);
}

void inflight_write_json(struct out *out, const struct inflight *f)
{
	bool is_deadlock = slice_is(f->head, deadlock);
	struct inflight_group g = sum_of(f, is_deadlock);
	struct slice head = f->is_older && f->head.n ? f->head : f->unseen_of;

	out_printf(out, "\"cause\":\"%s\"", is_deadlock ? deadlock : "hang");
	if (!is_deadlock && head.n)
		out_printf(out, ",\"who\":\"%.*s\"", (int)head.n, head.p);
	write_member(out, f, is_deadlock ? "who" : "victim", g.host);
	write_member(out, f, "bdev", g.bdev);
	out_printf(out, ",\"n\":%" PRIu64 ",\"in_flight\":%" PRIu64 ",\"oldest_us\":", g.n, f->n);
	out_us(out, f->oldest);
}
