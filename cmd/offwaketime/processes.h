/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes have mapped, read while their stacks arrive: their addresses then have names even
 * if they end before these are printed.
 */
#ifndef OFFWAKETIME_PROCESSES_H
#define OFFWAKETIME_PROCESSES_H

#include <stdbool.h>

#include "elf.h"
#include "elffile.h"
#include "intern.h"
#include "map.h"
#include "bpf/offwaketime.h"

struct range {
	uint64_t start, end;
	uint64_t offset; /* of the start in the file */
	uint64_t device, inode;
	uint32_t file; /* MAP_NONE: no file that can be read */
};

struct process {
	struct range *ranges; /* by start */
	size_t n, cap;
	uint64_t next; /* when they may be read again, in ms of the clock; 0: they never were */
	uint64_t wait; /* the pause after that, in ms */
	bool used;     /* since idle ones were forgotten */
};

/* All zero is empty. */
struct processes {
	struct intern ids; /* a pid and an image; their numbers are indices into all */
	struct process *all;
	size_t cap;
	uint32_t limit;         /* at so many of them, those without events are forgotten; 0: at the usual one */
	struct intern file_ids; /* a device, an inode, a size and a time of change */
	struct elf_file *files;
	size_t files_cap;
	struct elffile_budget budget;
	bool quiet;
	unsigned num_faulty; /* files that lack functions, see processes_report() */
};

/*
 * This party's process, with its mappings, which are read if one of these user addresses is not in those that are known.
 * NULL: there is none. Valid until the next call. *until becomes the time, in ms of the clock, at which more may be
 * known, unless it is less or all addresses are mapped.
 */
const struct process *processes_get(struct processes *p, const struct party *party, const uint64_t *frames, size_t n,
				    uint64_t *until);

/*
 * How many frames of a stack are functions: without frame pointers a stack holds arbitrary numbers, and ends before the
 * first caller in no code that is mapped.
 */
size_t processes_depth(const struct process *process, const uint64_t *frames, size_t n);

/* The name of the function at the address; NULL: unknown. */
const char *processes_name(const struct processes *p, const struct process *process, uint64_t address);

/* Notes how many more files lack names of functions, besides those that were named. */
void processes_report(const struct processes *p);

void processes_free(struct processes *p);

#endif
