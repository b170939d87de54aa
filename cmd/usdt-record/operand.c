/* SPDX-License-Identifier: BSD-3-Clause */
#include "operand.h"

#include <elf.h>

#include "machine.h"
#include "number.h"
#include "symtab.h"

const char machine_bad_form[] = "its form is unknown";
const char machine_bad_register[] = "it is not a general register";

static int fault(const char **error, const char *what)
{
	*error = what;
	return -1;
}

bool machine_take(struct slice *text, char c)
{
	if (!text->n || *text->p != c)
		return false;
	*text = slice_from(*text, 1);
	return true;
}

struct slice machine_take_until(struct slice *text, const char *ends)
{
	struct slice s = {text->p, 0};

	while (s.n < text->n && !strchr(ends, s.p[s.n]))
		s.n++;
	*text = slice_from(*text, s.n);
	return s;
}

static bool take_term(struct slice *text, uint64_t *sum, struct slice *symbol)
{
	bool negative = machine_take(text, '-'), hex;
	struct slice term;
	uint64_t number;

	if (!negative)
		machine_take(text, '+');
	term = machine_take_until(text, "+-()[],");
	if (!term.n)
		return false;
	hex = term.n > 2 && term.p[0] == '0' && (term.p[1] | 0x20) == 'x';
	if (hex ? number_hex(term, &number) : number_decimal(term, &number)) {
		*sum += negative ? -number : number;
		return true;
	}
	if (negative || symbol->n || (*term.p >= '0' && *term.p <= '9') || memchr(term.p, '@', term.n) ||
	    memchr(term.p, ':', term.n))
		return false;
	*symbol = term;
	return true;
}

bool machine_take_sum(struct slice *text, uint64_t *number, struct slice *symbol)
{
	*number = 0;
	while (text->n && !strchr("()[],", *text->p))
		if (!take_term(text, number, symbol))
			return false;
	return true;
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
