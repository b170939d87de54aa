/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files to search for probes: ELF files, or the executable and all libraries of a process. Some
 * files of a process may be bad: what is wrong is reported by a function of the caller's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "elffile.h"
#include "sandbox.h"
#include "usdt.h"

struct target_file {
	char *path; /* as the process sees it, printable: for messages and scripts */
	int fd;     /* to attach to, or to open it again; -1: none */
	struct usdt usdt;
};

struct target {
	void (*report)(const char *message); /* what is wrong, without the tool's name; set it first */
	char *name;                          /* of the file or the process's executable, printable */
	bool keeps_open;                     /* files have descriptors, to attach to them; set it first */
	struct target_file *files;           /* those that have probes, and all from target_add_file() */
	size_t n, cap;
	bool incomplete;              /* a file that the process has mapped cannot be read, after a report */
	unsigned num_bad, num_others; /* such files, and those that were not reported each */
	struct sandbox sandbox;
};

/* Returns 0, or -1 after a report if the file cannot be read or is not an ELF file. */
int target_add_file(struct target *t, const char *path);

/*
 * Adds the files with probes that a process has mapped as code. Returns 0, or -1 after a report if the process cannot
 * be read.
 */
int target_add_process(struct target *t, pid_t pid);

/* Reports a text of mem_printf(), which is freed. */
void target_report(const struct target *t, char *message);

void target_close(struct target *t);
