/* SPDX-License-Identifier: BSD-3-Clause */
#include "each_traceline.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "io.h"
#include "joining.h"
#include "json.h"
#include "line.h"
#include "mem.h"
#include "out.h"
#include "reader.h"

enum { PROGRESS = 1 << 16 }; /* entries from one display of progress to the next */

/* A trace that is read, with the texts of its lines. */
struct each_traceline_entries {
	struct input in;
	struct reader reader;
	struct line_writer writer;
	struct out text;
	uint64_t base; /* ticks of time 0 */
	bool is_open, has_begun;
};

int each_traceline_open(struct each_traceline *t, const char *path, const char *reader, struct out *out)
{
	return each_traceline_open_fd(t, io_open(path), io_name(path), reader, out);
}

int each_traceline_open_fd(struct each_traceline *t, int fd, const char *path, const char *reader, struct out *out)
{
	*t = (struct each_traceline){.out = out, .utf8.fd = OUT_MEMORY, .plain.fd = OUT_MEMORY};
	if (lines_open_fd(&t->lines, fd, path) != 0)
		return -1;
	lines_expect(&t->lines, KIND_TRACE_LINES, reader);
	return 0;
}

static int next_line(struct each_traceline *t)
{
	if (t->out->error)
		return 0;
	return t->next ? t->next(t->context, &t->lines, &t->read) : lines_next(&t->lines, &t->read);
}

/* Names objects in the line, and in its text if it has one. Returns NULL, or what is wrong with the line then. */
static const char *name_objects(const struct each_traceline *t, struct traceline *line, struct slice *text)
{
	struct out *named = &t->joining->text;

	if (!join_annotate(&t->joining->join, line))
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

/* Characters of the line get one form. Returns NULL, or what is wrong with the line. */
static const char *parse(struct each_traceline *t, struct slice *text)
{
	struct out *plain = &t->plain;
	const char *error = traceline_parse(&t->line, *text);

	if (!error && t->joining)
		error = name_objects(t, &t->line, text);
	if (error || t->keep_bytes || t->line.has_ns || !memchr(text->p, '\\', text->n))
		return error;
	plain->len = 0;
	plain->len = json_normalize(out_room(plain, text->n), *text);
	if (slice_equal(out_contents(plain), *text))
		return NULL;
	*text = out_contents(plain);
	return traceline_parse(&t->line, *text);
}

void each_traceline_complain(struct each_traceline *t, const char *error)
{
	t->is_repaired = false;
	if (t->entries) {
		lines_complain(&t->lines, "entry left out: %s", error);
		return;
	}
	lines_complain(&t->lines, "not a trace line, %s: %s", t->pass_on ? "passed on" : "left out", error);
	if (t->pass_on)
		t->pass_on(t->context, t->read);
}

/* The next good line of a text. False at the end, or with t->error. */
static bool next_of_text(struct each_traceline *t, struct slice *text)
{
	int got;

	while ((got = next_line(t)) > 0) {
		const char *error;

		*text = t->read;
		t->is_repaired = lines_repair(&t->lines, text, &t->utf8);
		error = parse(t, text);
		if (!error)
			return true;
		each_traceline_complain(t, error);
	}
	t->error = got < 0 ? errno : 0;
	return false;
}

static void read_span_lines(struct each_traceline *t)
{
	int got;

	t->lines.is = KIND_UNKNOWN;
	while ((got = next_line(t)) > 0) {
		const char *error = t->span_line(t->context, t->read);

		if (error)
			lines_complain(&t->lines, "%s", error);
	}
	t->error = got < 0 ? errno : 0;
}

/* Makes the line of an entry. */
static void make_line(struct each_traceline *t, const struct entry *e, struct slice *text)
{
	struct each_traceline_entries *from = t->entries;

	*text = (struct slice){"", 0};
	if (!t->wants_text) {
		line_fill(&from->writer, e, from->base, &t->line);
		return;
	}
	from->text.len = 0;
	line_write_filled(&from->writer, e, from->base, &t->line);
	*text = (struct slice){from->text.buf, from->text.len - 1};
}

static void begin(struct each_traceline *t, struct each_traceline_entries *from)
{
	from->has_begun = true;
	from->base = from->reader.first;
	if (t->begin)
		t->begin(t->context, &from->reader, &from->writer.us, &from->base);
}

static bool next_entry(struct each_traceline *t, struct slice *text)
{
	struct reader *r = &t->entries->reader;
	struct entry e;

	while (!t->out->error && t->entries->is_open && reader_next(r, &e)) {
		const char *error = NULL;

		if (r->counts.returned % PROGRESS == 0)
			progress_show(&t->interactive.progress, r->counts.entries, 0, "entries");
		t->lines.number++;
		if (!t->entries->has_begun)
			begin(t, t->entries);
		make_line(t, &e, text);
		if (t->joining)
			error = name_objects(t, &t->line, text);
		if (!error)
			return true;
		each_traceline_complain(t, error);
	}
	return false;
}

static void open_trace(struct each_traceline *t)
{
	const struct reader_options options = {.entries = true};
	struct each_traceline_entries *from = t->entries = mem_array(1, sizeof(*t->entries));
	struct slice start;
	int fd = lines_detach(&t->lines, &start);

	t->error = input_open_rest(&from->in, fd, start) == 0 ? 0 : errno;
	from->text.fd = OUT_MEMORY;
	if (t->error)
		return;
	from->is_open = reader_open(&from->reader, &from->in, &options) == 0;
	if (from->is_open)
		line_open(&from->writer, &from->reader.trace, from->reader.trace.tsc_rate, NULL, &from->text);
}

/* Returns whether nothing is wrong with the trace; else after messages. */
static bool close_trace(struct each_traceline *t)
{
	struct each_traceline_entries *from = t->entries;
	bool good = !t->error;

	if (from->is_open) {
		progress_end(&t->interactive.progress);
		if (!from->has_begun)
			begin(t, from);
		if (t->end)
			t->end(t->context, &from->reader, &from->writer.us);
		reader_note(&from->reader, &from->writer.us, t->lines.name, false, t->quiet);
		line_close(&from->writer);
	}
	out_close(&from->text);
	if (good) {
		good = reader_report(&from->reader, t->lines.name);
		if (input_shrunk(&from->in)) {
			warnx("%s: was truncated while it was read: entries may be missing", t->lines.name);
			good = false;
		}
		reader_close(&from->reader);
	}
	input_close(&from->in);
	free(from);
	t->entries = NULL;
	return good;
}

/* Starts again with what xz or gzip unpacks. Returns false if that is not possible. */
static bool start_unpacked(struct each_traceline *t)
{
	const enum input_kind is = t->lines.is;
	struct slice start;
	int fd, from = lines_detach(&t->lines, &start);

	fd = unpack_open(&t->unpack, is, from, start);
	if (fd < 0) {
		t->lines.is = is;
		return false;
	}
	lines_attach(&t->lines, fd);
	return true;
}

/* Goes on with what is no text, if the file is that; what `next` reads is lines: it waits for other inputs as well. */
static bool switch_kind(struct each_traceline *t)
{
	const enum input_kind is = t->lines.is;

	if (t->error != EMEDIUMTYPE || t->entries)
		return false;
	if (!t->next && !t->unpack.program && (is == KIND_XZ || is == KIND_GZIP))
		return start_unpacked(t);
	if (is == KIND_SPANS && t->span_line && !t->joining) {
		read_span_lines(t);
		return false;
	}
	if (t->next || (is != KIND_TRACE_FILE && is != KIND_BINARY && is != KIND_SPDK_JSON))
		return false;
	open_trace(t);
	return true;
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

static void start(struct each_traceline *t)
{
	t->has_started = true;
	if (t->joining && t->joining->files.n) {
		t->joining->join.unnamed = (struct join_unnamed){};
		t->joining->text.fd = OUT_MEMORY;
	} else {
		t->joining = NULL;
	}
	if (!t->next)
		interactive_start(&t->interactive, &t->lines, t->out);
	t->interactive.pause = t->pause;
	t->interactive.context = t->context;
}

bool each_traceline_next(struct each_traceline *t, struct slice *text)
{
	if (!t->has_started)
		start(t);
	if (t->is_repaired)
		lines_complain(&t->lines, LINES_REPAIRED);
	t->is_repaired = false;
	do {
		if (t->entries ? next_entry(t, text) : next_of_text(t, text))
			return true;
	} while (switch_kind(t));
	return false;
}

int each_traceline_close(struct each_traceline *t)
{
	bool good = !t->entries || close_trace(t);
	int status = lines_close(&t->lines, t->error);

	t->lines.failed |= !good;
	if (unpack_close(&t->unpack, t->lines.name, !t->error && !t->out->error) != 0)
		status = -1;
	traceline_free(&t->line);
	out_close(&t->plain);
	out_close(&t->utf8);
	return are_named(t) && good ? status : -1;
}

int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context)
{
	struct slice text;

	t->context = context;
	while (each_traceline_next(t, &text)) {
		const char *error = each(context, &t->line, text);

		if (error)
			each_traceline_complain(t, error);
	}
	return each_traceline_close(t);
}
