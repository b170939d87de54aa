/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered output with one write(2) per large block. The first error sticks: what comes after it is
 * discarded, so that a loop looks at `error` when it likes and main reports it once.
 */
#ifndef OUT_H
#define OUT_H

#include <stddef.h>

#include "slice.h"

struct out {
	int fd;
	int error; /* errno of the first write that failed, else 0 */
	char *buf;
	size_t len, cap;
};

/* Returns -1 with errno when there is no memory. */
int out_open(struct out *o, int fd);

/* Writes what is buffered and frees the buffer; the descriptor stays open. Returns 0, or -1 with errno. */
int out_close(struct out *o);

int out_flush(struct out *o);

/* Slow path of out_room(). */
char *out_make_room(struct out *o, size_t n);

/*
 * Room for n bytes, to be filled by the caller, who then says with out_commit() how far it came. Never
 * NULL for n up to a block; for more, NULL with `error` set when there is no memory.
 */
static inline char *out_room(struct out *o, size_t n)
{
	return o->cap - o->len >= n ? o->buf + o->len : out_make_room(o, n);
}

static inline void out_commit(struct out *o, const char *end)
{
	o->len = end - o->buf;
}

void out_bytes(struct out *o, const void *p, size_t n);

static inline void out_slice(struct out *o, struct slice s)
{
	out_bytes(o, s.p, s.n);
}

static inline void out_text(struct out *o, const char *text)
{
	out_bytes(o, text, strlen(text));
}

void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
