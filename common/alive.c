/* SPDX-License-Identifier: BSD-3-Clause */
#include "alive.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

int alive_add(struct alive *a, pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno == ESRCH)
		warnx("process %d: there is none", pid);
	else if (fd < 0 && (errno == EINVAL || errno == ENOENT))
		warnx("process %d: a thread of another process", pid);
	else if (fd < 0)
		warn("process %d", pid);
	if (fd < 0)
		return -1;
	a->fds[a->n++] = fd;
	return 0;
}

bool alive_none(struct alive *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct pollfd process = {a->fds[i], POLLIN, 0};

		if (a->fds[i] < 0)
			continue;
		if (poll(&process, 1, 0) <= 0)
			return false;
		close(a->fds[i]);
		a->fds[i] = -1;
	}
	return a->n;
}
