/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the assembler's text of an operand into how the BPF program fetches it.
 *
 *	x86-64, AT&T syntax: $NUMBER  %REGISTER  [DISPLACEMENT](%BASE,%INDEX,SCALE)  SYMBOL[+NUMBER](%rip)
 *	arm64: NUMBER  REGISTER  [BASE]  [BASE, OFFSET]  [BASE, INDEX, lsl SCALE]  [BASE, #:lo12:SYMBOL]
 */
#ifndef USDT_RECORD_OPERAND_H
#define USDT_RECORD_OPERAND_H

#include "usdt.h"
#include "bpf/usdt-record.h"

struct symtab;

/*
 * Reads how to fetch an argument of the site. Returns 0, or -1 with the reason in *error. machine:
 * EM_* of elf.h, not necessarily this machine's.
 */
int operand_parse(struct operand *o, unsigned machine, const struct usdt_site *site, const struct usdt_arg *arg,
		  struct symtab *symbols, const char **error);

/* Whether probes in files for this machine can fire on the one that the tool was built for. */
bool operand_is_native(unsigned machine);

#endif
