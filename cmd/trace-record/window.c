/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "io.h"
#include "minmax.h"
#include "probes.h"

enum {
	BLOCK = 1 << 16,
	PAGE = 4096,
};

bool window_open(struct window *w, const struct folder *folder, const char *name, uint64_t keep_ms, uint64_t max_size,
		 struct probes *old)
{
	*w = (struct window){.keep_ms = keep_ms, .max_size = max_size, .old = old};
	w->fd = openat(folder->fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return w->fd >= 0;
}

/* Passes on the lines until there. Returns where the first one starts that goes on. */
static uint64_t pass_on(const struct window *w, uint64_t until)
{
	uint64_t from = w->start;
	char block[BLOCK];

	while (from < until) {
		ssize_t n = pread(w->fd, block, min_u64(until - from, BLOCK), from);
		const char *last = n > 0 ? memrchr(block, '\n', n) : NULL;
		struct slice text = {block, last ? last + 1 - block : 0};

		/* no tool writes lines that are so long */
		if (!last && n < BLOCK)
			break;
		from += last ? text.n : BLOCK;
		while (text.n)
			probes_add(w->old, slice_cut_line(&text));
	}
	return from;
}

/* Drops what is older than the oldest mark; the file system frees whole pages. */
static bool drop(struct window *w)
{
	uint64_t from = w->start / PAGE * PAGE;

	w->start = w->old ? pass_on(w, w->marks[0].size) : w->marks[0].size;
	memmove(w->marks, w->marks + 1, --w->num_marks * sizeof(*w->marks));
	return w->start == from ||
	       fallocate(w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, w->start - from) == 0;
}

bool window_slide(struct window *w, uint64_t now)
{
	const struct window_mark *last = w->num_marks ? &w->marks[w->num_marks - 1] : NULL;
	bool good = true;
	struct stat st;

	if (w->fd < 0 || fstat(w->fd, &st) != 0)
		return w->fd < 0;
	if (!last || now - last->time >= w->keep_ms / WINDOW_STEPS ||
	    st.st_size - last->size >= w->max_size / WINDOW_STEPS) {
		if (w->num_marks == WINDOW_MARKS)
			good = drop(w);
		w->marks[w->num_marks++] = (struct window_mark){now, st.st_size};
	}
	while (good && w->num_marks > 1 &&
	       (now - w->marks[0].time >= w->keep_ms || st.st_size - w->start > w->max_size))
		good = drop(w);
	return good;
}

/* Where the next line starts, at `from` or after it; the size if no line starts there. */
static uint64_t next_line(int fd, uint64_t from, uint64_t size)
{
	char block[BLOCK];

	while (from < size) {
		ssize_t n = pread(fd, block, size - from < BLOCK ? size - from : BLOCK, from);
		const char *end = n > 0 ? memchr(block, '\n', n) : NULL;

		if (end)
			return from + (end + 1 - block);
		if (n <= 0)
			break;
		from += n;
	}
	return size;
}

bool window_copy(const struct window *w, int to)
{
	struct slice old = w->old ? probes_lines(w->old) : (struct slice){};
	uint64_t from, end = old.n, copied = old.n;
	char block[BLOCK];
	struct stat st;

	if (fstat(w->fd, &st) != 0 || io_write(to, old.p, old.n) != 0)
		return false;
	from = w->start ? next_line(w->fd, w->start - 1, st.st_size) : 0;
	while (from < (uint64_t)st.st_size) {
		uint64_t left = st.st_size - from;
		ssize_t n = pread(w->fd, block, left < BLOCK ? left : BLOCK, from);
		const char *last = n > 0 ? memrchr(block, '\n', n) : NULL;

		if (n <= 0 || io_write(to, block, n) != 0)
			return false;
		if (last)
			end = copied + (last + 1 - block);
		copied += n;
		from += n;
	}
	/* the tool has written part of the last line */
	return ftruncate(to, end) == 0;
}

void window_close(struct window *w)
{
	io_close(&w->fd);
}
