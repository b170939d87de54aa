/* SPDX-License-Identifier: BSD-3-Clause */
#include "probeline.h"

#include "mem.h"
#include "number.h"
#include "utf8.h"

static size_t identifier(struct slice s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == '_' || (s.p[n] >= '0' && s.p[n] <= '9') ||
			   ((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'z')))
		n++;
	return n;
}

static void skip_blanks(struct slice *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t'))
		slice_cut(s, 1);
}

bool probeline_name(struct slice *line, struct slice *name)
{
	size_t n = identifier(*line);

	if (!n || n + 2 > line->n || line->p[n] != ':' || line->p[n + 1] != ' ')
		return false;
	*name = slice_cut(line, n);
	slice_cut(line, 2);
	/* of a CRLF */
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/* Whether a string may end before s: nothing is left, or another field follows. */
static bool ends_string(struct slice s)
{
	size_t n;

	skip_blanks(&s);
	if (!s.n)
		return true;
	if (*s.p != ',')
		return false;
	slice_cut(&s, 1);
	skip_blanks(&s);
	n = identifier(s);
	return n && n < s.n && s.p[n] == '=';
}

/* The length of a string; s: the line after its opening quote. SIZE_MAX: the string does not end. */
static size_t string_length(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n && (s.p[i + 1] == '\\' || s.p[i + 1] == '\''))
			i++;
		else if (s.p[i] == '\'' && ends_string(slice_from(s, i + 1)))
			return i;
	}
	return SIZE_MAX;
}

/* Cuts the value off. Returns NULL, or what is wrong with it. */
static const char *cut_value(struct slice *rest, struct probeline_field *field)
{
	size_t n;

	field->quoted = rest->n && *rest->p == '\'';
	if (field->quoted) {
		slice_cut(rest, 1);
		n = string_length(*rest);
		if (n == SIZE_MAX)
			return "a string without its closing quote";
		field->value = slice_cut(rest, n);
		slice_cut(rest, 1);
	} else {
		const char *comma = memchr(rest->p, ',', rest->n);

		field->value = slice_cut(rest, comma ? (size_t)(comma - rest->p) : rest->n);
		while (field->value.n && field->value.p[field->value.n - 1] == ' ')
			field->value.n--;
		if (!field->value.n)
			return "a field without a value";
	}
	return NULL;
}

int probeline_next(struct slice *rest, struct probeline_field *field, const char **error)
{
	size_t n;

	skip_blanks(rest);
	if (!rest->n)
		return 0;
	n = identifier(*rest);
	*error = "a field KEY=VALUE is expected";
	if (!n || n == rest->n || rest->p[n] != '=')
		return -1;
	field->key = slice_cut(rest, n);
	slice_cut(rest, 1);
	*error = cut_value(rest, field);
	if (*error)
		return -1;
	skip_blanks(rest);
	if (!rest->n)
		return 1;
	slice_cut(rest, 1);
	skip_blanks(rest);
	*error = "a comma without a field after it";
	return rest->n ? 1 : -1;
}

const char *probeline_fields(struct slice rest, const char *const *names, size_t n, struct probeline_field *fields)
{
	struct probeline_field f;
	const char *error;
	int found;

	memset(fields, 0, n * sizeof(*fields));
	while ((found = probeline_next(&rest, &f, &error)) > 0)
		for (size_t i = 0; i < n; i++)
			if (slice_is(f.key, names[i]))
				fields[i] = f;
	return found < 0 ? error : NULL;
}

bool probeline_number(const struct probeline_field *field, uint64_t *number)
{
	return field->key.p && !field->quoted && number_hex(field->value, number);
}

/* Decodes a string's value into to, which has room for s.n bytes. Returns the number written. */
static size_t unescape(char *to, struct slice s)
{
	char *start = to;

	while (s.n) {
		size_t used = 2;

		if (*s.p != '\\' || s.n < 2) {
			*to++ = *s.p;
			used = 1;
		} else if (s.p[1] == '\\' || s.p[1] == '\'') {
			*to++ = s.p[1];
		} else if (s.p[1] == 'n') {
			*to++ = '\n';
		} else if (s.p[1] == 'x' && s.n >= 4 && number_hex_digit(s.p[2]) >= 0 &&
			   number_hex_digit(s.p[3]) >= 0) {
			*to++ = number_hex_digit(s.p[2]) << 4 | number_hex_digit(s.p[3]);
			used = 4;
		} else {
			*to++ = '\\';
			used = 1;
		}
		slice_cut(&s, used);
	}
	return to - start;
}

struct slice probeline_decode(struct slice value)
{
	char *plain = mem_resize(NULL, value.n + 1, 1);
	size_t n = unescape(plain, value);

	plain[n] = 0;
	return (struct slice){plain, n};
}

char *probeline_escape(char *to, struct slice s)
{
	while (s.n) {
		size_t n = 0;

		while (n < s.n && s.p[n] != '\\' && s.p[n] != '\'' && s.p[n] != '\n')
			n++;
		to = utf8_visible(to, slice_cut(&s, n));
		if (s.n) {
			char c = *slice_cut(&s, 1).p;

			*to++ = '\\';
			*to++ = c == '\n' ? 'n' : c;
		}
	}
	return to;
}
