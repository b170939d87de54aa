/* SPDX-License-Identifier: BSD-3-Clause */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "out.h"

static int write_all(int fd, struct slice text)
{
	struct out out;
	int status;

	out_open(&out, fd);
	out_slice(&out, text);
	status = out_close(&out);
	return close(fd) == 0 ? status : -1;
}

bool textfile_has_other(const char *path)
{
	char start[32];
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, start, sizeof(start), 0) : 0;
	close(fd);
	return n > 0 && !slice_starts((struct slice){start, n}, "# TYPE ") &&
	       !slice_starts((struct slice){start, n}, "# EOF");
}

int textfile_replace(const char *path, struct slice text)
{
	/* of another name than what a collector looks for, in the same file system */
	char *part = mem_printf("%s.%d", path, getpid());
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), status = -1, error;

	if (fd >= 0)
		status = write_all(fd, text) == 0 && rename(part, path) == 0 ? 0 : -1;
	error = errno;
	if (fd >= 0 && status != 0)
		unlink(part);
	free(part);
	errno = error;
	return status;
}
