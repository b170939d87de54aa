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
#include "draw.h"
#include "joining.h"
#include "packets.h"

static struct {
	struct draw draw;
	struct packets packets;
	struct joining joining;
} self;

static void add_lifetimes(const char *path)
{
	joining_add(&self.joining, path);
}

static const struct cli_option options[] = {
	{'e', "entries", NULL, "draw all entries on the tracks of their lcores, also those of objects",
	 .flag = &self.draw.entries},
	{'l', "lifetimes", "FILE", "lifetime lines, which qpair-lifetimes printed; may be given more than once",
	 .call = add_lifetimes},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &self.draw.quiet},
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

int main(int argc, char **argv)
{
	struct draw_result result;
	const char *path;
	struct out out;
	int status;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, "one file of trace lines");
	if (joining_share_stdin(&self.joining, path))
		cli_usage("standard input can only be one of the files");
	if (isatty(STDOUT_FILENO))
		cli_usage("the output is binary, not for a terminal: redirect it to a file");
	if (joining_read(&self.joining, "trace-perfetto -l - TRACE") != 0)
		exit(EXIT_FAILURE);
	out_open(&out, STDOUT_FILENO);
	self.draw.joining = &self.joining;
	self.draw.writer = packets_start(&self.packets, &out, &self.draw.states);
	status = draw_file(&self.draw, path, "trace-perfetto", &out, &result);
	if (result.error)
		warnx("%s: %s", result.name, result.error);
	for (unsigned i = 0; i < DRAW_NOTES; i++)
		cli_note(self.draw.quiet, result.name, result.notes[i].n, result.notes[i].what);
	draw_free(&self.draw);
	joining_free(&self.joining);
	packets_free(&self.packets);
	return cli_close(&out, status ? EXIT_FAILURE : EXIT_SUCCESS);
}
