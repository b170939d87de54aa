/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"

#include <stdlib.h>

#include "connection.h"
#include "count.h"
#include "mem.h"
#include "number.h"
#include "nvme.h"
#include "spans.h"

enum {
	PLACES = 4,    /* of commands with the same hash */
	PDU_MIN = 128, /* bytes of the PDU of a command, which SPDK has in an array for each queue */
	PDU_MAX = 16384,
	CONNECT = 1, /* what a command is that connects */
};

static uint64_t what_of(const struct io_args *io)
{
	const uint64_t *values = io->values;
	uint64_t what = values[IO_LBA] * 0x9e3779b97f4a7c15 ^ (values[IO_BLOCKS] << 8 | values[IO_TYPE]);

	if (!io_args_has(io, IO_LBA) || !io_args_has(io, IO_BLOCKS) || !io_args_has(io, IO_TYPE))
		return 0;
	what = (what ^ what >> 32) * 0xff51afd7ed558ccd;
	what ^= what >> 32;
	return what > CONNECT ? what : CONNECT + 1;
}

static uint32_t queue_of(struct remote *r, struct map *keys, uint64_t key)
{
	uint32_t *i = map_put(keys, key);

	if (*i == MAP_NONE) {
		*i = r->n;
		r->queues = mem_room(r->queues, r->n, &r->cap);
		r->queues[r->n++] = (struct remote_queue){.qid = UINT32_MAX, .other = MAP_NONE, .candidate = MAP_NONE};
	}
	return *i;
}

static struct remote_io *io_at(const struct remote_queue *q, uint32_t number)
{
	return number - q->first < q->next - q->first ? &q->all[number & (q->cap - 1)] : NULL;
}

/* The span of this number; NULL: it has ended, or is not kept. */
static struct span *span_at(const struct spans *spans, const struct remote_queue *q, uint32_t number)
{
	const struct remote_io *io = io_at(q, number);
	struct span *s = io ? spans->store.all[io->index] : NULL;

	return s && s->generation == io->generation && s->n && !s->end.over ? s : NULL;
}

static void grow(struct remote_queue *q)
{
	uint32_t cap = q->cap ? 2 * q->cap : 8;
	struct remote_io *all = mem_array(cap, sizeof(*all));

	for (uint32_t i = q->first; i != q->next; i++)
		all[i & (cap - 1)] = *io_at(q, i);
	free(q->all);
	q->all = all;
	q->cap = cap;
}

/* Which commands these requests are, or the other way round, is no longer known, nor expected. */
static void part(struct remote *r, struct remote_queue *q)
{
	struct remote_queue *other = NULL;

	if (q->other != MAP_NONE || q->candidate != MAP_NONE)
		other = &r->queues[q->other != MAP_NONE ? q->other : q->candidate];
	if (other && other->other == (size_t)(q - r->queues)) {
		other->other = MAP_NONE;
		other->since = other->next;
	}
	if (other)
		other->votes = 0;
	q->other = q->candidate = MAP_NONE;
	q->since = q->next;
	q->votes = 0;
}

/* The same for the queue of a request, as something contradicts it. */
static void contradict(struct spans *spans, const struct span *request)
{
	struct remote_queue *requests = &spans->remote.queues[request->place.queue - 1];
	struct remote_queue *commands = &spans->remote.queues[requests->other];

	for (uint32_t i = requests->first; i != requests->next; i++) {
		struct span *s = span_at(spans, requests, i);

		/* those that have replied fit */
		if (!s || !s->parent || s->reply.start != UINT64_MAX || s->end.expected)
			continue;
		commands->matched--;
		spans_disown(s);
	}
	part(&spans->remote, requests);
	requests->since = request->place.number;
}

/* Gives a span the next number of a queue. */
static struct remote_queue *push(struct spans *spans, uint32_t queue, struct span *s, uint64_t what)
{
	struct remote_queue *q = &spans->remote.queues[queue];
	uint64_t gap = life_gap(spans, s);

	if (gap > q->gap)
		part(&spans->remote, q);
	q->gap = gap;
	while (q->first != q->next && !span_at(spans, q, q->first))
		q->first++;
	if (q->next - q->first == q->cap && q->cap < REMOTE_KEPT)
		grow(q);
	q->first += q->next - q->first == q->cap;
	s->place = (struct span_place){queue + 1, q->next};
	q->all[q->next++ & (q->cap - 1)] = (struct remote_io){what, s->index, s->generation};
	return q;
}

/* Makes a request the child of its command, if both are known. Returns whether times allow that. */
static bool match(struct spans *spans, struct remote_queue *requests, uint32_t number)
{
	struct remote_queue *commands = &spans->remote.queues[requests->other];
	struct span *s = span_at(spans, requests, number),
		    *command = span_at(spans, commands, number + requests->offset);
	uint64_t what = s ? io_at(requests, number)->what : 0;
	uint64_t expected = command ? io_at(commands, number + requests->offset)->what : 0;

	if (!s || !command || s->has_parent || command->has_work || (what && expected && what != expected))
		return true;
	if (s->first < command->first || (command->end.expected && s->first > command->last))
		return false;
	spans_adopt(spans, command, s);
	commands->matched += s->has_parent;
	return true;
}

static struct remote_place *place_of(struct remote *r, uint64_t what, unsigned i)
{
	return &r->recent[(what + i) % REMOTE_PLACES];
}

/* Whether a place has a command that a request may still be. */
static bool is_taken(const struct spans *spans, const struct remote_place *place)
{
	const struct span *s = place->what ? span_at(spans, &spans->remote.queues[place->queue], place->number) : NULL;

	return s && !s->end.expected && !s->has_work;
}

static void add_command(struct spans *spans, struct span *s, uint32_t queue, uint64_t what)
{
	struct remote *r = &spans->remote;
	const struct remote_queue *q = push(spans, queue, s, what);
	struct remote_place *place;
	unsigned i = 0;

	if (!what)
		return;
	do
		place = place_of(r, what, i);
	while (is_taken(spans, place) && ++i < PLACES);
	*place = (struct remote_place){what, queue, q->next - 1, i == PLACES};
}

/* The distance of two PDUs of a queue: the command with identifier N has the Nth. Nearly all distances are right. */
static void find_stride(struct remote *r, const struct remote_pdu *new)
{
	for (unsigned i = 0; i < REMOTE_PDUS && i < r->num_pdus; i++) {
		const struct remote_pdu *old = &r->pdus[i];
		uint64_t cids = new->cid - old->cid, bytes = new->address - old->address;

		if (new->cid < old->cid) {
			cids = -cids;
			bytes = -bytes;
		}
		if (new->poller != old->poller || !cids || bytes % cids || bytes / cids < PDU_MIN ||
		    bytes / cids > PDU_MAX)
			continue;
		r->lead += r->stride == bytes / cids ? 1 : -1;
		if (r->lead >= 0)
			continue;
		r->stride = bytes / cids;
		r->lead = 1;
	}
	r->pdus[r->num_pdus++ % REMOTE_PDUS] = *new;
}

static void see_command(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct remote *r = &spans->remote;
	struct remote_pdu pdu = {.address = s->value, .cid = s->io.values[IO_CID]};
	struct io_args says = s->io;
	uint32_t queue;

	if (!io_args_is_admin(line->poller) && !number_decimal(slice_from(line->poller, 1), &pdu.poller))
		return;
	find_stride(r, &pdu);
	if (!pdu.poller)
		return;
	io_args_add_command(&says, line->poller);
	queue = queue_of(r, &r->commands,
			 traceline_in_source(line, (pdu.address - pdu.cid * r->stride) ^ pdu.poller << 48));
	r->queues[queue].qid = pdu.poller;
	add_command(spans, s, queue, says.values[IO_OPC] == NVME_FABRICS ? CONNECT : what_of(&says));
}

/* Whether a request may be a command: it came later, and its connection did not lead to the command. */
static bool may_be(const struct spans *spans, const struct span *s, const struct remote_place *place)
{
	const struct remote_queue *commands = &spans->remote.queues[place->queue];
	const struct remote_queue *requests = &spans->remote.queues[s->place.queue - 1];
	const struct span *command = span_at(spans, commands, place->number);

	if (!command || command->end.expected || command->first > s->first || command->source != s->source ||
	    command->has_work ||
	    (commands->qid != UINT32_MAX && requests->qid != UINT32_MAX && commands->qid != requests->qid))
		return false;
	while (command && command->place.queue != s->place.queue)
		command = command->parent;
	return !command;
}

/* Finds the command in flight that a request is; its queue is MAP_NONE: none fits, or several do. */
static struct remote_place find_command(struct spans *spans, const struct span *s, uint64_t what)
{
	struct remote *r = &spans->remote;
	struct remote_place found = {.queue = MAP_NONE};
	unsigned n = 0, tcp = 0;

	for (unsigned i = 0; i < PLACES; i++) {
		const struct remote_place *place = place_of(r, what, i);
		const struct remote_queue *q;

		n += place->crowded;
		if (place->what != what || !may_be(spans, s, place))
			continue;
		q = &r->queues[place->queue];
		if (q->votes && q->voter == s->place.queue - 1 && q->voted == place->number - s->place.number)
			return *place;
		found = *place;
		n++;
		tcp += q->qid != UINT32_MAX;
	}
	r->ambiguous += tcp > 1;
	return n > 1 ? (struct remote_place){.queue = MAP_NONE} : found;
}

/* A request is this command, as something says that is worth so many votes. */
static void vote(struct spans *spans, const struct span *s, const struct remote_place *place, uint32_t votes)
{
	struct remote *r = &spans->remote;
	const uint32_t request = s->place.queue - 1;
	struct remote_queue *commands = &r->queues[place->queue], *requests = &r->queues[request];
	uint32_t offset = place->number - s->place.number, since = requests->since;

	if (commands->voter != request || commands->voted != offset)
		commands->votes = 0;
	commands->voter = request;
	commands->voted = offset;
	commands->votes += votes;
	requests->candidate = place->queue;
	if (commands->votes < REMOTE_VOTES || requests->other == place->queue)
		return;
	part(r, commands);
	part(r, requests);
	requests->since = since;
	commands->other = request;
	commands->votes = REMOTE_VOTES;
	requests->other = requests->candidate = place->queue;
	requests->offset = offset;
	for (uint32_t i = requests->first; i != requests->next; i++)
		if ((int32_t)(i - requests->since) >= 0)
			match(spans, requests, i);
}

/* Sees what a request is, by an I/O that it has started. */
static void see_what(struct spans *spans, struct span *s, uint64_t what)
{
	struct remote *r = &spans->remote;
	struct remote_queue *q = &r->queues[s->place.queue - 1];
	struct remote_io *io = io_at(q, s->place.number), *command = NULL;
	struct remote_place place = {what, q->other, s->place.number + q->offset, false};

	if (!what || !io || io->what)
		return;
	io->what = what;
	if (q->other != MAP_NONE)
		command = io_at(&r->queues[q->other], place.number);
	if (command && !command->what)
		return;
	if (!command || command->what != what) {
		if (q->other != MAP_NONE)
			contradict(spans, s);
		place = find_command(spans, s, what);
	}
	if (place.queue != MAP_NONE)
		vote(spans, s, &place, 1);
}

void remote_connect(struct remote *r, const struct traceline *line)
{
	struct remote_queue *q;
	uint32_t queue;
	uint64_t key;

	if (!connection_key(line, &key))
		return;
	queue = queue_of(r, &r->connections, key);
	q = &r->queues[queue];
	part(r, q);
	q->is_new = true;
}

/* Whether the command that is expected for a request came to an empty queue, and no request has followed it so far. */
static bool is_first(const struct spans *spans, const struct remote_queue *q, const struct span *s,
		     struct remote_place *place)
{
	const struct remote_queue *commands = &spans->remote.queues[q->candidate];
	const struct span *command;

	*place = (struct remote_place){0, q->candidate, s->place.number + commands->voted, false};
	command = span_at(spans, commands, place->number);
	return commands->votes && commands->voter == s->place.queue - 1 && command && q->latest < command->first &&
	       command->first <= s->first && io_args_has(&command->io, IO_QD) && command->io.values[IO_QD] == 1;
}

/* module/bdev/nvme/bdev_nvme.c names a bdev after its controller and namespace, as in Nvme0n1. */
static bool is_nvme(struct slice bdev)
{
	size_t n = bdev.n;

	while (n && bdev.p[n - 1] >= '0' && bdev.p[n - 1] <= '9')
		n--;
	return n && n < bdev.n && bdev.p[n - 1] == 'n';
}

/* A connection of a process with itself has one address at both ends: "ADDRESS:PORT SUBSYSTEM ADDRESS:PORT qid:N". */
static bool may_be_local(struct slice owner)
{
	struct slice words[3], host[2];

	for (unsigned i = 0; i < COUNT(words); i++) {
		const char *end = owner.n ? memchr(owner.p, ' ', owner.n) : NULL;

		if (!end)
			return true;
		words[i] = slice_between(owner.p, end);
		owner = slice_from(owner, words[i].n + 1);
	}
	for (unsigned i = 0; i < COUNT(host); i++) {
		const char *port = memrchr(words[2 * i].p, ':', words[2 * i].n);

		host[i] = port ? slice_between(words[2 * i].p, port) : words[2 * i];
	}
	return slice_equal(host[0], host[1]);
}

static void see_request(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct remote *r = &spans->remote;
	struct remote_place place = {.queue = MAP_NONE};
	struct remote_queue *q;
	uint64_t key, qid;
	uint32_t queue;

	if (s->admin.queue == ADMIN_QUEUE || !may_be_local(line->owner) || !connection_key(line, &key))
		return;
	queue = queue_of(r, &r->connections, key);
	q = push(spans, queue, s, 0);
	if (q->qid == UINT32_MAX && line->owner.n && connection_owner_queue(line->owner, &qid))
		q->qid = qid;
	if (q->other != MAP_NONE && !match(spans, q, s->place.number))
		contradict(spans, s);
	else if (q->is_new)
		place = find_command(spans, s, CONNECT);
	else if (q->other == MAP_NONE && q->candidate != MAP_NONE && !is_first(spans, q, s, &place))
		place.queue = MAP_NONE;
	if (place.queue != MAP_NONE)
		vote(spans, s, &place, q->is_new ? REMOTE_VOTES - 1 : 1);
	q->is_new = false;
	q->latest = s->first;
}

static void see_bdev_io(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct remote *r = &spans->remote;
	uint64_t what = what_of(&s->io), bdev = intern_add(&r->names, spans_bdev(s));

	if (s->parent && s->parent->place.queue && spans_kind(spans, s->parent) == SPDK_OTHER)
		see_what(spans, s->parent, what);
	if (!is_nvme(spans_bdev(s)))
		return;
	bdev = traceline_in_source(line, bdev << 32 | (uint32_t)s->lcore);
	add_command(spans, s, queue_of(r, &r->bdevs, bdev), what);
}

void remote_see(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct slice letter = lifecycle_letter(spans->types->all[s->type]);

	/* the order of those that started before the trace is not known */
	if (s->cut || s->unknown)
		return;
	switch (spans_kind(spans, s)) {
	case SPDK_NVME_COMMAND:
		if (slice_is(spdk_family(letter, line->tpoint), "NVME_TCP"))
			see_command(spans, s, line);
		break;
	case SPDK_BDEV_IO:
		see_bdev_io(spans, s, line);
		break;
	case SPDK_OTHER:
		if (!s->has_parent && slice_is(letter, "r"))
			see_request(spans, s, line);
		break;
	default:
		break;
	}
}

void remote_end(struct spans *spans, const struct span *command)
{
	if (!command->place.queue)
		return;
	for (const struct span *s = command->child; s; s = s->next) {
		struct remote_queue *q = s->place.queue ? &spans->remote.queues[s->place.queue - 1] : NULL;

		/* over other transports no entry says that a request replies */
		if (!q || q->other != command->place.queue - 1 || s->reply.start != UINT64_MAX || s->end.expected ||
		    !slice_is(lifecycle_family(spans->types->all[s->type]), "TCP"))
			continue;
		contradict(spans, s);
		return;
	}
}

uint64_t remote_unmatched(const struct remote *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->queues[i].matched ? r->queues[i].next - r->queues[i].matched : 0;
	return n;
}

void remote_free(struct remote *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->queues[i].all);
	free(r->queues);
	map_free(&r->commands);
	map_free(&r->bdevs);
	map_free(&r->connections);
	intern_free(&r->names);
}
