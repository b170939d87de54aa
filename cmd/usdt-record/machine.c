/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include "number.h"

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
