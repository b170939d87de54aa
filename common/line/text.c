/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include "textline.h"
#include "digits.h"
#include "lifetimes.h"

static void put_id(struct textline *t, const struct traceline *line)
{
	if (!line->object_id.p && !line->object_value)
		return;
	textline_text(t, "id: ");
	textline_column(t);
	if (line->object_id.p) {
		textline_raw(t, line->object_id);
	} else {
		char value[DIGITS_ROOM], *end = digits_hex(value, line->object_value);

		/* without 0x */
		textline_put(t, slice_between(value + 2, end));
	}
	if (line->related.p) {
		textline_text(t, " (");
		textline_raw(t, line->related);
		textline_text(t, ")");
	}
	textline_pad(t, 12);
	textline_text(t, " ");
}

static void put_args(struct textline *t, const struct traceline *line)
{
	for (size_t i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (i)
			textline_text(t, ", ");
		/* the key of an added argument is not in the line */
		if (arg->value.p)
			textline_raw(t, arg->key);
		else
			textline_other(t, arg->key);
		if (lifetime) {
			textline_text(t, "(");
			textline_other(t, lifetime->text);
			textline_text(t, ")");
		} else {
			textline_text(t, ": ");
			textline_value(t, arg->value, ",");
		}
	}
}

void text_write(struct out *out, const struct traceline *line, size_t n)
{
	char us[TEXTLINE_US], object_us[TEXTLINE_US];
	struct textline t = textline_start(out, line, n);
	struct slice time = textline_us(line->us, us);

	textline_pad(&t, line->lcore.n < 3 ? 3 - line->lcore.n : 0);
	textline_put(&t, line->lcore);
	textline_text(&t, " ");
	textline_column(&t);
	textline_pad(&t, time.n < 16 ? 16 - time.n : 0);
	textline_put(&t, time);
	textline_text(&t, " ");
	if (line->time.p) {
		textline_raw(&t, line->time);
		textline_text(&t, " ");
	}
	textline_column(&t);
	textline_raw(&t, line->owner.n ? line->owner : line->poller);
	textline_pad(&t, 3);
	textline_text(&t, " ");
	textline_column(&t);
	textline_raw(&t, line->tpoint);
	textline_pad(&t, 24);
	textline_text(&t, " ");
	textline_column(&t);
	if (line->size.p) {
		textline_text(&t, "size: ");
		textline_put(&t, line->size);
	}
	textline_pad(&t, 12);
	put_id(&t, line);
	if (line->object_us.p) {
		textline_text(&t, "time: ");
		textline_column(&t);
		textline_put(&t, textline_us(line->object_us, object_us));
		textline_pad(&t, 8);
		textline_text(&t, " ");
	}
	put_args(&t, line);
	textline_end(&t);
}
