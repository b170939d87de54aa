/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The USDT probes of an ELF file, as sys/sdt.h describes them in notes: owner "stapsdt", type 3,
 * and then the addresses of the probe, of a base that shows whether the file was prelinked, and of
 * a semaphore (0: none), followed by provider, name and arguments, each ended by a NUL. The
 * arguments are separated by blanks; each is SIZE@OPERAND, SIZE negative when signed, with an f
 * after it for a float, and OPERAND in the syntax of the machine's assembler.
 */
#pragma once

#include <stdint.h>

#include "slice.h"

#define USDT_MAX_ARGS 12

struct out;

struct usdt_arg {
	uint8_t size;                /* in bytes */
	uint8_t is_signed, is_float; /* 0 or 1 */
	struct slice operand;
};

/* One place in the code; a probe that was inlined has several. */
struct usdt_site {
	struct slice provider, name;
	uint64_t address;   /* as linked */
	uint64_t offset;    /* of the address in the file */
	uint64_t semaphore; /* offset of its counter in the file; 0: none */
	unsigned num_args;
	struct usdt_arg args[USDT_MAX_ARGS];
};

struct usdt {
	struct usdt_site *sites;
	size_t n, cap;
	unsigned machine; /* of the file: EM_* of elf.h */
	char *text;       /* the slices point into it */
	size_t text_size;
	char *interpreter; /* the dynamic linker; NULL: the file is linked statically, or a library */
	bool is_other;     /* usdt_read() has failed, since the file has no ELF header */
};

/*
 * Reads the probes of an open ELF file; it may have none. Returns 0; or -1 with what is wrong in
 * *error, valid until the next call. One damaged note is an error, so that no probe is left out
 * silently.
 */
int usdt_read(struct usdt *u, int fd, const char **error);

/* Writes all of it for another process, which receives it. False: the bytes were not written by usdt_write(). */
void usdt_write(const struct usdt *u, struct out *out);
bool usdt_receive(struct usdt *u, struct slice bytes);

void usdt_free(struct usdt *u);

/* The argument's type: u64, s32, f64, or ? when it is unknown. */
struct usdt_type {
	char text[8];
};
struct usdt_type usdt_type(const struct usdt_arg *arg);
