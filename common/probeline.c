/* SPDX-License-Identifier: BSD-3-Clause */
#include "probeline.h"

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

static void drop(struct slice *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static void drop_blanks(struct slice *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t'))
		drop(s, 1);
}

bool probeline_name(struct slice *line, struct slice *name)
{
	size_t n = identifier(*line);

	if (!n || n + 2 > line->n || line->p[n] != ':' || line->p[n + 1] != ' ')
		return false;
	*name = (struct slice){line->p, n};
	drop(line, n + 2);
	/* a carriage return belongs to the line's end */
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/* Whether a string may end before s: nothing is left, or another field follows. */
static bool ends_string(struct slice s)
{
	size_t n;

	drop_blanks(&s);
	if (!s.n)
		return true;
	if (*s.p != ',')
		return false;
	drop(&s, 1);
	drop_blanks(&s);
	n = identifier(s);
	return n && n < s.n && s.p[n] == '=';
}

/* The string's length up to its closing quote, s beginning behind the opening one; SIZE_MAX without one. */
static size_t string_length(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n && (s.p[i + 1] == '\\' || s.p[i + 1] == '\''))
			i++;
		else if (s.p[i] == '\'' && ends_string((struct slice){s.p + i + 1, s.n - i - 1}))
			return i;
	}
	return (size_t)-1;
}

int probeline_next(struct slice *rest, struct probeline_field *field, const char **error)
{
	size_t n;

	drop_blanks(rest);
	if (!rest->n)
		return 0;
	n = identifier(*rest);
	*error = "a field KEY=VALUE is expected";
	if (!n || n == rest->n || rest->p[n] != '=')
		return -1;
	field->key = (struct slice){rest->p, n};
	drop(rest, n + 1);
	field->quoted = rest->n && *rest->p == '\'';
	if (field->quoted) {
		drop(rest, 1);
		n = string_length(*rest);
		*error = "a string without its closing quote";
		if (n == (size_t)-1)
			return -1;
		field->value = (struct slice){rest->p, n};
		drop(rest, n + 1);
	} else {
		const char *comma = memchr(rest->p, ',', rest->n);

		n = comma ? (size_t)(comma - rest->p) : rest->n;
		field->value = (struct slice){rest->p, n};
		while (field->value.n && field->value.p[field->value.n - 1] == ' ')
			field->value.n--;
		drop(rest, n);
		*error = "a field without a value";
		if (!field->value.n)
			return -1;
	}
	drop_blanks(rest);
	if (!rest->n)
		return 1;
	drop(rest, 1);
	drop_blanks(rest);
	*error = "a comma without a field behind it";
	return rest->n ? 1 : -1;
}

size_t probeline_unescape(char *to, struct slice s)
{
	char *begin = to;

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
		drop(&s, used);
	}
	return to - begin;
}

char *probeline_escape(char *to, struct slice s)
{
	while (s.n) {
		size_t n = 0;

		while (n < s.n && s.p[n] != '\\' && s.p[n] != '\'' && s.p[n] != '\n')
			n++;
		to = utf8_visible(to, (struct slice){s.p, n});
		drop(&s, n);
		if (s.n) {
			*to++ = '\\';
			*to++ = *s.p == '\n' ? 'n' : *s.p;
			drop(&s, 1);
		}
	}
	return to;
}
