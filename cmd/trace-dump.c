/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-dump: prints the entries of an SPDK trace file as JSON lines, one line an entry, whichever SPDK
 * release wrote the file. Every other tool here reads what this one writes.
 */
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "io.h"
#include "json.h"
#include "number.h"
#include "out.h"
#include "progress.h"
#include "trace-dump-entry.h"
#include "trace-dump-file.h"
#include "trace-dump-follow.h"
#include "trace-dump-info.h"
#include "trace-dump-input.h"
#include "trace-dump-json.h"
#include "trace-dump-line.h"
#include "trace-dump-merge.h"
#include "trace-dump-settle.h"

enum {
	IDS = 1 << 16,      /* of lcores and of tracepoints */
	LAG_MAX = 60000,    /* ms */
	PROGRESS = 1 << 16, /* entries between two looks at the clock */
};

/* Patterns of an option that may be repeated: one that matches will do. */
struct globs {
	const char **all;
	bool *matched; /* anything so far */
	unsigned n;
};

static struct {
	bool info, definitions, owners, all, quiet, follow;
	pid_t pid;    /* of the process that is followed; 0: not known */
	uint64_t lag; /* milliseconds */
	bool some_lcores, lcores[IDS];
	struct globs tpoints, owner_globs;
	uint64_t since, until; /* nanoseconds, both inclusive */
} opt = {.until = UINT64_MAX, .lag = 100};

/* One trace being read, and what was seen of it. */
struct dump {
	const char *name; /* for messages */
	struct trace trace;
	struct out out;
	struct line_writer lines;
	struct info_counts counts;
	uint64_t kept;
	uint64_t last, late;   /* highest ticks so far; entries behind later ones */
	bool past;             /* an entry was behind what --until says */
	uint64_t since, until; /* ticks that are wanted, the second one not any more */
	enum { UNDECIDED, WANTED, UNWANTED } tpoints[IDS];
	struct owner_choice {
		struct slice
			text; /* of the description that was looked at last, as a JSON string */
		bool wanted;
	} owners[IDS];
};

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	va_list args;

	if (opt.quiet)
		return;
	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
}

static bool match(struct globs *globs, const char *text)
{
	bool any = false;

	for (unsigned i = 0; i < globs->n; i++)
		if (fnmatch(globs->all[i], text, 0) == 0)
			any = globs->matched[i] = true;
	return any;
}

static bool match_tpoint(const struct trace_tpoint *tp)
{
	char undefined[16];

	if (tp->name[0])
		return match(&opt.tpoints, tp->name);
	snprintf(undefined, sizeof(undefined), "#%u", tp->id);
	return match(&opt.tpoints, undefined);
}

static bool tpoint_wanted(struct dump *d, const struct trace_tpoint *tp)
{
	if (d->tpoints[tp->id] == UNDECIDED)
		d->tpoints[tp->id] = match_tpoint(tp) ? WANTED : UNWANTED;
	return d->tpoints[tp->id] == WANTED;
}

/* Whether the description matches, which is the one that this owner had before, as a rule. */
static bool owner_wanted(struct dump *d, const struct entry *e)
{
	struct owner_choice *choice = &d->owners[e->poller % IDS];
	struct slice raw;
	char *copy;

	if (!e->owner.n)
		return false;
	if (choice->text.p && slice_equal(choice->text, e->owner))
		return choice->wanted;
	copy = malloc(e->owner.n + 1);
	if (!copy)
		err(EXIT_FAILURE, NULL);
	/* between its quotes */
	raw = (struct slice){e->owner.p + 1, e->owner.n - 2};
	copy[json_unescape(copy, raw)] = 0;
	choice->wanted = match(&opt.owner_globs, copy);
	memcpy(copy, e->owner.p, e->owner.n);
	free((char *)choice->text.p);
	choice->text = (struct slice){copy, e->owner.n};
	return choice->wanted;
}

/* Whether -c, -t, -w, --since and --until choose the entry. */
static bool wanted(struct dump *d, const struct entry *e)
{
	uint64_t ticks = e->tsc > d->lines.base ? e->tsc - d->lines.base : 0;

	return (!opt.some_lcores || opt.lcores[d->trace.lcores[e->lcore].id]) &&
	       (!opt.tpoints.n || tpoint_wanted(d, e->tpoint)) && ticks >= d->since &&
	       ticks < d->until && (!opt.owner_globs.n || owner_wanted(d, e));
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
	d->past |= e->tsc > d->lines.base && e->tsc - d->lines.base >= d->until;
	if (!opt.info && wanted(d, e))
		line_write(&d->lines, e);
}

/* Says, once, what was left out or is not whole. */
static void note_losses(const struct dump *d)
{
	const struct info_counts *c = &d->counts;
	const struct trace *t = &d->trace;

	if (c->before_window && !opt.all)
		note("%s: left out %" PRIu64
		     " entries from before the time that all rings reach back to; -a prints them",
		     d->name, c->before_window);
	if (c->cleared && !opt.all)
		note("%s: left out %" PRIu64
		     " entries from before the trace was cleared; -a prints them",
		     d->name, c->cleared);
	if (c->torn)
		note("%s: %" PRIu64 " entries are torn: some of their arguments were overwritten",
		     d->name, c->torn);
	if (t->short_histories)
		note("%s: %u lcores without entries are cut short, as spdk_trace_record of v26.05 does",
		     d->name, t->short_histories);
	if (c->undefined)
		note("%s: %" PRIu64 " entries are of tracepoints without a definition", d->name,
		     c->undefined);
}

/* Says what was asked for and is not there. */
static void note_missing(const struct dump *d)
{
	const struct trace *t = &d->trace;
	static bool seen[IDS];
	unsigned i, missing = 0, first = 0;

	for (i = 0; i < t->num_lcores; i++)
		seen[t->lcores[i].id] |= d->counts.by_lcore[i] > 0;
	for (i = 0; opt.some_lcores && i < IDS; i++)
		if (opt.lcores[i] && !seen[i] && !missing++)
			first = i;
	if (missing)
		note("%s: no entries of lcore %u%s", d->name, first,
		     missing > 1 ? " and others" : "");
	for (i = 0; opt.tpoints.n && i < t->num_tpoints; i++)
		match_tpoint(&t->tpoints[i]);
	for (i = 0; i < opt.tpoints.n; i++)
		if (!opt.tpoints.matched[i])
			note("%s: no tracepoint matches '%s'; -d lists them", d->name,
			     opt.tpoints.all[i]);
	for (i = 0; i < opt.owner_globs.n; i++)
		if (!opt.owner_globs.matched[i])
			note("%s: nothing to print of an owner '%s'; -O lists the owners", d->name,
			     opt.owner_globs.all[i]);
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

static void note_follow(const struct dump *d, const struct follow *f)
{
	if (f->lost)
		note("%s: lost %" PRIu64
		     " slots of the rings, which were overwritten before they could be read",
		     d->name, f->lost);
	if (d->late)
		note("%s: %" PRIu64
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
	note_follow(d, &follow);
	if (follow.restarted)
		trace_fault(&d->trace,
			    "another process writes it from its begin now: follow it again");
	follow_close(&follow);
	return more;
}

/* Makes room for what all kinds of input need. */
static void prepare(struct dump *d)
{
	d->counts.by_lcore = calloc(d->trace.num_lcores + 1, sizeof(*d->counts.by_lcore));
	if (!d->counts.by_lcore || line_open(&d->lines, &d->trace, &d->out) != 0)
		err(EXIT_FAILURE, "%s", d->name);
	d->since = us_ticks(&d->lines.us, opt.since);
	d->until = opt.until < UINT64_MAX ? us_ticks(&d->lines.us, opt.until + 1) : UINT64_MAX;
}

/* Whether the entries are asked for, to be printed or counted. */
static bool entries_wanted(void)
{
	return opt.info || !(opt.definitions || opt.owners);
}

static int dump_file(struct dump *d, struct input *in)
{
	static struct entry_reader reader;
	struct merge merge = {};
	const char *error;

	if (trace_open(&d->trace, in, &error) != 0) {
		warnx("%s: %s", d->name, in->error ? strerror(in->error) : error);
		return EXIT_FAILURE;
	}
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
	}
	if (opt.info)
		info_write(&d->out, &d->trace, merge.rings, merge.window, &d->counts);
	if (opt.definitions)
		info_definitions(&d->out, &d->trace);
	if (opt.owners)
		info_owners(&d->out, &d->trace);
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
	if (input_shrunk())
		warnx("%s: became shorter while it was read: entries are missing", d->name);
	return d->trace.faults || d->trace.cut_off || in->error || input_shrunk() ? EXIT_FAILURE
										  : EXIT_SUCCESS;
}

static int dump_json(struct dump *d, struct input *in)
{
	struct json_trace json;
	struct progress progress;
	struct entry e;
	bool failed;

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
		}
		if (json.error)
			trace_fault(&d->trace, "%s", json.error);
		if (opt.info)
			info_write(&d->out, &d->trace, NULL, 0, &d->counts);
		if (opt.definitions)
			info_definitions(&d->out, &d->trace);
		if (opt.owners && json.owners.p)
			info_json_owners(&d->out, json.owners);
	}
	failed = json.error;
	if (failed)
		warnx("%s: byte %" PRIu64 ", behind %" PRIu64 " entries: %s", d->name,
		      json.position, json.entries, json.error);
	json_trace_close(&json);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Sets the lcores of a list like 0-3,7. */
static void parse_lcores(const char *list)
{
	const char *p = list;

	opt.some_lcores = true;
	for (bool more = true; more;) {
		size_t n = strcspn(p, ","), dash = strcspn(p, "-,");
		struct slice low = {p, dash}, high = low;
		uint64_t from, to;

		if (dash < n)
			high = (struct slice){p + dash + 1, n - dash - 1};
		if (!number_decimal(low, &from) || !number_decimal(high, &to) || from > to ||
		    to >= IDS)
			cli_usage("-c '%s': a list like 0-3,7 is expected", list);
		for (; from <= to; from++)
			opt.lcores[from] = true;
		more = p[n] == ',';
		p += n + 1;
	}
}

/* Nanoseconds of a time as trace lines have it, like 27.290. */
static uint64_t parse_time(const char *option, const char *text)
{
	size_t n = strcspn(text, ".");
	struct slice whole = {text, n}, fraction = slice_of(text + n + (text[n] == '.'));
	uint64_t us, part = 0, ns;

	if (!number_decimal(whole, &us) ||
	    (text[n] && (fraction.n > 3 || !number_decimal(fraction, &part))))
		cli_usage("%s '%s': microseconds like 27.290 are expected", option, text);
	for (; fraction.n < 3; fraction.n++)
		part *= 10;
	if (__builtin_mul_overflow(us, 1000, &ns) || __builtin_add_overflow(ns, part, &ns))
		ns = UINT64_MAX;
	return ns;
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
	"Usage: trace-dump [OPTION]... [FILE]\n"
	"Print the entries of an SPDK trace as JSON lines. FILE is a trace file of any SPDK release from v21.07\n"
	"on, live or copied, a file of spdk_trace_record, or what spdk_trace -j prints; without FILE, or when it\n"
	"is -, standard input.\n"
	"\n"
	"  -a, --all          also entries from before all rings' common time, and from before trace_clear\n"
	"  -c, --lcore LIST   only these lcores, as in 0-3,7\n"
	"  -d, --definitions  instead: the tracepoints that are defined\n"
	"  -F, --follow       then go on with what is written, until the process ends or control-C\n"
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

static void add_glob(struct globs *globs, const char *glob)
{
	globs->all = reallocarray(globs->all, globs->n + 1, sizeof(*globs->all));
	globs->matched = reallocarray(globs->matched, globs->n + 1, sizeof(*globs->matched));
	if (!globs->all || !globs->matched)
		err(EXIT_FAILURE, NULL);
	globs->all[globs->n] = glob;
	globs->matched[globs->n++] = false;
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
			parse_lcores(optarg);
			break;
		case 'd':
			opt.definitions = true;
			break;
		case 'F':
			opt.follow = true;
			break;
		case 'h':
			cli_help(help);
		case 'i':
			opt.info = true;
			break;
		case 'O':
			opt.owners = true;
			break;
		case 'p':
			pid = optarg;
			break;
		case 'q':
			opt.quiet = true;
			break;
		case 't':
			add_glob(&opt.tpoints, optarg);
			break;
		case 'V':
			cli_version();
		case 'w':
			add_glob(&opt.owner_globs, optarg);
			break;
		case LAG:
			lag = true;
			if (!number_decimal(slice_of(optarg), &opt.lag) || opt.lag > LAG_MAX)
				cli_usage("--lag '%s': milliseconds from 0 to %d are expected",
					  optarg, LAG_MAX);
			break;
		case SINCE:
			opt.since = parse_time("--since", optarg);
			break;
		case UNTIL:
			opt.until = parse_time("--until", optarg);
			break;
		default:
			cli_bad_option();
		}
	if (pid && optind < argc)
		cli_usage("a process and a file are two traces: one is expected");
	if (opt.follow && (opt.info || opt.definitions || opt.owners))
		cli_usage("-F prints entries: -i, -d and -O do not go with it");
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
	if (input_open(&in, path, opt.follow) != 0)
		err(EXIT_FAILURE, "%s", d.name);
	if (opt.follow && (!in.snapshot || json_trace_is_text(&in)))
		errx(EXIT_FAILURE, "%s: is no trace file, which -F needs", d.name);
	if (out_open(&d.out, STDOUT_FILENO) != 0)
		err(EXIT_FAILURE, NULL);
	status = json_trace_is_text(&in) ? dump_json(&d, &in) : dump_file(&d, &in);
	for (unsigned i = 0; i < IDS; i++)
		free((char *)d.owners[i].text.p);
	line_close(&d.lines);
	trace_close(&d.trace);
	input_close(&in);
	return cli_close(&d.out, status);
}
