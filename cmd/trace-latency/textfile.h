/* SPDX-License-Identifier: BSD-3-Clause */
/* A file for others that read it at any time, such as node_exporter's textfile collector. */
#pragma once

#include "slice.h"

/* Replaces the file as a whole: a reader has the old text or the new one. Returns 0, or -1 with errno. */
int textfile_replace(const char *path, struct slice text);
