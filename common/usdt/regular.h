/* SPDX-License-Identifier: BSD-3-Clause */
/* Files at paths that another process chose. Opening anything but a regular file may block. */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

/* RESOLVE_NO_SYMLINKS and so on of openat2(2): the filters build without the kernel's header, which has these. */
enum { REGULAR_NO_SYMLINKS = 0x04, REGULAR_IN_ROOT = 0x10 };

/*
 * Opens a regular file for reading; anything else at the path is checked but never opened. dir:
 * where a relative path starts. resolve: some of the above; with REGULAR_IN_ROOT dir is the root for
 * links, too. Sets *st. Returns a descriptor, or -1 with errno: EINVAL if it is not a regular file.
 */
int regular_open(int dir, const char *path, uint64_t resolve, struct stat *st);
