/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-dump: prints the entries of an SPDK trace file as JSON lines, one for each entry, whichever
 * SPDK release wrote the file. Most other tools read its output.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anchors.h"
#include "cli.h"
#include "filter.h"
#include "follow.h"
#include "info.h"
#include "input.h"
#include "io.h"
#include "kind.h"
#include "line.h"
#include "mem.h"
#include "number.h"
#include "out.h"
#include "owner_lines.h"
#include "ownerwatch.h"
#include "process.h"
#include "progress.h"
#include "reader.h"
#include "record.h"
#include "sandbox.h"
#include "unpack.h"
#include "utf8.h"

enum {
	PROGRESS = 1 << 16, /* entries from one display of progress to the next */
	WATCH_MS = 100,     /* between two reads of the records of owners, each of which takes 0.25 ms */
};

static const uint64_t DEFAULT_SIZE = UINT64_C(4) << 30; /* of --max-size */

static struct {
	bool info, definitions, owners, quiet, follow, wall;
	pid_t pid, target; /* of -p, and of the process that writes the trace; 0: not known */
	const char *clock, *record;
	uint64_t max_size; /* of the file to record; 0: not given */
	uint64_t keep_ns;  /* of it; 0: all */
	uint64_t rate;     /* ticks per second; 0: as the trace says */
	struct reader_options reader;
	struct filter_options filter;
} opt = {.filter.until = UINT64_MAX};

struct dump {
	const char *name; /* for messages */
	struct unpack unpack;
	struct reader reader;
	struct follow follow; /* only with -F */
	struct filter filter;
	struct anchors anchors; /* only if has_anchors() */
	struct line_writer lines;
	struct out out;
	uint64_t printed;
	struct record_file file; /* fd -1: none */
	bool *lost;              /* by index of lcore: entries are missing since its latest line */
};

/* Whether entries are printed or counted. */
static bool entries_wanted(void)
{
	if (opt.record)
		return false;
	return opt.info || !(opt.definitions || opt.owners);
}

static bool has_anchors(void)
{
	return opt.wall || opt.clock;
}

/* Notes when a trace is not followed until its process ends. */
static void note_followed(const char *name)
{
	pid_t pid = opt.target;

	if (pid && kill(pid, 0) != 0 && errno == ESRCH)
		cli_notice(opt.quiet, "%s: process %d has ended, so nothing is added to its trace", name, pid);
	else if (!pid)
		cli_notice(opt.quiet, "%s: followed until Ctrl-C: its name does not say which process writes it", name);
}

/* The next entry; false at the end. */
static bool next_entry(struct dump *d, struct entry *e)
{
	enum follow_result result;

	if (!opt.follow)
		return reader_next(&d->reader, e);
	while ((result = follow_next(&d->follow, e)) == FOLLOW_WAIT && !d->out.error) {
		out_flush(&d->out);
		if (!rings_wait(&d->follow.rings, d->out.fd))
			d->out.error = EPIPE;
	}
	return result == FOLLOW_ENTRY;
}

static void print_entries(struct dump *d)
{
	struct reader *r = &d->reader;
	struct progress progress = {};
	bool any_lost = false;
	struct entry e;

	if (opt.follow)
		note_followed(d->name);
	else
		progress_start(&progress);
	while (!d->out.error && next_entry(d, &e)) {
		if (r->counts.returned % PROGRESS == 0)
			progress_show(&progress, r->counts.entries, 0, "entries");
		if (filter_is_past(&d->filter, e.tsc, r->first))
			follow_stop(&d->follow);
		if (e.lost)
			d->lost[e.lcore] = any_lost = true;
		if (opt.info || !filter_match(&d->filter, &e, r->first))
			continue;
		if (any_lost) {
			e.lost = d->lost[e.lcore];
			d->lost[e.lcore] = false;
		}
		d->printed++;
		line_write(&d->lines, &e, r->first);
	}
	progress_end(&progress);
}

/* Whether the options select any entries; as in grep(1), no match is a failure. */
static bool check_chosen(const struct dump *d)
{
	const struct reader *r = &d->reader;
	char us[US_ROOM];

	if (opt.info || d->printed || d->out.error)
		return true;
	if (!r->counts.returned) {
		cli_notice(opt.quiet, "%s: no entries: was tracing enabled, as by -e of an SPDK application?", d->name);
		return true;
	}
	*us_format(&d->lines.us, us, r->highest - r->first) = 0;
	/* a live trace could have had matching entries later */
	cli_notice(opt.quiet && opt.follow, "%s: none of %" PRIu64 " entries, from 0.000 to %s us, matches the options",
		   d->name, r->counts.returned, us);
	return opt.follow;
}

/* Whether the trace can have the requested owners; prints a message if not. */
static bool check_owners(const struct dump *d)
{
	const struct trace *t = &d->reader.trace;

	if (t->owner_descriptions || !opt.owners)
		return true;
	if (d->reader.is_json)
		warnx("%s: no owners in this JSON, which spdk_trace prints from v26.05 on; the trace file itself may "
		      "have them",
		      d->name);
	else
		warnx("%s: layout %s (%s) has no owners; its entries have addresses, for which qpair-lifetimes needs "
		      "no -O",
		      d->name, t->layout, t->releases);
	return false;
}

/* An ownerwatch_report. */
static void print_owner(void *context, unsigned id, char prefix, const struct trace_owner *owner)
{
	struct out *out = context;

	owner_lines_start(out, id, prefix, owner);
	out_text(out, "}\n");
}

/*
 * Prints each owner that is registered or changes from now on, until rings_have_ended(). Returns false, after a
 * message, if it could not follow them until then.
 */
static bool follow_owners(struct dump *d)
{
	const struct trace *t = &d->reader.trace;
	const struct rings *rings = &d->follow.rings;
	struct ownerwatch watch;
	bool last = false, good = true;

	/* a table that is cut off has been reported */
	if (t->owner_table.n != t->num_owners)
		return true;
	if (ownerwatch_open(&watch, d->reader.in->fd, &t->owner_table, t->owners) != 0)
		err(EXIT_FAILURE, "%s", d->name);
	while (!last && good && !d->out.error) {
		out_flush(&d->out);
		if (!rings_wait_ms(rings, d->out.fd, WATCH_MS))
			d->out.error = EPIPE;
		last = rings_have_ended(rings);
		good = ownerwatch_read(&watch, print_owner, &d->out) == 0;
	}
	if (!good)
		warnx("%s: owners are not followed any more: %s", d->name,
		      errno == ENODATA ? "it was truncated" : strerror(errno));
	ownerwatch_close(&watch);
	return good;
}

/* Ticks per second. */
static uint64_t rate_of(const struct dump *d)
{
	uint64_t rate = opt.clock ? anchors_rate(&d->anchors) : opt.rate;

	return rate ? rate : d->reader.trace.tsc_rate;
}

/* Prints what the options select. Returns whether all of it was there. */
static bool dump(struct dump *d)
{
	struct reader *r = &d->reader;
	bool good = true;

	if (opt.follow && opt.owners && !check_owners(d))
		return false;
	line_open(&d->lines, &r->trace, rate_of(d), opt.wall ? &d->anchors : NULL, &d->out);
	filter_open(&d->filter, &opt.filter, &r->trace, &d->lines.us);
	if (entries_wanted()) {
		d->lost = mem_array(r->trace.num_lcores, sizeof(*d->lost));
		print_entries(d);
		reader_note(r, &d->lines.us, d->name, opt.follow, opt.quiet);
		filter_report(&d->filter, d->name, opt.quiet);
		good = r->error || check_chosen(d);
		if (has_anchors() && r->counts.returned)
			good &= anchors_report(&d->anchors, (struct anchors_range){r->first, r->highest, rate_of(d)},
					       d->name, opt.quiet);
	}
	if (opt.info)
		info_write(&d->out, &(struct info){r, &d->lines.us, has_anchors() ? &d->anchors : NULL});
	if (opt.definitions)
		info_write_definitions(&d->out, &r->trace);
	if (opt.owners)
		owner_lines_write(&d->out, r);
	good &= check_owners(d);
	if (opt.owners && opt.follow)
		good &= follow_owners(d);
	free(d->lost);
	filter_close(&d->filter);
	line_close(&d->lines);
	good &= reader_report(r, d->name);
	return rings_report(&d->follow.rings, d->name, "follow") && good;
}

static bool record(struct dump *d)
{
	struct record_options options = {&d->file,    opt.record, opt.max_size ? opt.max_size : DEFAULT_SIZE,
					 opt.keep_ns, opt.target, opt.quiet};
	bool good;

	good = record_trace(&d->reader.trace, d->reader.in, d->name, &options, &d->out);
	return reader_report(&d->reader, d->name) && good;
}

/* Prints the kind of an input that is not a trace. Returns false, without a message, if its kind is not known. */
static bool refuse(const char *name, enum input_kind kind)
{
	switch (kind) {
	case KIND_UNKNOWN:
	case KIND_TRACE_FILE:
	case KIND_BINARY:
	case KIND_SPDK_JSON:
		return false;
	default:
		kind_refuse(name, kind, KIND_TRACE_FILE, "trace-dump");
		return true;
	}
}

/* Opens the anchors that the options need, for a trace that has been opened. */
static bool open_anchors(struct dump *d, const char *path)
{
	if (!has_anchors())
		return true;
	return (opt.clock ? anchors_read(&d->anchors, opt.clock) : anchors_read_clocks(&d->anchors, path)) == 0 &&
	       anchors_check_rate(&d->anchors, d->reader.trace.tsc_rate, d->name);
}

/* Opens the input and the reader. Returns false, after a message, if there is no trace in it. */
static bool open_trace(struct dump *d, struct input *in, int fd)
{
	enum input_kind kind;

	if (input_open_fd(in, fd, opt.follow) != 0) {
		if (errno != EISDIR)
			err(EXIT_FAILURE, "%s", d->name);
		refuse(d->name, KIND_DIRECTORY);
		exit(EXIT_FAILURE);
	}
	kind = kind_of((struct slice){(const char *)in->data, in->size}, KIND_TRACE_FILE);
	if (opt.follow && (!in->snapshot || document_is_text(in))) {
		if (!refuse(d->name, kind))
			warnx("%s: not a trace file, which -F needs", d->name);
		return false;
	}
	if (reader_open(&d->reader, in, &opt.reader) == 0)
		return true;
	if (in->error || !refuse(d->name, kind))
		reader_report(&d->reader, d->name);
	return false;
}

static void set_rate(const char *text)
{
	if (!number_decimal(slice_of(text), &opt.rate) || !opt.rate)
		cli_usage("--rate '%s': ticks per second are expected", text);
}

static const struct cli_option options[] = {
	{'a', "all", NULL, "also print entries from before the rings' common time and from before trace_clear",
	 .flag = &opt.reader.all},
	{'d', "definitions", NULL, "print the defined tracepoints instead", .flag = &opt.definitions},
	{'F', "follow", NULL, "print the entries, then each new one, until the process ends or Ctrl-C; also with -O",
	 .flag = &opt.follow},
	{'i', "info", NULL, "print a JSON line about the trace itself instead, and what is missing in it",
	 .flag = &opt.info},
	{'O', "owners", NULL, "print the registered owners instead", .flag = &opt.owners},
	{'p', "pid", "PID", "the trace of this process, which it has mapped", .pid = &opt.pid},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{'t', "tpoint", "GLOB", "only entries of tracepoints with this name; may be given more than once",
	 .list = &opt.filter.tpoints},
	{0, "requests", NULL, "only entries that start or end a request, or another object that nothing has started",
	 .flag = &opt.filter.requests},
	{0, "since", "US", "only entries from this time on, in microseconds as they are printed",
	 .time = &opt.filter.since},
	{0, "until", "US", "only entries up to this time", .time = &opt.filter.until},
	{'T', "wall", NULL, "also print the time of day of each entry; for a copy, with --clock", .flag = &opt.wall},
	{0, "clock", "FILE", "compute times of day and the rate of ticks from what usdt-record recorded with the trace",
	 .text = &opt.clock},
	{0, "rate", "HZ", "ticks per second, instead of the rate in the trace", .call = set_rate},
	{0, "record", "FILE", "with -F: write the entries to FILE as they are, in the layout of the trace",
	 .text = &opt.record},
	{0, "keep", "SEC", "with --record: drop entries that are older than SEC seconds", .seconds = &opt.keep_ns},
	{0, "max-size", "SIZE", "with --record: end when FILE has this size; default 4G", .bytes = &opt.max_size},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the entries of an SPDK trace as JSON lines. FILE is a trace file of any SPDK release from v21.07\n"
	"on, live or copied, a file of spdk_trace_record, or what spdk_trace -j prints; without FILE, or when it\n"
	"is -, standard input.\n",
	"Examples:\n"
	"  trace-dump -p \"$(pidof nvmf_tgt)\" | trace-join -l lifetimes.txt\n"
	"  trace-dump -F -p \"$(pidof nvmf_tgt)\" | trace-join -l lifetimes.txt | grep TCP_REQ_NEW\n"
	"  trace-dump -i nvmf_trace.pid1234\n"
	"  xz -dc nvmf_trace.pid1234.xz | trace-dump -t 'TCP_REQ_*' | jq -r .owner | sort | uniq -c\n",
	.options = options,
	.former = (const struct cli_former[]){{'c', "lcore", "is gone: grep '\"lcore\":3,' chooses by lcore"},
					      {0, "lag", "is gone: an entry waits for earlier ones for at most 100 ms"},
					      {'w', "owner", "is gone: grep '\"owner\":\"bdev_' chooses by owner"},
					      {}},
};

static void check_recording(void)
{
	if (!opt.follow)
		cli_usage("--record is for -F: a live trace is recorded");
	if (opt.reader.all || opt.owners || opt.wall || opt.clock || opt.rate || opt.filter.since ||
	    opt.filter.until < UINT64_MAX || opt.filter.requests || opt.filter.tpoints.n)
		cli_usage("--record writes all entries as they are: besides -F it takes -p, -q, --keep and --max-size "
			  "only");
}

/* Returns the trace file's path; NULL: it is the trace of a process. */
static const char *parse_options(int argc, char **argv)
{
	const char *path = NULL;

	cli_parse(&cli, argc, argv);
	if (opt.filter.since > opt.filter.until)
		cli_usage("--since is after --until: no time is between them");
	if (opt.pid && optind < argc)
		cli_usage("give -p or a file, not both");
	if (opt.follow && (opt.info || opt.definitions))
		cli_usage("-F prints entries or owners: it cannot be combined with -i or -d");
	if (opt.record)
		check_recording();
	else if (opt.max_size || opt.keep_ns)
		cli_usage("%s is for --record", opt.keep_ns ? "--keep" : "--max-size");
	if (opt.clock && opt.rate)
		cli_usage("give --rate or --clock, not both: each has the rate of the ticks");
	if (!opt.pid)
		path = cli_operand(argc, argv, "one trace file, or a process with -p");
	if (path && opt.clock && strcmp(opt.clock, "-") == 0 && strcmp(path, "-") == 0)
		cli_usage("standard input can only be one of the files");
	opt.reader.entries = entries_wanted();
	opt.target = path ? process_of_trace(path) : opt.pid;
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	const char *failed;
	char *found = NULL, *error;
	static struct dump d = {.file = {-1, -1, 0}};
	struct input in;
	bool good;
	int fd;

	if (path) {
		fd = opt.follow ? io_open(path) : unpack_file(&d.unpack, io_open(path));
		d.name = io_name(path);
	} else {
		path = found = process_open_trace(opt.pid, &fd, &error);
		if (!found)
			errx(EXIT_FAILURE, "%s", error);
		d.name = utf8_visible_copy(path);
	}
	if (opt.record && fd >= 0)
		record_create(&d.file, opt.record);
	/* what the target has written is read without privileges; a file of clocks is still to be opened */
	failed = opt.follow && !has_anchors() && fd >= 0 ? sandbox_remain() : NULL;
	if (failed)
		cli_notice(opt.quiet, "%s is read although this process cannot be confined: %s failed", d.name, failed);
	good = open_trace(&d, &in, fd) && open_anchors(&d, path);
	/* a recording reads the rings itself */
	if (good && opt.follow && !opt.record)
		follow_open(&d.follow, &d.reader, opt.target);
	out_open(&d.out, STDOUT_FILENO);
	if (good)
		good = opt.record ? record(&d) : dump(&d);
	if (input_shrunk(&in)) {
		warnx("%s: was truncated while it was read: entries may be missing", d.name);
		good = false;
	}
	record_close(&d.file);
	if (d.follow.reader)
		follow_close(&d.follow);
	anchors_free(&d.anchors);
	reader_close(&d.reader);
	input_close(&in);
	good &= unpack_close(&d.unpack, d.name, good && !d.out.error) == 0;
	free(found);
	return cli_close(&d.out, good ? EXIT_SUCCESS : EXIT_FAILURE);
}
