/* SPDX-License-Identifier: BSD-3-Clause */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int regular_open(int dir, const char *path, uint64_t resolve, struct stat *st)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	int place = syscall(SYS_openat2, dir, path, &how, sizeof(how)), fd = -1, error;
	char link[32];

	if (place < 0)
		return -1;
	if (fstat(place, st) == 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		errno = EINVAL;
		if (S_ISREG(st->st_mode))
			fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	error = errno;
	close(place);
	errno = error;
	return fd;
}
