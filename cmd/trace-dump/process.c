/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <err.h>
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
#include "regular.h"
#include "utf8.h"

/* Returns NULL, or in words that follow "it", why none was found. */
static const char *find_mapped(struct mappedtrace *found, pid_t pid)
{
	struct mappedtrace_search search;
	struct mappedtrace next;
	const char *error;

	*found = (struct mappedtrace){};
	mappedtrace_begin(&search, pid, NULL, NULL);
	while ((error = mappedtrace_next(&search, &next)) || next.path) {
		if (error)
			errx(EXIT_FAILURE, "%s: the trace of process %d %s", utf8_visible_copy(next.path), pid, error);
		if (found->path)
			errx(EXIT_FAILURE, "several traces of process %d: %s and %s; name one of them", pid,
			     utf8_visible_copy(found->path), utf8_visible_copy(next.path));
		*found = next;
	}
	mappedtrace_end(&search);
	if (found->path)
		return NULL;
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return "is not running";
	return search.is_readable ? "has mapped none" : "can only be read by its user and by root";
}

/* Opens a file for the process; returns why it is not used. */
static const char *open_named(const char *path, int *fd)
{
	struct stat st;

	*fd = regular_open(AT_FDCWD, path, REGULAR_NO_SYMLINKS, &st);
	if (*fd < 0)
		return errno == EINVAL || errno == ELOOP ? "not a regular file, as a trace is" : strerror(errno);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return "belongs to another user, who may have written anything into it; name the file to read it";
	return mappedtrace_check_size(st.st_size);
}

/* Of a process that has ended: the file with its name. Those of other users are no reason not to find it. */
static void find_named(struct mappedtrace *found, pid_t pid, const char *unmapped)
{
	const char *error = NULL, *refused = NULL;
	char pattern[64];
	glob_t names;

	snprintf(pattern, sizeof(pattern), "/dev/shm/*_trace.pid%d", pid);
	if (glob(pattern, 0, NULL, &names) != 0)
		errx(EXIT_FAILURE,
		     "no trace of process %d: it %s, and there is no %s; an application that was started with a "
		     "shared-memory id N (-i) has a trace called *.N: give that file",
		     pid, unmapped, pattern);
	for (size_t i = 0; i < names.gl_pathc; i++) {
		char *path = names.gl_pathv[i];
		const char *why;
		int fd;

		why = open_named(path, &fd);
		if (why) {
			error = why;
			refused = path;
			continue;
		}
		if (found->path)
			errx(EXIT_FAILURE, "several traces of process %d: %s and %s; name one of them", pid,
			     utf8_visible_copy(found->path), utf8_visible_copy(path));
		*found = (struct mappedtrace){mem_copy(slice_of(path)), fd};
	}
	if (!found->path)
		errx(EXIT_FAILURE, "%s: %s", utf8_visible_copy(refused), error);
	globfree(&names);
}

char *process_open_trace(pid_t pid, int *fd)
{
	struct mappedtrace found;
	const char *unmapped = find_mapped(&found, pid);

	if (unmapped)
		find_named(&found, pid, unmapped);
	*fd = found.fd;
	return found.path;
}

pid_t process_of_trace(const char *path)
{
	const char *name = strrchr(path, '.');
	uint64_t pid;

	if (name && strncmp(name, ".pid", 4) == 0 && number_decimal(slice_of(name + 4), &pid) && pid <= INT32_MAX)
		return pid;
	return 0;
}
