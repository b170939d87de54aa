/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where probes are looked for: an ELF file, or the executable and all libraries of a process. The functions
 * say on stderr what is wrong.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "elffile.h"
#include "probespec.h"
#include "usdt.h"

struct target_file {
	char *path; /* as the process sees it, printable: for messages and scripts */
	int fd;     /* opened through the root of the process; -1 for a source */
	struct usdt usdt;
};

struct target {
	char *name; /* of the file, the process's executable or the directory, printable */
	bool is_source; /* the files are C sources, the addresses of sites line numbers, the sizes unknown: 0 */
	struct target_file *files; /* those that have probes, and the one of target_add_file() */
	size_t n;
	bool incomplete; /* a file that the process has mapped cannot be read, as was said */
	struct elffile_budget budget;
};

/* Returns 0, or -1 when the file cannot be read or is no ELF file. */
int target_add_file(struct target *t, const char *path);

/* Adds what a process has mapped as code. Returns 0; or -1 when the process cannot be looked into. */
int target_add_process(struct target *t, pid_t pid);

/* Adds an open file, which then belongs to the target; copies the path. Returns NULL without memory. */
struct target_file *target_add(struct target *t, const char *path, int fd);

void target_close(struct target *t);

/* Whether the spec means the probe that this site is one of. */
bool target_matches(const struct probespec *spec, const struct usdt_site *site);

/*
 * Checks that every probe is there, with every argument that is wanted of it, and that these are what the
 * spec says. Returns the number of specs for which that is not so.
 */
size_t target_check(const struct target *t, const struct probespecs *specs);

/* The argument's type as text: u64, s32, f64, or ? when it is not known. Valid until the next call. */
const char *target_type(const struct usdt_arg *arg);

#endif
