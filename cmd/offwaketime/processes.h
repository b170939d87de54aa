/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mappings of processes. They are read while stacks arrive, so addresses have names even if their
 * process ends before these are printed.
 */
#pragma once

#include <stdbool.h>

#include "elf.h"
#include "intern.h"
#include "map.h"
#include "sandbox.h"
#include "bpf/offwaketime.h"

struct code_range {
	uint64_t start, end;
	uint64_t offset; /* of the start in the file */
	uint64_t device, inode;
	uint32_t file; /* MAP_NONE: no file that can be read */
};

struct process {
	struct code_range *ranges; /* by start */
	size_t n, cap;
	uint64_t next; /* when ranges may be read again, in ms of the clock; 0: never read */
	uint64_t wait; /* the pause after that, in ms */
	bool used;     /* since idle ones were forgotten */
	bool is_large; /* it is among num_large */
	bool is_late;  /* it is among num_late */
};

/* All zero is empty. */
struct processes {
	struct intern ids; /* a pid and an image; their numbers are indices into all */
	struct process *all;
	size_t cap;
	uint32_t limit; /* when there are this many, idle ones are forgotten; 0: MAX_PROCESSES */
	struct sandbox sandbox;
	struct intern inodes; /* a device and an inode: the file is not opened again for each mapping */
	struct recent_file {
		uint32_t file;
		uint64_t until; /* valid until this time, in ms of the clock: a deleted file's inode is reused */
	} * recent;             /* of the same inodes */
	size_t recent_cap;
	struct intern file_ids; /* a device, an inode, a size and a time of change */
	struct known_file {
		struct elf_file functions;
		uint64_t held; /* bytes of p->sandbox.held */
		bool is_read;  /* false: never read, or freed because no process has it mapped */
		bool was_noted;
	} * files;
	size_t files_cap;
	uint64_t held_limit; /* of the sandbox, in bytes, at which idle ones are forgotten; 0: MAX_HELD */
	bool quiet;
	uint64_t started;  /* when the first mappings were read, in ms of the clock */
	uint64_t busy;     /* how long reading them took in all, in ms */
	uint64_t deadline; /* of the clock, in ms, after which none are read; 0: none */
	/* see processes_report(): */
	unsigned num_faulty; /* files that lack functions */
	unsigned num_large;  /* processes with more mappings than are read */
	unsigned num_late;   /* processes whose mappings were not read in time */
};

/*
 * This party's process, valid until the next call; NULL for a thread of the kernel, or without frames. Reads the
 * mappings if one of these user addresses is in no known one. Lowers *until to the time, in ms of the clock, at which
 * they may be read again if an address is still in none.
 */
const struct process *processes_get(struct processes *p, const struct party *party, const uint64_t *frames, size_t n,
				    uint64_t *until);

/*
 * How many frames of a stack are functions: those before the first caller at which no code is mapped. Without frame
 * pointers, the rest is arbitrary numbers.
 */
size_t processes_depth(const struct process *process, const uint64_t *frames, size_t n);

/* The name of the function at the address; NULL: unknown. */
const char *processes_name(const struct processes *p, const struct process *process, uint64_t address);

/* Recording has ended: mappings are read for a short time only, so that its results are printed. */
void processes_end(struct processes *p);

/* Notes what lacks names of functions, besides the files that were named. */
void processes_report(const struct processes *p);

void processes_free(struct processes *p);
