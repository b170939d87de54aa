/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qpair-lifetimes: reads the probe lines of an NVMe-oF target and prints, for every qpair that was added to
 * a poll group, from when to when it lived and whose it was. An address is soon another qpair's, so
 * trace-join needs the times to know which one an entry means.
 *
 * The events are sorted by time and then walked from the last to the first: what ends a lifetime, and what
 * was said of it last before that, are then known when its begin comes. So an event costs one look-up,
 * however many lifetimes of an address overlap because removals were lost.
 *
 * From v24.05 on TCP's entries have an owner instead of an address: with the trace's owners, which usdt-record
 * writes among the probe lines or trace-dump -O prints, a lifetime is given the one that is its qpair's; see
 * qpair-lifetimes-match.h.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "follow.h"
#include "interactive.h"
#include "io.h"
#include "lines.h"
#include "map.h"
#include "match.h"
#include "number.h"
#include "out.h"
#include "probeline.h"

/* Lines that are sorted together at most when they come one after the other. */
enum { BATCH = 4096 };

struct events {
	struct event *all;
	size_t n, cap;
	bool unsorted;
	uint64_t last_added; /* highest ticks of an addition, 0: none */
};

/* What is known, coming from later events, of the qpairs at one address. */
struct address {
	const struct event *removal, *connect; /* NULL: none yet */
	bool orphan; /* a connect was seen to which no begin has come yet */
	bool added;  /* another lifetime has the same end */
	bool two;    /* connects were seen that differ */
};

static struct {
	const char *owners;
	bool follow;
} opt;

enum field { TSC, QPAIR, THREAD, QID, SUBNQN, HOSTNQN, NUM_FIELDS };

static const char *const field_names[NUM_FIELDS] = {"tsc", "qpair",  "thread",
						    "qid", "subnqn", "hostnqn"};

enum { NUM_PROBES = CONNECT + 1 };

static const struct {
	const char *name;
	bool needs[NUM_FIELDS];
} probes[NUM_PROBES] = {
	[ADD] = {"nvmf_poll_group_add_qpair", {[TSC] = true, [QPAIR] = true, [THREAD] = true}},
	[REMOVE] = {"nvmf_poll_group_remove_qpair", {[TSC] = true, [QPAIR] = true}},
	[CONNECT] =
		{"nvmf_ctrlr_add_qpair",
		 {[TSC] = true, [QPAIR] = true, [QID] = true, [SUBNQN] = true, [HOSTNQN] = true}},
};

/* Reads the fields of a probe's line; complains when they are malformed. */
static bool parse_fields(struct lines *lines, struct slice rest, struct event *e)
{
	uint64_t *const numbers[NUM_FIELDS] = {
		[TSC] = &e->tsc, [QPAIR] = &e->qpair, [THREAD] = &e->thread, [QID] = &e->qid};
	struct probeline_field f, fields[NUM_FIELDS] = {};
	const char *error = NULL;
	int found;

	while ((found = probeline_next(&rest, &f, &error)) > 0)
		for (unsigned i = 0; i < NUM_FIELDS; i++)
			if (slice_is(f.key, field_names[i]))
				fields[i] = f;
	if (found < 0) {
		lines_complain(lines, "%s", error);
		return false;
	}
	for (unsigned i = 0; i < NUM_FIELDS; i++) {
		if (!probes[e->probe].needs[i])
			continue;
		if (!fields[i].key.p) {
			lines_complain(lines, "%s is missing", field_names[i]);
			return false;
		}
		if (numbers[i] && (fields[i].quoted || !number_hex(fields[i].value, numbers[i]))) {
			lines_complain(lines, "%s: a hexadecimal number is expected",
				       field_names[i]);
			return false;
		}
		if (!numbers[i] && !fields[i].quoted) {
			lines_complain(
				lines,
				"%s: a string is expected; it could not be read when it was recorded",
				field_names[i]);
			return false;
		}
	}
	if (e->probe == CONNECT)
		event_keep_names(e, fields[SUBNQN].value, fields[HOSTNQN].value);
	return true;
}

static void add_event(struct events *events, const struct event *e)
{
	if (events->n == events->cap) {
		events->cap = events->cap ? 2 * events->cap : 1024;
		events->all = reallocarray(events->all, events->cap, sizeof(*events->all));
		if (!events->all)
			err(EXIT_FAILURE, NULL);
	}
	if (events->n && e->tsc < events->all[events->n - 1].tsc)
		events->unsorted = true;
	if (e->probe == ADD && e->tsc > events->last_added)
		events->last_added = e->tsc;
	events->all[events->n++] = *e;
}

static void read_owner(struct owners *owners, const struct events *events, struct lines *lines,
		       struct slice fields)
{
	const char *error = owners_add_line(owners, fields, events->last_added);

	if (error)
		lines_complain(lines, "%s", error);
}

static void read_line(struct events *events, struct owners *owners, struct lines *lines,
		      struct slice line)
{
	struct event e = {.line = lines->number};
	struct slice name;
	unsigned probe = 0;

	if (!probeline_name(&line, &name))
		return;
	if (slice_is(name, "owner")) {
		read_owner(owners, events, lines, line);
		return;
	}
	while (probe < NUM_PROBES && !slice_is(name, probes[probe].name))
		probe++;
	if (probe == NUM_PROBES)
		return;
	e.probe = probe;
	if (parse_fields(lines, line, &e))
		add_event(events, &e);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_events(struct events *events)
{
	if (events->unsorted)
		qsort(events->all, events->n, sizeof(*events->all), by_time);
	events->unsorted = false;
}

/* What is known of the qpair of this event; new addresses get a place in the array. */
static struct address *find_address(struct map *map, struct address *addresses, uint32_t *n,
				    uint64_t qpair)
{
	uint32_t *index = map_put(map, qpair);

	if (!index)
		err(EXIT_FAILURE, NULL);
	if (*index == MAP_NONE) {
		*index = (*n)++;
		addresses[*index] = (struct address){};
	}
	return &addresses[*index];
}

/*
 * Fills lifetimes, in the reverse order of their begins, and returns their number. Counts the connects
 * that belong to none in *orphans: the qpair was added before the recording began.
 */
static size_t find_lifetimes(const struct events *events, struct lifetime *lifetimes,
			     size_t *orphans)
{
	struct address *addresses = calloc(events->n + 1, sizeof(*addresses)), *a;
	struct map map = {};
	uint32_t num_addresses = 0;
	size_t n = 0;

	if (!addresses)
		err(EXIT_FAILURE, NULL);
	for (size_t i = events->n; i-- > 0;) {
		const struct event *e = &events->all[i];

		a = find_address(&map, addresses, &num_addresses, e->qpair);
		switch (e->probe) {
		case REMOVE:
			*orphans += a->orphan;
			*a = (struct address){.removal = e};
			break;
		case CONNECT:
			/* the last one before the removal counts */
			if (!a->connect)
				a->connect = e;
			a->two |= !event_same_host(a->connect, e);
			a->orphan = true;
			break;
		case ADD:
			a->orphan = false;
			lifetimes[n++] = (struct lifetime){e, a->removal, a->connect,
							   a->added || a->two, NULL};
			a->added = true;
			break;
		}
	}
	for (a = addresses; a < addresses + num_addresses; a++)
		*orphans += a->orphan;
	map_free(&map);
	free(addresses);
	return n;
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
		read_line(events, owners, &lines, line);
	return lines_close(&lines, got < 0 ? errno : 0);
}

/* Says how many lifetimes have got no owner, and why. */
static void note_owners(const struct owners *owners, size_t ambiguous, size_t doubtful,
			size_t replaced, size_t none)
{
	if (ambiguous)
		cli_note("%s: no owner for %zu qpairs: several are as likely", owners->name,
			 ambiguous);
	if (doubtful)
		cli_note("%s: no owner for %zu qpairs: probe lines of them are missing",
			 owners->name, doubtful);
	if (replaced)
		cli_note("%s: no owner for %zu qpairs: it may not be among the owners any more",
			 owners->name, replaced);
	if (none)
		cli_note("%s: no owner for %zu qpairs: none was registered for them", owners->name,
			 none);
}

/* Gives the lifetimes, which are in the reverse order of their begins, their owners. */
static void find_owners(struct owners *owners, struct lifetime *lifetimes, size_t n, bool lost)
{
	struct match_qpair *qpairs = calloc(n + 1, sizeof(*qpairs));
	size_t ambiguous = 0, doubtful = 0, replaced = 0, none = 0;

	if (!qpairs)
		err(EXIT_FAILURE, NULL);
	for (size_t i = 0; i < n; i++) {
		const struct lifetime *l = &lifetimes[n - 1 - i];
		struct match_qpair *q = &qpairs[i];

		*q = (struct match_qpair){
			.begin = l->begin->tsc, .end = UINT64_MAX, .thread = l->begin->thread};
		/* one of which lines are missing has an owner as well, which no other can have */
		if (l->end && !l->doubtful)
			q->end = l->end->tsc;
		if (l->connect && !l->doubtful) {
			q->connected = true;
			q->connect = l->connect->tsc;
			q->qid = l->connect->qid;
			q->subnqn = event_plain_name(l->connect->subnqn);
		}
	}
	match_owners(owners, qpairs, n, lost);
	for (size_t i = 0; i < n; i++) {
		struct lifetime *l = &lifetimes[n - 1 - i];
		const struct match_qpair *q = &qpairs[i];

		l->doubtful |= q->doubtful;
		l->owner = l->doubtful ? NULL : q->owner;
		doubtful += l->doubtful;
		if (!l->doubtful && !q->owner) {
			bool whole = q->from >= owners->whole_since;

			ambiguous += q->ambiguous;
			replaced += !q->ambiguous && !whole;
			none += !q->ambiguous && whole;
		}
		free((char *)q->subnqn.p);
	}
	note_owners(owners, ambiguous, doubtful, replaced, none);
	free(qpairs);
}

/* Returns whether there are any; says so when not. */
static void write_lifetimes(struct out *out, const struct events *events, const char *name,
			    struct owners *owners)
{
	struct lifetime *lifetimes = calloc(events->n + 1, sizeof(*lifetimes));
	size_t n, orphans = 0;

	if (!lifetimes)
		err(EXIT_FAILURE, NULL);
	n = find_lifetimes(events, lifetimes, &orphans);
	if (owners->num_sources)
		find_owners(owners, lifetimes, n, orphans > 0);
	else if (n)
		cli_note(
			"%s: no owner lines: traces of v24.05 and later name TCP qpairs by owner; record with usdt-record -p PID, or add them with -O",
			name);
	for (size_t i = n; i-- > 0 && !out->error;)
		lifetime_write(out, &lifetimes[i]);
	free(lifetimes);
	if (!n)
		cli_note(
			"%s: no line of the probe %s: nothing to name; hosts have to connect while usdt-record records",
			name, probes[ADD].name);
	if (orphans)
		cli_note("%s: left out %zu qpairs that were added before the recording began", name,
			 orphans);
}

/* Prints the lifetimes of a whole file. Returns 0, or -1 when something was wrong with what was read. */
static int read_lines(const char *path, struct out *out)
{
	struct events events = {};
	struct owners owners = {};
	bool whole = !opt.owners || owners_read(&owners, opt.owners) == 0;

	whole &= read_events(&events, &owners, path) == 0;
	if (!owners.name)
		owners.name = io_name(path);
	owners_settle(&owners);
	sort_events(&events);
	if (whole || events.n)
		write_lifetimes(out, &events, io_name(path), &owners);
	for (size_t i = 0; i < events.n; i++)
		event_free(&events.all[i]);
	free(events.all);
	owners_free(&owners);
	return whole ? 0 : -1;
}

/* Passes on what came together: the events in the order of time, and then the owners. */
static void follow_batch(struct follow *f, struct events *events, struct owners *owners)
{
	sort_events(events);
	for (size_t i = 0; i < events->n; i++)
		follow_event(f, &events->all[i]);
	for (size_t i = 0; i < owners->n; i++)
		follow_owner(f, &owners->all[i]);
	events->n = owners->n = 0;
}

/* Waits for more lines. A reader of the output that has gone is its error. */
static void wait_for_lines(const struct lines *lines, struct out *out, int ms)
{
	struct pollfd fds[] = {{lines_pollfd(lines), POLLIN, 0}, {out->fd, 0, 0}};

	if (fds[0].fd < 0 && (ms < 0 || ms > LINES_GROW_MS))
		ms = LINES_GROW_MS;
	if (poll(fds, sizeof(fds) / sizeof(*fds), ms) > 0 && fds[1].revents & POLLERR)
		out->error = EPIPE;
}

/* Says what was left out. */
static void note_follow(const struct follow *f, const char *name)
{
	if (!f->adds)
		cli_note("%s: no line of the probe %s: nothing to name", name, probes[ADD].name);
	if (f->orphans)
		cli_note("%s: left out %zu qpairs that were added before the recording began", name,
			 f->orphans);
	if (f->owners && f->unowned)
		cli_note("%s: no owner for %zu of %zu qpairs: it is not certain which is theirs",
			 name, f->unowned, f->unowned + f->named);
}

/* Prints lifetimes as lines come. Returns 0, or -1 when something was wrong with the lines. */
static int follow_lines(const char *path, struct out *out)
{
	struct events events = {};
	struct owners owners = {};
	struct follow follow = {};
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
			read_line(&events, &owners, &lines, line);
		if (got <= 0 || events.n + owners.n >= BATCH) {
			int ms;

			follow_batch(&follow, &events, &owners);
			ms = follow_pause(&follow, out, false);
			if (!got && !lines.eof)
				wait_for_lines(&lines, out, ms);
		}
	}
	follow_batch(&follow, &events, &owners);
	follow_pause(&follow, out, true);
	follow_free(&follow);
	note_follow(&follow, lines.name);
	free(events.all);
	owners_free(&owners);
	return lines_close(&lines, error);
}

static const char help[] =
	"Usage: %s [OPTION]... [FILE]\n"
	"Print a lifetime line for every NVMe-oF qpair in the probe lines of FILE, which usdt-record or bpftrace\n"
	"printed; without FILE, or when it is -, of standard input.\n"
	"\n"
	"  -F, --follow         print lifetimes as they begin, get names and end; FILE is a pipe, or may grow\n"
	"  -O, --owners OWNERS  add each TCP qpair's owner, as traces of v24.05 and later name it; OWNERS is what\n"
	"                       trace-dump -O printed\n"
	"  -q, --quiet          no notes about what was left out\n"
	"  -h, --help           this text\n"
	"  -V, --version        the version\n"
	"\n"
	"Examples:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump -O nvmf_trace.pid1234 | qpair-lifetimes -O - usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n";

/* Returns the path of the probe lines. */
static const char *parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"follow", no_argument, NULL, 'F'},       {"help", no_argument, NULL, 'h'},
		{"owners", required_argument, NULL, 'O'}, {"quiet", no_argument, NULL, 'q'},
		{"version", no_argument, NULL, 'V'},      {}};
	const char *path;
	int c;

	while ((c = getopt_long(argc, argv, "+FhO:qV", options, NULL)) != -1)
		switch (c) {
		case 'F':
			opt.follow = true;
			break;
		case 'O':
			opt.owners = optarg;
			break;
		default:
			cli_option(c, help);
		}
	path = cli_operand(argc, argv, "one file of probe lines");
	if (opt.owners && opt.follow)
		cli_usage(
			"-F takes the owners from the probe lines, where usdt-record writes them: -O does not go with it");
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
	status = opt.follow ? follow_lines(path, &out) : read_lines(path, &out);
	return cli_close(&out, status == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
