/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "mappedtrace.h"
#include "mem.h"
#include "utf8.h"

enum { DEFINITIONS = 4 << 20 }; /* bytes at the start of a trace; 2.4 MB in the largest layout */

/*
 * Reads a copy of the file's start, which cannot change meanwhile, as a trace truncated after its
 * definitions. Returns whether it is a trace.
 */
static bool recognise(struct found_trace *found)
{
	uint8_t *start = mem_array(DEFINITIONS, 1);
	struct trace t = {};
	const char *error;
	struct input in;
	ssize_t n = -1;
	bool is_one = false;

	while ((n = pread(found->fd, start, DEFINITIONS, 0)) < 0 && errno == EINTR)
		;
	if (n > 0) {
		input_of(&in, start, n);
		is_one = tracefile_open(&t, &in, &error) == 0 && !t.faults;
	}
	if (is_one) {
		found->layout = t.layout;
		found->owners = t.owner_table;
	}
	trace_close(&t);
	free(start);
	return is_one;
}

int trace_find(struct found_trace *found, pid_t pid)
{
	struct mappedtrace_search search;
	struct mappedtrace mapped;
	const char *error;
	int result = 0;

	mappedtrace_begin(&search, pid);
	while (!result && ((error = mappedtrace_next(&search, &mapped)) || mapped.path)) {
		*found = (struct found_trace){.name = utf8_visible_copy(mapped.path), .fd = mapped.fd};
		free(mapped.path);
		if (error)
			warnx("%s: the trace of process %d %s: its owners are not followed; see --no-owners",
			      found->name, pid, error);
		result = error ? -1 : recognise(found);
		if (result == 1)
			break;
		if (found->fd >= 0)
			close(found->fd);
		free(found->name);
	}
	mappedtrace_end(&search);
	return result;
}
