/* SPDX-License-Identifier: BSD-3-Clause */
#include "inflight.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "minmax.h"
#include "tally.h"

enum {
	SECOND = 1000000000,
	SENT_NS = SECOND / 10, /* from a command of an initiator to the request that its target makes of it, at most */
};

static uint64_t end_of(const struct request *q)
{
	return q->start + q->life;
}

/* The wait that lasts until the end; NULL: none is long. */
static const struct request_wait *last_wait(const struct requests *r, const struct request *q)
{
	const struct request_wait *w = q->num_waits ? &r->waits[q->waits + q->num_waits - 1] : NULL;

	return w && w->begin + w->ns >= end_of(q) ? w : NULL;
}

static enum layer layer_of(const struct requests *r, const struct request *q)
{
	const struct request_wait *w = last_wait(r, q);
	enum layer largest = 0;

	for (enum layer layer = 0; layer < LAYERS; layer++)
		if (q->layers[layer] > q->layers[largest])
			largest = layer;
	return w ? w->layer : largest;
}

static void add(struct inflight *f, const struct request *q, uint64_t age)
{
	enum layer layer = layer_of(f->requests, q);
	struct inflight_group *g = f->groups;
	size_t i = 0;

	while (i < f->num_groups &&
	       (g[i].host != q->host || g[i].type != q->type || g[i].bdev != q->bdev || g[i].layer != layer))
		i++;
	f->n++;
	f->oldest = max_u64(f->oldest, age);
	if (i == INFLIGHT_GROUPS)
		return;
	if (i == f->num_groups)
		g[f->num_groups++] = (struct inflight_group){q->host, q->type, q->bdev, layer, 0, 0};
	g[i].n++;
	g[i].oldest = max_u64(g[i].oldest, age);
}

static int oldest_first(const void *a, const void *b)
{
	const struct inflight_group *x = a, *y = b;

	if (x->oldest != y->oldest)
		return x->oldest < y->oldest ? 1 : -1;
	return (x->n < y->n) - (x->n > y->n);
}

/* By connection, and then by time. */
static int by_connection(const void *a, const void *b)
{
	const struct request *x = *(const struct request *const *)a, *y = *(const struct request *const *)b;

	if (x->connection != y->connection)
		return x->connection < y->connection ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* A request that waits for a drive, or a remote subsystem as one, and since when it does. */
struct command {
	uint64_t ns;
	const struct request *request;
};

static int by_time(const void *a, const void *b)
{
	const struct command *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/*
 * Whether these requests are what the n commands became: all wait for a buffer, and each came shortly after its
 * command. A request that waits for one is not parsed yet, so there is no address to compare.
 */
static bool are_commands(const struct inflight *f, const struct request *const *open, const struct command *commands,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (layer_of(f->requests, open[i]) != LAYER_BUFFER || open[i]->start < commands[i].ns ||
		    open[i]->start - commands[i].ns > SENT_NS)
			return false;
	return true;
}

static uint32_t common(uint32_t so_far, uint32_t name, bool is_first)
{
	return is_first || so_far == name ? name : MAP_NONE;
}

static void set_deadlock(struct inflight *f, const struct command *commands, size_t n, uint32_t waiting)
{
	struct inflight_deadlock *d = &f->deadlock;

	for (size_t i = 0; i < n; i++) {
		const struct request *q = commands[i].request;

		d->host = common(d->host, q->host, !i);
		d->type = common(d->type, q->type, !i);
		d->bdev = common(d->bdev, q->bdev, !i);
	}
	d->waiting = waiting;
	d->n = n;
}

/* Sets f->deadlock if the n requests, which are all that are in flight, form a closed loop. */
static void find_deadlock(struct inflight *f, const struct request **open, size_t n)
{
	struct command *commands = mem_array(n, sizeof(*commands));
	size_t num = 0, end;
	bool is_closed = true;

	for (size_t i = 0; i < n; i++) {
		const struct request_wait *w = last_wait(f->requests, open[i]);
		enum layer layer = layer_of(f->requests, open[i]);

		if (layer == LAYER_DRIVE && w)
			commands[num++] = (struct command){w->begin, open[i]};
		/* in other layers, one may still end and return its buffer */
		is_closed &= layer == LAYER_DRIVE ? w != NULL : layer == LAYER_BUFFER;
	}
	qsort(commands, num, sizeof(*commands), by_time);
	qsort(open, n, sizeof(*open), by_connection);
	for (size_t i = 0; i < n && num && is_closed && !f->deadlock.n; i = end) {
		end = i + 1;
		while (end < n && open[end]->connection == open[i]->connection)
			end++;
		if (end - i == num && are_commands(f, open + i, commands, num))
			set_deadlock(f, commands, num, open[i]->host);
	}
	free(commands);
}

void inflight_find(struct inflight *f, const struct requests *r, uint64_t end)
{
	const struct request **open = mem_array(r->n, sizeof(*open));
	uint64_t longest = 0, first = UINT64_MAX;
	bool of_hosts = false;
	size_t n = 0;

	*f = (struct inflight){.requests = r};
	for (size_t i = 0; i < r->n; i++)
		of_hosts |= r->all[i].connection != MAP_NONE;
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];

		if (q->base || (q->open && q->maybe_admin) || (of_hosts && q->connection == MAP_NONE))
			continue;
		if (!q->open) {
			longest = max_u64(longest, q->life);
			continue;
		}
		open[n++] = q;
		if (!q->wanted)
			continue;
		first = min_u64(first, q->start);
		/* the parts of a recording end one after the other */
		add(f, q, end >= end_of(q) + SECOND ? end - q->start : q->life);
	}
	for (size_t i = 0; i < r->n; i++)
		f->ended += r->all[i].wanted && !r->all[i].open && !r->all[i].base && end_of(&r->all[i]) > first;
	f->is_older = f->n && f->oldest / TALLY_OLD >= longest;
	qsort(f->groups, f->num_groups, sizeof(*f->groups), oldest_first);
	if (f->is_older && f->oldest >= INFLIGHT_HANGS)
		find_deadlock(f, open, n);
	free(open);
}

static void write_name(struct out *out, const struct inflight *f, const char *before, uint32_t name)
{
	struct slice text = json_decode(requests_name(f->requests, name));

	if (name != MAP_NONE) {
		out_text(out, before);
		out_visible(out, text);
	}
	free((char *)text.p);
}

static void write_deadlock(struct out *out, const struct inflight *f)
{
	const struct inflight_deadlock *d = &f->deadlock;

	out_printf(out, "deadlock: %" PRIu64 " request%s", d->n, d->n == 1 ? "" : "s");
	write_name(out, f, " of ", d->host);
	write_name(out, f, " to ", d->bdev);
	out_printf(out, d->n == 1 ? " holds the buffer, for " : " hold all buffers, for ");
	out_duration_text(out, f->oldest);
	out_printf(out, "\n  %s for %" PRIu64, d->n == 1 ? "it waits" : "they wait", d->n);
	write_name(out, f, " of ", d->waiting);
	out_printf(out, ", which %s for a buffer\n", d->n == 1 ? "waits" : "wait");
}

void inflight_write(struct out *out, const struct inflight *f, size_t max)
{
	static const char *const waits[LAYERS] = {
		[LAYER_NETWORK] = "waiting for the network",   [LAYER_BUFFER] = "waiting for a buffer",
		[LAYER_HOST] = "waiting for data of the host", [LAYER_TARGET] = "in the target",
		[LAYER_BELOW] = "passed on by the target",     [LAYER_BDEV] = "in the bdev",
		[LAYER_DRIVE] = "waiting for the drive",       [LAYER_REPLY] = "waiting for the host to take the reply",
		[LAYER_UNKNOWN] = "in no state for long",
	};

	if (f->deadlock.n)
		write_deadlock(out, f);
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
		out_printf(out, ": %s\n", waits[g->layer]);
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
	const struct inflight_deadlock *d = &f->deadlock;

	out_text(out, "\"cause\":\"deadlock\"");
	write_member(out, f, "who", d->host);
	write_member(out, f, "victim", d->waiting);
	write_member(out, f, "bdev", d->bdev);
	out_printf(out, ",\"n\":%" PRIu64 ",\"in_flight\":%" PRIu64 ",\"oldest_us\":", d->n, f->n);
	out_us(out, f->oldest);
}
