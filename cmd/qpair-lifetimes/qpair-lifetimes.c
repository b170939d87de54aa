/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qpair-lifetimes: reads the probe lines of an NVMe-oF target and prints, for every qpair that was
 * added to a poll group, its start and end, and its host. An address is soon reused for another
 * qpair, so trace-join needs the times to find the qpair of an entry.
 *
 * The events are sorted by time. An event costs one look-up, even if many lifetimes of an address
 * overlap because removals were lost; see pairing.h.
 *
 * From v24.05 on, TCP's entries have an owner instead of an address. With the trace's owners, which
 * usdt-record writes among the probe lines or trace-dump -O prints, a lifetime gets the owner of
 * its qpair; see match.h. Hosts that connected before the recording have no probe lines, but the
 * target lists them when asked; see answers.h.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "count.h"
#include "io.h"
#include "lines.h"
#include "out.h"
#include "pairing.h"
#include "progress.h"

/* How many events may be sorted together while lines keep coming. */
enum { BATCH = 4096 };

static struct {
	const char *owners, *rpc;
	bool follow, quiet;
} opt;

/* Reads the probe lines and owner lines. Returns 0, or -1 when something was wrong with them. */
static int read_events(struct events *events, struct owners *owners, const char *path)
{
	struct interactive interactive;
	struct lines lines;
	struct slice line;
	int got;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_PROBE_LINES, "qpair-lifetimes");
	interactive_start(&interactive, &lines, NULL);
	while ((got = lines_next(&lines, &line)) > 0)
		events_read_line(events, owners, &lines, line);
	if (got == 0 && !lines.number) {
		warnx("%s: empty: there are no probe lines", lines.name);
		lines_close(&lines, 0);
		return -1;
	}
	return lines_close(&lines, got < 0 ? errno : 0);
}

/* Reads what trace-dump -O printed. Returns 0, or -1 after a message. */
static int read_owners(struct owners *o, const char *path)
{
	struct interactive interactive;
	struct lines lines;
	int status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_OWNERS, "qpair-lifetimes -O - PROBES");
	interactive_start(&interactive, &lines, NULL);
	status = lines_each(&lines, registry_add, o);
	if (lines.is)
		exit(EXIT_FAILURE);
	registry_add_table(o);
	if (o->n || status)
		return status;
	warnx("%s: no owners, which trace-dump -O prints of traces from v24.05 on", lines.name);
	return -1;
}

/* The same of rpc.jsonl. */
static int read_answers(struct answers *a, const char *path)
{
	struct lines lines;
	int status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_ANSWERS, "qpair-lifetimes --rpc - PROBES");
	status = lines_each(&lines, answers_add, a);
	if (a->lists || status)
		return status;
	warnx("%s: no answer of nvmf_subsystem_get_qpairs, which --rpc needs: trace-record asks for it", lines.name);
	return -1;
}

static void note_without_add(const struct pairing *p, const char *name)
{
	cli_count(opt.quiet, p->without_add,
		  "%s: left out %zu qpair{ that was|s that were} added before the recording started", name,
		  p->without_add);
}

/* Why qpairs of a file have no owner; name: of the file with owners. */
static void note_owners(const struct pairing *p, const char *name)
{
	static const char *const reasons[PAIRING_REASONS] = {
		[PAIRING_AMBIGUOUS] = "several candidates remain",
		[PAIRING_INCOMPLETE] = "some of {its|their} probe lines are missing",
		[PAIRING_UNRELIABLE] = "{its|their} probe lines may be those of two qpairs, with lines missing",
		[PAIRING_REPLACED] = "{its owner|their owners} may be gone",
		[PAIRING_UNREGISTERED] = "no candidate was registered",
	};

	for (unsigned i = 0; i < PAIRING_REASONS; i++) {
		char *reason = cli_counted(p->without[i], reasons[i]);

		cli_count(opt.quiet, p->without[i], "%s: no owner for %zu qpair{|s}: %s", name, p->without[i], reason);
		free(reason);
	}
}

/* Why connections that the target listed have no name. */
static void note_answers(const struct answers *a)
{
	const char *name = io_name(opt.rpc);
	static const char *const reasons[ANSWERS_REASONS] = {
		[ANSWERS_NO_TIME] = "when {it|they} existed is not known: begin and end are missing",
		[ANSWERS_NO_ADDRESS] = "the address of {its host|their hosts} is missing, as before v24.05",
		[ANSWERS_NO_HOST] = "the name of {its host|their hosts} is missing",
		[ANSWERS_TRANSPORT] = "only connections of TCP have owners",
		[ANSWERS_UNREGISTERED] = "no owner has {its|their} address and port",
		[ANSWERS_AMBIGUOUS] = "several owners have {its|their} address and port",
		[ANSWERS_REPLACED] = "{its owner|their owners} may be gone",
		[ANSWERS_CONTRADICTED] = "answers contradict each other",
	};
	size_t counts[ANSWERS_REASONS] = {};

	answers_count(a, counts);
	for (unsigned i = ANSWERS_NAMED + 1; i < ANSWERS_REASONS; i++) {
		char *reason = cli_counted(counts[i], reasons[i]);

		cli_count(opt.quiet, counts[i], "%s: no name for %zu connection{|s}: %s", name, counts[i], reason);
		free(reason);
	}
	cli_count(opt.quiet, a->malformed,
		  "%s: left out %zu {qpair or controller|qpairs and controllers} of another form", name, a->malformed);
	cli_count(opt.quiet, a->too_many, "%s: left out %zu qpair{|s}: there are too many", name, a->too_many);
}

/* Prints notes about what was left out of a file. */
static void note_all(const struct pairing *p, const char *name)
{
	if (p->answers)
		note_answers(p->answers);
	if (p->owners.num_sources)
		note_owners(p, opt.owners ? io_name(opt.owners) : name);
	else if (p->n || p->answers)
		cli_notice(opt.quiet,
			   "%s: no owner lines: traces of v24.05 and later name TCP qpairs by owner; record with "
			   "usdt-record -p PID, or add them with -O",
			   name);
	if (!p->n && name)
		cli_notice(opt.quiet,
			   "%s: no line of the probe %s: hosts must connect while usdt-record runs; --rpc names others",
			   name, EVENTS_ADD_PROBE);
	note_without_add(p, name);
}

/* Prints the lifetimes of a whole file, if there is one. Returns 0, or -1 when something was wrong with it. */
static int read_all(const char *path, struct out *out)
{
	struct events events = {};
	struct answers answers = {.subnqn = MAP_NONE};
	struct pairing p = {.answers = opt.rpc ? &answers : NULL};
	bool whole = !opt.owners || read_owners(&p.owners, opt.owners) == 0, any;

	whole &= !opt.rpc || read_answers(&answers, opt.rpc) == 0;
	whole &= !path || read_events(&events, &p.owners, path) == 0;
	any = events.n > 0;
	registry_find_whole(&p.owners);
	pairing_add(&p, &events);
	free(events.all);
	pairing_pause(&p, out, true);
	if (whole || any || answers.n)
		note_all(&p, path ? io_name(path) : NULL);
	pairing_free(&p);
	answers_free(&answers);
	return whole ? 0 : -1;
}

/* Waits for more lines. Sets the output's error when its reader has gone. */
static void wait_for_lines(const struct lines *lines, struct out *out, int ms)
{
	struct pollfd fds[] = {{lines_pollfd(lines), POLLIN, 0}, {out->fd, 0, 0}};

	if (fds[0].fd < 0 && (ms < 0 || ms > LINES_GROW_MS))
		ms = LINES_GROW_MS;
	if (poll(fds, COUNT(fds), ms) > 0 && fds[1].revents & POLLERR)
		out->error = EPIPE;
}

/* Prints notes about what was left out with -F. */
static void note_follow(const struct pairing *p, const char *name)
{
	if (!p->adds)
		cli_notice(opt.quiet, "%s: no line of the probe %s: nothing to name", name, EVENTS_ADD_PROBE);
	note_without_add(p, name);
	if (p->owners.n && p->unowned)
		cli_notice(opt.quiet,
			   "%s: no owner for %zu of %zu qpairs: several candidates remain, or probe lines are missing",
			   name, p->unowned, p->unowned + p->named);
}

/* Prints lifetimes as lines come. Returns 0, or -1 when something was wrong with the lines. */
static int follow_lines(const char *path, struct out *out)
{
	struct pairing p = {.follow = true};
	struct events events = {};
	struct lines lines;
	struct slice line;
	size_t num_owners = 0;
	int got, error = 0;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_PROBE_LINES, "qpair-lifetimes -F");
	lines_follow(&lines, true);
	while (!out->error && !error && !lines.eof) {
		got = lines_more(&lines);
		error = got < 0 ? errno : 0;
		while (lines_ready(&lines, &line))
			events_read_line(&events, &p.owners, &lines, line);
		if (got <= 0 || events.n + p.owners.n - num_owners >= BATCH) {
			int ms;

			pairing_add(&p, &events);
			ms = pairing_pause(&p, out, false);
			num_owners = p.owners.n;
			if (!got && !lines.eof)
				wait_for_lines(&lines, out, ms);
		}
	}
	pairing_add(&p, &events);
	free(events.all);
	pairing_pause(&p, out, true);
	note_follow(&p, lines.name);
	pairing_free(&p);
	return lines_close(&lines, error);
}

static const struct cli_option options[] = {
	{'F', "follow", NULL, "print lifetimes as they start, get names and end; FILE is a pipe or grows",
	 .flag = &opt.follow},
	{'O', "owners", "OWNERS",
	 "add each TCP qpair's owner, as traces of v24.05 and later name it; OWNERS is what\n"
	 "trace-dump -O printed",
	 .text = &opt.owners},
	{0, "rpc", "FILE", "also name connections that no probe names, by rpc.jsonl of trace-record", .text = &opt.rpc},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print a lifetime line for every NVMe-oF qpair in the probe lines of FILE, which usdt-record or bpftrace\n"
	"printed; without FILE, or when it is -, of standard input. With -O and --rpc, FILE may be left out.\n",
	"Examples:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump -O nvmf_trace.pid1234 | qpair-lifetimes -O - usdt.txt > lifetimes.txt\n"
	"  qpair-lifetimes --rpc rpc.jsonl usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n",
	.options = options,
};

/* Returns the path of the probe lines; NULL: there are none. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	path = opt.owners && opt.rpc && optind == argc ? NULL : cli_operand(argc, argv, "one file of probe lines");
	if (opt.rpc && opt.follow)
		cli_usage("-F and --rpc cannot be combined: with -F hosts are named when they connect");
	if (opt.owners && opt.follow)
		cli_usage("-F and -O cannot be combined: -F reads the owners from the probe lines");
	if ((opt.owners && strcmp(opt.owners, "-") == 0) + (opt.rpc && strcmp(opt.rpc, "-") == 0) +
		    (path && strcmp(path, "-") == 0) >
	    1)
		cli_usage("standard input can only be one of the files");
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	struct out out;
	int status;

	out_open(&out, STDOUT_FILENO);
	status = opt.follow ? follow_lines(path, &out) : read_all(path, &out);
	return cli_close(&out, status == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
