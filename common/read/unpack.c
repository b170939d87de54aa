/* SPDX-License-Identifier: BSD-3-Clause */
#include "unpack.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

/* Passes a pipe on, after what was read from it. */
struct feeder {
	int from, to;
	struct slice start;
};

static void *feed(void *context)
{
	struct feeder *f = context;
	char *block = mem_array(IO_BLOCK, 1);
	ssize_t got = f->start.n;
	sigset_t all;

	/* SIGPIPE: the program may end before its input does */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (const char *p = f->start.p; got > 0 && io_write(f->to, p, got) == 0; p = block)
		got = io_read(f->from, block, IO_BLOCK);
	close(f->to);
	if (f->from > STDIN_FILENO)
		close(f->from);
	free(block);
	free((char *)f->start.p);
	free(f);
	return NULL;
}

/* Returns what the program reads instead of fd, if that cannot start again; -1 with errno. */
static int start_feeder(int fd, struct slice start)
{
	struct feeder *f = mem_array(1, sizeof(*f));
	pthread_t thread;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		free(f);
		return -1;
	}
	*f = (struct feeder){fd, ends[1], mem_slice(start)};
	errno = pthread_create(&thread, NULL, feed, f);
	if (errno) {
		close(ends[0]);
		close(ends[1]);
		free((char *)f->start.p);
		free(f);
		return -1;
	}
	/* it may wait for input that is not needed any more */
	pthread_detach(thread);
	return ends[0];
}

static int start_program(struct unpack *u, char *path, char *option, int in)
{
	char *argv[] = {(char *)u->program, option, NULL};
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	error = child_start(&u->child, path, argv, &(struct child_setup){in, ends[1], STDERR_FILENO, -1, 0});
	close(ends[1]);
	if (error == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

int unpack_open(struct unpack *u, enum input_kind kind, int fd, struct slice start)
{
	const bool is_packed = kind == KIND_XZ || kind == KIND_GZIP;
	const char *program = kind == KIND_XZ ? "xz" : is_packed ? "gzip" : "trace-dump";
	char *path = child_tool(program);
	int in = fd, out = -1;

	*u = (struct unpack){};
	if (!path) {
		errno = ENOENT;
		return -1;
	}
	u->program = program;
	if (lseek(fd, -(off_t)start.n, SEEK_CUR) < 0)
		in = start_feeder(fd, start);
	if (in >= 0)
		out = start_program(u, path, is_packed ? "-dc" : "-q", in);
	if (in > STDIN_FILENO)
		close(in);
	free(path);
	return out;
}

int unpack_file(struct unpack *u, int fd)
{
	char start[8];
	ssize_t n = fd >= 0 ? pread(fd, start, sizeof(start), 0) : 0;
	enum input_kind kind = n > 0 ? kind_of((struct slice){start, n}, KIND_UNKNOWN) : KIND_UNKNOWN;
	int out;

	*u = (struct unpack){};
	if (kind != KIND_XZ && kind != KIND_GZIP)
		return fd;
	out = unpack_open(u, kind, fd, (struct slice){start, 0});
	return out < 0 && errno == ENOENT ? fd : out;
}

int unpack_close(struct unpack *u, const char *name, bool was_read)
{
	char *ending;

	if (!u->child.pid)
		return 0;
	if (!was_read)
		child_signal(&u->child, SIGTERM);
	child_wait(&u->child);
	/* what follows a trace is not read */
	if (!was_read || !u->child.status || (WIFSIGNALED(u->child.status) && WTERMSIG(u->child.status) == SIGPIPE))
		return 0;
	ending = child_ending(&u->child);
	warnx("%s: %s: %s", name, u->program, ending);
	free(ending);
	return -1;
}
