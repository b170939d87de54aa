/* SPDX-License-Identifier: BSD-3-Clause */
#include "usdt-record-libraries.h"

#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The path of the file's dynamic linker, to be freed; NULL when it is linked statically. */
static char *interpreter(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	char *path = NULL;
	GElf_Phdr segment;
	size_t n;

	if (elf && elf_getphdrnum(elf, &n) == 0)
		for (size_t i = 0; i < n && !path; i++) {
			if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_INTERP ||
			    segment.p_filesz > 4096)
				continue;
			path = calloc(1, segment.p_filesz + 1);
			if (path && pread(fd, path, segment.p_filesz, segment.p_offset) !=
					    (ssize_t)segment.p_filesz) {
				free(path);
				path = NULL;
			}
		}
	elf_end(elf);
	return path;
}

/* Runs the dynamic linker to list libraries; returns the end of a pipe to read, or NULL with errno. */
static FILE *list_libraries(const char *linker, const char *path, pid_t *pid)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fds[1], STDOUT_FILENO) < 0 ||
		    dup2(null, STDERR_FILENO) < 0)
			_exit(127);
		execl(linker, linker, "--list", path, NULL);
		_exit(127);
	}
	close(fds[1]);
	if (*pid < 0) {
		close(fds[0]);
		return NULL;
	}
	return fdopen(fds[0], "r");
}

/* NAME => PATH (ADDRESS), or PATH (ADDRESS). The path, within the line, or NULL. */
static char *library_path(char *line)
{
	char *path = strstr(line, " => "), *end = strrchr(line, '(');

	path = path ? path + strlen(" => ") : line + strspn(line, " \t");
	if (!end || end <= path || end[-1] != ' ')
		return NULL;
	end[-1] = 0;
	/* the kernel's own has no file */
	return strchr(path, '/') ? path : NULL;
}

static int add_libraries(struct target *t, const char *linker, const char *path)
{
	pid_t pid;
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
	free(line);
	fclose(list);
	if (waitpid(pid, &status, 0) == pid && (!WIFEXITED(status) || WEXITSTATUS(status)))
		warnx("%s: its dynamic linker %s does not list its libraries: probes in these are not found",
		      path, linker);
	return result;
}

int libraries_add(const struct command *c, struct target *t)
{
	char *linker;
	int result = 0;

	if (target_add_file(t, c->path) != 0) {
		warnx("when '%s' starts the program that has the probes, name that one with -x, and follow forks with -F",
		      c->argv[0]);
		return -1;
	}
	linker = interpreter(t->files[t->n - 1].fd);
	if (linker)
		result = add_libraries(t, linker, c->path);
	free(linker);
	return result;
}
