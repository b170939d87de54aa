/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

void notes_clear(struct notes *notes)
{
	notes->text.len = 0;
}

static void put_comma(struct out *text)
{
	if (text->len && text->buf[text->len - 1] != '{')
		out_char(text, ',');
}

static void put_name(struct notes *notes, enum note name)
{
	put_comma(&notes->text);
	out_char(&notes->text, '"');
	out_text(&notes->text, note_name(name));
	out_text(&notes->text, "\":");
}

void notes_flag(struct notes *notes, enum note name)
{
	put_name(notes, name);
	out_text(&notes->text, "true");
}

void notes_uint(struct notes *notes, enum note name, uint64_t value)
{
	put_name(notes, name);
	out_u64(&notes->text, value);
}

void notes_pointer(struct notes *notes, enum note name, uint64_t value)
{
	put_name(notes, name);
	out_char(&notes->text, '"');
	out_hex(&notes->text, value);
	out_char(&notes->text, '"');
}

void notes_text(struct notes *notes, enum note name, struct slice text, bool once)
{
	(void)once;
	if (!text.p)
		return;
	put_name(notes, name);
	out_char(&notes->text, '"');
	out_slice(&notes->text, text);
	out_char(&notes->text, '"');
}

void notes_value(struct notes *notes, enum note name, struct slice value)
{
	put_name(notes, name);
	out_slice(&notes->text, value);
}

size_t notes_open(struct notes *notes, enum note name)
{
	put_name(notes, name);
	out_char(&notes->text, '{');
	return notes->text.len;
}

void notes_close(struct notes *notes, size_t start)
{
	(void)start;
	out_char(&notes->text, '}');
}

void notes_args(struct notes *notes, const struct traceline *line, uint64_t repeated)
{
	size_t i = notes_next_arg(line, repeated, 0), start;

	if (i == line->num_args)
		return;
	start = notes_open(notes, NOTE_ARGS);
	for (; i < line->num_args; i = notes_next_arg(line, repeated, i + 1)) {
		const struct traceline_arg *arg = &line->args[i];

		put_comma(&notes->text);
		/* as written, from the quote of the key on */
		out_slice(&notes->text, slice_between(arg->key.p - 1, arg->value.p + arg->value.n));
	}
	notes_close(notes, start);
}

size_t notes_size(const struct notes *notes)
{
	return notes->text.len;
}

void notes_store(const struct notes *notes, struct out *kept)
{
	out_slice(kept, out_contents(&notes->text));
}

void notes_load(struct notes *notes, struct slice stored)
{
	put_comma(&notes->text);
	out_slice(&notes->text, stored);
}
