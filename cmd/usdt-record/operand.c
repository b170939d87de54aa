/* SPDX-License-Identifier: BSD-3-Clause */
#include "operand.h"

#include <elf.h>

#include "number.h"

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

const char machine_bad_form[] = "its form is unknown";
const char machine_bad_register[] = "it is not a general register";

struct slice machine_parse_until(struct slice *text, const char *ends)
{
	struct slice s = {text->p, 0};

	while (s.n < text->n && !strchr(ends, s.p[s.n]))
		s.n++;
	*text = slice_from(*text, s.n);
	return s;
}

static bool parse_term(struct slice *text, uint64_t *sum)
{
	bool negative = slice_skip(text, '-'), hex;
	struct slice term;
	uint64_t number;

	if (!negative)
		slice_skip(text, '+');
	term = machine_parse_until(text, "+-()[],");
	hex = term.n > 2 && term.p[0] == '0' && (term.p[1] | 0x20) == 'x';
	if (!(hex ? number_hex(term, &number) : number_decimal(term, &number)))
		return false;
	*sum += negative ? -number : number;
	return true;
}

bool machine_parse_sum(struct slice *text, uint64_t *number)
{
	*number = 0;
	while (text->n && !strchr("()[],", *text->p))
		if (!parse_term(text, number))
			return false;
	return true;
}
