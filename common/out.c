/* SPDX-License-Identifier: BSD-3-Clause */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "io.h"

int out_open(struct out *o, int fd)
{
	/* fails where it is no pipe or not allowed, which does no harm */
	fcntl(fd, F_SETPIPE_SZ, 2 * IO_BLOCK);
	*o = (struct out){.fd = fd, .cap = IO_BLOCK, .buf = malloc(IO_BLOCK)};
	return o->buf ? 0 : -1;
}

int out_flush(struct out *o)
{
	if (!o->error && io_write(o->fd, o->buf, o->len) != 0)
		o->error = errno;
	o->len = 0;
	errno = o->error;
	return o->error ? -1 : 0;
}

int out_close(struct out *o)
{
	int status = out_flush(o);

	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
	return status;
}

char *out_make_room(struct out *o, size_t n)
{
	out_flush(o);
	if (n > o->cap) {
		char *buf = realloc(o->buf, n);

		if (!buf) {
			o->error = ENOMEM;
			return NULL;
		}
		o->buf = buf;
		o->cap = n;
	}
	return o->buf;
}

void out_bytes(struct out *o, const void *p, size_t n)
{
	if (n > o->cap - o->len)
		out_flush(o);
	if (n > o->cap) {
		if (!o->error && io_write(o->fd, p, n) != 0)
			o->error = errno;
		return;
	}
	memcpy(o->buf + o->len, p, n);
	o->len += n;
}

void out_printf(struct out *o, const char *format, ...)
{
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(o->buf + o->len, o->cap - o->len, format, args);
	if (n >= 0 && (size_t)n >= o->cap - o->len) {
		char *room = out_make_room(o, n + 1);

		if (room)
			vsnprintf(room, n + 1, format, again);
	}
	if (n > 0 && (size_t)n < o->cap - o->len)
		o->len += n;
	va_end(again);
	va_end(args);
}
