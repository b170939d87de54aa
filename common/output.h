/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a tool that may run as root: standard output, or a file that the user names. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

#include "out.h"

/*
 * Opens a path; NULL or "-": standard output. Root follows no link, which others may have placed there. A named pipe is
 * waited for until it has a reader, after a notice unless quiet. Returns 0, or -1 after a message.
 */
int output_open(struct out *out, const char *path, bool quiet);

/* Writes the rest. Returns the exit status of a tool that fails after a message, or 0. */
int output_close(struct out *out, const char *path);

#endif
