/* SPDX-License-Identifier: BSD-3-Clause */
#include "side.h"

#include <stdlib.h>

#include "connection.h"
#include "io_args.h"
#include "mem.h"
#include "number.h"
#include "nvme.h"
#include "out.h"
#include "table.h"

enum {
	PDU_MIN = 128, /* bytes of the PDU of a command, which SPDK has in an array for each queue */
	PDU_MAX = 16384,
	PENDING = 1 << 15, /* commands from which the distance of PDUs is found */
	FORGET = 1024,     /* ids of requests that have ended are forgotten when there are more of them */
};

/* A command that has no queue so far. */
struct side_pending {
	struct side_io io;
	struct order_what what;
	int64_t begin, end;
};

/* The latest request at an address. */
struct side_request {
	uint64_t id;
	struct order_what what;
	int64_t begin, end;     /* end: it queued the last part of its reply for the socket; without these, it had it */
	uint32_t queue, number; /* number: once it is in its order */
	uint32_t next;          /* that waits to be */
	bool is_open, waits;
};

static struct side_tpoint *tpoint_of(struct side *s, struct slice name)
{
	struct side_tpoint *t = table_at(s->known, s->num_known, s->cap_known, intern_add(&s->names, name));

	if (!t->tpoint)
		*t = (struct side_tpoint){
			.tpoint = spdk_tpoint(name),
			.is_command = slice_is(spdk_family(slice_of("p"), name), "NVME_TCP"),
			.is_request = slice_is(spdk_family(slice_of("r"), name), "TCP"),
			.ends = spdk_is_final(name),
		};
	return t;
}

/* The number in an id of this letter. */
static bool id_number(struct slice id, char letter, uint64_t *number)
{
	return id.n > 1 && *id.p == letter && number_decimal(slice_from(id, 1), number);
}

static struct order_what what_of(const struct io_args *args, uint64_t opcode)
{
	if (!opcode || !io_args_has(args, IO_LBA) || !io_args_has(args, IO_BLOCKS))
		return (struct order_what){};
	return order_what(args->values[IO_LBA], args->values[IO_BLOCKS], opcode);
}

uint32_t side_queue(struct side_queues *queues, uint64_t key)
{
	uint32_t *i = map_put(&queues->by_key, key);

	if (*i == MAP_NONE) {
		*i = queues->n;
		queues->all = mem_room(queues->all, queues->n, &queues->cap);
		queues->all[queues->n++] = (struct side_queue){
			.number = UINT64_MAX, .waiting = MAP_NONE, .last_waiting = MAP_NONE};
	}
	return *i;
}

/* Queues of several connections have the same number, but each has an owner, or an array of PDUs. */
uint64_t side_key(const struct side *s, const struct side_io *command)
{
	if (command->owner)
		return command->owner;
	return (command->address - command->cid * s->stride) ^ command->queue << 48;
}

struct side_io side_creation(struct side *s, const struct traceline *line)
{
	struct side_io io = {.address = line->object_value};
	const struct side_tpoint *t;
	struct io_args args = {};

	if (line->source.p || line->has_age || !line->object_id.n)
		return io;
	t = tpoint_of(s, line->tpoint);
	io.is_command = t->is_command && id_number(line->object_id, 'p', &io.id);
	io.is_request = t->is_request && id_number(line->object_id, 'r', &io.id);
	if (io.is_command) {
		io_args_read(&args, t->tpoint, line);
		io.cid = args.values[IO_CID];
		io.owner = line->owner.n ? 1 + intern_add(&s->names, line->owner) : 0;
		if (io_args_is_admin(line->poller) || !number_decimal(slice_from(line->poller, 1), &io.queue))
			io.queue = 0;
	} else if (io.is_request && !connection_key(line, &io.queue)) {
		io.queue = UINT64_MAX;
	}
	return io;
}

static struct side_pdu put_command(struct side *s, const struct side_pending *c)
{
	uint32_t queue = side_queue(&s->commands, side_key(s, &c->io));
	struct side_queue *q = &s->commands.all[queue];

	q->number = c->io.queue;
	return (struct side_pdu){c->io.id, queue, order_add(&q->order, c->what, c->begin, s->sequential)};
}

/* Where the end of the latest command of a PDU belongs; NULL: it is not kept. */
static int64_t *end_of(struct side *s, const struct side_pdu *pdu)
{
	struct order_io *io;

	if (!s->has_stride)
		return &s->pending[pdu->number].end;
	io = order_find(&s->commands.all[pdu->queue].order, pdu->number);
	return io ? &io->end : NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct side_pending *x = *(struct side_pending *const *)a, *y = *(struct side_pending *const *)b;

	return x->io.address < y->io.address ? -1 : x->io.address > y->io.address;
}

/*
 * Finds the distance of two PDUs of a queue: the command with identifier N uses the Nth. The distances of neighbours
 * vote, since nearly all are of one queue.
 */
static void find_stride(struct side *s)
{
	const struct side_pending **all = mem_array(s->num_pending, sizeof(*all));
	int64_t lead = 0;

	for (size_t i = 0; i < s->num_pending; i++)
		all[i] = &s->pending[i];
	qsort(all, s->num_pending, sizeof(*all), by_address);
	for (size_t i = 0; i + 1 < s->num_pending; i++) {
		const struct side_io *a = &all[i]->io, *b = &all[i + 1]->io;
		uint64_t cids = (uint64_t)b->cid - a->cid, bytes = b->address - a->address;

		if (b->cid <= a->cid || bytes % cids || bytes / cids < PDU_MIN || bytes / cids > PDU_MAX)
			continue;
		if (!lead)
			s->stride = bytes / cids;
		lead += s->stride == bytes / cids ? 1 : -1;
	}
	free(all);
}

/* Gives queues to the commands so far. */
static void settle(struct side *s)
{
	find_stride(s);
	s->has_stride = true;
	for (size_t i = 0; i < s->num_pending; i++) {
		const struct side_pending *c = &s->pending[i];
		struct side_pdu *pdu = &s->pdus[map_get(&s->pdu_at, c->io.address)];
		int64_t *end;

		*pdu = put_command(s, c);
		end = end_of(s, pdu);
		if (end)
			*end = c->end;
	}
	free(s->pending);
	s->pending = NULL;
}

static void see_command(struct side *s, const struct traceline *line, const struct side_tpoint *t, int64_t ns)
{
	struct side_pending c = {.io = side_creation(s, line), .begin = ns, .end = ORDER_UNKNOWN};
	struct io_args args = {};
	struct side_pdu *pdu;
	uint32_t at = map_get(&s->pdu_at, line->object_value);
	uint64_t id;
	int64_t *end;

	if (!c.io.is_command) {
		if (t->ends && at != MAP_NONE && id_number(line->object_id, 'p', &id) && id == s->pdus[at].id &&
		    (end = end_of(s, &s->pdus[at])))
			*end = ns;
		return;
	}
	io_args_read(&args, t->tpoint, line);
	io_args_add_command(&args, line->poller);
	c.what = what_of(&args, args.values[IO_OPC]);
	pdu = table_put(&s->pdu_at, line->object_value, s->pdus, s->num_pdus, s->cap_pdus);
	if (s->has_stride) {
		*pdu = put_command(s, &c);
		return;
	}
	if (!s->pending)
		s->pending = mem_array(PENDING, sizeof(*s->pending));
	*pdu = (struct side_pdu){.id = c.io.id, .number = s->num_pending};
	s->pending[s->num_pending++] = c;
	if (s->num_pending == PENDING)
		settle(s);
}

static void set_end(struct side *s, const struct side_request *r)
{
	struct order_io *io = r->waits ? NULL : order_find(&s->requests.all[r->queue].order, r->number);

	if (io)
		io->end = r->end;
}

/* Adds to their order those at the head of a queue that are known, and all up to this one, unless it is NULL. */
static void advance(struct side *s, struct side_queue *q, const struct side_request *up_to)
{
	while (q->waiting != MAP_NONE) {
		struct side_request *r = &s->open[q->waiting];

		if (!up_to && r->is_open && !r->what.hash)
			return;
		if (r == up_to)
			up_to = NULL;
		r->number = order_add(&q->order, r->what, r->begin, s->sequential);
		r->waits = false;
		q->waiting = r->next;
		set_end(s, r);
	}
}

static void end_request(struct side *s, struct side_request *r, bool by_force)
{
	r->is_open = false;
	advance(s, &s->requests.all[r->queue], by_force && r->waits ? r : NULL);
	set_end(s, r);
}

/* Forgets the ids of those that have ended. */
static void forget_ids(struct side *s)
{
	map_free(&s->request_of);
	for (size_t i = 0; i < s->num_open; i++)
		if (s->open[i].is_open)
			*map_put(&s->request_of, s->open[i].id) = i;
}

static void add_request(struct side *s, const struct traceline *line, const struct side_io *io, int64_t ns)
{
	uint32_t before = map_get(&s->request_at, io->address), queue = side_queue(&s->requests, io->queue);
	struct side_queue *q = &s->requests.all[queue];
	struct side_request *r;

	/* its end is missing */
	if (before != MAP_NONE && (s->open[before].is_open || s->open[before].waits))
		end_request(s, &s->open[before], true);
	if (s->request_of.used > 2 * s->num_open + FORGET)
		forget_ids(s);
	r = table_put(&s->request_at, io->address, s->open, s->num_open, s->cap_open);
	*r = (struct side_request){.id = io->id,
				   .begin = ns,
				   .end = ORDER_UNKNOWN,
				   .queue = queue,
				   .next = MAP_NONE,
				   .is_open = true,
				   .waits = true};
	*map_put(&s->request_of, io->id) = r - s->open;
	if (q->waiting == MAP_NONE)
		q->waiting = r - s->open;
	else
		s->open[q->last_waiting].next = r - s->open;
	q->last_waiting = r - s->open;
	if (q->number == UINT64_MAX && line->owner.p && !connection_owner_queue(line->owner, &q->number))
		q->number = UINT64_MAX;
}

/* The request of an entry that is about it, or about what it started. */
static struct side_request *request_of(struct side *s, struct slice id)
{
	uint64_t number;
	uint32_t i = id_number(id, 'r', &number) ? map_get(&s->request_of, number) : MAP_NONE;

	return i == MAP_NONE || s->open[i].id != number ? NULL : &s->open[i];
}

static void see_child(struct side *s, struct side_request *r, const struct traceline *line,
		      const struct spdk_tpoint *tpoint, int64_t ns)
{
	struct io_args args = {};
	uint64_t type;

	if (tpoint->kind == SPDK_SOCKET_WRITE)
		r->end = ns;
	if (tpoint->kind != SPDK_BDEV_IO || r->what.hash)
		return;
	io_args_read(&args, tpoint, line);
	type = args.values[IO_TYPE];
	r->what = what_of(&args, type < 256 ? s->opcode_of[type] : 0);
	advance(s, &s->requests.all[r->queue], NULL);
}

static void see_request(struct side *s, const struct traceline *line, const struct side_tpoint *t, int64_t ns)
{
	struct side_io io = side_creation(s, line);
	struct side_request *r;

	if (io.is_request) {
		add_request(s, line, &io, ns);
		return;
	}
	r = request_of(s, line->object_id);
	if (r && t->tpoint->replies && r->end == ORDER_UNKNOWN)
		r->end = ns;
	if (r && t->ends)
		end_request(s, r, false);
}

static void start(struct side *s)
{
	for (unsigned type = 0; type < 256; type++) {
		const char *name = spdk_bdev_type(type);

		for (unsigned opcode = 1; name && opcode < 256; opcode++)
			if (nvme_has_blocks(opcode) && strcmp(name, nvme_io_command(opcode)) == 0)
				s->opcode_of[type] = opcode;
	}
}

const char *side_line(struct side *s, const struct traceline *line)
{
	const struct side_tpoint *t;
	struct side_request *r;
	uint64_t time;
	const char *error = traceline_time(line, &time);
	int64_t ns = time;

	if (error || time > SIDE_LONGEST)
		return error ? error : "its time is too long";
	if (!s->any)
		start(s);
	if (!s->any || ns < s->first) {
		s->first = ns;
		s->first_tsc = line->tsc;
	}
	if (!s->any || ns > s->last) {
		s->last = ns;
		s->last_tsc = line->tsc;
	}
	s->any = true;
	s->foreign += line->source.p != NULL;
	if (line->source.p)
		return NULL;
	t = tpoint_of(s, line->tpoint);
	if (t->is_command)
		see_command(s, line, t, ns);
	else if (t->is_request)
		see_request(s, line, t, ns);
	else if (line->related.p && (r = request_of(s, line->related)))
		see_child(s, r, line, t->tpoint, ns);
	return NULL;
}

const char *side_name(struct side *s, const char *operand)
{
	const char *equals = strchr(operand, '='), *path = operand, *slash;
	struct out text = {.fd = OUT_MEMORY};
	struct slice name = slice_of(operand);

	if (equals && equals > operand && equals[1] && !memchr(operand, '/', equals - operand)) {
		name = slice_between(operand, equals);
		path = equals + 1;
	} else if (strcmp(operand, "-") == 0) {
		name = slice_of("stdin");
	} else {
		while (name.n > 1 && name.p[name.n - 1] == '/')
			name.n--;
		slash = memrchr(name.p, '/', name.n);
		name = slash && name.n > 1 ? slice_between(slash + 1, name.p + name.n) : name;
	}
	out_json(&text, name);
	s->name = mem_slice(slice_between(text.buf + 1, text.buf + text.len - 1));
	out_close(&text);
	return path;
}

void side_end(struct side *s)
{
	if (!s->has_stride)
		settle(s);
	for (size_t i = 0; i < s->num_open; i++)
		if (s->open[i].is_open)
			end_request(s, &s->open[i], true);
	map_free(&s->pdu_at);
	map_free(&s->request_at);
	map_free(&s->request_of);
	free(s->pdus);
	free(s->open);
	s->pdus = NULL;
	s->open = NULL;
}

static void queues_free(struct side_queues *queues)
{
	for (size_t i = 0; i < queues->n; i++) {
		free(queues->all[i].order.kept);
		free(queues->all[i].runs);
	}
	free(queues->all);
	map_free(&queues->by_key);
}

void side_free(struct side *s)
{
	free((char *)s->name.p);
	queues_free(&s->commands);
	queues_free(&s->requests);
	intern_free(&s->names);
	free(s->known);
}
