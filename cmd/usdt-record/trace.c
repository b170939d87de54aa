/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <err.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "count.h"
#include "input.h"
#include "io.h"
#include "mappedtrace.h"
#include "mem.h"
#include "sandbox.h"
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

/* A file that a child opens. */
struct opening {
	const struct mapping *mapping;
	const struct mapping_list *list;
	const char *wrong; /* in the child */
	int fd;            /* of the tool; -1: none */
	char *error;
};

/*
 * Whether reading the file may never end, as with FUSE, or an overlay on it: its owners are read by the tool itself.
 * SPDK has its trace in /dev/shm, a tmpfs; in a chroot that may be a folder on a disk.
 */
static bool may_hang(int fd)
{
	static const uint32_t safe[] = {TMPFS_MAGIC, RAMFS_MAGIC, EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < COUNT(safe); i++)
		if ((uint32_t)fs.f_type == safe[i])
			return false;
	return true;
}

static int open_file(void *context, size_t i)
{
	struct opening *o = context;
	int fd = mapping_open(o->mapping, o->list);

	(void)i;
	if (fd < 0)
		o->wrong = "cannot be opened";
	else if (may_hang(fd))
		o->wrong = "is on a file system that may not answer";
	return o->wrong ? -1 : fd;
}

static void take_file(void *context, size_t i, int fd)
{
	struct opening *o = context;

	(void)i;
	o->fd = fd;
}

static void write_error(void *context, size_t i, struct out *out)
{
	const struct opening *o = context;

	(void)i;
	out_text(out, o->wrong ? o->wrong : "");
}

static bool add_error(void *context, size_t i, struct slice bytes)
{
	struct opening *o = context;

	(void)i;
	o->error = sandbox_error(bytes);
	return o->error;
}

static void fail(void *context, size_t i, const char *why)
{
	struct opening *o = context;

	(void)i;
	o->error = mem_printf("cannot be opened: %s", why ? why : "it is not tried");
}

/* A mappedtrace_open; context: a char *, the error. */
static int open_in_child(void *context, const struct mapping *m, const struct mapping_list *list, const char **error)
{
	const int keep[] = {list->proc, list->root};
	struct opening o = {.mapping = m, .list = list, .fd = -1};
	const struct sandbox_job job = {.n = 1,
					.context = &o,
					.keep = keep,
					.num_keep = COUNT(keep),
					.open = open_file,
					.opened = take_file,
					.read = write_error,
					.result = add_error,
					.failed = fail};
	char **own = context;

	sandbox_run(&(struct sandbox){}, &job);
	free(*own);
	*error = *own = o.error;
	return o.fd;
}

int trace_find(struct found_trace *found, pid_t pid)
{
	struct mappedtrace_search search;
	struct mappedtrace mapped;
	const char *error;
	char *text = NULL;
	int result = 0;

	mappedtrace_begin(&search, pid, open_in_child, &text);
	while (!result && ((error = mappedtrace_next(&search, &mapped)) || mapped.path)) {
		*found = (struct found_trace){.name = utf8_visible_copy(mapped.path), .fd = mapped.fd};
		free(mapped.path);
		if (error)
			warnx("%s: the trace of process %d %s: its owners are not followed", found->name, pid, error);
		result = error ? -1 : recognise(found);
		if (result == 1)
			break;
		io_close(&found->fd);
		free(found->name);
	}
	mappedtrace_end(&search);
	free(text);
	return result;
}
