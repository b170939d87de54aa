/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Whether fd is the file that is mapped. Devices may differ: some file systems report another one to stat(2). */
static bool is_mapped(int fd, const struct mapping *m)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == m->inode && S_ISREG(st.st_mode);
}

/* Opens the file by its path under a root. The kernel has resolved the links in it: others have come since. */
static int open_under(int root, const struct mapping *m)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
	int fd = syscall(SYS_openat2, root, m->path, &how, sizeof(how));

	if (fd < 0 || is_mapped(fd, m))
		return fd;
	close(fd);
	return -1;
}

int mapping_open(const struct mapping *m, int proc, int root)
{
	char link[64];
	int fd = open_under(root, m), own_root;

	if (fd >= 0)
		return fd;
	own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_under(own_root, m);
	if (own_root >= 0)
		close(own_root);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	fd = openat(proc, link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || is_mapped(fd, m))
		return fd;
	close(fd);
	return -1;
}
