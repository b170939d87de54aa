/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include "json.h"
#include "utf8.h"

static struct slice label(const char *name, size_t size)
{
	return (struct slice){name, strnlen(name, size < LABEL_SIZE ? size : LABEL_SIZE)};
}

void label_column(struct out *out, const char *name, size_t size, int width)
{
	char *to = out_room(out, UTF8_VISIBLE(LABEL_SIZE) + width + 1), *end;

	end = utf8_visible(to, label(name, size));
	if (end == to)
		*end++ = '-';
	while (end < to + width)
		*end++ = ' ';
	*end++ = ' ';
	out_commit(out, end);
}

void label_member(struct out *out, const char *key, const char *name, size_t size)
{
	char *to;

	out_text(out, "\"");
	out_text(out, key);
	out_text(out, "\":");
	to = json_quote(out_room(out, JSON_QUOTED(LABEL_SIZE) + 1), label(name, size));
	*to++ = ',';
	out_commit(out, to);
}
