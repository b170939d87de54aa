/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "utf8.h"

void folder_create(struct folder *f, const char *path)
{
	struct stat st;

	f->path = utf8_visible_copy(path);
	f->name = path;
	umask(077);
	if (mkdir(path, 0700) != 0) {
		if (errno == EEXIST)
			errx(EXIT_FAILURE, "%s: exists; a recording needs a folder of its own", f->path);
		err(EXIT_FAILURE, "%s", f->path);
	}
	f->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		err(EXIT_FAILURE, "%s", f->path);
	/* another user may rename what is in a folder of theirs */
	if (st.st_uid != geteuid() || st.st_mode & 077)
		errx(EXIT_FAILURE, "%s: was replaced by another user", f->path);
}

bool folder_has_name(const struct folder *f)
{
	char link[40], place[4096], *visible;
	struct stat named, own;
	ssize_t n;

	if (fstat(f->fd, &own) == 0 && lstat(f->name, &named) == 0 && own.st_dev == named.st_dev &&
	    own.st_ino == named.st_ino)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	n = readlink(link, place, sizeof(place) - 1);
	place[n > 0 ? n : 0] = 0;
	visible = utf8_visible_copy(place);
	warnx("%s: was moved, replaced or removed: the recording is in %s", f->path, visible);
	free(visible);
	return false;
}

bool folder_add(struct folder *f, const struct folder *parent, const char *name)
{
	f->path = mem_printf("%s/%s", parent->path, name);
	f->name = NULL;
	f->fd = -1;
	if (mkdirat(parent->fd, name, 0700) == 0)
		f->fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0)
		warn("%s", f->path);
	return f->fd >= 0;
}

void folder_close(struct folder *f)
{
	io_close(&f->fd);
	free(f->path);
	f->path = NULL;
}

int folder_file(const struct folder *f, const char *name, uint64_t reserve)
{
	int fd = openat(f->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		warn("%s/%s", f->path, name);
	else if (reserve)
		fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, reserve);
	return fd;
}

bool folder_write(const struct folder *f, const char *name, int fd, struct out *text)
{
	struct slice bytes = out_contents(text);
	struct stat st;
	/* even to the same size, ftruncate() would free what is reserved */
	bool good = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 && io_write(fd, bytes.p, bytes.n) == 0 &&
		    fstat(fd, &st) == 0 && ((size_t)st.st_size == bytes.n || ftruncate(fd, bytes.n) == 0);

	if (!good && fd >= 0)
		warn("%s/%s", f->path, name);
	out_close(text);
	return good;
}

size_t folder_end(const struct folder *f, const char *name, char *to, size_t n)
{
	int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t size = folder_size(f, name);
	ssize_t got = -1;

	if (fd < 0)
		return 0;
	got = pread(fd, to, n, size > n ? size - n : 0);
	close(fd);
	return got > 0 ? got : 0;
}

uint64_t folder_size(const struct folder *f, const char *name)
{
	struct stat st;

	return fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* Opens its list of files. */
static DIR *list(const struct folder *f)
{
	int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !files)
		close(fd);
	return files;
}

uint64_t folder_space(const struct folder *f)
{
	DIR *files = list(f);
	struct dirent *entry;
	uint64_t space = 0;
	struct stat st;

	while (files && (entry = readdir(files)))
		if (fstatat(f->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			space += st.st_blocks * UINT64_C(512);
	if (files)
		closedir(files);
	return space;
}

void folder_remove(struct folder *f, const struct folder *parent, const char *name)
{
	DIR *files = list(f);
	struct dirent *entry;

	while (files && (entry = readdir(files)))
		if (entry->d_name[0] != '.')
			unlinkat(f->fd, entry->d_name, 0);
	if (files)
		closedir(files);
	folder_close(f);
	unlinkat(parent->fd, name, AT_REMOVEDIR);
}
