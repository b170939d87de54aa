/* SPDX-License-Identifier: BSD-3-Clause */
#include "behind.h"

#include <stdlib.h>

#include "holders.h"
#include "mem.h"
#include "spanline.h"
#include "table.h"

enum { STEPS = 16 }; /* from a request to its head */

/* The innermost bdev I/O of a request that a span is part of; NULL: it is of none. */
static const struct span *io_of(const struct spans *spans, const struct span *s)
{
	while (s && !spans_is_bdev_io(spans, s))
		s = spans_is_own(spans, s) ? NULL : s->parent;
	return s;
}

static const struct span *io_below(const struct spans *spans, const struct span *s)
{
	const struct span *io = NULL;

	for (const struct span *child = s->child; child && !io; child = child->next)
		io = spans_is_bdev_io(spans, child) ? child : io_below(spans, child);
	return io;
}

/* Where an I/O of a bdev is: its lcore has a channel of its own. */
static struct behind_channel *channel_of(struct behind *b, const struct span *io)
{
	uint64_t bdev = intern_add(&b->bdevs, spans_bdev(io));
	struct behind_channel *c = table_put(&b->by_bdev, bdev << 32 | (uint32_t)io->lcore, b->channels,
					     b->num_channels, b->cap_channels);

	c->bdev = bdev;
	return c;
}

void behind_see(struct behind *b, const struct span *s, uint32_t before)
{
	const struct span *above;
	struct behind_channel *c;

	if (!spans_is_bdev_io(b->spans, s))
		return;
	c = channel_of(b, s);
	if (before != MAP_NONE) {
		c->n -= c->n > 0;
		b->ios -= b->ios > 0;
		return;
	}
	c->n++;
	c->unseen = io_args_has(&s->io, IO_QD) && s->io.values[IO_QD] > c->n && !life_gap(b->spans, s)
			    ? s->io.values[IO_QD] - c->n
			    : 0;
	b->most = ++b->ios > b->most ? b->ios : b->most;
	above = io_of(b->spans, s->parent);
	if (above)
		channel_of(b, above)->passes = true;
}

static bool is_command(const struct behind *b, const struct span *s)
{
	struct slice name = b->spans->states->all[s->states[0].state];

	return spans_kind(b->spans, s) == SPDK_NVME_COMMAND && slice_is(spdk_family(slice_of("p"), name), "NVME_TCP");
}

static enum behind_why why_of(const struct behind *b, const struct behind_node *node, bool replies)
{
	const struct span *s = node->leaf;
	uint32_t state = s->states[s->n - 1].state;

	if (!replies && spans_tpoint(b->spans, state)->layer == LAYER_HOST)
		return BEHIND_DATA;
	switch (replies ? LAYER_REPLY : spans_layer(b->spans, s, state)) {
	case LAYER_BUFFER:
		return BEHIND_BUFFER;
	case LAYER_NETWORK:
	case LAYER_REPLY:
		return BEHIND_SOCKET;
	case LAYER_BELOW:
		return BEHIND_BELOW;
	case LAYER_DRIVE:
		return node->io && is_command(b, s) ? BEHIND_REMOTE : BEHIND_DRIVE;
	default:
		if (spans_tpoint(b->spans, state)->executes && !io_below(b->spans, node->root))
			return BEHIND_EXECUTION;
		return node->io ? BEHIND_BDEV : BEHIND_TARGET;
	}
}

static void add_node(struct behind *b, const struct span *root)
{
	struct behind_node node = {.root = root, .leaf = root, .next = MAP_NONE, .holds = holders_of(root)->has_buffer};
	bool replies = root->reply.start != UINT64_MAX;

	for (const struct span *child = root; (child = life_open_child(b->spans, child));) {
		if (spans_is_own(b->spans, child)) {
			node.below = child;
			break;
		}
		node.leaf = child;
		replies |= child->reply.start != UINT64_MAX;
	}
	node.io = io_of(b->spans, node.leaf);
	node.why = node.below ? BEHIND_REMOTE : why_of(b, &node, replies);
	*map_put(&b->by_span, root->index) = b->n;
	b->nodes = mem_room(b->nodes, b->n, &b->cap);
	b->nodes[b->n++] = node;
}

static bool is_request(const struct behind *b, const struct behind_node *node)
{
	uint32_t connection = node->root->connection;

	return connection != MAP_NONE && b->connections->all[connection].kind <= CONNECTION_QPAIR;
}

static bool is_older(const struct behind *b, uint32_t i, uint32_t than)
{
	return than == MAP_NONE || b->nodes[i].root->first < b->nodes[than].root->first;
}

/* The oldest I/O of the target itself, such as one of metadata. */
static uint32_t find_own(const struct behind *b)
{
	uint32_t own = MAP_NONE;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->nodes[i].why >= BEHIND_BDEV && spans_is_bdev_io(b->spans, b->nodes[i].root) &&
		    is_older(b, i, own))
			own = i;
	return own;
}

/* The oldest request of the bdev that has most bdev_io. */
static uint32_t find_most_ios(struct behind *b)
{
	uint32_t found = MAP_NONE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t n = b->nodes[i].io ? channel_of(b, b->nodes[i].io)->n : 0;

		if (n > most || (n && n == most && is_older(b, i, found)))
			found = i;
		most = n > most ? n : most;
	}
	return found;
}

/* Whether both are as old, so that it is no chance. */
static bool is_behind_own(const struct behind *b, const struct behind_node *node, const struct behind_node *own)
{
	uint64_t age = b->spans->now - node->root->first, age_of_own = b->spans->now - own->root->first;

	return !slice_equal(spans_bdev(node->io), spans_bdev(own->io)) && !io_below(b->spans, node->io) &&
	       age_of_own >= age / 2;
}

/* A number for the subsystem of a request, by its NQN: in an annotation, or after the address in an owner. */
static uint64_t subsystem_of(struct behind *b, const struct behind_node *node)
{
	const struct connection *c = &b->connections->all[node->root->connection];
	struct slice owner = c->owner;
	const char *blank = owner.n ? memchr(owner.p, ' ', owner.n) : NULL, *end;

	if (c->subsystem != MAP_NONE || !blank)
		return c->subsystem;
	owner = slice_from(owner, blank + 1 - owner.p);
	end = owner.n ? memchr(owner.p, ' ', owner.n) : NULL;
	return (uint64_t)1 << 32 | intern_add(&b->texts, end ? slice_between(owner.p, end) : owner);
}

/* By subsystem, its oldest request that has an I/O: a pause waits for it, and other requests for the pause. */
static void find_before_pause(struct behind *b, struct map *before)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->nodes[i].io && is_request(b, &b->nodes[i])) {
			uint32_t *oldest = map_put(before, subsystem_of(b, &b->nodes[i]));

			*oldest = is_older(b, i, *oldest) ? i : *oldest;
		}
}

/* Of those whose innermost object does not say it. */
static void find_others(struct behind *b)
{
	uint32_t own = find_own(b), most;
	struct map before = {};

	/* threads keep some for themselves */
	b->is_pool = b->pool && b->ios >= b->pool / 2;
	most = b->is_pool ? find_most_ios(b) : MAP_NONE;
	find_before_pause(b, &before);
	for (size_t i = 0; i < b->n; i++) {
		struct behind_node *node = &b->nodes[i];

		if (node->why == BEHIND_EXECUTION && b->is_pool)
			node->next = most;
		else if (node->why == BEHIND_EXECUTION && is_request(b, node))
			node->next = map_get(&before, subsystem_of(b, node));
		else if (node->why == BEHIND_BDEV && node->next == MAP_NONE && own != MAP_NONE &&
			 is_behind_own(b, node, &b->nodes[own]))
			node->next = own;
	}
	map_free(&before);
}

/* The last one that it waits for. MAP_NONE: it waits for itself, or for too many. */
static uint32_t end_of(const struct behind *b, uint32_t node)
{
	for (unsigned i = 0; i < STEPS; i++, node = b->nodes[node].next)
		if (b->nodes[node].next == MAP_NONE)
			return node;
	return MAP_NONE;
}

/* Finds whether one that has a buffer can go on, and who has most of those that can. */
static void find_holder(struct behind *b)
{
	uint32_t *counts = mem_array(b->connections->n + 1, sizeof(*counts)), most = 0, holders = 0, waiting = 0;

	b->holder = MAP_NONE;
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t end = b->nodes[i].holds ? end_of(b, i) : MAP_NONE, connection = b->nodes[i].root->connection;

		holders += b->nodes[i].holds;
		waiting += b->nodes[i].why == BEHIND_BUFFER;
		if (end == MAP_NONE || b->nodes[end].why == BEHIND_BUFFER || ++counts[connection] <= most)
			continue;
		most = counts[connection];
		b->holder = i;
	}
	b->is_deadlock = holders && b->holder == MAP_NONE;
	/* as many requests are commands as have a buffer: each one that waits would send another one */
	b->more = b->is_deadlock && waiting > holders ? waiting - holders : 0;
	free(counts);
}

static void put_host(struct behind *b, const struct behind_node *node)
{
	uint32_t connection = node->root->connection;
	struct slice host;

	if (connection == MAP_NONE) {
		out_text(&b->text, "the target");
		return;
	}
	host = connections_host(b->connections, connection);
	out_slice(&b->text, host.n ? host : spanline_host(connections_name(b->connections, connection)->name));
}

/* The host of a request, which may have no connection in the trace. */
static void put_own_host(struct behind *b, const struct behind_node *node)
{
	if (node->root->connection == MAP_NONE) {
		out_text(&b->text, "its host");
		return;
	}
	out_text(&b->text, "host ");
	put_host(b, node);
}

/* Writes a step. Returns the node that it waits for. */
static uint32_t put_step(struct behind *b, const struct behind_node *node)
{
	uint32_t next = node->next;

	switch (node->why) {
	case BEHIND_TARGET:
		out_text(&b->text, "target");
		break;
	case BEHIND_BUFFER:
		out_text(&b->text, b->holder == MAP_NONE ? "buffer" : "buffer of ");
		next = b->holder;
		if (next != MAP_NONE)
			put_host(b, &b->nodes[next]);
		else if (b->is_deadlock)
			out_text(&b->text, " > deadlock");
		break;
	case BEHIND_DATA:
		out_text(&b->text, "data of ");
		put_own_host(b, node);
		break;
	case BEHIND_SOCKET:
		put_own_host(b, node);
		out_text(&b->text, " to read");
		break;
	case BEHIND_EXECUTION:
		out_text(&b->text, next != MAP_NONE && b->is_pool ? "bdev_io" : "execution");
		break;
	case BEHIND_BELOW:
		out_text(&b->text, "below");
		break;
	case BEHIND_BDEV:
	case BEHIND_DRIVE:
	case BEHIND_REMOTE:
		if (next != MAP_NONE && is_request(b, &b->nodes[next])) {
			out_text(&b->text, "requests of ");
			put_host(b, &b->nodes[next]);
			break;
		}
		out_text(&b->text, node->why == BEHIND_BDEV    ? "bdev "
				   : node->why == BEHIND_DRIVE ? "drive of "
							       : "remote of ");
		if (node->io)
			out_visible_json(&b->text, spans_bdev(node->io));
		break;
	}
	return next;
}

/* Now, as spans may be gone when it is asked for. */
static void make_texts(struct behind *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t node = i;

		b->text.len = 0;
		for (unsigned steps = 0; node != MAP_NONE && steps < STEPS; steps++) {
			out_text(&b->text, steps ? BEHIND_STEP : "");
			node = put_step(b, &b->nodes[node]);
		}
		b->nodes[i].text = intern_add(&b->texts, out_contents(&b->text));
	}
}

void behind_find(struct behind *b)
{
	b->n = 0;
	b->at = b->spans->now;
	b->text.fd = OUT_MEMORY;
	map_free(&b->by_span);
	for (size_t i = 0; i < b->spans->store.n; i++) {
		const struct span *s = b->spans->store.all[i];

		if (s->n && !s->end.over && (!s->has_parent || spans_is_own(b->spans, s)) &&
		    life_is_open(b->spans, s) && s->admin.queue != ADMIN_QUEUE &&
		    !admin_is_possible(&b->spans->admin, s))
			add_node(b, s);
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->nodes[i].below)
			b->nodes[i].next = map_get(&b->by_span, b->nodes[i].below->index);
	find_others(b);
	find_holder(b);
	make_texts(b);
}

struct slice behind_of(const struct behind *b, const struct span *root)
{
	uint32_t node = map_get(&b->by_span, root->index);

	return node == MAP_NONE ? (struct slice){} : b->texts.all[b->nodes[node].text];
}

uint64_t behind_unseen(const struct behind *b, struct slice *bdev)
{
	const struct behind_channel *found = NULL;

	for (const struct behind_channel *c = b->channels; c < b->channels + b->num_channels; c++)
		if (c->unseen && (!found || found->passes))
			found = c;
	*bdev = found ? b->bdevs.all[found->bdev] : (struct slice){};
	return found ? found->unseen : 0;
}

void behind_free(struct behind *b)
{
	free(b->nodes);
	map_free(&b->by_span);
	intern_free(&b->texts);
	intern_free(&b->bdevs);
	map_free(&b->by_bdev);
	free(b->channels);
	out_close(&b->text);
}
