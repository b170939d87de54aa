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
