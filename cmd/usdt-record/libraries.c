/* SPDX-License-Identifier: BSD-3-Clause */
#include "libraries.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "io.h"

/* Runs the dynamic linker to list libraries. Returns the pipe to read, or NULL with errno. */
static FILE *list_libraries(struct child *child, const char *linker, const char *path)
{
	char *const argv[] = {(char *)linker, "--list", (char *)path, NULL};
	FILE *list = NULL;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	if (child_start(child, linker, argv, &(struct child_setup){-1, ends[1], -1, -1, 0}) == 0)
		list = fdopen(ends[0], "r");
	io_close(&ends[1]);
	if (!list)
		io_close(&ends[0]);
	return list;
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
	struct child child;
	FILE *list = list_libraries(&child, linker, path);
	char *line = NULL;
	size_t cap = 0;
	int result = 0;

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
	child_wait(&child);
	if (child.status)
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
