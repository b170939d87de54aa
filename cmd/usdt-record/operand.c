/* SPDX-License-Identifier: BSD-3-Clause */
#include "operand.h"

#include <elf.h>

#include "machine.h"

static machine_parse *parser_of(unsigned machine)
{
	switch (machine) {
	case EM_X86_64:
	case EM_386:
		return x86_parse;
	case EM_AARCH64:
		return arm64_parse;
	default:
		return NULL;
	}
}

bool operand_is_native(unsigned machine)
{
#if defined(__x86_64__)
	return parser_of(machine) == x86_parse;
#elif defined(__aarch64__)
	return parser_of(machine) == arm64_parse;
#else
	return false;
#endif
}

const char *operand_parse(struct operand *o, unsigned machine, const struct usdt_arg *arg)
{
	machine_parse *parse = parser_of(machine);

	*o = (struct operand){
		.size = arg->size, .is_signed = arg->is_signed, .base = NO_REGISTER, .index = NO_REGISTER};
	return parse ? parse(o, arg->operand) : "its processor is unknown";
}
