/* SPDX-License-Identifier: BSD-3-Clause */
#include "pass.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "aliases.h"
#include "bdevs.h"
#include "beside.h"
#include "info.h"
#include "input.h"
#include "io.h"
#include "joining.h"
#include "kind.h"
#include "line.h"
#include "names.h"
#include "progress.h"
#include "reader.h"
#include "sources.h"

enum { PROGRESS = 1 << 16 }; /* entries from one display of progress to the next */

/* What is read. */
struct pass {
	struct facts *facts;
	struct reader reader;
	struct line_writer writer;
	struct joining joining;
	struct beside beside;
	struct aliases aliases;
	struct traceline line; /* of an entry */
	uint64_t base;         /* ticks of time 0 */
	bool good;
};

/* Names, assembles and counts. Returns NULL, or what is wrong with the line. */
static const char *handle(struct pass *p, struct traceline *line, struct slice text)
{
	struct facts *f = p->facts;
	struct out *named = &p->joining.text;
	const bool is_live = spans_is_live(line);
	const char *error;
	uint64_t ns;

	if (!is_live && join_annotate(&p->joining.join, line)) {
		named->len = 0;
		join_fill(named, line);
	}
	error = traceline_time(line, &ns);
	if (!error)
		error = spans_line(&f->measured.spans, line, text);
	if (!error && !is_live && facts_is_between(f, ns, ns))
		lcore_rows_line(&f->lcores, line, ns);
	return error;
}

/* The lines of other tools up to these ticks. */
static void read_beside(struct pass *p, uint64_t tsc)
{
	while (beside_tsc(&p->beside) < tsc) {
		struct slice text;
		struct traceline *line = beside_next(&p->beside, &p->writer.us, p->base, &text);
		const char *error = handle(p, line, text);

		if (error)
			beside_complain(&p->beside, error);
		beside_pass(&p->beside);
	}
}

static void read_entry(struct pass *p, const struct entry *e)
{
	const char *error;

	read_beside(p, e->tsc);
	line_fill(&p->writer, e, p->base, &p->line);
	p->line.owner = aliases_owner(&p->aliases, p->line.owner);
	/* as trace-merge says it */
	if (p->beside.n)
		p->line.source = slice_of("trace");
	error = handle(p, &p->line, (struct slice){"", 0});
	if (!error)
		return;
	p->good = false;
	warnx("%s: entry left out: %s", io_name(p->facts->trace), error);
}

/* Complains if the options leave nothing. */
static void check_chosen(struct pass *p)
{
	const struct facts *f = p->facts;
	const char *name = io_name(f->trace), *missing = keys_missing(&f->keys);

	if (f->requests || f->admin || !f->seen)
		return;
	if (f->keys.n && !f->keys.matched && missing)
		warnx("%s: -k %s: no request has this key", name, missing);
	else
		warnx("%s: the options choose none of %" PRIu64 " request%s", name, f->seen, f->seen == 1 ? "" : "s");
	p->good = false;
}

static void read_all(struct pass *p)
{
	struct progress progress;
	struct entry e;
	bool any = reader_next(&p->reader, &e);

	progress_start(&progress);
	p->base = beside_tsc(&p->beside);
	if (any && p->reader.first < p->base)
		p->base = p->reader.first;
	for (; any; any = reader_next(&p->reader, &e)) {
		if (p->reader.counts.returned % PROGRESS == 0)
			progress_show(&progress, p->reader.counts.entries, 0, "entries");
		read_entry(p, &e);
	}
	read_beside(p, UINT64_MAX);
	progress_end(&progress);
}

/* Microseconds of a trace, before it is read. */
static double length_of(struct input *in)
{
	const struct reader_options options = {.entries = true};
	struct reader r;
	struct entry e;
	double us = 0;

	if (reader_open(&r, in, &options) == 0) {
		while (reader_next(&r, &e))
			;
		us = (r.highest - r.first) * 1e6 / r.trace.tsc_rate;
	}
	reader_close(&r);
	return us;
}

static void start(struct pass *p)
{
	struct facts *f = p->facts;

	sources_check_clocks(f, p->reader.trace.tsc_rate);
	joining_add(&p->joining, f->usdt ? f->usdt : f->answers);
	p->good &= names_read(f, &p->reader, &p->joining.join);
	if (f->offcpu)
		beside_add(&p->beside, f->offcpu_fd, io_name(f->offcpu));
	if (f->bio)
		beside_add(&p->beside, f->bio_fd, io_name(f->bio));
	aliases_read(&p->aliases, f->rpc);
	facts_start(f);
}

/* ns of the end of the recording; 0: not known. */
static uint64_t end_of(const struct facts *f)
{
	return f->still.end > f->base ? (uint64_t)((double)(f->still.end - f->base) / f->rate * 1e9) : 0;
}

static void finish(struct pass *p)
{
	struct facts *f = p->facts;
	struct reader *r = &p->reader;
	const char *name = io_name(f->trace);

	info_write(&f->info_text, &(struct info){r, &p->writer.us, NULL});
	f->info = out_contents(&f->info_text);
	if (r->counts.returned && (f->usdt || f->answers))
		p->good &= joining_check(&p->joining, name, true);
	p->good &= beside_close(&p->beside);
	facts_end(f);
	f->base = p->base;
	f->rate = r->trace.tsc_rate;
	bdevs_mark(&f->causes.requests, f->rpc);
	check_chosen(p);
	causes_find(&f->causes, f->names, f->min_us ? facts_ns(strtod(f->min_us, NULL)) : 0, end_of(f),
		    &f->measured.behind);
}

/* Opens the input. Returns false, after a message, if there is no trace in it. */
static bool open_trace(struct pass *p, struct input *in)
{
	const struct reader_options options = {.entries = true};
	const char *name = io_name(p->facts->trace);
	enum input_kind kind;

	if (input_open_fd(in, p->facts->trace_fd, false) != 0) {
		warn("%s", name);
		return false;
	}
	if (reader_open(&p->reader, in, &options) == 0)
		return true;
	kind = kind_of((struct slice){(const char *)in->data, in->size}, KIND_TRACE_FILE);
	if (in->error || kind == KIND_UNKNOWN || kind == KIND_TRACE_FILE || kind == KIND_BINARY ||
	    kind == KIND_SPDK_JSON)
		reader_report(&p->reader, name);
	else
		kind_refuse(name, kind, KIND_TRACE_FILE, "trace-report");
	return false;
}

bool pass_run(struct facts *f, bool pictures)
{
	struct pass p = {.facts = f, .good = true};
	struct out text = {.fd = OUT_MEMORY};
	struct input in;

	if (open_trace(&p, &in)) {
		/* a document from a pipe is read once */
		if (pictures && (!p.reader.is_json || in.whole))
			series_start(&f->series, (length_of(&in) + 1) / SERIES_STEPS);
		line_open(&p.writer, &p.reader.trace, p.reader.trace.tsc_rate, NULL, &text);
		start(&p);
		read_all(&p);
		finish(&p);
		p.good &= reader_report(&p.reader, io_name(f->trace));
		traceline_free(&p.line);
		line_close(&p.writer);
		joining_free(&p.joining);
		aliases_free(&p.aliases);
	} else {
		p.good = false;
	}
	if (input_shrunk(&in)) {
		warnx("%s: was truncated while it was read: entries may be missing", io_name(f->trace));
		p.good = false;
	}
	reader_close(&p.reader);
	input_close(&in);
	return unpack_close(&f->unpack, io_name(f->trace), p.good) == 0 && p.good;
}
