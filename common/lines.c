/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "out.h"

enum {
	BLOCK = 128 * 1024, /* as large as those that the tools write */
	SHOWN = 10,         /* complaints */
};

int lines_open(struct lines *l, const char *path)
{
	struct stat st;

	*l = (struct lines){.name = io_name(path), .fd = io_open(path), .cap = BLOCK};
	if (l->fd < 0)
		return -1;
	if (fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode))
		l->size = st.st_size;
	progress_start(&l->progress);
	l->buf = malloc(l->cap);
	return l->buf ? 0 : -1;
}

/* Reads on behind the unfinished line, which moves to the buffer's begin. Returns as read(2) does. */
static ssize_t fill(struct lines *l)
{
	size_t rest = l->end - l->start;
	ssize_t got;

	if (l->start) {
		memmove(l->buf, l->buf + l->start, rest);
		l->start = 0;
		l->end = rest;
	}
	if (l->end == l->cap) {
		size_t cap = 2 * l->cap;
		char *buf;

		if (l->cap >= LINES_MAX) {
			errno = EMSGSIZE;
			return -1;
		}
		buf = realloc(l->buf, cap);
		if (!buf)
			return -1;
		l->buf = buf;
		l->cap = cap;
	}
	progress_show(&l->progress, l->consumed, l->size, "bytes");
	if (l->tie)
		out_flush(l->tie);
	got = io_read(l->fd, l->buf + l->end, l->cap - l->end);
	if (got > 0) {
		l->end += got;
		l->consumed += got;
	}
	l->eof = got == 0;
	return got;
}

int lines_next(struct lines *l, struct slice *line)
{
	char *begin, *newline;
	size_t scanned = 0;

	for (;;) {
		begin = l->buf + l->start;
		newline = memchr(begin + scanned, '\n', l->end - l->start - scanned);
		if (newline)
			break;
		scanned = l->end - l->start;
		if (l->eof) {
			if (!scanned)
				return 0;
			newline = l->buf + l->end;
			break;
		}
		if (fill(l) < 0)
			return -1;
	}
	*line = (struct slice){begin, newline - begin};
	l->start = newline - l->buf;
	l->start += l->start < l->end;
	l->number++;
	return 1;
}

void lines_complain(struct lines *l, const char *format, ...)
{
	char what[256];
	va_list args;

	if (l->faulty++ >= SHOWN)
		return;
	progress_end(&l->progress);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	warnx("%s:%" PRIu64 ": %s", l->name, l->number, what);
}

int lines_close(struct lines *l, int error)
{
	progress_end(&l->progress);
	if (l->faulty > SHOWN)
		warnx("%s: and %" PRIu64 " more such lines", l->name, l->faulty - SHOWN);
	if (error == EMSGSIZE)
		warnx("%s:%" PRIu64 ": a line of more than 64 MiB: this is not a text file",
		      l->name, l->number + 1);
	else if (error)
		warnx("%s: %s", l->name, strerror(error));
	if (l->fd > STDIN_FILENO)
		close(l->fd);
	free(l->buf);
	l->buf = NULL;
	return error || l->faulty ? -1 : 0;
}
