/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

int io_open(const char *path)
{
	return strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
}

const char *io_name(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
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
