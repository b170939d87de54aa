/* SPDX-License-Identifier: BSD-3-Clause */
#include "operand.h"

#include <elf.h>

#include "machine.h"
#include "symtab.h"

static int fault(const char **error, const char *what)
{
	*error = what;
	return -1;
}

/* Adds the symbol's value. Addresses that move with the file are relative to the probe. */
static int add_symbol(struct operand *o, const struct operand_symbol *symbol, const struct usdt_site *site,
		      struct symtab *symbols, const char **error)
{
	uint64_t address;

	if (symtab_find(symbols, symbol->name, &address, error) != 0)
		return -1;
	o->value += address;
	if (symbol->use == FROM_SITE)
		o->value -= site->address;
	else if (symbol->use == LOW_BITS)
		o->value &= 0xfff;
	else if (symtab_is_movable(symbols))
		return fault(error, "its symbol has no fixed address");
	return 0;
}

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

int operand_parse(struct operand *o, unsigned machine, const struct usdt_site *site, const struct usdt_arg *arg,
		  struct symtab *symbols, const char **error)
{
	machine_parse *parse = parser_of(machine);
	struct operand_symbol symbol = {};

	*o = (struct operand){
		.size = arg->size, .is_signed = arg->is_signed, .base = NO_REGISTER, .index = NO_REGISTER};
	if (!parse)
		return fault(error, "its processor is unknown");
	*error = parse(o, &symbol, arg->operand);
	if (*error)
		return -1;
	return symbol.name.n ? add_symbol(o, &symbol, site, symbols, error) : 0;
}
