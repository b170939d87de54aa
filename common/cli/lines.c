/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "out.h"
#include "readahead.h"
#include "utf8.h"

enum {
	AHEAD_MIN = 8 * IO_BLOCK,
	COMPLAINTS_SHOWN = 10,
	/* bytes that are enough to recognise the kind of an input without a newline */
	KIND_BYTES = 512,
};

int lines_open(struct lines *l, const char *path)
{
	return lines_open_fd(l, io_open(path), io_name(path));
}

int lines_open_fd(struct lines *l, int fd, const char *name)
{
	struct stat st;

	*l = (struct lines){.name = name, .fd = fd, .cap = IO_BLOCK};
	if (l->fd < 0)
		return -1;
	if (fstat(l->fd, &st) == 0) {
		l->size = S_ISREG(st.st_mode) ? st.st_size : 0;
		l->is_pipe = S_ISFIFO(st.st_mode);
	}
	l->buf = l->own = mem_resize(NULL, l->cap, 1);
	return 0;
}

void lines_expect(struct lines *l, enum input_kind wanted, const char *reader)
{
	l->wanted = wanted;
	l->reader = reader;
}

/*
 * Checks the kind of the input once. Returns -1 with errno if it is another kind than wanted.
 */
static int check_kind(struct lines *l)
{
	struct slice start = slice_between(l->buf + l->start, l->buf + l->end);

	if (l->kind_checked || (!l->eof && start.n < KIND_BYTES && !memchr(start.p, '\n', start.n)))
		return 0;
	l->kind_checked = true;
	if (!l->wanted || !start.n)
		return 0;
	l->is = kind_of(start, l->wanted);
	if (l->is == l->wanted)
		l->is = KIND_UNKNOWN;
	errno = EMEDIUMTYPE;
	return l->is ? -1 : 0;
}

/*
 * Reads on after the unfinished line, which moves to the start of the buffer. Returns as read(2)
 * does.
 */
static ssize_t read_here(struct lines *l)
{
	size_t rest = l->end - l->start;

	/* a long rest moves only when the buffer is full */
	if (rest <= l->cap / 2 || l->end == l->cap) {
		memmove(l->buf, l->buf + l->start, rest);
		l->start = 0;
		l->end = rest;
	}
	if (rest > l->cap / 2 && !l->start) {
		l->cap *= 2;
		l->buf = l->own = mem_resize(l->own, l->cap, 1);
	}
	return io_read(l->fd, l->buf + l->end, l->cap - l->end);
}

/* The same from the thread that reads ahead. */
static ssize_t read_ahead(struct lines *l)
{
	struct slice rest = slice_between(l->buf + l->start, l->buf + l->end);
	ssize_t got = readahead_next(l->ahead, rest, &l->buf);

	l->start = 0;
	l->end = rest.n;
	return got;
}

static void call_hook(struct lines *l, enum lines_moment moment)
{
	if (l->hook)
		l->hook(l->context, l, moment);
}

static ssize_t fill(struct lines *l)
{
	ssize_t got;

	if (l->end - l->start >= LINES_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	/* start the thread once the input is known to be long; if that fails, read here */
	if (l->is_pipe && !l->ahead && l->consumed > AHEAD_MIN) {
		l->ahead = readahead_start(l->fd, LINES_MAX);
		l->is_pipe = l->ahead;
	}
	call_hook(l, l->ahead && readahead_ready(l->ahead) ? LINES_READ : LINES_WAIT);
	got = l->ahead ? read_ahead(l) : read_here(l);
	if (got > 0) {
		l->ascii = utf8_is_ascii((struct slice){l->buf + l->end, got}) ? l->ascii + got : 0;
		l->end += got;
		l->consumed += got;
	}
	l->eof = got == 0;
	return got >= 0 && check_kind(l) != 0 ? -1 : got;
}

bool lines_ready(struct lines *l, struct slice *line)
{
	size_t rest = l->end - l->start;
	char *start = l->buf + l->start, *newline;

	newline = memchr(start + l->scanned, '\n', rest - l->scanned);
	if (!newline) {
		l->scanned = rest;
		if (!l->eof || !rest)
			return false;
		newline = start + rest;
	}
	*line = slice_between(start, newline);
	l->start = newline - l->buf;
	l->start += l->start < l->end;
	l->scanned = 0;
	l->number++;
	return true;
}

void lines_unread(struct lines *l, struct slice line)
{
	l->start = line.p - l->buf;
	l->number--;
}

int lines_next(struct lines *l, struct slice *line)
{
	while (!lines_ready(l, line)) {
		if (l->eof)
			return 0;
		if (fill(l) < 0)
			return -1;
	}
	return 1;
}

int lines_detach(struct lines *l, struct slice *start)
{
	int fd = l->fd;

	*start = slice_between(l->buf + l->start, l->buf + l->end);
	l->fd = -1;
	l->is = KIND_UNKNOWN;
	return fd;
}

void lines_attach(struct lines *l, int fd)
{
	l->fd = fd;
	l->is_pipe = true;
	l->eof = l->kind_checked = false;
	l->size = l->consumed = l->ascii = l->start = l->end = l->scanned = 0;
}

bool lines_repair_line(struct slice *line, struct out *to)
{
	if (utf8_is_valid(*line))
		return false;
	to->len = 0;
	out_utf8(to, *line);
	*line = out_contents(to);
	return true;
}

bool lines_wait(const struct lines *l, unsigned ms)
{
	struct pollfd pollfd = {l->fd, POLLIN, 0};

	return l->ahead ? readahead_wait(l->ahead, ms) : poll(&pollfd, 1, ms) != 0;
}

void lines_follow(struct lines *l, bool grows)
{
	struct stat st;

	l->is_pipe = false;
	l->grows = grows && fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether the file has become shorter than what was read, or its name now belongs to another file. */
static bool is_stale(const struct lines *l)
{
	struct stat here, there;

	if (fstat(l->fd, &here) != 0 || (uint64_t)here.st_size < l->consumed)
		return true;
	return l->fd != STDIN_FILENO &&
	       (stat(l->name, &there) != 0 || there.st_ino != here.st_ino || there.st_dev != here.st_dev);
}

int lines_more(struct lines *l)
{
	ssize_t got;

	if (l->eof || (!l->grows && poll(&(struct pollfd){l->fd, POLLIN, 0}, 1, 0) <= 0))
		return 0;
	got = fill(l);
	if (got == 0 && l->grows) {
		l->eof = is_stale(l);
		errno = ESTALE;
		return l->eof ? -1 : 0;
	}
	/* a last line without its newline is a line now */
	return got < 0 ? -1 : got > 0 || l->end > l->start;
}

int lines_pollfd(const struct lines *l)
{
	return l->eof || l->grows ? -1 : l->fd;
}

void lines_complain(struct lines *l, const char *format, ...)
{
	char what[256];
	va_list args;

	if (l->faulty++ >= COMPLAINTS_SHOWN || l->again)
		return;
	call_hook(l, LINES_REPORT);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	warnx("%s:%" PRIu64 ": %s", l->name, l->number, what);
}

int lines_close(struct lines *l, int error)
{
	call_hook(l, LINES_REPORT);
	l->failed = error;
	if (error == EISDIR && l->wanted)
		l->is = KIND_DIRECTORY;
	if (l->faulty > COMPLAINTS_SHOWN && !l->again)
		warnx("%s: and %" PRIu64 " more such line%s", l->name, l->faulty - COMPLAINTS_SHOWN,
		      l->faulty - COMPLAINTS_SHOWN == 1 ? "" : "s");
	if (error == EMSGSIZE)
		warnx("%s:%" PRIu64 ": a line of more than 64 MiB: this is not a text file", l->name, l->number + 1);
	else if (l->is && !l->again)
		kind_refuse(l->name, l->is, l->wanted, l->reader);
	else if (error == ESTALE)
		warnx("%s: was truncated or replaced, and is not followed any more", l->name);
	else if (error && !l->is)
		warnx("%s: %s", l->name, strerror(error));
	if (l->fd > STDIN_FILENO)
		close(l->fd);
	readahead_close(l->ahead);
	l->ahead = NULL;
	free(l->own);
	l->buf = l->own = NULL;
	return error || l->faulty ? -1 : 0;
}

int lines_each(struct lines *l, lines_callback *callback, void *context)
{
	struct slice line;
	const char *error;
	int got;

	while ((got = lines_next(l, &line)) > 0) {
		error = callback(context, line);
		if (error)
			lines_complain(l, "%s", error);
	}
	return lines_close(l, got < 0 ? errno : 0);
}
