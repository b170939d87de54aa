/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a tool that may run as root: standard output, or a file that the user names. */
#pragma once

#include <stdbool.h>

#include "out.h"

/*
 * Opens a path; NULL or "-": standard output. Root follows no symbolic link, because others may have placed it there.
 * Waits until a named pipe has a reader, after a notice unless quiet. Returns 0, or -1 after a message.
 */
int output_open(struct out *out, const char *path, bool quiet);

/* Flushes and closes the output, and reports a failure. Returns the exit status: 0, or 1 on failure. */
int output_close(struct out *out, const char *path);
