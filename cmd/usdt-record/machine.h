/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between machines: how an assembler writes an operand, and where the kernel saves
 * registers. Every build includes all machines, so that each can be tested on any.
 */
#pragma once

#include <stdint.h>

#include "slice.h"
#include "bpf/usdt-record.h"

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
