/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-match: finds which NVMe/TCP command of an SPDK process is which request of another one, from their traces
 * alone, and merges these: so that the tree of a request goes on in the process that it was sent to.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "io.h"
#include "json.h"
#include "joint.h"
#include "mem.h"
#include "out.h"

enum { OFFSETS_SHOWN = 4 }; /* drifts of segments in a note */

static struct {
	bool quiet, same_clock;
} opt;

static const struct cli_option options[] = {
	{'q', "quiet", NULL, "print no notes about queues, clocks, and what was not matched", .flag = &opt.quiet},
	{0, "same-clock", NULL, "all files are of one machine since it was started", .flag = &opt.same_clock},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [[NAME=]FILE]...\n"
	"Find which NVMe/TCP command of one SPDK process is which request of another, or of itself, and print their\n"
	"trace lines as one timeline in which requests are below their commands. Each FILE is the trace of a process,\n"
	"or its trace lines; NAME is what it is called, instead of its own name.\n",
	"Examples:\n"
	"  %s engine=engine.trace replica=replica.trace | trace-spans -s -n 10\n"
	"  %s --same-clock target.trace | trace-causes\n",
	.options = options,
};

/* Returns its path, or that of a copy of what can only be read once. */
static char *find_path(const char *path, const char *name)
{
	int fd = io_open(path);
	struct stat status;
	char *result;

	if (fd < 0 || fstat(fd, &status) != 0)
		err(EXIT_FAILURE, "%s", name);
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		result = mem_copy(slice_of(strcmp(path, "-") == 0 ? "/proc/self/fd/0" : path));
	else
		result = io_copy(fd);
	if (!result)
		err(EXIT_FAILURE, "%s: a copy of it", name);
	if (fd != STDIN_FILENO)
		close(fd);
	return result;
}

static void open_side(struct each_traceline *file, const struct side *s, const char *path, struct out *out)
{
	if (each_traceline_open(file, path, "trace-match -", out) != 0)
		err(EXIT_FAILURE, "%s", s->file);
	file->lines.name = s->file;
	file->quiet = opt.quiet;
}

static const char *see_line(void *side, struct traceline *line, struct slice text)
{
	(void)text;
	return side_line(side, line);
}

/* Returns whether all is good, else after a message. */
static bool read_side(struct side *s, const char *path, struct out *out)
{
	struct each_traceline file;
	bool good;

	open_side(&file, s, path, out);
	good = each_traceline_run(&file, see_line, s) == 0;
	side_end(s);
	if (!s->any && good)
		cli_notice(opt.quiet, "%s: empty: there are no trace lines", s->file);
	cli_note(opt.quiet, s->file, s->foreign,
		 "line{ has|s have} a source already: {it is|they are} passed on, and not matched");
	return good;
}

/* The line with its time, its source, and the command of a request. */
static void put_line(struct out *out, const struct joint *j, const struct side *side)
{
	const struct traceline *line = j->line;
	struct slice text = j->text;

	out_slice(out, slice_between(text.p, line->us.p));
	if (j->ns < 0)
		out_char(out, '-');
	out_us(out, j->ns < 0 ? -j->ns : j->ns);
	if (!line->source.p) {
		out_text(out, ",\"source\":\"");
		out_slice(out, side->name);
		out_char(out, '"');
	}
	if (j->related.n) {
		out_text(out, ",\"related\":\"");
		out_slice(out, j->related);
		out_char(out, '"');
	}
	text = slice_between(line->us.p + line->us.n, text.p + text.n);
	if (j->command.n) {
		out_slice(out, slice_between(text.p, line->args_end));
		out_text(out, !line->has_args ? ",\"args\":{" : line->num_args ? "," : "");
		out_text(out, "\"command\":");
		out_slice(out, j->command);
		out_text(out, line->has_args ? "" : "}");
		text = slice_between(line->args_end, text.p + text.n);
	}
	out_slice(out, text);
	out_char(out, '\n');
}

/* Reads all again. Returns the number of those that are left out. */
static size_t write_lines(struct out *out, const struct matching *m, char *const *paths, bool *good)
{
	struct each_traceline *files = mem_array(m->n, sizeof(*files));
	struct joint j;

	for (size_t i = 0; i < m->n; i++) {
		open_side(&files[i], &m->sides[i], paths[i], out);
		files[i].wants_text = files[i].quiet = files[i].lines.again = true;
	}
	joint_start(&j, m, files);
	while (joint_next(&j))
		put_line(out, &j, &m->sides[j.source]);
	joint_end(&j);
	*good &= !j.failed;
	free(files);
	return j.left_out;
}

/* Says how two clocks differ, and how well that is known. */
static void note_offset(const struct matching *m, size_t initiator, size_t target)
{
	const struct offset *o = matching_offset(m, initiator, target);
	struct out text = {.fd = OUT_MEMORY};
	double bound = 0, even = 0;

	if (!o->n)
		return;
	for (size_t i = 0; i < o->n; i++) {
		bound = o->all[i].bound > bound ? o->all[i].bound : bound;
		even = o->all[i].even > even ? o->all[i].even : even;
	}
	out_duration_text(&text, bound);
	out_text(&text, ", if both clocks run evenly ");
	out_duration_text(&text, even < bound ? even : bound);
	for (size_t i = 0; i < o->n && i < OFFSETS_SHOWN; i++)
		out_printf(&text, "%s%+.1f", i ? ", " : "; drift ", o->all[i].slope * 1e6);
	out_text(&text, o->n > OFFSETS_SHOWN ? ", ... ppm" : " ppm");
	cli_notice(opt.quiet, "%s: %+.3f us make its times those of %s; the error is at most %.*s",
		   m->sides[target].name.p, (double)offset_at(o, m->sides[target].first, &bound) / 1000,
		   m->sides[initiator].name.p, (int)text.len, text.buf);
	out_close(&text);
}

static void note_matches(const struct matching *m, size_t left_out)
{
	struct out text = {.fd = OUT_MEMORY};

	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->n; k++)
			note_offset(m, i, k);
	matching_write(&text, m, "matched");
	cli_notice(opt.quiet, "%.*s", (int)text.len, text.buf);
	cli_count(opt.quiet, left_out,
		  "%zu source{|s} left out: nothing ties {its|their} clock{|s} to that of the first one; see "
		  "--same-clock",
		  left_out);
	out_close(&text);
}

int main(int argc, char **argv)
{
	static struct matching m;
	static struct out out;
	const char *const *operands;
	size_t left_out = 0;
	bool good = true;
	char **paths;

	cli_parse(&cli, argc, argv);
	out_open(&out, STDOUT_FILENO);
	operands = cli_operands(argc, argv, "files of traces or trace lines", &m.n);
	m.same_clock = opt.same_clock;
	m.sides = mem_array(m.n, sizeof(*m.sides));
	paths = mem_array(m.n, sizeof(*paths));
	for (size_t i = 0; i < m.n; i++) {
		const char *path = side_name(&m.sides[i], operands[i]);

		m.sides[i].file = io_name(path);
		m.sides[i].sequential = opt.same_clock;
		paths[i] = find_path(path, m.sides[i].file);
		for (size_t k = 0; k < i; k++)
			if (slice_equal(m.sides[i].name, m.sides[k].name))
				cli_usage("two sources are called '%s': NAME=FILE gives another name",
					  m.sides[i].name.p);
	}
	for (size_t i = 0; i < m.n; i++)
		good &= read_side(&m.sides[i], paths[i], &out);
	matching_run(&m);
	left_out = write_lines(&out, &m, paths, &good);
	/* of what cannot be read, it was said */
	if (!out.error && (m.commands || good))
		note_matches(&m, left_out);
	if (!m.matched && !out.error && good) {
		warnx("no command matches: are these traces of the same time, with the groups nvme_tcp, nvmf_tcp and "
		      "bdev?");
		good = false;
	}
	for (size_t i = 0; i < m.n; i++) {
		free(paths[i]);
		side_free(&m.sides[i]);
	}
	free(m.sides);
	free(paths);
	matching_free(&m);
	return cli_close(&out, good ? EXIT_SUCCESS : EXIT_FAILURE);
}
