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
};

/* All zero is empty. */
struct processes {
	struct intern ids; /* a pid and an image; their numbers are indices into all */
	struct process *all;
	size_t cap;
	struct intern file_ids; /* a device, an inode, a size and a time of change */
	struct elf_file *files;
	size_t files_cap;
	struct elffile_budget budget;
	bool quiet;
	unsigned num_faulty; /* files that lack functions, see processes_report() */
};

/*
 * Reads the mappings of this party's process if they are not known yet, so that its user addresses
 * can be resolved later. Returns whether all of them are mapped; otherwise it is to be called again
 * with the next such stack.
 */
bool processes_load(struct processes *p, const struct party *party, const uint64_t *frames, size_t n);

/* The function at the address; NULL: unknown. */
const struct function *processes_find(const struct processes *p, const struct party *party, uint64_t address);

/* Notes how many more files lack names of functions, besides those that were named. */
void processes_report(const struct processes *p);

void processes_free(struct processes *p);

#endif
