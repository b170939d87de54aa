/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"

#include <stdlib.h>

#include "mem.h"

enum {
	PLACES = 4, /* of I/O with the same hash */
	KNOWN = 8,  /* I/Os that make a queue that of a connection */
};

uint64_t remote_what(const struct span *io)
{
	const uint64_t *values = io->io.values;
	uint64_t what = values[IO_LBA] * 0x9e3779b97f4a7c15 ^ (values[IO_BLOCKS] << 8 | values[IO_TYPE]);

	what = (what ^ what >> 32) * 0xff51afd7ed558ccd;
	what ^= what >> 32;
	return io_args_has(&io->io, IO_LBA) && io_args_has(&io->io, IO_BLOCKS) && io_args_has(&io->io, IO_TYPE) ? what
														: 0;
}

uint32_t remote_queue(struct remote *r, const struct span *io)
{
	uint64_t bdev = intern_add(&r->bdevs, spans_bdev(io));
	uint32_t *i = map_put(&r->by_key, bdev << 32 | (uint32_t)io->lcore);

	if (*i == MAP_NONE) {
		*i = r->n;
		r->queues = mem_room(r->queues, r->n, &r->cap);
		r->queues[r->n++] = (struct remote_queue){.bdev = bdev, .connection = MAP_NONE};
	}
	return *i;
}

/* Whether its I/Os are the requests of a connection, as nearly all so far were. */
static bool is_known(const struct remote_queue *queue)
{
	return queue->found >= KNOWN && queue->found >= queue->ios - queue->ios / 10;
}

static struct remote_io *place_of(struct remote *r, uint64_t what, unsigned i)
{
	return &r->recent[(what + i) % REMOTE_RECENT];
}

/* Finds the I/O in flight that has become this request; rather one of the queue that others of its connection were. */
static const struct span *find(struct remote *r, uint64_t what, uint32_t bdev, uint32_t connection)
{
	struct remote_io *found = NULL;
	struct remote_queue *queue;
	const struct span *io;

	for (unsigned i = 0; i < PLACES; i++) {
		struct remote_io *io = place_of(r, what, i);

		if (io->what == what && r->queues[io->queue].bdev != bdev &&
		    (!found || r->queues[io->queue].connection == connection))
			found = io;
	}
	if (!found)
		return NULL;
	found->what = 0;
	queue = &r->queues[found->queue];
	if (queue->connection != connection)
		queue->ios = queue->found = 0;
	queue->connection = connection;
	queue->found++;
	io = r->spans->all[found->index];
	return is_known(queue) && io->generation == found->generation ? io : NULL;
}

static void put(struct remote *r, uint64_t what, uint32_t queue, const struct span *io)
{
	unsigned i = 0;

	while (i + 1 < PLACES && place_of(r, what, i)->what)
		i++;
	*place_of(r, what, i) = (struct remote_io){what, queue, io->index, io->generation};
}

static void drop(struct remote *r, uint64_t what, uint32_t queue)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (place_of(r, what, i)->what == what && place_of(r, what, i)->queue == queue) {
			place_of(r, what, i)->what = 0;
			return;
		}
}

const struct span *remote_see(struct remote *r, const struct span *io, bool ends)
{
	const struct span *of = NULL;
	uint64_t what = remote_what(io);
	uint32_t number = remote_queue(r, io);
	struct remote_queue *queue = &r->queues[number];

	if (ends) {
		queue->n -= queue->n > 0;
		queue->ios++;
		if (what)
			drop(r, what, number);
		return NULL;
	}
	queue->n++;
	queue->unseen = io_args_has(&io->io, IO_QD) && io->io.values[IO_QD] > queue->n && !spans_gap(r->spans, io)
				? io->io.values[IO_QD] - queue->n
				: 0;
	if (!what)
		return NULL;
	if (io->parent && !io->parent->has_parent && io->parent->connection != MAP_NONE)
		of = find(r, what, queue->bdev, io->parent->connection);
	put(r, what, number, io);
	return of;
}

static int by_order(const void *a, const void *b)
{
	const struct remote_end *x = a, *y = b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return (x->span->first > y->span->first) - (x->span->first < y->span->first);
}

/* The end of those of the same queue as the first one. */
static size_t end_of(const struct remote_end *all, size_t first, size_t n)
{
	size_t end = first + 1;

	while (end < n && all[end].queue == all[first].queue)
		end++;
	return end;
}

static bool may_match(const struct remote_end *ios, const struct remote_end *requests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ios[i].span->first > requests[i].span->first || requests[i].match != MAP_NONE ||
		    (requests[i].what && requests[i].what != ios[i].what))
			return false;
	return true;
}

/* Requests of one connection that are as many as the n I/Os; NULL: there are none, or several connections have such. */
static struct remote_end *find_requests(const struct remote *r, const struct remote_end *ios, size_t n,
					struct remote_end *requests, size_t m)
{
	const struct remote_queue *queue = &r->queues[ios->queue];
	struct remote_end *found = NULL;
	size_t end;

	/* without commands, the bdev may be any one */
	if (!is_known(queue) && !ios->is_sent)
		return NULL;
	for (size_t i = 0; i < m; i = end) {
		end = end_of(requests, i, m);
		if (end - i != n || (is_known(queue) && requests[i].queue != queue->connection) ||
		    !may_match(ios, &requests[i], n))
			continue;
		if (found)
			return NULL;
		found = &requests[i];
	}
	return found;
}

void remote_match(const struct remote *r, struct remote_end *ios, size_t n, struct remote_end *requests, size_t m)
{
	size_t end;

	qsort(ios, n, sizeof(*ios), by_order);
	qsort(requests, m, sizeof(*requests), by_order);
	for (size_t i = 0; i < n; i = end) {
		struct remote_end *found;

		end = end_of(ios, i, n);
		found = find_requests(r, &ios[i], end - i, requests, m);
		for (size_t k = 0; found && k < end - i; k++) {
			ios[i + k].match = found[k].node;
			found[k].match = ios[i + k].node;
		}
	}
}

void remote_free(struct remote *r)
{
	intern_free(&r->bdevs);
	map_free(&r->by_key);
	free(r->queues);
}
