/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes have mapped, as it is while their stacks come, so that their addresses have names also when they
 * have ended before these are printed.
 */
#ifndef OFFWAKETIME_PROCESS_H
#define OFFWAKETIME_PROCESS_H

#include "elf.h"
#include "elffile.h"
#include "map.h"
#include "intern.h"
#include "bpf/offwaketime.h"

struct range {
	uint64_t start, end;
	uint64_t offset; /* of the start in the file */
	uint64_t device, inode;
	uint32_t file; /* MAP_NONE: it comes from no file that can be read */
};

struct process {
	struct range *ranges; /* in the order of their starts */
	size_t n;
	uint64_t next; /* when they may be read again, in ms of the clock; 0: they never were */
	uint64_t wait; /* from then to the time after that */
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
	unsigned num_faulty; /* files that lack functions, see processes_report() */
};

/*
 * Makes sure that user addresses of this side can be named later. Returns 1; 0 when the process has not mapped all
 * of them, and is to be looked at again when they come again; or -1 without memory.
 */
int processes_look(struct processes *p, const struct side *side, const uint64_t *frames, size_t n);

/* The function at the address; NULL: it is not known. */
const struct function *processes_find(const struct processes *p, const struct side *side,
				      uint64_t address);

/* Says of how many files functions have no names, besides those of which it was said. */
void processes_report(const struct processes *p);

void processes_free(struct processes *p);

#endif
