/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <err.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "mem.h"
#include "number.h"

char *process_find_trace(pid_t pid)
{
	char pattern[64], *path;
	struct stat st;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/dev/shm/*_trace.pid%d", pid);
	if (glob(pattern, 0, NULL, &found) != 0)
		errx(EXIT_FAILURE,
		     "no trace of process %d: there is no %s; an application that was started with a shared-memory id "
		     "(-i) names its trace by that",
		     pid, pattern);
	if (found.gl_pathc > 1)
		errx(EXIT_FAILURE, "several traces of process %d: %s and %s; name one of them", pid, found.gl_pathv[0],
		     found.gl_pathv[1]);
	path = mem_copy(slice_of(found.gl_pathv[0]));
	/* anybody may put something there, such as a pipe that would keep open(2) waiting */
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		errx(EXIT_FAILURE, "%s: not a regular file, as a trace is", path);
	globfree(&found);
	return path;
}

pid_t process_of_trace(const char *path)
{
	const char *name = strrchr(path, '.');
	uint64_t pid;

	if (name && strncmp(name, ".pid", 4) == 0 && number_decimal(slice_of(name + 4), &pid) && pid <= INT32_MAX)
		return pid;
	return 0;
}
