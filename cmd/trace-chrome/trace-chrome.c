/* SPDX-License-Identifier: BSD-3-Clause */
/* trace-chrome: converts trace lines to JSON for viewers of Chrome traces, with the picture of trace-perfetto. */
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "draw.h"
#include "events.h"
#include "utf8.h"

static struct picture picture;
static struct draw draw = {.picture = &picture, .notes = &picture.notes};

/* A line in which invalid UTF-8 is replaced. */
static struct out clean = {.fd = OUT_MEMORY};
static struct traceline clean_line;

/* A tracelines_each_fn. */
static const char *handle_line(void *context, struct traceline *line, struct slice text)
{
	const char *error;
	uint64_t ns;

	if (!utf8_is_ascii(text)) {
		clean.len = 0;
		out_utf8(&clean, text);
		text = out_contents(&clean);
		line = &clean_line;
		error = traceline_parse(line, text);
		if (error)
			return error;
	}
	error = traceline_time(line, &ns);
	if (error)
		return error;
	events_pass(&picture, ns);
	return draw_line(context, line, text, ns);
}

static const struct cli_option options[] = {DRAW_OPTIONS(draw), {}};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as JSON for viewers of Chrome traces; without FILE, or when it\n"
	"is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-chrome > trace.json\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-chrome | gzip > trace.json.gz\n",
	options,
};

int main(int argc, char **argv)
{
	const char *path;
	struct out out;
	int status;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, "one file of trace lines");
	out_open(&out, STDOUT_FILENO);
	picture.out = &out;
	picture.states = &draw.states;
	events_start(&picture);
	status = draw_file(&draw, path, "trace-chrome", &out, handle_line);
	events_end(&picture);
	draw_free(&draw);
	events_free(&picture);
	out_close(&clean);
	traceline_free(&clean_line);
	return cli_close(&out, status ? EXIT_FAILURE : EXIT_SUCCESS);
}
