/* SPDX-License-Identifier: BSD-3-Clause */
#include "each_traceline.h"

#include <err.h>
#include <errno.h>
#include <unistd.h>

#include "input.h"
#include "joining.h"
#include "json.h"
#include "line.h"
#include "losses.h"
#include "out.h"
#include "reader.h"
#include "unpack.h"

enum { PROGRESS = 1 << 16 }; /* entries from one display of progress to the next */

/* What gets the lines. */
struct handler {
	each_traceline_fn *each;
	void *context;
};

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

/* Names objects in the line, and in its text if it has one. Returns NULL, or what is wrong with the line then. */
static const char *name_objects(const struct each_traceline *t, struct traceline *line, struct slice *text)
{
	struct out *named = &t->joining->text;

	if (!join_annotate(&t->joining->join, line, true))
		return NULL;
	named->len = 0;
	if (!text->n) {
		join_fill(named, line);
		return NULL;
	}
	join_write(named, line, *text);
	*text = out_contents(named);
	return traceline_parse(line, *text);
}

static const char *parse(const struct each_traceline *t, struct traceline *line, struct slice *text, struct out *plain)
{
	const char *error = traceline_parse(line, *text);

	if (!error && t->joining)
		error = name_objects(t, line, text);
	if (error || t->keep_bytes || line->has_ns || !memchr(text->p, '\\', text->n))
		return error;
	plain->len = 0;
	plain->len = json_normalize(out_room(plain, text->n), *text);
	if (slice_equal(out_contents(plain), *text))
		return NULL;
	*text = out_contents(plain);
	return traceline_parse(line, *text);
}

/* Returns 0 at the end, or an errno. */
static int read_lines(struct each_traceline *t, struct handler to)
{
	struct out utf8 = {.fd = OUT_MEMORY}, plain = {.fd = OUT_MEMORY};
	struct traceline line = {};
	struct slice read;
	int got, error_number;

	while ((got = next_line(t, to.context, &read)) > 0) {
		struct slice text = read;
		bool repaired = lines_repair(&t->lines, &text, &utf8);
		const char *error = parse(t, &line, &text, &plain);

		if (!error)
			error = to.each(to.context, &line, text);
		if (error)
			lines_complain(&t->lines, "not a trace line, %s: %s", t->pass_on ? "passed on" : "left out",
				       error);
		else if (repaired)
			lines_complain(&t->lines, LINES_REPAIRED);
		if (error && t->pass_on)
			t->pass_on(to.context, read);
	}
	error_number = got < 0 ? errno : 0;
	traceline_free(&line);
	out_close(&plain);
	out_close(&utf8);
	return error_number;
}

/* Returns 0 at the end, or an errno. */
static int read_span_lines(struct each_traceline *t, void *context)
{
	struct slice text;
	int got;

	t->lines.is = KIND_UNKNOWN;
	while ((got = next_line(t, context, &text)) > 0) {
		const char *error = t->span_line(context, text);

		if (error)
			lines_complain(&t->lines, "%s", error);
	}
	return got < 0 ? errno : 0;
}

/* Makes the line of an entry. Returns NULL, or what is wrong with it. */
static const char *make_line(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *line,
			     struct slice *text)
{
	w->out->len = 0;
	line_write(w, e, base);
	*text = (struct slice){w->out->buf, w->out->len - 1};
	return traceline_parse(line, *text);
}

static void read_entries(struct each_traceline *t, struct reader *r, struct line_writer *w, struct handler to)
{
	struct traceline line = {};
	struct slice text = {"", 0};
	const char *error = NULL;
	struct entry e;

	while (!t->out->error && reader_next(r, &e)) {
		if (r->counts.returned % PROGRESS == 0)
			progress_show(&t->interactive.progress, r->counts.entries, 0, "entries");
		t->lines.number++;
		if (t->wants_text)
			error = make_line(w, &e, r->first, &line, &text);
		else
			line_fill(w, &e, r->first, &line);
		if (!error && t->joining)
			error = name_objects(t, &line, &text);
		if (!error)
			error = to.each(to.context, &line, text);
		if (error)
			lines_complain(&t->lines, "entry left out: %s", error);
		error = NULL;
	}
	traceline_free(&line);
}

/* Returns whether nothing is wrong with the trace; else after messages. */
static bool read_trace(struct each_traceline *t, struct input *in, struct handler to)
{
	const struct reader_options options = {.entries = true};
	struct out text = {.fd = OUT_MEMORY};
	struct line_writer w;
	struct reader r;
	bool good;

	if (reader_open(&r, in, &options) == 0) {
		line_open(&w, &r.trace, r.trace.tsc_rate, NULL, &text);
		read_entries(t, &r, &w, to);
		progress_end(&t->interactive.progress);
		losses_note(&r, &w.us, t->lines.name, false, t->quiet);
		line_close(&w);
		out_close(&text);
	}
	good = reader_report(&r, t->lines.name);
	if (input_shrunk(in)) {
		warnx("%s: was truncated while it was read: entries may be missing", t->lines.name);
		good = false;
	}
	reader_close(&r);
	return good;
}

static int run_trace(struct each_traceline *t, struct handler to)
{
	struct slice start;
	struct input in;
	int fd = lines_detach(&t->lines, &start), status, error;
	bool good = false;

	error = input_open_rest(&in, fd, start) == 0 ? 0 : errno;
	if (!error)
		good = read_trace(t, &in, to);
	input_close(&in);
	status = lines_close(&t->lines, error);
	t->lines.failed |= !good;
	return good ? status : -1;
}

/* Starts again with what xz or gzip unpacks. Returns false if that is not possible. */
static bool start_unpacked(struct each_traceline *t, struct unpack *unpack)
{
	const enum input_kind is = t->lines.is;
	struct slice start;
	int fd, from = lines_detach(&t->lines, &start);

	fd = unpack_open(unpack, is, from, start);
	if (fd < 0) {
		t->lines.is = is;
		return false;
	}
	lines_attach(&t->lines, fd);
	return true;
}

/* What `next` reads is lines: it waits for other inputs as well. */
static bool can_unpack(const struct each_traceline *t, int error)
{
	return error == EMEDIUMTYPE && !t->next && (t->lines.is == KIND_XZ || t->lines.is == KIND_GZIP);
}

static bool can_be_trace(const struct each_traceline *t, int error)
{
	const enum input_kind is = t->lines.is;

	return error == EMEDIUMTYPE && !t->next && (is == KIND_TRACE_FILE || is == KIND_BINARY || is == KIND_SPDK_JSON);
}

/* Whether the lifetimes are good, and name what they should; else after messages. */
static bool are_named(const struct each_traceline *t)
{
	if (!t->joining)
		return true;
	if (t->lines.number && !t->out->error && !joining_check(t->joining, t->lines.name, t->quiet))
		return false;
	return !t->joining->faulty;
}

int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context)
{
	const struct handler to = {each, context};
	struct unpack unpack = {};
	int error, status;

	if (t->joining && t->joining->n)
		t->joining->join.unnamed = (struct join_unnamed){};
	else
		t->joining = NULL;
	if (!t->next)
		interactive_start(&t->interactive, &t->lines, t->out);
	t->interactive.pause = t->pause;
	t->interactive.context = context;
	error = read_lines(t, to);
	if (can_unpack(t, error) && start_unpacked(t, &unpack))
		error = read_lines(t, to);
	if (error == EMEDIUMTYPE && t->lines.is == KIND_SPANS && t->span_line && !t->joining)
		error = read_span_lines(t, context);
	if (can_be_trace(t, error)) {
		status = run_trace(t, to);
		error = 0;
	} else {
		status = lines_close(&t->lines, error);
	}
	if (unpack_close(&unpack, t->lines.name, !error && !t->out->error) != 0)
		status = -1;
	return are_named(t) ? status : -1;
}
