/* SPDX-License-Identifier: BSD-3-Clause */
#include "cgroup.h"
#include "io.h"

#include <err.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

uint64_t cgroup_id(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st = {};

	if (fd < 0 || fstatfs(fd, &fs) != 0 || fstat(fd, &st) != 0) {
		warn("%s", path);
	} else if (fs.f_type != CGROUP2_SUPER_MAGIC) {
		warnx("%s: not a cgroup of version 2; findmnt -t cgroup2 lists the mount points", path);
		st.st_ino = 0;
	}
	io_close(&fd);
	return st.st_ino;
}
