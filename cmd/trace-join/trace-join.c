/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-join: names the objects at the addresses, and of the owners, in trace lines. An argument is
 * annotated if a lifetime line has its name and address at that time. An entry whose owner is in a
 * lifetime line gets the annotation as another argument. The output is text, in the format of
 * SPDK's trace.py or in a shorter one, or the same JSON lines with every other byte unchanged.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "connection.h"
#include "each_traceline.h"
#include "follow.h"
#include "io.h"
#include "joining.h"
#include "lifetimes.h"
#include "out.h"
#include "probeline.h"
#include "shorttext.h"
#include "text.h"

static struct {
	enum { TEXT, JSON, SHORT } output;
	bool follow, quiet;
	struct joining joining;
} opt;

struct trace_join {
	struct out *out;
	struct follow_lifetimes follow;
	/* of the short form */
	struct shorttext brief;
	struct connections connections;
	size_t num_learned; /* lifetimes whose hosts are known */
};

/* Writes a line that is not a trace line. Text may go to a terminal, so it is made printable. */
static void write_unparsed(void *context, struct slice line)
{
	struct trace_join *join = context;

	if (opt.output == JSON)
		out_utf8(join->out, line);
	else
		out_visible(join->out, line);
	out_char(join->out, '\n');
}

/* A host's name must not depend on which of the others the trace has shown so far. */
static void learn_hosts(struct trace_join *join)
{
	const struct lifetimes *lifetimes = &opt.joining.join.lifetimes;

	for (; join->num_learned < lifetimes->n; join->num_learned++) {
		struct slice fields = lifetimes->all[join->num_learned]->fields, host = {}, subsystem = {};
		struct probeline_field f;
		const char *error;

		while (probeline_next(&fields, &f, &error) > 0)
			if (slice_is(f.key, "hostnqn"))
				host = f.value;
			else if (slice_is(f.key, "subnqn"))
				subsystem = f.value;
		if (!host.n)
			continue;
		host = probeline_decode(host);
		subsystem = subsystem.n ? probeline_decode(subsystem) : subsystem;
		connections_learn(&join->connections, host, subsystem);
		free((char *)host.p);
		free((char *)subsystem.p);
	}
}

/* Writes the line in the form that it has after -j. */
static void write_short(struct trace_join *join, struct traceline *line, size_t n)
{
	uint32_t connection;
	size_t named;

	learn_hosts(join);
	for (size_t i = 0; i < line->num_args; i++) {
		const struct lifetime *lifetime = line->args[i].note;

		if (!lifetime)
			continue;
		line->args[i].value = lifetime->json;
		n += line->args[i].key.n + lifetime->json.n;
	}
	connection = connections_find(&join->connections, line, &named);
	shorttext_write(&join->brief, join->out, line, n, &join->connections, connection, named);
}

/* An each_traceline_fn. */
static const char *join_line(void *context, struct traceline *line, struct slice text)
{
	struct trace_join *join = context;

	join_annotate(&opt.joining.join, line);
	if (opt.output == JSON) {
		join_write(join->out, line, text);
		out_char(join->out, '\n');
	} else if (opt.output == SHORT) {
		write_short(join, line, text.n);
	} else {
		text_write(join->out, line, text.n);
	}
	return NULL;
}

static int next_line(void *context, struct lines *lines, struct slice *line)
{
	struct trace_join *join = context;

	return follow_next(&join->follow, lines, join->out, line);
}

/*
 * Prints notes about what was not joined. Returns false if there were no lines, or if lifetimes should have named
 * entries, but did not.
 */
static bool check_joined(const struct lines *lines)
{
	if (!lines->number && !lines->failed) {
		warnx("%s: empty: there are no trace lines", lines->name);
		/* the trace may have ended before its first entry */
		return opt.follow;
	}
	/* with -F, the lifetimes of the entries' hosts may not have come yet */
	return !opt.joining.files.n || joining_check(&opt.joining, lines->name, opt.quiet) || opt.follow;
}

/* Returns 0, or -1 when something was wrong with the trace lines, or they could not be joined. */
static int join_all(struct trace_join *join, const char *path)
{
	struct each_traceline in;
	int status;

	if (each_traceline_open(&in, path, "trace-join", join->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	in.pass_on = write_unparsed;
	in.wants_text = true;
	in.keep_bytes = opt.output == JSON;
	in.quiet = opt.quiet;
	if (opt.follow) {
		in.next = next_line;
		lines_follow(&in.lines, false);
	}
	status = each_traceline_run(&in, join_line, join);
	if (opt.follow && follow_close(&join->follow) != 0)
		status = -1;
	if (!join->out->error && !check_joined(&in.lines))
		status = -1;
	return status;
}

static const struct cli_option options[] = {
	{'F', "follow", NULL,
	 "read lifetime lines while they are written, to pipes and growing files, along with\n"
	 "trace lines",
	 .flag = &opt.follow},
	{'j', "json", NULL, "print the trace lines themselves, with objects for annotated arguments",
	 .choice = &opt.output, JSON},
	JOINING_OPTION(opt.joining),
	{'q', "quiet", NULL, "print no notes about missing input", .flag = &opt.quiet},
	{'s', "short", NULL, "print short lines, which name the host and the queue", .choice = &opt.output, SHORT},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Name the objects behind the addresses in FILE, which is a trace file or has trace lines, and print its\n"
	"entries as text; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n"
	"  trace-dump -F -p 1234 | trace-join -F -l <(usdt-record -p 1234 | qpair-lifetimes -F)\n",
	.options = options,
	.former = (const struct cli_former[]){{'t', "tpoint", "is gone: trace-dump -t chooses entries"}, {}},
};

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, JOINING_OPERAND);
	if (joining_share_stdin(&opt.joining, path))
		cli_usage("standard input can only be one of the files");
	if (opt.follow && !opt.joining.files.n)
		cli_usage("-F follows the files of -l: one is expected");
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct trace_join join = {.brief = SHORTTEXT_NONE};
	struct out out;
	int status = EXIT_SUCCESS;

	join.out = &out;
	if (opt.follow)
		follow_open(&join.follow, &opt.joining.join.lifetimes, opt.joining.files.all, opt.joining.files.n);
	else if (joining_read(&opt.joining, "trace-join -l - TRACE-LINES") != 0)
		exit(EXIT_FAILURE);
	if (opt.joining.faulty)
		status = EXIT_FAILURE;
	out_open(&out, STDOUT_FILENO);
	if (join_all(&join, path) != 0)
		status = EXIT_FAILURE;
	connections_free(&join.connections);
	joining_free(&opt.joining);
	return cli_close(&out, status);
}
