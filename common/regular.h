/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose paths another process chose: opening anything but a regular file could wait, or set off a device. */
#ifndef REGULAR_H
#define REGULAR_H

#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file to read it; what else has the path is looked at but never opened. dir: where a relative path
 * starts. resolve: as openat2(2) has it; with RESOLVE_IN_ROOT dir is the root for links, too. *st is that of
 * the file. Returns -1 with errno, EINVAL when it is no regular file.
 */
int regular_open(int dir, const char *path, uint64_t resolve, struct stat *st);

#endif
