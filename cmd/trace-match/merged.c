/* SPDX-License-Identifier: BSD-3-Clause */
#include "merged.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem.h"
#include "out.h"

/* A line on its way from the process that reads its source: this, then its text. */
struct packet {
	int64_t ns; /* time of the first source */
	uint32_t n;
};

struct feed {
	pid_t reader; /* 0: the source is left out */
	FILE *in;
	struct packet next;
	char *text;
	size_t cap;
	bool ended;
};

struct reading {
	const struct match *m;
	struct source *source;
	size_t number;
	const uint32_t *via; /* by source: the one whose times its own are turned into next */
	int64_t origin, before, latest;
	size_t requests; /* so far */
	struct out *out, text;
	bool is_only; /* lines go to the output at once */
};

/* A time of one source as one of another, by the pairs of these two. */
static int64_t turn(const struct match *m, size_t from, size_t to, int64_t ns)
{
	const struct offset *o = match_offset(m, to, from);
	int64_t time = ns;
	double bound;

	if (o->is_known)
		return ns + offset_at(o, ns, &bound);
	/* the other direction: the offset is known by the time that is looked for; its slope is small */
	o = match_offset(m, from, to);
	for (unsigned i = 0; i < 4; i++)
		time = ns - offset_at(o, time, &bound);
	return time;
}

/* What no clock of this kind shows is cut off, so that many sources do not overflow. */
static int64_t within(int64_t ns)
{
	return ns > 2 * SIDE_LONGEST ? 2 * SIDE_LONGEST : ns < -2 * SIDE_LONGEST ? -2 * SIDE_LONGEST : ns;
}

static int64_t to_first(const struct match *m, const uint32_t *via, size_t source, int64_t ns)
{
	for (; via[source] != source; source = via[source])
		ns = within(turn(m, source, via[source], ns));
	return ns;
}

/* How the times of each source are turned into those of the first one; MAP_NONE: they cannot. */
static uint32_t *find_ways(const struct match *m)
{
	uint32_t *via = mem_array(m->n, sizeof(*via));
	bool more = true;

	for (size_t i = 0; i < m->n; i++)
		via[i] = i ? MAP_NONE : 0;
	while (more) {
		more = false;
		for (size_t i = 0; i < m->n; i++)
			for (size_t k = 0; k < m->n && via[i] == MAP_NONE; k++)
				if (i != k && via[k] != MAP_NONE &&
				    (match_offset(m, i, k)->is_known || match_offset(m, k, i)->is_known)) {
					via[i] = k;
					more = true;
				}
	}
	return via;
}

static void put_command(struct out *out, const struct reading *r, const struct side_io *request)
{
	const struct source *source = &r->m->sources[request->source];
	const struct side_io *command = &source->commands.ios[request->match];

	out_text(out, "\"command\":{\"source\":\"");
	out_slice(out, source->name);
	out_text(out, "\",\"id\":\"p");
	out_u64(out, command->number);
	out_text(out, "\",\"ptr\":\"");
	out_hex(out, command->value);
	out_text(out, "\"}");
}

/* The line with its time, its source, and the command of a request. */
static void put_line(struct out *out, const struct reading *r, const struct traceline *line, struct slice text,
		     int64_t ns, const struct side_io *request)
{
	bool has_command = request && request->match != MAP_NONE;

	out_slice(out, slice_between(text.p, line->us.p));
	if (ns < 0)
		out_char(out, '-');
	out_us(out, ns < 0 ? -ns : ns);
	if (!line->source.p) {
		out_text(out, ",\"source\":\"");
		out_slice(out, r->source->name);
		out_char(out, '"');
	}
	if (has_command && !line->related.p) {
		out_text(out, ",\"related\":\"p");
		out_u64(out, r->m->sources[request->source].commands.ios[request->match].number);
		out_char(out, '"');
	} else if (request && !line->related.p && r->source->requests.queues[request->queue].found) {
		/* it has a command, whichever that is */
		out_text(out, ",\"related\":\"n/a\"");
	}
	text = slice_between(line->us.p + line->us.n, text.p + text.n);
	if (has_command) {
		out_slice(out, slice_between(text.p, line->args_end));
		out_text(out, !line->has_args ? ",\"args\":{" : line->num_args ? "," : "");
		put_command(out, r, request);
		out_text(out, line->has_args ? "" : "}");
		text = slice_between(line->args_end, text.p + text.n);
	}
	out_slice(out, text);
	out_char(out, '\n');
}

static const char *read_line(void *context, struct traceline *line, struct slice text)
{
	struct reading *r = context;
	const struct side_io *request = NULL;
	uint64_t time;
	int64_t ns;
	const char *error = traceline_time(line, &time);

	if (error || time > SIDE_LONGEST)
		return error ? error : "its time is too long";
	if (source_is_request(r->source, line) && r->requests < r->source->requests.n)
		request = &r->source->requests.ios[r->requests++];
	ns = to_first(r->m, r->via, r->number, time) - r->origin;
	/* where one segment of an offset ends and another starts, time goes on */
	if ((int64_t)time >= r->before && ns < r->latest)
		ns = r->latest;
	r->before = time;
	r->latest = ns;
	r->text.len = 0;
	put_line(&r->text, r, line, text, ns, request);
	if (!r->is_only)
		out_bytes(r->out, &(struct packet){.ns = ns, .n = r->text.len}, sizeof(struct packet));
	out_slice(r->out, out_contents(&r->text));
	return NULL;
}

/* Returns 0, or -1 after a message, now or when it was read first. */
static int read_again(struct reading *r)
{
	int result;
	struct each_traceline file;

	r->text.fd = OUT_MEMORY;
	r->before = r->latest = INT64_MIN;
	if (each_traceline_open(&file, r->source->path, "trace-match -", r->out) != 0) {
		warn("%s", r->source->file);
		return -1;
	}
	file.lines.name = r->source->file;
	file.wants_text = file.quiet = file.lines.again = true;
	result = each_traceline_run(&file, read_line, r);
	out_close(&r->text);
	return result;
}

static void start_feed(struct feed *f, struct reading r)
{
	struct out out;
	int ends[2];

	if (pipe(ends) != 0)
		err(EXIT_FAILURE, "pipe");
	f->reader = fork();
	if (f->reader < 0)
		err(EXIT_FAILURE, "fork");
	if (!f->reader) {
		close(ends[0]);
		out_open(&out, ends[1]);
		r.out = &out;
		_exit(read_again(&r) == 0 && out_close(&out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	close(ends[1]);
	f->in = fdopen(ends[0], "r");
	if (!f->in)
		err(EXIT_FAILURE, "fdopen");
}

static void next_packet(struct feed *f)
{
	f->ended = fread(&f->next, sizeof(f->next), 1, f->in) != 1;
	if (f->ended)
		return;
	if (f->next.n > f->cap) {
		f->cap = f->next.n;
		f->text = mem_resize(f->text, f->cap, 1);
	}
	f->ended = fread(f->text, 1, f->next.n, f->in) != f->next.n;
}

static void merge(struct out *out, struct feed *feeds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (feeds[i].reader)
			next_packet(&feeds[i]);
	while (!out->error) {
		struct feed *first = NULL;

		for (size_t i = 0; i < n; i++)
			if (feeds[i].reader && !feeds[i].ended && (!first || feeds[i].next.ns < first->next.ns))
				first = &feeds[i];
		if (!first)
			return;
		out_bytes(out, first->text, first->next.n);
		next_packet(first);
	}
}

/* Returns 0, or -1 if a reader has failed. */
static int end_feeds(struct feed *feeds, size_t n)
{
	int result = 0, status;

	for (size_t i = 0; i < n; i++) {
		if (!feeds[i].reader)
			continue;
		fclose(feeds[i].in);
		free(feeds[i].text);
		while (waitpid(feeds[i].reader, &status, 0) < 0 && errno == EINTR)
			;
		if (status)
			result = -1;
	}
	return result;
}

int merged_write(struct out *out, const struct match *m, size_t *left_out)
{
	uint32_t *via = find_ways(m);
	struct feed *feeds = mem_array(m->n, sizeof(*feeds));
	struct reading r = {.m = m, .via = via, .origin = INT64_MAX, .out = out, .is_only = m->n == 1};
	int result;

	for (size_t i = 0; i < m->n; i++) {
		int64_t first;

		if (via[i] == MAP_NONE) {
			++*left_out;
			continue;
		}
		first = to_first(m, via, i, m->sources[i].first);
		r.origin = first < r.origin ? first : r.origin;
	}
	if (r.is_only) {
		r.source = m->sources;
		result = read_again(&r);
	} else {
		out_flush(out);
		for (size_t i = 0; i < m->n; i++) {
			r.source = &m->sources[i];
			r.number = i;
			if (via[i] != MAP_NONE)
				start_feed(&feeds[i], r);
		}
		merge(out, feeds, m->n);
		result = end_feeds(feeds, m->n);
	}
	free(feeds);
	free(via);
	return out->error ? 0 : result;
}
