/* SPDX-License-Identifier: BSD-3-Clause */
#include "readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

/* Two of the writer's blocks: measured with trace-dump | trace-join. */
enum { BLOCK = 2 * IO_BLOCK };

struct readahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int fd; /* a duplicate: the caller's number may be reused while the thread reads */
	struct block {
		char *data;   /* before it and after it, room for a rest */
		bool full;    /* belongs to the owner; otherwise to the thread */
		ssize_t size; /* what read(2) returned */
		int error;
	} blocks[2];
	unsigned next; /* the block that the owner waits for */
	bool started;  /* the owner has the other one */
	bool ended;    /* the end or an error was returned: the thread has ended */
	char *map;
	size_t map_size, rest_max;
};

static void *read_blocks(void *argument)
{
	struct readahead *r = argument;
	ssize_t got = 1;

	for (unsigned i = 0; got > 0; i ^= 1) {
		struct block *block = &r->blocks[i];
		int error;

		pthread_mutex_lock(&r->lock);
		while (block->full)
			pthread_cond_wait(&r->changed, &r->lock);
		pthread_mutex_unlock(&r->lock);
		got = io_read(r->fd, block->data, BLOCK);
		error = errno;
		pthread_mutex_lock(&r->lock);
		block->size = got;
		block->error = error;
		block->full = true;
		pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

static void release(struct readahead *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	io_close(&r->fd);
	if (r->map != MAP_FAILED)
		munmap(r->map, r->map_size);
	free(r);
}

struct readahead *readahead_start(int fd, size_t rest_max)
{
	struct readahead *r = mem_array(1, sizeof(*r));
	/* the block that makes a line too long is appended to it, too */
	size_t size = rest_max + 2 * BLOCK;

	/* pages of the room take no memory until something is carried over to them */
	r->map_size = 2 * size + rest_max;
	r->rest_max = rest_max;
	r->map = mmap(NULL, r->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (r->map != MAP_FAILED && r->fd >= 0) {
		r->blocks[0].data = r->map + rest_max;
		r->blocks[1].data = r->map + size + rest_max;
		if (pthread_create(&r->thread, NULL, read_blocks, r) == 0)
			return r;
	}
	release(r);
	return NULL;
}

bool readahead_ready(struct readahead *r)
{
	bool ready;

	pthread_mutex_lock(&r->lock);
	ready = r->blocks[r->next].full;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

bool readahead_wait(struct readahead *r, unsigned ms)
{
	struct timespec until;
	bool ready;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000 + (until.tv_nsec + ms % 1000 * 1000000L) / 1000000000;
	until.tv_nsec = (until.tv_nsec + ms % 1000 * 1000000L) % 1000000000;
	pthread_mutex_lock(&r->lock);
	while (!r->blocks[r->next].full && pthread_cond_timedwait(&r->changed, &r->lock, &until) == 0)
		;
	ready = r->blocks[r->next].full;
	pthread_mutex_unlock(&r->lock);
	return ready;
}

ssize_t readahead_next(struct readahead *r, struct slice rest, char **start)
{
	struct block *block = &r->blocks[r->next], *last = &r->blocks[r->next ^ 1];

	pthread_mutex_lock(&r->lock);
	while (!block->full)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	if (block->size <= 0) {
		*start = (char *)rest.p;
		r->ended = true;
		errno = block->error;
		return block->size;
	}
	/* copied for each block, a long line would take time as its square: it stays, and the blocks change places */
	if (r->started && rest.n > BLOCK && (size_t)(rest.p + rest.n - last->data) <= r->rest_max + BLOCK) {
		char *data = last->data;

		*start = (char *)rest.p;
		memcpy(*start + rest.n, block->data, block->size);
		last->data = block->data;
		block->data = data;
	} else {
		*start = block->data - rest.n;
		memmove(*start, rest.p, rest.n);
	}
	pthread_mutex_lock(&r->lock);
	if (r->started) {
		last->full = false;
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	r->started = true;
	r->next ^= 1;
	return block->size;
}

void readahead_close(struct readahead *r)
{
	if (!r || !r->ended)
		return;
	pthread_join(r->thread, NULL);
	release(r);
}
