/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qpair-lifetimes: reads the probe lines of an NVMe-oF target and prints, for every qpair that was
 * added to a poll group, its start and end, and its host. An address is soon reused for another
 * qpair, so trace-join needs the times to find the qpair of an entry.
 *
 * The events are sorted by time and then processed from the last to the first, so the end and the
 * names of a lifetime are known when its addition is processed. An event costs one look-up, even if
 * many lifetimes of an address overlap because removals were lost.
 *
 * From v24.05 on, TCP's entries have an owner instead of an address. With the trace's owners, which
 * usdt-record writes among the probe lines or trace-dump -O prints, a lifetime gets the owner of
 * its qpair; see match.h.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "events.h"
#include "follow.h"
#include "interactive.h"
#include "io.h"
#include "lines.h"
#include "map.h"
#include "match.h"
#include "mem.h"
#include "out.h"

/* How many events may be sorted together while lines keep coming. */
enum { BATCH = 4096 };

static struct {
	const char *owners;
	bool follow, quiet;
} opt;

/* What is known, from later events, of the qpairs at one address. */
struct address {
	const struct qpair_event *removal, *connect; /* NULL: none yet */
	bool without_add; /* a connect was found, but not yet the addition that precedes it */
	bool added;       /* another lifetime has the same end */
	bool conflicting; /* there are connects that differ */
};

/* Lifetimes in the reverse order of their additions. */
struct lifetimes_found {
	struct qpair *all;
	size_t n;
	size_t without_add; /* connects of qpairs that were added before the recording */
};

static void add_event(struct lifetimes_found *found, struct address *a, const struct qpair_event *e)
{
	switch (e->probe) {
	case REMOVE:
		found->without_add += a->without_add;
		*a = (struct address){.removal = e};
		break;
	case CONNECT:
		/* the last one before the removal counts */
		if (!a->connect)
			a->connect = e;
		a->conflicting |= !qpair_same_host(a->connect, e);
		a->without_add = true;
		break;
	case ADD:
		a->without_add = false;
		found->all[found->n++] = (struct qpair){
			.begin = e,
			.end = a->removal,
			.connect = a->connect,
			.unreliable = a->added || a->conflicting,
		};
		a->added = true;
		break;
	}
}

static struct lifetimes_found find_lifetimes(const struct events *events)
{
	struct address *addresses = mem_array(events->n, sizeof(*addresses));
	struct lifetimes_found found = {.all = mem_array(events->n, sizeof(*found.all))};
	uint32_t num_addresses = 0;
	struct map map = {};

	for (size_t i = events->n; i-- > 0;) {
		const struct qpair_event *e = &events->all[i];
		uint32_t *index = map_put(&map, e->qpair);

		if (*index == MAP_NONE)
			*index = num_addresses++;
		add_event(&found, &addresses[*index], e);
	}
	for (uint32_t i = 0; i < num_addresses; i++)
		found.without_add += addresses[i].without_add;
	map_free(&map);
	free(addresses);
	return found;
}

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
	return lines_close(&lines, got < 0 ? errno : 0);
}

/* Why qpairs have no owner. */
enum reason { AMBIGUOUS, INCOMPLETE, UNRELIABLE, REPLACED, UNREGISTERED, NUM_REASONS };

static void note_owners(const struct owners *owners, const size_t without[NUM_REASONS])
{
	static const char *const reasons[NUM_REASONS] = {
		[AMBIGUOUS] = "several candidates remain",
		[INCOMPLETE] = "some of their probe lines are missing",
		[UNRELIABLE] = "their probe lines may be those of two qpairs, with lines between them missing",
		[REPLACED] = "their owners may be gone",
		[UNREGISTERED] = "no candidate was registered",
	};

	for (unsigned i = 0; i < NUM_REASONS; i++)
		if (without[i])
			cli_notice(opt.quiet, "%s: no owner for %zu qpairs: %s", owners->name, without[i], reasons[i]);
}

/* Assigns owners to the lifetimes. */
static void find_owners(struct owners *owners, struct lifetimes_found *found)
{
	struct match_qpair *qpairs = mem_array(found->n, sizeof(*qpairs));
	size_t n = found->n, without[NUM_REASONS] = {};

	for (size_t i = 0; i < n; i++) {
		const struct qpair *q = &found->all[n - 1 - i];

		/* an unreliable one is matched as well, so that its owner is no candidate of others */
		qpairs[i] = match_start(q->begin, q->unreliable ? NULL : q->end, q->unreliable ? NULL : q->connect);
	}
	match_owners(owners, qpairs, n, found->without_add > 0);
	for (size_t i = 0; i < n; i++) {
		struct qpair *q = &found->all[n - 1 - i];
		const struct match_qpair *m = &qpairs[i];

		if (q->unreliable)
			without[INCOMPLETE]++;
		else if (m->unreliable)
			without[UNRELIABLE]++;
		else if (m->owner)
			q->owner = m->owner;
		else if (m->ambiguous)
			without[AMBIGUOUS]++;
		else
			without[m->from < owners->whole_since ? REPLACED : UNREGISTERED]++;
		free((char *)m->subnqn.p);
	}
	note_owners(owners, without);
	free(qpairs);
}

static void write_lifetimes(struct out *out, const struct events *events, const char *name, struct owners *owners)
{
	struct lifetimes_found found = find_lifetimes(events);

	if (owners->num_sources)
		find_owners(owners, &found);
	else if (found.n)
		cli_notice(opt.quiet,
			   "%s: no owner lines: traces of v24.05 and later name TCP qpairs by owner; record with "
			   "usdt-record -p PID, or add them with -O",
			   name);
	for (size_t i = found.n; i-- > 0 && !out->error;)
		qpair_write(out, &found.all[i]);
	free(found.all);
	if (!found.n)
		cli_notice(opt.quiet,
			   "%s: no line of the probe %s: nothing to name; hosts must connect while usdt-record records",
			   name, EVENTS_ADD_PROBE);
	if (found.without_add)
		cli_notice(opt.quiet, "%s: left out %zu qpairs that were added before the recording started", name,
			   found.without_add);
}

/* Prints the lifetimes of a whole file. Returns 0, or -1 when something was wrong with it. */
static int read_all(const char *path, struct out *out)
{
	struct events events = {};
	struct owners owners = {};
	bool whole = !opt.owners || owners_read(&owners, opt.owners) == 0;

	whole &= read_events(&events, &owners, path) == 0;
	if (!owners.name)
		owners.name = io_name(path);
	owners_merge(&owners);
	events_sort(&events);
	if (whole || events.n)
		write_lifetimes(out, &events, io_name(path), &owners);
	for (size_t i = 0; i < events.n; i++)
		qpair_free_names(&events.all[i]);
	free(events.all);
	owners_free(&owners);
	return whole ? 0 : -1;
}

/* Passes on a batch: the events in the order of time, then the owners. */
static void pass_on(struct follow_qpairs *f, struct events *events, struct owners *owners)
{
	events_sort(events);
	for (size_t i = 0; i < events->n; i++)
		follow_event(f, &events->all[i]);
	for (size_t i = 0; i < owners->n; i++)
		follow_owner(f, &owners->all[i]);
	events->n = owners->n = 0;
}

/* Waits for more lines. Sets the output's error when its reader has gone. */
static void wait_for_lines(const struct lines *lines, struct out *out, int ms)
{
	struct pollfd fds[] = {{lines_pollfd(lines), POLLIN, 0}, {out->fd, 0, 0}};

	if (fds[0].fd < 0 && (ms < 0 || ms > LINES_GROW_MS))
		ms = LINES_GROW_MS;
	if (poll(fds, sizeof(fds) / sizeof(*fds), ms) > 0 && fds[1].revents & POLLERR)
		out->error = EPIPE;
}

/* Prints notes about what was left out. */
static void note_follow(const struct follow_qpairs *f, const char *name)
{
	if (!f->adds)
		cli_notice(opt.quiet, "%s: no line of the probe %s: nothing to name", name, EVENTS_ADD_PROBE);
	if (f->without_add)
		cli_notice(opt.quiet, "%s: left out %zu qpairs that were added before the recording started", name,
			   f->without_add);
	if (f->owners && f->unowned)
		cli_notice(opt.quiet,
			   "%s: no owner for %zu of %zu qpairs: several candidates remain, or probe lines are missing",
			   name, f->unowned, f->unowned + f->named);
}

/* Prints lifetimes as lines come. Returns 0, or -1 when something was wrong with the lines. */
static int follow_lines(const char *path, struct out *out)
{
	struct events events = {};
	struct owners owners = {};
	struct follow_qpairs follow = {};
	struct lines lines;
	struct slice line;
	int got, error = 0;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_PROBE_LINES, "qpair-lifetimes -F");
	lines_follow(&lines, true);
	while (!out->error && !error && !lines.eof) {
		got = lines_more(&lines);
		error = got < 0 ? errno : 0;
		while (lines_ready(&lines, &line))
			events_read_line(&events, &owners, &lines, line);
		if (got <= 0 || events.n + owners.n >= BATCH) {
			int ms;

			pass_on(&follow, &events, &owners);
			ms = follow_pause(&follow, out, false);
			if (!got && !lines.eof)
				wait_for_lines(&lines, out, ms);
		}
	}
	pass_on(&follow, &events, &owners);
	follow_pause(&follow, out, true);
	follow_free(&follow);
	note_follow(&follow, lines.name);
	free(events.all);
	owners_free(&owners);
	return lines_close(&lines, error);
}

static const struct cli_option options[] = {
	{'F', "follow", NULL, "print lifetimes as they start, get names and end; FILE is a pipe or grows",
	 .flag = &opt.follow},
	{'O', "owners", "OWNERS",
	 "add each TCP qpair's owner, as traces of v24.05 and later name it; OWNERS is what\n"
	 "trace-dump -O printed",
	 .text = &opt.owners},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print a lifetime line for every NVMe-oF qpair in the probe lines of FILE, which usdt-record or bpftrace\n"
	"printed; without FILE, or when it is -, of standard input.\n",
	"Examples:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump -O nvmf_trace.pid1234 | qpair-lifetimes -O - usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n",
	options,
};

/* Returns the path of the probe lines. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, "one file of probe lines");
	if (opt.owners && opt.follow)
		cli_usage("-F and -O cannot be combined: -F reads the owners from the probe lines");
	if (opt.owners && strcmp(opt.owners, "-") == 0 && strcmp(path, "-") == 0)
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
