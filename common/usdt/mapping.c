/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"

/* Parses the line, and modifies it. False if it has another form. */
static bool parse(struct mapping *m, char *line)
{
	unsigned major, minor;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start, &m->end, flags,
		   &m->offset, &major, &minor, &m->inode, &path) != 7 ||
	    !path)
		return false;
	m->writable = flags[1] == 'w';
	m->code = flags[2] == 'x';
	m->shared = flags[3] == 's';
	m->device = (uint64_t)major << 32 | minor;
	m->path = line + path;
	m->path[strcspn(m->path, "\n")] = 0;
	return true;
}

const char *mapping_begin(struct mapping_list *list, pid_t pid)
{
	char path[32];
	int fd;

	*list = (struct mapping_list){.root = -1};
	snprintf(path, sizeof(path), "/proc/%d", pid);
	list->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (list->proc < 0)
		return "";
	list->root = openat(list->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (list->root < 0)
		return "root";
	fd = openat(list->proc, "maps", O_RDONLY | O_CLOEXEC);
	list->maps = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !list->maps)
		close(fd);
	return list->maps ? NULL : "maps";
}

int mapping_next(struct mapping_list *list, struct mapping *m)
{
	while (getline(&list->line, &list->cap, list->maps) > 0)
		if (parse(m, list->line))
			return 1;
	return feof(list->maps) ? 0 : -1;
}

void mapping_end(struct mapping_list *list)
{
	if (list->maps)
		fclose(list->maps);
	io_close(&list->root);
	io_close(&list->proc);
	free(list->line);
}

int mapping_open_regular(int dir, const char *path, uint64_t resolve, struct stat *st)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	int place = syscall(SYS_openat2, dir, path, &how, sizeof(how)), fd = -1, error;
	char link[32];

	if (place < 0)
		return -1;
	if (fstat(place, st) == 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		errno = EINVAL;
		if (S_ISREG(st->st_mode))
			fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	error = errno;
	close(place);
	errno = error;
	return fd;
}

/* Opens the path if it is the mapped file. stat(2) may report another device. */
static int open_mapped(int dir, const char *path, uint64_t resolve, const struct mapping *m)
{
	struct stat st;
	int fd = mapping_open_regular(dir, path, resolve, &st);

	if (fd < 0 || st.st_ino == m->inode)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int mapping_open(const struct mapping *m, const struct mapping_list *list)
{
	/* the kernel has resolved the links in the path: a link that is there now was added later */
	const uint64_t below = MAPPING_IN_ROOT | MAPPING_NO_SYMLINKS;
	char link[64];
	int fd = open_mapped(list->root, m->path, below, m), own_root;
	struct stat st;

	if (fd >= 0)
		return fd;
	own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_mapped(own_root, m->path, below, m);
	io_close(&own_root);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	/* the file itself, though an overlay that has copied it up reports another inode */
	return mapping_open_regular(list->proc, link, 0, &st);
}
