/* SPDX-License-Identifier: BSD-3-Clause */
#include "pass.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aliases.h"
#include "bdevs.h"
#include "beside.h"
#include "busy.h"
#include "each_traceline.h"
#include "info.h"
#include "input.h"
#include "io.h"
#include "joining.h"
#include "names.h"
#include "reader.h"
#include "sources.h"

enum { LAST = 1 << 16 }; /* bytes, among which is the last trace line of a file */

/* What is read. */
struct pass {
	struct facts *facts;
	struct each_traceline file;
	struct joining joining;
	struct beside beside;
	struct aliases aliases;
	const struct us *rate; /* of the ticks of a trace */
	bool pictures, has_begun, good;
};

/* Names, assembles and counts. Returns NULL, or what is wrong with the line. */
static const char *handle(struct pass *p, struct traceline *line)
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
		error = spans_line(&f->measured.spans, line);
	if (!error && !is_live && facts_is_between(f, ns, ns))
		lcore_rows_line(&f->lcores, line, ns);
	return error;
}

/* The lines of other tools up to these ticks. */
static void read_beside(struct pass *p, uint64_t tsc)
{
	while (beside_tsc(&p->beside) < tsc) {
		const char *error = handle(p, beside_next(&p->beside, p->rate, p->facts->base));

		if (error)
			beside_complain(&p->beside, error);
		beside_pass(&p->beside);
	}
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

/* The same of trace lines in a file, by the last one. */
static double length_of_lines(int fd)
{
	struct traceline line = {};
	char *text = mem_array(LAST, 1);
	struct slice rest = {text, 0};
	struct stat st;
	uint64_t ns = 0;
	ssize_t n = 0;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, text, LAST, st.st_size > LAST ? st.st_size - LAST : 0);
	rest.n = n > 0 ? n : 0;
	while (rest.n)
		if (!traceline_parse(&line, slice_cut_line(&rest)))
			traceline_time(&line, &ns);
	traceline_free(&line);
	free(text);
	return ns / 1e3;
}

/* us: how long the trace is; negative: there are no pictures of times. */
static void begin(struct pass *p, const struct reader *r, double us)
{
	struct facts *f = p->facts;

	p->has_begun = true;
	if (us >= 0)
		series_start(&f->series, (us + 1) / SERIES_STEPS);
	p->good &= names_read(f, r, &p->joining.join);
	aliases_read(&p->aliases, f->rpc);
	busy_read(&f->measured.unread, f->rpc);
	facts_start(f);
}

/* each_traceline's functions for a trace. */
static void begin_trace(void *context, struct reader *r, const struct us *rate, uint64_t *base)
{
	struct pass *p = context;
	struct facts *f = p->facts;

	sources_check_clocks(f, r->trace.tsc_rate);
	/* a document from a pipe is read once */
	begin(p, r, p->pictures && (!r->is_json || r->in->whole) ? length_of(r->in) : -1);
	if (f->offcpu)
		beside_add(&p->beside, f->offcpu_fd, io_name(f->offcpu));
	if (f->bio)
		beside_add(&p->beside, f->bio_fd, io_name(f->bio));
	if (!r->counts.returned || beside_tsc(&p->beside) < *base)
		*base = beside_tsc(&p->beside);
	f->base = *base;
	f->rate = r->trace.tsc_rate;
	p->rate = rate;
}

static void end_trace(void *context, struct reader *r, const struct us *rate)
{
	struct pass *p = context;

	read_beside(p, UINT64_MAX);
	info_write(&p->facts->info_text, &(struct info){r, rate, NULL});
}

/* A line of the file, or of an entry of the trace. */
static const char *read_line(void *context, struct traceline *line, struct slice text)
{
	struct pass *p = context;

	(void)text;
	if (!p->has_begun) {
		p->facts->is_lines = true;
		begin(p, NULL, p->pictures ? length_of_lines(p->file.lines.fd) : -1);
	}
	read_beside(p, line->tsc);
	line->owner = aliases_owner(&p->aliases, line->owner);
	/* as trace-merge says it */
	if (p->beside.n)
		line->source = slice_of("trace");
	return handle(p, line);
}

/* ns of the end of the recording; 0: not known. */
static uint64_t end_of(const struct facts *f)
{
	return f->still.end > f->base ? (uint64_t)((double)(f->still.end - f->base) / f->rate * 1e9) : 0;
}

/* What the lines themselves say of the trace, with the keys of trace-dump -i. */
static void write_info(struct facts *f)
{
	const struct spans *spans = &f->measured.spans;
	const struct lcores *lcores = &spans->lcores;
	struct out *out = &f->info_text;
	uint64_t entries = 0;

	out_text(out, "{\"us\":");
	out_us(out, seen_elapsed(&spans->seen));
	out_text(out, ",\"lcores\":[");
	for (size_t i = 0; i < lcores->n; i++) {
		const struct lcore *lcore = &lcores->all[i];

		out_printf(out, "%s{\"lcore\":%" PRIu64 ",\"entries\":%" PRIu64 "}", i ? "," : "", lcore->number,
			   lcore->entries);
		entries += lcore->entries;
	}
	out_printf(out, "],\"entries\":%" PRIu64 "}\n", entries);
}

static void finish(struct pass *p)
{
	struct facts *f = p->facts;

	if (f->is_lines)
		write_info(f);
	f->info = out_contents(&f->info_text);
	if (facts_entries(f) && (f->usdt || f->answers))
		p->good &= joining_check(&p->joining, io_name(f->trace), true);
	p->good &= beside_close(&p->beside);
	facts_end(f);
	bdevs_mark(&f->causes.requests, f->rpc);
	check_chosen(p);
	causes_find(&f->causes, f->names, f->min_us ? facts_ns(strtod(f->min_us, NULL)) : 0, end_of(f),
		    &f->measured.behind);
}

bool pass_run(struct facts *f, bool pictures, struct out *out)
{
	struct pass p = {.facts = f, .joining.text.fd = OUT_MEMORY, .pictures = pictures, .good = true};
	const char *name = io_name(f->trace);

	if (each_traceline_open_fd(&p.file, f->trace_fd, name, "trace-report -", out) != 0) {
		warn("%s", name);
		return false;
	}
	p.file.quiet = true;
	p.file.begin = begin_trace;
	p.file.end = end_trace;
	mem_add(p.joining.files.all, p.joining.files.n, p.joining.files.cap, f->usdt ? f->usdt : f->answers);
	p.good &= each_traceline_run(&p.file, read_line, &p) == 0;
	if (p.has_begun)
		finish(&p);
	else if (p.good)
		warnx("%s: empty: there is neither a trace nor trace lines", name);
	p.good &= p.has_begun;
	joining_free(&p.joining);
	aliases_free(&p.aliases);
	return unpack_close(&f->unpack, name, p.good) == 0 && p.good;
}
