/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 and i386, in AT&T's syntax. */
#ifdef __x86_64__
#include <asm/ptrace.h>
#endif
#include <stddef.h>

#include "count.h"
#include "number.h"
#include "operand.h"

/* The names of registers of 8, 4, 2, 1 bytes, in the order of struct pt_regs, 8 bytes each. */
static const char *const registers[][4] = {
	{"r15", "r15d", "r15w", "r15b"},
	{"r14", "r14d", "r14w", "r14b"},
	{"r13", "r13d", "r13w", "r13b"},
	{"r12", "r12d", "r12w", "r12b"},
	{"rbp", "ebp", "bp", "bpl"},
	{"rbx", "ebx", "bx", "bl"},
	{"r11", "r11d", "r11w", "r11b"},
	{"r10", "r10d", "r10w", "r10b"},
	{"r9", "r9d", "r9w", "r9b"},
	{"r8", "r8d", "r8w", "r8b"},
	{"rax", "eax", "ax", "al"},
	{"rcx", "ecx", "cx", "cl"},
	{"rdx", "edx", "dx", "dl"},
	{"rsi", "esi", "si", "sil"},
	{"rdi", "edi", "di", "dil"},
	{"", "", "", ""}, /* the number of a system call */
	{"rip", "rip", "rip", "rip"},
	{"", "", "", ""}, /* cs */
	{"", "", "", ""}, /* flags */
	{"rsp", "esp", "sp", "spl"},
};

enum {
	NUM_REGISTERS = COUNT(registers),
	RBX_OFFSET = 5 * 8,
	RAX_OFFSET = 10 * 8,
	RCX_OFFSET = 11 * 8,
	RDX_OFFSET = 12 * 8,
	RIP_OFFSET = 16 * 8,
};

#ifdef __x86_64__
_Static_assert(offsetof(struct pt_regs, rbx) == RBX_OFFSET && offsetof(struct pt_regs, rax) == RAX_OFFSET &&
		       offsetof(struct pt_regs, rip) == RIP_OFFSET &&
		       offsetof(struct pt_regs, rsp) == (NUM_REGISTERS - 1) * 8,
	       "the kernel has the registers in another order");
#endif

/* The second byte of the register that they are part of. */
static const struct {
	const char *name;
	uint16_t offset;
} high_bytes[] = {
	{"ah", RAX_OFFSET + 1},
	{"bh", RBX_OFFSET + 1},
	{"ch", RCX_OFFSET + 1},
	{"dh", RDX_OFFSET + 1},
};

static bool parse_register(struct slice *s, uint16_t *offset)
{
	struct slice name;

	if (!slice_skip(s, '%'))
		return false;
	name = machine_parse_until(s, ",)");
	for (unsigned i = 0; name.n && i < NUM_REGISTERS; i++)
		for (unsigned size = 0; size < 4; size++)
			if (slice_is(name, registers[i][size])) {
				*offset = 8 * i;
				return true;
			}
	for (unsigned i = 0; i < COUNT(high_bytes); i++)
		if (slice_is(name, high_bytes[i].name)) {
			*offset = high_bytes[i].offset;
			return true;
		}
	return false;
}

/* (BASE), (BASE,INDEX,SCALE) or (,INDEX,SCALE); without SCALE it is 1. */
static bool parse_registers(struct slice *s, struct operand *o)
{
	uint64_t scale = 1;

	if (!slice_skip(s, '('))
		return false;
	if (s->n && *s->p != ',' && !parse_register(s, &o->base))
		return false;
	if (slice_skip(s, ',')) {
		if (!parse_register(s, &o->index) || o->index == RIP_OFFSET)
			return false;
		if (slice_skip(s, ',') && !number_decimal(machine_parse_until(s, ")"), &scale))
			return false;
	}
	if (!slice_skip(s, ')') || s->n || !scale || scale > 8 || (scale & (scale - 1)))
		return false;
	o->scale = __builtin_ctz(scale);
	return true;
}

const char *x86_parse(struct operand *o, struct slice text)
{
	uint64_t number;

	if (text.n && *text.p == '%') {
		o->kind = REGISTER;
		return parse_register(&text, &o->base) && !text.n && o->base != RIP_OFFSET ? NULL
											   : machine_bad_register;
	}
	o->kind = slice_skip(&text, '$') ? CONSTANT : MEMORY;
	if (!text.n || !machine_parse_sum(&text, &number))
		return machine_bad_form;
	if (text.n && (o->kind == CONSTANT || !parse_registers(&text, o)))
		return machine_bad_form;
	o->value = number;
	return o->kind == MEMORY && o->base == RIP_OFFSET ? "its distance from the next instruction is not known"
							  : NULL;
}
