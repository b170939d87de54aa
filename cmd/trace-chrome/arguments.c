/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

static void clear(void *annotations)
{
	struct out *to = annotations;

	to->len = 0;
}

static void put_comma(struct out *to)
{
	if (to->len && to->buf[to->len - 1] != '{')
		out_char(to, ',');
}

/* Returns where the value follows. */
static struct out *put_name(void *annotations, enum annotation name)
{
	struct out *to = annotations;

	put_comma(to);
	out_char(to, '"');
	out_text(to, writer_name(name));
	out_text(to, "\":");
	return to;
}

static void put_flag(void *annotations, enum annotation name)
{
	out_text(put_name(annotations, name), "true");
}

static void put_uint(void *annotations, enum annotation name, uint64_t value)
{
	out_u64(put_name(annotations, name), value);
}

static void put_pointer(void *annotations, enum annotation name, uint64_t value)
{
	struct out *to = put_name(annotations, name);

	out_char(to, '"');
	out_hex(to, value);
	out_char(to, '"');
}

static void put_text(void *annotations, enum annotation name, struct slice text, bool once)
{
	struct out *to;

	(void)once;
	if (!text.p)
		return;
	to = put_name(annotations, name);
	out_char(to, '"');
	out_slice(to, text);
	out_char(to, '"');
}

static void put_value(void *annotations, enum annotation name, struct slice value)
{
	out_slice(put_name(annotations, name), value);
}

static void open_object(void *annotations, enum annotation name)
{
	out_char(put_name(annotations, name), '{');
}

static void close_object(void *annotations)
{
	out_char(annotations, '}');
}

static void put_args(void *annotations, const struct traceline *line, uint64_t repeated)
{
	size_t i = writer_next_arg(line, repeated, 0);

	if (i == line->num_args)
		return;
	open_object(annotations, ANNOTATION_ARGS);
	for (; i < line->num_args; i = writer_next_arg(line, repeated, i + 1)) {
		const struct traceline_arg *arg = &line->args[i];

		put_comma(annotations);
		/* as written, from the quote of the key on */
		out_slice(annotations, slice_between(arg->key.p - 1, arg->value.p + arg->value.n));
	}
	close_object(annotations);
}

static size_t size(const void *annotations)
{
	return out_contents(annotations).n;
}

static void store(const void *annotations, struct out *kept)
{
	out_slice(kept, out_contents(annotations));
}

static void load(void *annotations, struct slice stored)
{
	put_comma(annotations);
	out_slice(annotations, stored);
}

void arguments_start(struct writer *w, struct out *members)
{
	members->fd = OUT_MEMORY;
	w->annotations = members;
	w->clear = clear;
	w->flag = put_flag;
	w->uint = put_uint;
	w->pointer = put_pointer;
	w->text = put_text;
	w->value = put_value;
	w->args = put_args;
	w->open = open_object;
	w->close = close_object;
	w->size = size;
	w->store = store;
	w->load = load;
}
