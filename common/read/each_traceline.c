/* SPDX-License-Identifier: BSD-3-Clause */
#include "each_traceline.h"

#include <errno.h>

#include "json.h"
#include "mem.h"
#include "out.h"

int each_traceline_open(struct each_traceline *t, const char *path, const char *reader, struct out *out)
{
	*t = (struct each_traceline){.out = out};
	if (lines_open(&t->lines, path) != 0)
		return -1;
	lines_expect(&t->lines, KIND_TRACE_LINES, reader);
	return 0;
}

static int next_line(struct each_traceline *t, void *context, struct slice *text)
{
	if (t->out->error)
		return 0;
	return t->next ? t->next(context, &t->lines, text) : lines_next(&t->lines, text);
}

static const char *parse(const struct each_traceline *t, struct traceline *line, struct slice *text, struct out *plain)
{
	const char *error = traceline_parse(line, *text);

	if (error || t->keep_bytes || line->has_ns || !memchr(text->p, '\\', text->n))
		return error;
	plain->len = 0;
	plain->len = json_normalize(out_room(plain, text->n), *text);
	if (slice_equal(out_contents(plain), *text))
		return NULL;
	*text = out_contents(plain);
	return traceline_parse(line, *text);
}

int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context)
{
	struct out utf8 = {.fd = OUT_MEMORY}, plain = {.fd = OUT_MEMORY};
	struct traceline line = {};
	struct slice read;
	int got, error_number;

	if (!t->next)
		interactive_start(&t->interactive, &t->lines, t->out);
	t->interactive.pause = t->pause;
	t->interactive.context = context;
	while ((got = next_line(t, context, &read)) > 0) {
		struct slice text = read;
		bool repaired = lines_repair(&t->lines, &text, &utf8);
		const char *error = parse(t, &line, &text, &plain);

		if (!error)
			error = each(context, &line, text);
		if (error)
			lines_complain(&t->lines, "not a trace line, %s: %s", t->pass_on ? "passed on" : "left out",
				       error);
		else if (repaired)
			lines_complain(&t->lines, LINES_REPAIRED);
		if (error && t->pass_on)
			t->pass_on(context, read);
	}
	error_number = got < 0 ? errno : 0;
	traceline_free(&line);
	out_close(&plain);
	out_close(&utf8);
	return lines_close(&t->lines, error_number);
}
