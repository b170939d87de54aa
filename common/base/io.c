/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem.h"
#include "utf8.h"

int io_open(const char *path)
{
	return strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
}

/* The visible form of a path. Messages may be many, so each is made once. */
static const char *visible(const char *path)
{
	static struct name {
		const char *path;
		char *visible;
	} * names;
	static size_t n, cap;

	for (size_t i = 0; i < n; i++)
		if (names[i].path == path)
			return names[i].visible;
	mem_add(names, n, cap, (struct name){path, utf8_visible_copy(path)});
	return names[n - 1].visible;
}

const char *io_name(const char *path)
{
	if (strcmp(path, "-") == 0)
		return "<stdin>";
	return utf8_plain(slice_of(path)) == strlen(path) ? path : visible(path);
}

/* Whether the call that just failed is worth repeating; waits until it is. */
static bool must_retry(int fd, short events)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return poll(&(struct pollfd){fd, events, 0}, 1, -1) >= 0 || errno == EINTR;
	return errno == EINTR;
}

ssize_t io_read(int fd, void *buf, size_t n)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && must_retry(fd, POLLIN));
	return got;
}

int io_pread(int fd, void *buf, size_t n, off_t from)
{
	for (ssize_t got; n; n -= got, from += got, buf = (char *)buf + got) {
		do
			got = pread(fd, buf, n, from);
		while (got < 0 && errno == EINTR);
		if (!got)
			errno = ENODATA;
		if (got <= 0)
			return -1;
	}
	return 0;
}

int io_write(int fd, const void *buf, size_t n)
{
	const char *p = buf;

	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && !must_retry(fd, POLLOUT))
			return -1;
		if (put > 0) {
			p += put;
			n -= put;
		}
	}
	return 0;
}

void io_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

char *io_copy(int from)
{
	int to = memfd_create("copy", MFD_CLOEXEC);
	char block[IO_BLOCK];
	ssize_t n = -1;

	while (to >= 0 && (n = io_read(from, block, sizeof(block))) > 0)
		if (io_write(to, block, n) != 0)
			return NULL;
	return n == 0 ? mem_printf("/proc/self/fd/%d", to) : NULL;
}
