/* SPDX-License-Identifier: BSD-3-Clause */
#include "beside.h"

#include <errno.h>

#include "json.h"

/* As each_traceline.h has lines: characters in one form. */
static const char *parse(struct beside_source *s)
{
	const char *error = traceline_parse(&s->next, s->text);

	if (error || s->next.has_ns || !memchr(s->text.p, '\\', s->text.n))
		return error;
	s->plain.len = 0;
	s->plain.len = json_normalize(out_room(&s->plain, s->text.n), s->text);
	s->text = out_contents(&s->plain);
	return traceline_parse(&s->next, s->text);
}

static void read_next(struct beside_source *s)
{
	int got;

	while ((got = lines_next(&s->lines, &s->text)) > 0) {
		bool repaired = lines_repair(&s->lines, &s->text, &s->utf8);
		const char *error = parse(s);

		if (error)
			lines_complain(&s->lines, "not a trace line, left out: %s", error);
		else if (repaired)
			lines_complain(&s->lines, LINES_REPAIRED);
		if (!error)
			return;
	}
	s->ended = true;
	s->failed = lines_close(&s->lines, got < 0 ? errno : 0) != 0;
}

void beside_add(struct beside *b, int fd, const char *path)
{
	struct beside_source *s = &b->all[b->n++];
	const char *slash = strrchr(path, '/');

	*s = (struct beside_source){.name = slash ? slash + 1 : path, .utf8.fd = OUT_MEMORY, .plain.fd = OUT_MEMORY};
	lines_open_fd(&s->lines, fd, path);
	lines_expect(&s->lines, KIND_TRACE_LINES, "trace-merge -");
	read_next(s);
}

/* The source that has the next line, the first one of equal ticks. NULL: all have ended. */
static struct beside_source *first_of(struct beside *b)
{
	struct beside_source *first = NULL;

	for (struct beside_source *s = b->all; s < b->all + b->n; s++)
		if (!s->ended && (!first || s->next.tsc < first->next.tsc))
			first = s;
	return first;
}

uint64_t beside_tsc(const struct beside *b)
{
	const struct beside_source *first = first_of((struct beside *)b);

	return first ? first->next.tsc : UINT64_MAX;
}

struct traceline *beside_next(struct beside *b, const struct us *us, uint64_t base)
{
	struct beside_source *s = first_of(b);
	struct traceline *line = &s->next;

	line->ns = line->tsc < base ? UINT64_MAX : us_ns(us, line->tsc - base);
	line->has_ns = line->ns != UINT64_MAX;
	/* its own time has another origin */
	line->us = line->has_ns ? line->us : slice_of("-");
	if (!line->source.p)
		line->source = slice_of(s->name);
	return line;
}

void beside_complain(struct beside *b, const char *error)
{
	lines_complain(&first_of(b)->lines, "not a trace line, left out: %s", error);
}

void beside_pass(struct beside *b)
{
	read_next(first_of(b));
}

bool beside_close(struct beside *b)
{
	bool good = true;

	for (struct beside_source *s = b->all; s < b->all + b->n; s++) {
		if (!s->ended)
			s->failed = lines_close(&s->lines, 0) != 0;
		good &= !s->failed;
		traceline_free(&s->next);
		out_close(&s->utf8);
		out_close(&s->plain);
	}
	return good;
}
