/* SPDX-License-Identifier: BSD-3-Clause */
#include "libraries.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the dynamic linker to list libraries. Returns the pipe to read, or NULL with errno. */
static FILE *list_libraries(const char *linker, const char *path, pid_t *pid)
{
	int fds[2], error;
	FILE *list;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return NULL;
	list = fdopen(fds[0], "r");
	*pid = list ? fork() : -1;
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fds[1], STDOUT_FILENO) < 0 ||
		    dup2(null, STDERR_FILENO) < 0)
			_exit(127);
		execl(linker, linker, "--list", path, NULL);
		_exit(127);
	}
	error = errno;
	close(fds[1]);
	if (*pid > 0)
		return list;
	if (list)
		fclose(list);
	else
		close(fds[0]);
	errno = error;
	return NULL;
}

/* Cuts the path out of a line: NAME => PATH (ADDRESS), or PATH (ADDRESS). NULL: the line has no path. */
static char *library_path(char *line)
{
	char *path = strstr(line, " => "), *end = strrchr(line, '(');

	path = path ? path + strlen(" => ") : line + strspn(line, " \t");
	if (!end || end <= path || end[-1] != ' ')
		return NULL;
	end[-1] = 0;
	/* the vDSO, which the kernel provides, has no file */
	return strchr(path, '/') ? path : NULL;
}

static int add_libraries(struct target *t, const char *linker, const char *path)
{
	pid_t pid, waited;
	FILE *list = list_libraries(linker, path, &pid);
	char *line = NULL;
	size_t cap = 0;
	int result = 0, status;

	if (!list) {
		warn("%s", linker);
		return -1;
	}
	while (result == 0 && getline(&line, &cap, list) > 0) {
		const char *library = library_path(line);

		if (library)
			result = target_add_file(t, library);
	}
	/* an error, or no memory for a line */
	if (result == 0 && !feof(list)) {
		warn("%s", linker);
		result = -1;
	}
	free(line);
	fclose(list);
	while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (waited == pid && (!WIFEXITED(status) || WEXITSTATUS(status)))
		warnx("%s: its dynamic linker %s does not list its libraries: probes in these are not found", path,
		      linker);
	return result;
}

int libraries_add(const struct command *c, struct target *t)
{
	const char *linker;

	if (target_add_file(t, c->path) != 0) {
		warnx("when '%s' starts the program that has the probes, name that one with -x, and follow forks with "
		      "-F",
		      c->argv[0]);
		return -1;
	}
	linker = t->files[t->n - 1].usdt.interpreter;
	return linker ? add_libraries(t, linker, c->path) : 0;
}
