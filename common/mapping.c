/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "regular.h"

bool mapping_parse(struct mapping *m, char *line)
{
	unsigned major, minor;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		   &m->end, flags, &m->offset, &major, &minor, &m->inode, &path) != 7 ||
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

/*
 * Opens the path when it is the file that is mapped. Devices are not compared: some file systems report another one
 * to stat(2).
 */
static int open_mapped(int dir, const char *path, uint64_t resolve, const struct mapping *m)
{
	struct stat st;
	int fd = regular_open(dir, path, resolve, &st);

	if (fd < 0 || st.st_ino == m->inode)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int mapping_open(const struct mapping *m, int proc, int root)
{
	/* the kernel has resolved the links in the path: others have come since */
	const uint64_t below = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
	char link[64];
	int fd = open_mapped(root, m->path, below, m), own_root;
	struct stat st;

	if (fd >= 0)
		return fd;
	own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_mapped(own_root, m->path, below, m);
	if (own_root >= 0)
		close(own_root);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	/* the very file: of one that an overlay has copied up stat(2) has another inode */
	return regular_open(proc, link, 0, &st);
}
