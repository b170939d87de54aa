/* SPDX-License-Identifier: BSD-3-Clause */
/* arm64. Compilers write registers as x0 whatever their size, and constants without a sign. */
#ifdef __aarch64__
#include <asm/ptrace.h>
#endif
#include <stddef.h>

#include "number.h"
#include "operand.h"

enum {
	FRAME_POINTER = 29,
	LINK_REGISTER = 30,
	NUM_REGISTERS = 31,
	SP_OFFSET = 8 * NUM_REGISTERS,
};

#ifdef __aarch64__
_Static_assert(offsetof(struct user_pt_regs, regs) == 0 && offsetof(struct user_pt_regs, sp) == SP_OFFSET,
	       "the kernel has the registers in another order");
#endif

static bool find_register(struct slice name, uint16_t *offset)
{
	uint64_t number;

	if (name.n < 2)
		return false;
	if (slice_is(name, "sp") || slice_is(name, "wsp")) {
		*offset = SP_OFFSET;
		return true;
	}
	if (slice_is(name, "xzr") || slice_is(name, "wzr")) {
		*offset = NO_REGISTER;
		return true;
	}
	if (slice_is(name, "fp"))
		number = FRAME_POINTER;
	else if (slice_is(name, "lr"))
		number = LINK_REGISTER;
	else if ((*name.p != 'x' && *name.p != 'w') ||
		 !number_decimal((struct slice){name.p + 1, name.n - 1}, &number) || number >= NUM_REGISTERS)
		return false;
	*offset = 8 * number;
	return true;
}

/* A comma and the blanks after it. */
static bool skip_comma(struct slice *s)
{
	if (!slice_skip(s, ','))
		return false;
	while (slice_skip(s, ' '))
		;
	return true;
}

/* INDEX, or INDEX, lsl SCALE */
static bool parse_index(struct slice *s, struct operand *o)
{
	struct slice digits;
	uint64_t scale = 0;

	if (!find_register(machine_parse_until(s, ",]"), &o->index))
		return false;
	if (skip_comma(s)) {
		if (!slice_is(machine_parse_until(s, " ]"), "lsl") || !slice_skip(s, ' '))
			return false;
		slice_skip(s, '#');
		digits = machine_parse_until(s, "]");
		if (!number_decimal(digits, &scale) || scale > 3)
			return false;
	}
	o->scale = scale;
	return true;
}

/* NUMBER, which may have a # before it. */
static bool parse_offset(struct slice *s, struct operand *o)
{
	uint64_t number;

	slice_skip(s, '#');
	if (!s->n || !machine_parse_sum(s, &number))
		return false;
	o->value = number;
	return true;
}

/* [BASE], [BASE, OFFSET], [BASE, INDEX], [BASE, INDEX, lsl SCALE]; index: of 64 bits */
static bool parse_memory(struct slice *s, struct operand *o)
{
	if (!slice_skip(s, '[') || !find_register(machine_parse_until(s, ",]"), &o->base))
		return false;
	if (skip_comma(s) && (s->n && *s->p == 'x' ? !parse_index(s, o) : !parse_offset(s, o)))
		return false;
	return slice_skip(s, ']') && !s->n;
}

const char *arm64_parse(struct operand *o, struct slice text)
{
	if (text.n && *text.p == '[') {
		o->kind = MEMORY;
		return parse_memory(&text, o) ? NULL : machine_bad_form;
	}
	if (text.n && *text.p >= 'a' && *text.p <= 'z') {
		o->kind = REGISTER;
		return find_register(text, &o->base) ? NULL : machine_bad_register;
	}
	o->kind = CONSTANT;
	return parse_offset(&text, o) && !text.n ? NULL : machine_bad_form;
}
