/* SPDX-License-Identifier: BSD-3-Clause */
/* trace-chrome: converts trace lines to JSON for viewers of Chrome traces, with the picture of trace-perfetto. */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "chrome.h"
#include "cli.h"
#include "draw.h"

static struct {
	struct draw draw;
	struct chrome chrome;
} self;

static const struct cli_option options[] = {DRAW_OPTIONS(self.draw), {}};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as JSON for viewers of Chrome traces; without FILE, or when it\n"
	"is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-chrome > trace.json\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-chrome | gzip > trace.json.gz\n",
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
	out_open(&out, STDOUT_FILENO);
	self.draw.writer = chrome_start(&self.chrome, &out, &self.draw.states);
	status = draw_file(&self.draw, path, "trace-chrome", &out, &result);
	chrome_end(&self.chrome);
	if (result.error)
		warnx("%s: %s", result.name, result.error);
	for (unsigned i = 0; i < DRAW_NOTES; i++)
		cli_note(self.draw.quiet, result.name, result.notes[i].n, result.notes[i].what);
	draw_free(&self.draw);
	chrome_free(&self.chrome);
	return cli_close(&out, status ? EXIT_FAILURE : EXIT_SUCCESS);
}
