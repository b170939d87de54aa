/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

#include <stdio.h>

#include "digits.h"

static char *write_real(char *to, int decimals, double value)
{
	return to + snprintf(to, COLUMNS_ROOM, "%.*f", decimals, value);
}

/* Rounds ns to a number of decimals of this unit, 10^`unit` ns. */
static char *write_fixed(char *to, uint64_t ns, int unit, int decimals)
{
	char digits[DIGITS_ROOM];
	uint64_t least = 1, whole = 1;

	for (int i = unit; i > decimals; i--)
		least *= 10;
	for (int i = 0; i < decimals; i++)
		whole *= 10;
	ns = ns / least + (ns % least >= (least + 1) / 2);
	to = digits_u64(to, ns / whole);
	*to++ = '.';
	digits_8(digits, ns % whole);
	return mempcpy(to, digits + 8 - decimals, decimals);
}

/* Makes a time positive. Returns whether it was negative. */
static bool cut_sign(uint64_t *ns)
{
	bool is_negative = (int64_t)*ns < 0;

	*ns = is_negative ? -*ns : *ns;
	return is_negative;
}

struct slice columns_short(const struct column_value *value, char room[COLUMNS_ROOM])
{
	uint64_t ns = value->number;
	char *end = room;

	switch (value->kind) {
	case COLUMN_WORD:
	case COLUMN_FLAG:
		return value->text;
	case COLUMN_NUMBER:
		end = digits_u64(room, value->number);
		break;
	case COLUMN_US:
		end = digits_us(room, value->number);
		break;
	case COLUMN_MS:
		end = write_fixed(room, value->number, 6, value->decimals);
		break;
	case COLUMN_SECONDS:
		if (cut_sign(&ns))
			*end++ = '-';
		end = write_fixed(end, ns, 9, 6);
		break;
	case COLUMN_RATE:
		end = write_real(room, value->real ? 1 : 0, value->real);
		break;
	case COLUMN_PART:
		end = write_real(room, value->real ? 1 : 0, 100 * value->real);
		break;
	default:
		*end++ = '-';
	}
	return slice_between(room, end);
}

void columns_put(struct out *out, const struct column_value *value)
{
	char room[COLUMNS_ROOM];

	switch (value->kind) {
	case COLUMN_TEXT:
		out_visible(out, value->text.n ? value->text : slice_of("-"));
		break;
	case COLUMN_RAW:
		out_visible_json(out, value->text);
		break;
	case COLUMN_DURATION:
		out_duration(out, value->number);
		break;
	default:
		out_slice(out, columns_short(value, room));
	}
}

void columns_put_heading(struct out *out, const struct column *column)
{
	out_text(out, column->heading);
	if (column->value.kind == COLUMN_PART || column->value.kind == COLUMN_NULL)
		out_char(out, '%');
}

/* The name in JSON; else the heading in lower case, without its unit. */
static void put_plain_heading(struct out *out, const struct column *column)
{
	if (column->name && !column->value.object && column->value.kind != COLUMN_PART) {
		out_text(out, column->name);
		return;
	}
	for (const char *c = column->heading; *c && *c != '('; c++)
		out_char(out, *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
	out_text(out, column->value.kind == COLUMN_PART || column->value.kind == COLUMN_NULL ? "%" : "");
}

char columns_tabs(struct out *out, char before, const struct column *columns, size_t n, bool heads)
{
	for (size_t i = 0; i < n; i++) {
		struct column_value value = columns[i].value;

		if (!columns[i].heading)
			continue;
		if (before)
			out_char(out, before);
		before = '\t';
		if (value.kind == COLUMN_WORD && !value.text.n)
			value.kind = COLUMN_ABSENT;
		if (!heads && value.kind == COLUMN_SECONDS && cut_sign(&value.number))
			out_char(out, '-');
		if (value.kind >= COLUMN_US && value.kind <= COLUMN_DURATION)
			value.kind = COLUMN_US;
		if (heads)
			put_plain_heading(out, &columns[i]);
		else
			columns_put(out, &value);
	}
	return before;
}

static void put_json(struct out *out, const struct column_value *value)
{
	switch (value->kind) {
	case COLUMN_TEXT:
		out_json(out, value->text);
		break;
	case COLUMN_WORD:
	case COLUMN_RAW:
		out_char(out, '"');
		out_slice(out, value->text);
		out_char(out, '"');
		break;
	case COLUMN_US:
	case COLUMN_MS:
	case COLUMN_DURATION:
		out_us(out, value->number);
		break;
	case COLUMN_RATE:
		out_printf(out, "%.1f", value->real);
		break;
	case COLUMN_PART:
		out_printf(out, "%.4f", value->real);
		break;
	case COLUMN_BOOL:
		out_text(out, value->number ? "true" : "false");
		break;
	case COLUMN_FLAG:
		out_text(out, "true");
		break;
	case COLUMN_NULL:
		out_text(out, "null");
		break;
	default:
		out_u64(out, value->number);
	}
}

/* Writes the comma or brace before a member, and its name. */
static void put_name(struct out *out, char before, const char *name)
{
	size_t n = strlen(name);
	char *to = out_room(out, n + 4);

	*to++ = before;
	*to++ = '"';
	to = mempcpy(to, name, n);
	out_commit(out, mempcpy(to, "\":", 2));
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

char columns_members(struct out *out, char before, const struct column *columns, size_t n)
{
	const char *object = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct column *column = &columns[i];

		if (!column->name || column->value.kind == COLUMN_ABSENT || column->value.kind == COLUMN_SECONDS)
			continue;
		if (!is_same(object, column->value.object)) {
			out_text(out, object ? "}" : "");
			if (column->value.object)
				put_name(out, before, column->value.object);
			before = column->value.object ? '{' : before;
			object = column->value.object;
		}
		put_name(out, before, column->name);
		put_json(out, &column->value);
		before = ',';
	}
	out_text(out, object ? "}" : "");
	return before;
}
