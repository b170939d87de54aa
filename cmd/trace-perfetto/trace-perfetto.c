/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-perfetto: converts trace lines to a trace for Perfetto, in its own format. Each connection
 * has rows with its requests, below them rows with what they started, each with a slice for each
 * state. Arrows lead from a request to what it started, counters show how many are in flight, and
 * each lcore has a track with the entries that are about no object.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "count.h"
#include "draw.h"
#include "each_traceline.h"
#include "io.h"
#include "joining.h"

static struct {
	bool quiet;
	struct draw draw;
	struct joining joining;
} self;

static const struct cli_option options[] = {
	{'e', "entries", NULL, "draw all entries on the tracks of their lcores, also those of objects",
	 .flag = &self.draw.entries},
	JOINING_OPTION(self.joining),
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &self.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print FILE, a trace file or trace lines, as a trace for ui.perfetto.dev and trace_processor, in Perfetto's\n"
	"binary format; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  %s nvmf_trace.pid1234 > trace.pftrace\n"
	"  %s -l lifetimes.txt nvmf_trace.pid1234 > trace.pftrace\n",
	.options = options,
};

static void print_notes(const struct spans *s, const char *name)
{
	const struct {
		uint64_t n;
		const char *what;
	} notes[] = {
		{s->late,
		 "{entry is on the track of its lcore only: its span|entries are on the tracks of their lcores "
		 "only: their spans} had ended"},
		{s->lifecycle.out_of_order, "{entry is on the track of its lcore only: it|entries are on the tracks of "
					    "their lcores only: each} is earlier than the previous one of its object"},
		{s->lifecycle.restarts, LIFECYCLE_RESTARTS},
		{s->ending.lost, LIFE_LOST},
		{s->beyond, "{child or state|children or states} left out: a span has more than are kept"},
	};

	for (size_t i = 0; i < COUNT(notes); i++)
		cli_note(self.quiet, name, notes[i].n, notes[i].what);
}

int main(int argc, char **argv)
{
	struct each_traceline lines;
	const char *path;
	struct out out;
	bool good;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, JOINING_OPERAND);
	if (joining_share_stdin(&self.joining, path))
		cli_usage("standard input can only be one of the files");
	if (isatty(STDOUT_FILENO))
		cli_usage("the output is binary, not for a terminal: redirect it to a file");
	if (joining_read(&self.joining, "trace-perfetto -l - TRACE") != 0)
		exit(EXIT_FAILURE);
	out_open(&out, STDOUT_FILENO);
	if (each_traceline_open(&lines, path, "trace-perfetto", &out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.pause = draw_pause;
	lines.quiet = self.quiet;
	lines.joining = &self.joining;
	draw_start(&self.draw, &out);
	good = each_traceline_run(&lines, draw_line, &self.draw) == 0;
	draw_end(&self.draw);
	if (!out.error && !lines.lines.number && !lines.lines.failed) {
		warnx("%s: empty: there are no trace lines", lines.lines.name);
		good = false;
	}
	if (!out.error)
		print_notes(&self.draw.spans, lines.lines.name);
	draw_free(&self.draw);
	joining_free(&self.joining);
	return cli_close(&out, good ? EXIT_SUCCESS : EXIT_FAILURE);
}
