/* SPDX-License-Identifier: BSD-3-Clause */
/* A file for others that read it at any time, such as node_exporter's textfile collector. */
#pragma once

#include <stdbool.h>

#include "slice.h"

/* Whether there is a file that has something else, as in -o TRACE. */
bool textfile_has_other(const char *path);

/* Replaces the file as a whole: a reader has the old text or the new one. Returns 0, or -1 with errno. */
int textfile_replace(const char *path, struct slice text);
