/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict reading of unsigned 64-bit numbers: the whole slice, no sign, no blanks, no overflow. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdint.h>

#include "slice.h"

/* These return whether s is such a number; *value is set only then. */
bool number_decimal(struct slice s, uint64_t *value);

/* Hexadecimal in either case, with or without 0x before it. */
bool number_hex(struct slice s, uint64_t *value);

/* Up to this many decimals, as an integer of the last one's unit: 1.5 is 1500 for 3. */
bool number_fixed(struct slice s, unsigned decimals, uint64_t *value);

/* The value of a hexadecimal digit, or -1. */
int number_hex_digit(char c);

#endif
