/* SPDX-License-Identifier: BSD-3-Clause */
#include "proc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

size_t proc_read(char *to, size_t n, const char *path, ...)
{
	char whole[PATH_MAX];
	ssize_t got = 0;
	va_list args;
	int length, fd;

	va_start(args, path);
	length = vsnprintf(whole, sizeof(whole), path, args);
	va_end(args);
	fd = length < (int)sizeof(whole) ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		got = io_read(fd, to, n - 1);
		close(fd);
	}
	got = got > 0 ? got : 0;
	to[got] = 0;
	return got;
}

const char *proc_field(const char *stat, int field)
{
	const char *at = strrchr(stat, ')');

	for (int i = 2; at && i < field; i++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}
