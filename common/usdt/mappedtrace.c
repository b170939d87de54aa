/* SPDX-License-Identifier: BSD-3-Clause */
#include "mappedtrace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mem.h"

enum { TRIES = 8 }; /* files of a process; SPDK maps one */

bool mappedtrace_may_be(const struct mapping *m)
{
	/* the folder of a chroot comes before /dev/shm, and " (deleted)" after the name if the file was removed */
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

const char *mappedtrace_check_size(off_t size)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	return (uint64_t)size > memory ? "is larger than the memory of this machine" : NULL;
}

static int open_mapped(void *context, const struct mapping *m, const struct mapping_list *list, const char **error)
{
	(void)context;
	*error = "cannot be opened";
	return mapping_open(m, list);
}

static const char *open_trace(const struct mappedtrace_search *search, const struct mapping *m,
			      struct mappedtrace *found)
{
	const char *error;
	struct stat st;

	*found = (struct mappedtrace){mem_printf("%s%s", search->root, m->path),
				      search->open(search->context, m, &search->list, &error)};
	if (found->fd < 0)
		return error;
	if (fstat(found->fd, &st) != 0)
		return "cannot be opened";
	/* mapping_open() compares inode numbers, which identify a file on one device only */
	if (m->device != ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)))
		return "is another file now";
	if (st.st_uid != user_of(search->list.proc) && st.st_uid != 0)
		return "belongs to another user";
	return mappedtrace_check_size(st.st_size);
}

/* Whether the process is in this one's mount namespace. */
static bool has_our_mounts(int proc)
{
	struct stat ours, its;

	return stat("/proc/self/ns/mnt", &ours) != 0 || fstatat(proc, "ns/mnt", &its, 0) != 0 ||
	       ours.st_ino == its.st_ino;
}

void mappedtrace_begin(struct mappedtrace_search *search, pid_t pid, mappedtrace_open *open, void *context)
{
	*search = (struct mappedtrace_search){.pid = pid, .open = open ? open : open_mapped, .context = context};
	search->is_readable = !mapping_begin(&search->list, pid);
	if (search->is_readable && !has_our_mounts(search->list.proc))
		snprintf(search->root, sizeof(search->root), "/proc/%d/root", pid);
}

const char *mappedtrace_next(struct mappedtrace_search *search, struct mappedtrace *found)
{
	struct mapping m;

	*found = (struct mappedtrace){.fd = -1};
	while (search->is_readable && search->tries < TRIES && mapping_next(&search->list, &m) > 0) {
		if (!mappedtrace_may_be(&m))
			continue;
		search->tries++;
		return open_trace(search, &m, found);
	}
	return NULL;
}

void mappedtrace_end(struct mappedtrace_search *search)
{
	mapping_end(&search->list);
}
