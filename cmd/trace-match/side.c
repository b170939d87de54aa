/* SPDX-License-Identifier: BSD-3-Clause */
#include "side.h"

#include <stdlib.h>

#include "connection.h"
#include "io_args.h"
#include "mem.h"
#include "number.h"
#include "nvme.h"

/* Bytes of the PDU of a command, which SPDK has in an array for each queue. */
enum { PDU_MIN = 128, PDU_MAX = 16384 };

void source_start(struct source *s)
{
	for (unsigned type = 0; type < 256; type++) {
		const char *name = spdk_bdev_type(type);

		for (unsigned opcode = 1; name && opcode < 256; opcode++)
			if (nvme_has_blocks(opcode) && strcmp(name, nvme_io_command(opcode)) == 0)
				s->opcode_of[type] = opcode;
	}
}

static struct source_tpoint *tpoint_of(struct source *s, struct slice name)
{
	struct source_tpoint *t;
	uint32_t i = intern_add(&s->tpoints, name);

	while (s->num_known <= i) {
		s->known = mem_room(s->known, s->num_known, &s->cap_known);
		s->known[s->num_known++] = (struct source_tpoint){};
	}
	t = &s->known[i];
	if (!t->tpoint)
		*t = (struct source_tpoint){
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

/* Never 0. */
static uint64_t what_of(uint64_t lba, uint64_t blocks, uint64_t opcode)
{
	uint64_t what = lba * 0x9e3779b97f4a7c15 ^ (blocks << 8 | opcode) * 0xff51afd7ed558ccd;

	return what ? what : 1;
}

static void set_what(struct side_io *io, const struct io_args *args, uint64_t opcode)
{
	uint64_t lba = args->values[IO_LBA], blocks = args->values[IO_BLOCKS];

	if (!io_args_has(args, IO_LBA) || !io_args_has(args, IO_BLOCKS))
		return;
	io->what = what_of(lba, blocks, opcode);
	io->next = what_of(lba + blocks, blocks, opcode);
}

static struct side_queue *queue_at(struct side *side, uint64_t key, uint32_t *number)
{
	uint32_t *i = map_put(&side->by_key, key);

	if (*i == MAP_NONE) {
		*i = side->num_queues;
		side->queues = mem_room(side->queues, side->num_queues, &side->cap_queues);
		side->queues[side->num_queues++] = (struct side_queue){.number = UINT64_MAX};
	}
	*number = *i;
	return &side->queues[*i];
}

static struct side_io *add_io(struct side *side, const struct traceline *line, int64_t ns, uint64_t number)
{
	side->ios = mem_room(side->ios, side->n, &side->cap);
	side->ios[side->n] = (struct side_io){.begin = ns,
					      .end = SIDE_UNKNOWN,
					      .value = line->object_value,
					      .number = number,
					      .queue = MAP_NONE,
					      .match = MAP_NONE};
	return &side->ios[side->n++];
}

static void add_command(struct source *s, const struct traceline *line, const struct spdk_tpoint *tpoint, int64_t ns,
			uint64_t number)
{
	struct side_io *io = add_io(&s->commands, line, ns, number);
	struct io_args args = {};
	struct side_queue *queue;
	uint64_t id;

	*map_put(&s->command_at, io->value) = io - s->commands.ios;
	io_args_read(&args, tpoint, line);
	io->cid = args.values[IO_CID];
	io_args_add_command(&args, line->poller);
	set_what(io, &args, args.values[IO_OPC]);
	/* for now by number only; source_end() divides those of several connections */
	id = io_args_is_admin(line->poller) || !number_decimal(slice_from(line->poller, 1), &id) ? 0 : id;
	queue = queue_at(&s->commands, id, &io->queue);
	queue->number = id;
}

static void add_request(struct source *s, const struct traceline *line, int64_t ns, uint64_t number)
{
	struct side_io *io = add_io(&s->requests, line, ns, number);
	struct side_queue *queue;
	uint64_t key;

	*map_put(&s->request_of, number) = io - s->requests.ios;
	if (!connection_key(line, &key))
		key = UINT64_MAX;
	queue = queue_at(&s->requests, key, &io->queue);
	if (queue->number == UINT64_MAX && line->owner.p && !connection_owner_queue(line->owner, &queue->number))
		queue->number = UINT64_MAX;
}

/* The request of an entry that is about it, or about what it started. */
static struct side_io *request_of(struct source *s, struct slice id)
{
	uint64_t number;
	uint32_t i = id_number(id, 'r', &number) ? map_get(&s->request_of, number) : MAP_NONE;

	return i == MAP_NONE ? NULL : &s->requests.ios[i];
}

static void see_child(struct source *s, struct side_io *request, const struct traceline *line,
		      const struct spdk_tpoint *tpoint, int64_t ns)
{
	struct io_args args = {};
	uint64_t type;

	if (tpoint->kind == SPDK_SOCKET_WRITE) {
		request->end = ns;
		request->queued = true;
	}
	if (tpoint->kind != SPDK_BDEV_IO || request->what)
		return;
	io_args_read(&args, tpoint, line);
	type = args.values[IO_TYPE];
	if (type < 256 && s->opcode_of[type])
		set_what(request, &args, s->opcode_of[type]);
}

static bool is_created(const struct traceline *line, char letter, uint64_t *number)
{
	return !line->has_age && id_number(line->object_id, letter, number);
}

bool source_is_request(struct source *s, const struct traceline *line)
{
	uint64_t number;

	return !line->source.p && tpoint_of(s, line->tpoint)->is_request && is_created(line, 'r', &number);
}

static void see_command(struct source *s, const struct traceline *line, const struct source_tpoint *t, int64_t ns)
{
	uint64_t number;
	uint32_t i;

	if (!id_number(line->object_id, 'p', &number))
		return;
	if (!line->has_age) {
		add_command(s, line, t->tpoint, ns, number);
		return;
	}
	i = map_get(&s->command_at, line->object_value);
	if (t->ends && i != MAP_NONE && s->commands.ios[i].number == number)
		s->commands.ios[i].end = ns;
}

static void see_request(struct source *s, const struct traceline *line, const struct source_tpoint *t, int64_t ns)
{
	struct side_io *request;
	uint64_t number;

	if (is_created(line, 'r', &number)) {
		add_request(s, line, ns, number);
		return;
	}
	request = request_of(s, line->object_id);
	if (request && t->tpoint->replies && request->end == SIDE_UNKNOWN)
		request->end = ns;
}

const char *source_line(struct source *s, const struct traceline *line)
{
	const struct source_tpoint *t;
	struct side_io *request;
	uint64_t time;
	const char *error = traceline_time(line, &time);
	int64_t ns = time;

	if (error || time > SIDE_LONGEST)
		return error ? error : "its time is too long";
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
	else if (line->related.p && (request = request_of(s, line->related)))
		see_child(s, request, line, t->tpoint, ns);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const struct side_io *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/*
 * The distance of two PDUs of a queue, 0 if no queue has two: the command with identifier N uses the Nth. The
 * distances of neighbours vote, since nearly all are of one queue.
 */
static uint64_t find_stride(const struct side *commands)
{
	struct side_io *pdus = mem_array(commands->n, sizeof(*pdus));
	uint64_t stride = 0;
	int64_t lead = 0;
	size_t n = 0;
	struct map seen = {};

	for (size_t i = 0; i < commands->n; i++) {
		uint32_t *known = map_put(&seen, commands->ios[i].value);

		if (*known == MAP_NONE)
			pdus[n++] = commands->ios[i];
		*known = i;
	}
	qsort(pdus, n, sizeof(*pdus), by_value);
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t cids = (uint64_t)pdus[i + 1].cid - pdus[i].cid;
		uint64_t bytes = pdus[i + 1].value - pdus[i].value;

		if (pdus[i + 1].cid <= pdus[i].cid || bytes % cids || bytes / cids < PDU_MIN || bytes / cids > PDU_MAX)
			continue;
		if (!lead)
			stride = bytes / cids;
		lead += stride == bytes / cids ? 1 : -1;
	}
	map_free(&seen);
	free(pdus);
	return stride;
}

/* The ios of each queue. */
static void list_queues(struct side *side)
{
	for (size_t i = 0; i < side->n; i++)
		side->queues[side->ios[i].queue].n++;
	for (size_t i = 0; i < side->num_queues; i++) {
		struct side_queue *queue = &side->queues[i];

		queue->all = mem_array(queue->n, sizeof(*queue->all));
		queue->n = 0;
	}
	for (size_t i = 0; i < side->n; i++) {
		struct side_queue *queue = &side->queues[side->ios[i].queue];

		queue->all[queue->n++] = i;
	}
}

void source_end(struct source *s)
{
	struct side *commands = &s->commands;
	struct side_queue *by_number = commands->queues;
	uint64_t stride = find_stride(commands);

	map_free(&s->command_at);
	map_free(&s->request_of);
	map_free(&commands->by_key);
	commands->queues = NULL;
	commands->num_queues = commands->cap_queues = 0;
	/* a queue of its own for each array */
	for (size_t i = 0; i < commands->n; i++) {
		struct side_io *io = &commands->ios[i];
		uint64_t number = by_number[io->queue].number;

		queue_at(commands, (io->value - io->cid * stride) ^ number << 48, &io->queue)->number = number;
	}
	free(by_number);
	list_queues(commands);
	list_queues(&s->requests);
}

static void side_free(struct side *side)
{
	for (size_t i = 0; i < side->num_queues; i++)
		free(side->queues[i].all);
	free(side->queues);
	free(side->ios);
	map_free(&side->by_key);
}

void source_free(struct source *s)
{
	side_free(&s->commands);
	side_free(&s->requests);
	intern_free(&s->tpoints);
	free(s->known);
	free((char *)s->name.p);
	free(s->path);
	map_free(&s->command_at);
	map_free(&s->request_of);
}
