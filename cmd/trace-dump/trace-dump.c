/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-dump: prints the entries of an SPDK trace file as JSON lines, one line an entry, whichever SPDK
 * release wrote the file. Every other tool here reads what this one writes.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "choice.h"
#include "cli.h"
#include "document.h"
#include "entry.h"
#include "follow.h"
#include "info.h"
#include "input.h"
#include "io.h"
#include "kind.h"
#include "line.h"
#include "merge.h"
#include "number.h"
#include "out.h"
#include "ownerwatch.h"
#include "progress.h"
#include "settle.h"
#include "tracefile.h"

enum {
	LAG_MAX = 60000, /* ms */
	OWNERS_MS =
		100, /* between two looks at the owners, which cost a quarter of a millisecond */
	PROGRESS = 1 << 16, /* entries between two looks at the clock */
};

static struct {
	bool info, definitions, owners, all, follow;
	pid_t pid;    /* of the process that is followed; 0: not known */
	uint64_t lag; /* milliseconds */
	struct choice choice;
} opt = {.choice = {.until = UINT64_MAX}, .lag = 100};

/* One trace being read, and what was seen of it. */
struct dump {
	const char *name; /* for messages */
	enum input_kind kind;
	struct trace trace;
	struct out out;
	struct line_writer lines;
	struct info_counts counts;
	uint64_t kept, printed;
	uint64_t last, late; /* highest ticks so far; entries behind later ones */
	bool past;           /* an entry was behind what --until says */
};

/* Whether the entries are asked for, to be printed or counted. */
static bool entries_wanted(void)
{
	return opt.info || !(opt.definitions || opt.owners);
}

/* Takes an entry of the window: the first one is at time 0, whether it is printed or not. */
static void keep(struct dump *d, const struct entry *e)
{
	if (!d->kept++)
		line_base(&d->lines, e->tsc);
	d->counts.torn += e->torn;
	d->counts.undefined += !e->tpoint->name[0];
	d->late += e->tsc < d->last;
	if (e->tsc > d->last)
		d->last = e->tsc;
	d->past |= choice_is_past(&opt.choice, e->tsc, d->lines.base);
	if (!opt.info && choice_wants(&opt.choice, &d->trace, e, d->lines.base)) {
		d->printed++;
		line_write(&d->lines, e);
	}
}

/* Says, once, what was left out or is not whole. */
static void note_losses(const struct dump *d)
{
	const struct info_counts *c = &d->counts;
	const struct trace *t = &d->trace;

	if (c->before_window && !opt.all)
		cli_note(
			"%s: left out %" PRIu64
			" entries from before the time that all rings reach back to; -a prints them",
			d->name, c->before_window);
	if (c->cleared && !opt.all)
		cli_note("%s: left out %" PRIu64
			 " entries from before the trace was cleared; -a prints them",
			 d->name, c->cleared);
	if (c->torn)
		cli_note("%s: %" PRIu64
			 " entries are torn: some of their arguments were overwritten",
			 d->name, c->torn);
	if (t->short_histories)
		cli_note(
			"%s: %u lcores without entries are cut short, as spdk_trace_record of v26.05 does",
			d->name, t->short_histories);
	if (c->undefined)
		cli_note("%s: %" PRIu64 " entries are of tracepoints without a definition", d->name,
			 c->undefined);
}

/* Says what was asked for and is not there. */
static void note_missing(const struct dump *d)
{
	const struct trace *t = &d->trace;
	unsigned i, missing = 0, first = 0;

	/* all have been read: what is left are those without entries */
	for (i = 0; opt.choice.lcores && i < t->num_lcores; i++)
		if (d->counts.by_lcore[i])
			opt.choice.lcores[t->lcores[i].id] = false;
	for (i = 0; opt.choice.lcores && i < CHOICE_LCORES; i++)
		if (opt.choice.lcores[i] && !missing++)
			first = i;
	if (missing)
		cli_note("%s: no entries of lcore %u%s", d->name, first,
			 missing > 1 ? " and others" : "");
	for (i = 0; opt.choice.tpoints.n && i < t->num_tpoints; i++)
		if (t->tpoints[i].name[0])
			choice_tpoint(&opt.choice, &t->tpoints[i]);
	for (i = 0; i < opt.choice.tpoints.n; i++)
		if (!opt.choice.tpoints.matched[i])
			cli_note("%s: no tracepoint matches '%s'; -d lists them", d->name,
				 opt.choice.tpoints.all[i]);
	for (i = 0; i < opt.choice.owners.n; i++)
		if (!opt.choice.owners.matched[i])
			cli_note("%s: nothing to print of an owner '%s'; -O lists the owners",
				 d->name, opt.choice.owners.all[i]);
}

/* Whether the options that choose entries have chosen any; as grep(1) does, nothing is a failure. */
static bool check_chosen(const struct dump *d)
{
	char us[US_ROOM];

	if (opt.info || d->printed || d->out.error)
		return true;
	if (!d->kept) {
		cli_note("%s: no entries: was tracing enabled, as by -e of an SPDK application?",
			 d->name);
		return true;
	}
	*us_format(&d->lines.us, us, d->last - d->lines.base) = 0;
	/* of a live trace more could have come */
	(opt.follow ? cli_note : warnx)("%s: none of %" PRIu64
					" entries, from 0.000 to %s us, is what the options choose",
					d->name, d->kept, us);
	return opt.follow;
}

/* Whether the owners that were asked for can be there at all; says so when not. */
static bool check_owners(const struct dump *d)
{
	if (!(opt.owners || (opt.choice.owners.n && entries_wanted())) ||
	    d->trace.owner_descriptions)
		return true;
	if (d->kind == KIND_SPDK_JSON)
		warnx("%s: no owners in this JSON, which spdk_trace prints from v26.05 on; the trace file itself may have them",
		      d->name);
	else
		warnx("%s: layout %s (%s) has no owners; its entries have addresses, for which qpair-lifetimes needs no -O",
		      d->name, d->trace.layout, d->trace.releases);
	return false;
}

/* Takes the entry in this slot, the next one in order. Returns -1 when there is no memory. */
static int take(struct dump *d, const struct merge *merge, struct entry_reader *reader,
		unsigned lcore, uint64_t slot)
{
	struct info_counts *c = &d->counts;
	uint64_t tsc = slot_tsc(d->trace.lcores[lcore].ring + TRACE_SLOT * slot);
	bool cleared = tsc < d->trace.clear_tsc, before = !cleared && tsc < merge->window;
	struct entry e;

	c->entries++;
	c->by_lcore[lcore]++;
	c->cleared += cleared;
	c->before_window += before;
	/* what was cleared is gone for the numbers of objects too; what is before the window counts */
	if (cleared && !opt.all)
		return 0;
	if (entry_read(reader, lcore, slot, &e) != 0)
		return -1;
	/* its slot is empty now when the file was made shorter */
	if (e.tsc && (!before || opt.all))
		keep(d, &e);
	return 0;
}

/* Reads all entries of a trace file in order. */
static int read_entries(struct dump *d, struct merge *merge, struct entry_reader *reader)
{
	struct progress progress;
	unsigned lcore;
	uint64_t slot;

	progress_start(&progress);
	while (!d->out.error && merge_next(merge, &lcore, &slot)) {
		if (d->counts.entries % PROGRESS == 0)
			progress_show(&progress, d->counts.entries, 0, "entries");
		if (take(d, merge, reader, lcore, slot) != 0)
			return -1;
	}
	progress_end(&progress);
	return 0;
}

static volatile sig_atomic_t interrupted;

static void handle_signal(int number)
{
	(void)number;
	interrupted = true;
}

/* Lets the usual signals end the following, once: the second one ends the tool at once. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup(1) */
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* What is missing makes the output incomplete, whatever else went well. */
static void tell_follow(struct dump *d, const struct follow *f)
{
	if (f->lost)
		trace_fault(&d->trace,
			    "lost %" PRIu64
			    " slots of the rings, which were overwritten before they could be read",
			    f->lost);
	if (f->restarted)
		trace_fault(&d->trace,
			    "another process writes it from its begin now: follow it again");
	if (d->late)
		cli_note(
			"%s: %" PRIu64
			" entries are behind later ones: they were written more than --lag after their time",
			d->name, d->late);
}

/* Reads the entries that there are, and then those that come, until the process ends or a signal says so. */
static int follow_entries(struct dump *d, struct input *in, struct merge *merge,
			  struct entry_reader *reader)
{
	struct follow follow;
	unsigned lcore;
	uint64_t slot;
	int more;

	catch_signals();
	if (!opt.pid)
		cli_note(
			"%s: followed until control-C: its name does not tell which process writes it",
			d->name);
	if (follow_open(&follow, &d->trace, in, merge, opt.pid, opt.lag) != 0)
		return -1;
	do {
		more = follow_read(&follow, interrupted || d->past);
		reader->round++;
		while (!d->out.error && follow_next(&follow, &lcore, &slot))
			if (take(d, merge, reader, lcore, slot) != 0)
				return -1;
		out_flush(&d->out);
		if (more > 0 && !interrupted && !follow_wait(&follow, d->out.fd))
			d->out.error = EPIPE;
	} while (more > 0 && !d->out.error);
	tell_follow(d, &follow);
	follow_close(&follow);
	return more;
}

/* An ownerwatch_take. */
static void print_owner(void *context, unsigned id, char prefix, const struct trace_owner *owner)
{
	struct dump *d = context;

	info_owner(&d->out, id, prefix, owner);
}

/* Prints the owners that are registered or change, until the process ends or a signal says so. */
static void follow_owners(struct dump *d, struct input *in)
{
	struct trace_owner_table *table = &d->trace.owner_table;
	struct ownerwatch watch;
	struct follow follow;
	bool last = false;

	/* a table that is cut off is a fault that was noted */
	if (table->n != d->trace.num_owners)
		return;
	if (follow_open(&follow, &d->trace, in, NULL, opt.pid, 0) != 0 ||
	    ownerwatch_open(&watch, in->fd, table, d->trace.owners) != 0)
		err(EXIT_FAILURE, "%s", d->name);
	catch_signals();
	while (!last && !d->out.error) {
		out_flush(&d->out);
		if (!interrupted && !follow_wait_ms(&follow, d->out.fd, OWNERS_MS))
			d->out.error = EPIPE;
		last = interrupted || follow_has_ended(&follow);
		if (ownerwatch_look(&watch, print_owner, d) == 0)
			continue;
		trace_fault(&d->trace, "owners cannot be followed any more: %s", strerror(errno));
		last = true;
	}
	ownerwatch_close(&watch);
	follow_close(&follow);
}

/* Makes room for what all kinds of input need. */
static void prepare(struct dump *d)
{
	d->counts.by_lcore = calloc(d->trace.num_lcores + 1, sizeof(*d->counts.by_lcore));
	if (!d->counts.by_lcore || line_open(&d->lines, &d->trace, &d->out) != 0)
		err(EXIT_FAILURE, "%s", d->name);
	choice_start(&opt.choice, &d->trace, &d->lines.us);
}

/* Says what the input is, which turned out to be no trace, when it is of a known kind. */
static bool refuse(const struct dump *d)
{
	switch (d->kind) {
	case KIND_UNKNOWN:
	case KIND_TRACE_FILE:
	case KIND_BINARY:
	case KIND_SPDK_JSON:
		return false;
	default:
		kind_refuse(d->name, d->kind, KIND_TRACE_FILE, "trace-dump");
		return true;
	}
}

static int dump_file(struct dump *d, struct input *in)
{
	static struct entry_reader reader;
	struct merge merge = {};
	const char *error;
	bool good = true;

	if (trace_open(&d->trace, in, &error) != 0) {
		if (in->error || !refuse(d))
			warnx("%s: %s", d->name, in->error ? strerror(in->error) : error);
		return EXIT_FAILURE;
	}
	if (opt.owners && opt.follow && !check_owners(d))
		return EXIT_FAILURE;
	if (in->snapshot)
		settle_rings(&d->trace, in);
	prepare(d);
	if (entries_wanted()) {
		if (merge_open(&merge, &d->trace) != 0 ||
		    entry_reader_open(&reader, &d->trace) != 0 ||
		    (opt.follow ? follow_entries(d, in, &merge, &reader)
				: read_entries(d, &merge, &reader)) < 0)
			err(EXIT_FAILURE, "%s", d->name);
		entry_reader_close(&reader);
		note_losses(d);
		note_missing(d);
		good = check_chosen(d);
	}
	if (opt.info)
		info_write(&d->out, &d->trace, merge.rings, merge.window, &d->counts);
	if (opt.definitions)
		info_definitions(&d->out, &d->trace);
	if (opt.owners)
		info_owners(&d->out, &d->trace);
	good &= check_owners(d);
	if (opt.owners && opt.follow)
		follow_owners(d, in);
	merge_close(&merge);
	for (unsigned i = 0; i < TRACE_DAMAGE && d->trace.damage[i]; i++)
		warnx("%s: %s", d->name, d->trace.damage[i]);
	if (d->trace.faults > TRACE_DAMAGE)
		warnx("%s: and %u more such faults", d->name, d->trace.faults - TRACE_DAMAGE);
	if (d->trace.cut_off)
		warnx("%s: is cut off: %zu of %" PRIu64 " bytes are there, and were read", d->name,
		      in->size, d->trace.end);
	if (in->error)
		warnx("%s: %s", d->name, strerror(in->error));
	return d->trace.faults || d->trace.cut_off || in->error || !good ? EXIT_FAILURE
									 : EXIT_SUCCESS;
}

static int dump_json(struct dump *d, struct input *in)
{
	struct json_trace json;
	struct progress progress;
	struct entry e;
	bool good = true;

	progress_start(&progress);
	if (json_trace_open(&json, &d->trace, in) == 0) {
		prepare(d);
		while (entries_wanted() && !d->out.error && json_trace_next(&json, &e)) {
			if (d->counts.entries++ % PROGRESS == 0)
				progress_show(&progress, d->counts.entries, 0, "entries");
			d->counts.by_lcore[e.lcore]++;
			keep(d, &e);
		}
		progress_end(&progress);
		if (entries_wanted()) {
			note_losses(d);
			note_missing(d);
			good = json.error || check_chosen(d);
		}
		if (json.error)
			trace_fault(&d->trace, "%s", json.error);
		if (opt.info)
			info_write(&d->out, &d->trace, NULL, 0, &d->counts);
		if (opt.definitions)
			info_definitions(&d->out, &d->trace);
		if (opt.owners && json.owners.p)
			info_json_owners(&d->out, json.owners);
		good &= check_owners(d);
	}
	if (json.error && (json.entries || !refuse(d))) {
		if (json.position)
			warnx("%s: byte %" PRIu64 ", behind %" PRIu64 " entries: %s", d->name,
			      json.position, json.entries, json.error);
		else
			warnx("%s: %s", d->name, json.error);
	}
	good &= !json.error;
	json_trace_close(&json);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The trace of a running process, or of one that left it behind. */
static char *find_trace(const char *pid)
{
	pid_t number = cli_pid(pid);
	char pattern[64];
	glob_t found;
	char *path;

	snprintf(pattern, sizeof(pattern), "/dev/shm/*_trace.pid%d", number);
	if (glob(pattern, 0, NULL, &found) != 0)
		errx(EXIT_FAILURE,
		     "no trace of process %d: there is no %s; an application that was started with a shared-memory id (-i) names its trace by that",
		     number, pattern);
	if (found.gl_pathc > 1)
		errx(EXIT_FAILURE, "several traces of process %d: %s and %s; name one of them",
		     number, found.gl_pathv[0], found.gl_pathv[1]);
	path = strdup(found.gl_pathv[0]);
	globfree(&found);
	if (!path)
		err(EXIT_FAILURE, NULL);
	return path;
}

static const char help[] =
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the entries of an SPDK trace as JSON lines. FILE is a trace file of any SPDK release from v21.07\n"
	"on, live or copied, a file of spdk_trace_record, or what spdk_trace -j prints; without FILE, or when it\n"
	"is -, standard input.\n"
	"\n"
	"  -a, --all          also entries from before all rings' common time, and from before trace_clear\n"
	"  -c, --lcore LIST   only these lcores, as in 0-3,7\n"
	"  -d, --definitions  instead: the tracepoints that are defined\n"
	"  -F, --follow       then go on with what is written, until the process ends or control-C; also with -O\n"
	"  -i, --info         instead: one line about the trace itself\n"
	"  -O, --owners       instead: the owners that are registered\n"
	"  -p, --pid PID      the trace of this process, /dev/shm/*_trace.pidPID\n"
	"  -q, --quiet        no notes about what was left out\n"
	"  -t, --tpoint GLOB  only tracepoints of this name; may be repeated\n"
	"  -w, --owner GLOB   only entries of owners with this description; may be repeated\n"
	"      --since US     only entries from this time on, in microseconds as they are printed\n"
	"      --until US     only entries up to this time\n"
	"      --lag MS       with -F: how long an entry waits for earlier ones, at most (100)\n"
	"  -h, --help         this text\n"
	"  -V, --version      the version\n"
	"\n"
	"Examples:\n"
	"  trace-dump -p $(pidof nvmf_tgt) | trace-join -l lifetimes.txt\n"
	"  trace-dump -F -p $(pidof nvmf_tgt) | trace-join -l lifetimes.txt | grep TCP_REQ_NEW\n"
	"  xz -dc nvmf_trace.pid1234.xz | trace-dump -t 'TCP_REQ_*' | jq -r .owner | sort | uniq -c\n";

/* The process that a trace's name tells, as in nvmf_trace.pid1234; 0: none. */
static pid_t pid_of(const char *path)
{
	const char *name = strrchr(path, '.');
	uint64_t pid;

	if (name && strncmp(name, ".pid", 4) == 0 && number_decimal(slice_of(name + 4), &pid) &&
	    pid <= INT32_MAX)
		return pid;
	return 0;
}

static void parse_time(const char *option, uint64_t *ns)
{
	if (!choice_time(optarg, ns))
		cli_usage("%s '%s': microseconds like 27.290 are expected", option, optarg);
}

/* Options without a letter. */
enum { SINCE = 256, UNTIL, LAG };

/* Returns the trace file's path. */
static const char *parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"all", no_argument, NULL, 'a'},          {"definitions", no_argument, NULL, 'd'},
		{"follow", no_argument, NULL, 'F'},       {"help", no_argument, NULL, 'h'},
		{"info", no_argument, NULL, 'i'},         {"lag", required_argument, NULL, LAG},
		{"lcore", required_argument, NULL, 'c'},  {"owner", required_argument, NULL, 'w'},
		{"owners", no_argument, NULL, 'O'},       {"pid", required_argument, NULL, 'p'},
		{"quiet", no_argument, NULL, 'q'},        {"since", required_argument, NULL, SINCE},
		{"tpoint", required_argument, NULL, 't'}, {"until", required_argument, NULL, UNTIL},
		{"version", no_argument, NULL, 'V'},      {},
	};
	const char *pid = NULL, *path;
	bool lag = false;
	int c;

	while ((c = getopt_long(argc, argv, "+ac:dFhiOp:qt:Vw:", options, NULL)) != -1)
		switch (c) {
		case 'a':
			opt.all = true;
			break;
		case 'c':
			if (!choice_lcores(&opt.choice, optarg))
				cli_usage("-c '%s': a list like 0-3,7 is expected", optarg);
			break;
		case 'd':
			opt.definitions = true;
			break;
		case 'F':
			opt.follow = true;
			break;
		case 'i':
			opt.info = true;
			break;
		case 'O':
			opt.owners = true;
			break;
		case 'p':
			pid = optarg;
			break;
		case 't':
			choice_glob(&opt.choice.tpoints, optarg);
			break;
		case 'w':
			choice_glob(&opt.choice.owners, optarg);
			break;
		case LAG:
			lag = true;
			if (!number_decimal(slice_of(optarg), &opt.lag) || opt.lag > LAG_MAX)
				cli_usage("--lag '%s': milliseconds from 0 to %d are expected",
					  optarg, LAG_MAX);
			break;
		case SINCE:
			parse_time("--since", &opt.choice.since);
			break;
		case UNTIL:
			parse_time("--until", &opt.choice.until);
			break;
		default:
			cli_option(c, help);
		}
	if (opt.choice.since > opt.choice.until)
		cli_usage("--since is after --until: no time is between them");
	if (pid && optind < argc)
		cli_usage("a process and a file are two traces: one is expected");
	if (opt.follow && (opt.info || opt.definitions))
		cli_usage("-F prints entries, or owners: -i and -d do not go with it");
	if (lag && !opt.follow)
		cli_usage("--lag is for -F");
	path = pid ? find_trace(pid)
		   : cli_operand(argc, argv, "one trace file, or a process with -p");
	opt.pid = pid_of(path);
	return path;
}

int main(int argc, char **argv)
{
	static struct dump d;
	struct input in;
	const char *path = parse_options(argc, argv);
	int status;

	d.name = io_name(path);
	if (input_open(&in, path, opt.follow) != 0) {
		if (errno != EISDIR)
			err(EXIT_FAILURE, "%s", d.name);
		d.kind = KIND_DIRECTORY;
		refuse(&d);
		return EXIT_FAILURE;
	}
	d.kind = kind_of((struct slice){(const char *)in.data, in.size}, KIND_TRACE_FILE);
	if (opt.follow && (!in.snapshot || json_trace_is_text(&in))) {
		if (!refuse(&d))
			warnx("%s: no trace file, which -F needs", d.name);
		return EXIT_FAILURE;
	}
	out_open(&d.out, STDOUT_FILENO);
	status = json_trace_is_text(&in) ? dump_json(&d, &in) : dump_file(&d, &in);
	if (input_shrunk(&in)) {
		warnx("%s: became shorter while it was read: entries may be missing", d.name);
		status = EXIT_FAILURE;
	}
	choice_free(&opt.choice);
	line_close(&d.lines);
	trace_close(&d.trace);
	input_close(&in);
	return cli_close(&d.out, status);
}
