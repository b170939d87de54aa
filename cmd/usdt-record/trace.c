/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "input.h"
#include "mapping.h"
#include "mem.h"
#include "utf8.h"

enum {
	DEFINITIONS = 4 << 20, /* bytes at the start of a trace; 2.4 MB in the largest layout */
	TRIES = 8,             /* files of a process; SPDK maps one */
};

/*
 * Whether SPDK may have named it: /dev/shm/APPLICATION_trace.ID, and " (deleted)" if it was removed. The folder of
 * a chroot comes before that.
 */
static bool may_be_trace(const struct mapping *m)
{
	const char *name = strstr(m->path, "/dev/shm/");

	return m->shared && m->writable && name && strstr(name, "_trace.");
}

/* The effective user of the process; -1: it has ended. */
static uid_t user_of(int proc)
{
	int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC);
	FILE *status = fd >= 0 ? fdopen(fd, "r") : NULL;
	unsigned user = -1;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Uid: %*u %u", &user) == 1)
			break;
	if (status)
		fclose(status);
	else if (fd >= 0)
		close(fd);
	return user;
}

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

static int refuse(const struct found_trace *found, pid_t pid, const char *why)
{
	warnx("%s: the trace of process %d %s: its owners are not followed; see --no-owners", found->name, pid, why);
	return -1;
}

/* Returns as trace_find() does; unless it is 1, the caller releases name and descriptor. */
static int open_trace(struct found_trace *found, const struct mapping *m, pid_t pid, const struct mapping_list *list)
{
	uid_t user = user_of(list->proc);
	struct stat st;

	*found = (struct found_trace){.name = utf8_visible_copy(m->path), .fd = -1};
	found->fd = mapping_open(m, list);
	if (found->fd < 0 || fstat(found->fd, &st) != 0)
		return refuse(found, pid, "cannot be opened");
	/* mapping_open() compares inode numbers, which identify a file on one device only */
	if (m->device != ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)))
		return refuse(found, pid, "is another file now");
	if (st.st_uid != user && st.st_uid != 0)
		return refuse(found, pid, "belongs to another user");
	return recognise(found);
}

int trace_find(struct found_trace *found, pid_t pid)
{
	struct mapping_list list;
	struct mapping m;
	int result = 0, tries = 0;

	if (!mapping_begin(&list, pid))
		while (!result && tries < TRIES && mapping_next(&list, &m) > 0) {
			if (!may_be_trace(&m))
				continue;
			tries++;
			result = open_trace(found, &m, pid, &list);
			if (result == 1)
				break;
			if (found->fd >= 0)
				close(found->fd);
			free(found->name);
		}
	mapping_end(&list);
	return result;
}
