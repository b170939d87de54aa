/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the assembler's text of an operand into how the BPF program fetches it.
 *
 *	x86-64, AT&T syntax: $NUMBER  %REGISTER  [DISPLACEMENT](%BASE,%INDEX,SCALE)
 *	arm64: NUMBER  REGISTER  [BASE]  [BASE, OFFSET]  [BASE, INDEX, lsl SCALE]
 */
#pragma once

#include "usdt.h"
#include "bpf/usdt-record.h"

/*
 * Reads how to fetch an argument. Returns NULL, or why that is not possible. machine: EM_* of elf.h, not necessarily
 * this machine's.
 */
const char *operand_parse(struct operand *o, unsigned machine, const struct usdt_arg *arg);

/* Whether probes in files for this machine can fire on the one that the tool was built for. */
bool operand_is_native(unsigned machine);

/*
 * What differs between machines: how an assembler writes an operand, and where the kernel saves registers. Every build
 * includes all machines, so that each can be tested on any.
 */

/*
 * Sets kind, base, index, scale and value of an operand, which has no registers and no value before. Returns NULL, or
 * what is wrong: a symbol has no known address, for one.
 */
typedef const char *machine_parse(struct operand *o, struct slice text);

machine_parse x86_parse, arm64_parse;

extern const char machine_bad_form[], machine_bad_register[];

/* Removes and returns the text up to the first of the characters in `ends`, or all of it. */
struct slice machine_parse_until(struct slice *text, const char *ends);

/*
 * Removes a sum, which may be empty, of signed numbers. It ends before a bracket or a comma, or with the text, and
 * wraps around as addresses do. False: it is malformed.
 */
bool machine_parse_sum(struct slice *text, uint64_t *number);
