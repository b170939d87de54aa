/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mappedtrace.h"
#include "mem.h"
#include "number.h"
#include "utf8.h"

/* Keeps the first trace; another one is an error. Returns NULL, or that. */
static char *keep(struct mappedtrace *found, const struct mappedtrace *next, pid_t pid)
{
	if (found->path)
		return mem_printf("several traces of process %d: %s and %s; name one of them", pid,
				  utf8_visible_copy(found->path), utf8_visible_copy(next->path));
	*found = *next;
	return NULL;
}

/* *unmapped: NULL, or in words that follow "it", why none was found. Returns NULL, or what is wrong. */
static char *find_mapped(struct mappedtrace *found, pid_t pid, const char **unmapped)
{
	struct mappedtrace_search search;
	struct mappedtrace next;
	const char *why;
	char *error = NULL;

	mappedtrace_begin(&search, pid, NULL, NULL);
	while (!error && ((why = mappedtrace_next(&search, &next)) || next.path))
		error = why ? mem_printf("%s: the trace of process %d %s", utf8_visible_copy(next.path), pid, why)
			    : keep(found, &next, pid);
	mappedtrace_end(&search);
	if (found->path)
		*unmapped = NULL;
	else if (kill(pid, 0) != 0 && errno == ESRCH)
		*unmapped = "is not running";
	else
		*unmapped = search.is_readable ? "has mapped none"
					       : "can only be read by its user, or with CAP_SYS_PTRACE";
	return error;
}

/* Opens a file for the process; returns why it is not used. */
static const char *open_named(const char *path, int *fd)
{
	struct stat st;

	*fd = mapping_open_regular(AT_FDCWD, path, MAPPING_NO_SYMLINKS, &st);
	if (*fd < 0)
		return errno == EINVAL || errno == ELOOP ? "not a regular file, as a trace is" : strerror(errno);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return "belongs to another user, who may have written anything into it; name the file to read it";
	return mappedtrace_check_size(st.st_size);
}

/* Of a process that has ended: the file with its name. Those of other users are no reason not to find it. */
static char *find_named(struct mappedtrace *found, pid_t pid, const char *unmapped)
{
	const char *refused = NULL, *path = NULL, *why;
	char *error = NULL, *shown, pattern[64];
	glob_t names;

	snprintf(pattern, sizeof(pattern), "/dev/shm/*_trace.pid%d", pid);
	if (glob(pattern, 0, NULL, &names) != 0)
		return mem_printf("no trace of process %d: it %s, and there is no %s; an application that was started "
				  "with a shared-memory id N (-i) has a trace called *.N: give that file",
				  pid, unmapped, pattern);
	for (size_t i = 0; i < names.gl_pathc && !error; i++) {
		struct mappedtrace next = {names.gl_pathv[i], -1};

		why = open_named(next.path, &next.fd);
		if (why) {
			refused = why;
			path = next.path;
			continue;
		}
		next.path = mem_copy(slice_of(next.path));
		error = keep(found, &next, pid);
	}
	if (!found->path && !error) {
		shown = utf8_visible_copy(path);
		error = mem_printf("%s: %s", shown, refused);
		free(shown);
	}
	globfree(&names);
	return error;
}

char *process_open_trace(pid_t pid, int *fd, char **error)
{
	struct mappedtrace found = {};
	const char *unmapped;

	*error = find_mapped(&found, pid, &unmapped);
	if (!*error && unmapped)
		*error = find_named(&found, pid, unmapped);
	*fd = found.fd;
	return *error ? NULL : found.path;
}

pid_t process_of_trace(const char *path)
{
	const char *name = strrchr(path, '.');
	uint64_t pid;

	if (name && strncmp(name, ".pid", 4) == 0 && number_decimal(slice_of(name + 4), &pid) && pid <= INT32_MAX)
		return pid;
	return 0;
}
