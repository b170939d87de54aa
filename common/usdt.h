/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The USDT probes of an ELF file, as sys/sdt.h describes them in notes: owner "stapsdt", type 3, and then
 * the addresses of the probe, of a base that tells whether the file was prelinked, and of a semaphore
 * (0: none), followed by provider, name and arguments, each ended by a NUL. The arguments are separated by
 * blanks; each is SIZE@OPERAND, SIZE negative when signed, with an f behind it for a float, and OPERAND in
 * the syntax of the machine's assembler.
 */
#ifndef USDT_H
#define USDT_H

#include <stdint.h>

#include "slice.h"

#define USDT_MAX_ARGS 12

struct elffile_budget;

struct usdt_arg {
	uint8_t size; /* in bytes */
	bool is_signed, is_float;
	struct slice operand;
};

/* One place in the code; a probe that was inlined has several. */
struct usdt_site {
	struct slice provider, name;
	uint64_t address;   /* as linked */
	uint64_t offset;    /* of that in the file */
	uint64_t semaphore; /* offset of its counter in the file; 0: none */
	unsigned num_args;
	struct usdt_arg args[USDT_MAX_ARGS];
};

struct usdt {
	struct usdt_site *sites;
	size_t n;
	unsigned machine; /* for which the file is: EM_* of elf.h */
	char *text;       /* what the slices are parts of */
};

/*
 * Reads the probes of the ELF file behind fd, which stays open and is only read. A file without probes has
 * none. Returns 0; or -1 with what is wrong in *error, a string that is valid until the next call. Notes
 * that are damaged make the file wrong: a probe that is left out would be lost in silence.
 */
int usdt_read(struct usdt *u, int fd, struct elffile_budget *budget, const char **error);

void usdt_free(struct usdt *u);

#endif
