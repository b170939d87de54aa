/* SPDX-License-Identifier: BSD-3-Clause */
#include "admin.h"

#include <stdlib.h>

#include "count.h"
#include "mem.h"
#include "span.h"

/* SPDK_NVMF_MAX_ASYNC_EVENTS in include/spdk/nvmf_transport.h: asynchronous event requests of a connection. */
enum { MAX_EVENTS = 4 };

/* Notes the connection of a request; after the end of one, another has its place. */
static void join(struct admin *a, struct span *s, const struct traceline *line)
{
	uint64_t key;
	uint32_t *index;

	if (!connection_key(line, &key))
		return;
	index = map_put(&a->map, key);
	if (*index == MAP_NONE || a->all[*index].ended) {
		*index = a->n;
		a->all = mem_room(a->all, a->n, &a->cap);
		a->all[a->n++] = (struct admin_connection){};
	}
	s->admin.member_of = *index + 1;
}

/* The queue in an annotation or an owner, as read by one of the functions for that. */
static enum admin_queue read_text(struct admin *a, struct slice text, bool read(struct slice text, uint64_t *queue))
{
	struct admin_text *recent = &a->recent[connection_text_place(text)];
	uint64_t queue;

	if (slice_equal(recent->text, text))
		return recent->queue;
	free((char *)recent->text.p);
	recent->text = mem_slice(text);
	recent->queue = ADMIN_UNKNOWN;
	if (read(text, &queue))
		recent->queue = queue ? ADMIN_IO_QUEUE : ADMIN_QUEUE;
	return recent->queue;
}

/* The queue of an entry's connection, by the first annotation that has it, else by its owner. */
static enum admin_queue read_queue(struct admin *a, const struct traceline *line)
{
	enum admin_queue queue = ADMIN_UNKNOWN;

	for (size_t i = 0; i < line->num_args && !queue; i++)
		if (line->args[i].value.p[0] == '{')
			queue = read_text(a, line->args[i].value, connection_annotated_queue);
	if (!queue && connection_is_owner(line))
		queue = read_text(a, line->owner, connection_owner_queue);
	return queue;
}

void admin_start(struct admin *a, struct span *s, const struct spdk_tpoint *tpoint, const struct traceline *line)
{
	a->has_bdev_io |= tpoint->kind == SPDK_BDEV_IO;
	s->admin.queue = read_queue(a, line);
	if (s->admin.queue)
		return;
	/* without arguments, such an entry may lack its poller as well */
	if (tpoint->kind == SPDK_NVME_COMMAND && io_args_has(&s->io, IO_OPC))
		s->admin.queue = io_args_is_admin(line->poller) ? ADMIN_QUEUE : ADMIN_IO_QUEUE;
	else
		join(a, s, line);
}

void admin_child(struct admin *a, const struct span *parent, const struct spdk_tpoint *tpoint)
{
	if (tpoint->kind != SPDK_BDEV_IO)
		return;
	a->has_bdev_io = true;
	if (parent && parent->admin.member_of)
		a->all[parent->admin.member_of - 1].has_io = true;
}

void admin_line(struct admin *a, const struct spdk_tpoint *tpoint, const struct traceline *line)
{
	uint32_t index;
	uint64_t key;

	/* that a connection has ended is in entries without arguments and size */
	if (!a->n || line->num_args || line->size.n || !tpoint->disconnects || !connection_key(line, &key))
		return;
	index = map_get(&a->map, key);
	if (index != MAP_NONE)
		a->all[index].ended = true;
}

/*
 * nvmf_qpair_free_aer() in lib/nvmf/ctrlr.c frees requests that are executing: over TCP they are then completed, over
 * RDMA they have no other entry. _nvmf_qpair_destroy() in lib/nvmf/nvmf.c does the same to requests that wait for a
 * paused subsystem; those that read or write data have waited for a buffer before.
 */
bool admin_is_possible(const struct admin *a, const struct span *s)
{
	const struct spdk_tpoint *tpoint;
	size_t i = 0;

	/* without bdev I/O in the lines, that none follows says nothing */
	if (!a->has_bdev_io || s->admin.queue != ADMIN_UNKNOWN || s->has_parent || s->child || s->cut)
		return false;
	for (tpoint = lifecycle_tpoint(a->lifecycle, s->states[0].state); i < s->n - 1 && !tpoint->executes;
	     tpoint = lifecycle_tpoint(a->lifecycle, s->states[++i].state))
		if (tpoint->layer != LAYER_TARGET)
			return false;
	if (!tpoint->executes)
		return false;
	return i + 1 == s->n || (i + 2 == s->n && spdk_is_final(a->lifecycle->states->all[s->states[i + 1].state]));
}

void admin_end(struct admin *a, struct span *s)
{
	struct admin_connection *connection = s->admin.member_of ? &a->all[s->admin.member_of - 1] : NULL;

	if (!admin_is_possible(a, s))
		return;
	if (connection && connection->ended && !connection->has_io && connection->freed < MAX_EVENTS) {
		connection->freed++;
		s->admin.queue = ADMIN_QUEUE;
	} else {
		a->possible++;
	}
}

bool admin_has(const struct span *s)
{
	while (s->parent)
		s = s->parent;
	return s->admin.queue == ADMIN_QUEUE;
}

void admin_free(struct admin *a)
{
	map_free(&a->map);
	free(a->all);
	for (size_t i = 0; i < COUNT(a->recent); i++)
		free((char *)a->recent[i].text.p);
	*a = (struct admin){};
}
