/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "io.h"
#include "signals.h"

enum { READER_MS = 50 }; /* between two attempts to open a pipe without a reader */

static bool is_standard(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* Opens a named pipe once it has a reader. Returns -1 after a message, also if a signal ended the wait. */
static int wait_for_reader(const char *path, int flags, bool quiet)
{
	struct sigaction before[SIGNALS];
	int fd;

	signals_catch(before);
	cli_notice(quiet, "%s: a pipe: waits for a process that reads from it", io_name(path));
	do {
		signals_poll(NULL, 0, READER_MS);
		fd = open(path, flags);
	} while (fd < 0 && errno == ENXIO && !signals_caught());
	signals_restore(before);
	if (fd < 0 && signals_caught())
		warnx("%s: no process has opened this pipe to read from it", io_name(path));
	else if (fd < 0)
		warn("%s", io_name(path));
	return fd;
}

static bool is_pipe(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int open_path(const char *path, bool quiet)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | (geteuid() == 0 ? O_NOFOLLOW : 0);
	int fd = open(path, flags | O_NONBLOCK, 0666);

	if (fd < 0 && errno == ENXIO && is_pipe(path))
		fd = wait_for_reader(path, (flags & ~O_CREAT) | O_NONBLOCK, quiet);
	else if (fd < 0 && errno == ELOOP)
		warnx("%s: a symbolic link, which root does not follow here: name the file itself", io_name(path));
	else if (fd < 0)
		warn("%s", io_name(path));
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

int output_open(struct out *out, const char *path, bool quiet)
{
	int fd = STDOUT_FILENO;

	if (!is_standard(path)) {
		fd = open_path(path, quiet);
	} else if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		/* it was closed, and cli_parse() opened it for reading */
		errno = EBADF;
		warn("<stdout>");
		fd = -1;
	}
	if (fd < 0)
		return -1;
	out_open(out, fd);
	return 0;
}

int output_close(struct out *out, const char *path)
{
	if (is_standard(path))
		return cli_close(out, EXIT_SUCCESS);
	if (out_close(out) == 0)
		return EXIT_SUCCESS;
	warn("%s", io_name(path));
	return EXIT_FAILURE;
}
