/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

enum {
	EXIT_CANNOT_RUN = 126,
	EXIT_NO_COMMAND = 127,
};

/* Sets errno if it is not. */
static bool is_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || access(path, X_OK) != 0)
		return false;
	errno = EACCES;
	return S_ISREG(st.st_mode);
}

int command_find(struct command *c, char **argv)
{
	const char *directories = getenv("PATH");
	int error = ENOENT;

	*c = (struct command){.argv = argv, .gate = -1, .error = -1};
	if (strchr(argv[0], '/')) {
		c->path = mem_copy(slice_of(argv[0]));
		return is_executable(c->path) ? 0 : -1;
	}
	for (const char *p = directories ? directories : "/bin:/usr/bin";; p++) {
		int n = strcspn(p, ":");

		/* an empty one is the working directory */
		c->path = mem_printf("%.*s%s%s", n, p, n ? "/" : "./", argv[0]);
		if (is_executable(c->path))
			return 0;
		/* not what is in a folder that may not be searched */
		if (errno == EACCES && access(c->path, F_OK) == 0)
			error = EACCES;
		free(c->path);
		c->path = NULL;
		p += n;
		if (!*p)
			break;
	}
	errno = error;
	return -1;
}

int command_cannot_run(const char *name)
{
	int status = errno == ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN;
	bool is_number = *name && !name[strspn(name, "0123456789")];

	warnx("%s: %s%s", io_name(name), strerror(errno), is_number ? "; -p is for a process id" : "");
	return status;
}

static _Noreturn void run(const struct command *c, int gate, int error)
{
	char go;

	/* the tool died before it was ready */
	if (io_read(gate, &go, 1) != 1)
		_exit(EXIT_NO_COMMAND);
	execv(c->path, c->argv);
	io_write(error, &errno, sizeof(errno));
	_exit(EXIT_NO_COMMAND);
}

int command_start(struct command *c)
{
	int gate[2], error[2];

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(error, O_CLOEXEC) != 0) {
		close(gate[0]);
		close(gate[1]);
		return -1;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(gate[1]);
		close(error[0]);
		run(c, gate[0], error[1]);
	}
	close(gate[0]);
	close(error[1]);
	c->gate = gate[1];
	c->error = error[0];
	return c->pid < 0 ? -1 : 0;
}

int command_release(struct command *c)
{
	int failed = 0;

	if (io_write(c->gate, "", 1) != 0)
		return -1;
	io_close(&c->gate);
	/* a successful exec closes the pipe */
	if (io_read(c->error, &failed, sizeof(failed)) != sizeof(failed))
		failed = 0;
	io_close(&c->error);
	errno = failed;
	return failed ? -1 : 0;
}

int command_wait(struct command *c)
{
	while (waitpid(c->pid, &c->status, 0) < 0)
		if (errno != EINTR) {
			warn("%s: how it ended", c->path);
			return EXIT_FAILURE;
		}
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}
