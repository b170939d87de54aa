/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-join: names the objects behind the addresses and owners in trace lines. An argument that a lifetime
 * line is about, and whose address was that object's at that time, is annotated; an entry whose owner was
 * that object's gets the annotation as an argument more. The result is text for people, in the format of
 * SPDK's trace.py or in a shorter one, or the same JSON lines with every other byte kept.
 */
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "follow.h"
#include "interactive.h"
#include "io.h"
#include "json.h"
#include "lifetimes.h"
#include "lines.h"
#include "out.h"
#include "text.h"
#include "traceline.h"
#include "utf8.h"

static struct {
	bool json, brief, follow;
	const char **lifetimes; /* files */
	const char **tpoints;   /* globs of the tracepoints to annotate; none: all */
	bool *matched;          /* which of them have matched a line */
	unsigned num_lifetimes, num_tpoints;
} opt;

/* Entries that could have been named, as long as none was. */
static struct {
	bool named;                /* one was */
	uint64_t by_arg;           /* that have an argument of a lifetime's kind */
	uint64_t by_owner[1 << 8]; /* others that have an owner, by the letter of its type */
	uint64_t first, last;      /* their ticks, lowest and highest */
} unnamed = {.first = UINT64_MAX};

static bool tpoint_wanted(struct slice raw)
{
	char name[256];
	bool wanted = false;

	if (!opt.num_tpoints)
		return true;
	if (raw.n >= sizeof(name))
		return false;
	name[json_unescape(name, raw)] = 0;
	for (unsigned i = 0; i < opt.num_tpoints; i++)
		if ((!wanted || !opt.matched[i]) && fnmatch(opt.tpoints[i], name, 0) == 0)
			wanted = opt.matched[i] = true;
	return wanted;
}

static bool has_arg(const struct traceline *line, struct slice name)
{
	for (unsigned i = 0; i < line->num_args; i++)
		if (slice_equal(line->args[i].key, name))
			return true;
	return false;
}

/* Adds the objects of the line's owner, but none under the name of an argument that the line has. */
static void annotate_owner(struct lifetimes *lifetimes, struct traceline *line)
{
	uint64_t owner;

	if (!lifetimes_owner(line->poller, &owner))
		return;
	for (unsigned i = 0; i < lifetimes->num_kinds; i++) {
		const struct lifetime_kind *kind = &lifetimes->kinds[i];
		const struct lifetime *object = lifetimes_find(lifetimes, kind, LIFETIME_OWNER,
							       owner, line->tsc);
		struct traceline_arg *arg;

		if (!object || has_arg(line, kind->name))
			continue;
		arg = traceline_add_arg(line, kind->name);
		if (!arg)
			err(EXIT_FAILURE, NULL);
		arg->note = object;
	}
}

/*
 * Counts a line that was annotated, if none has got a name so far. Threads are owners of the same type as connections,
 * and no lifetimes are of them; the description of a connection has a port.
 */
static void count_unnamed(struct lifetimes *lifetimes, const struct traceline *line)
{
	bool kind = false, number = false;
	uint64_t value, owner;

	for (unsigned i = 0; i < line->num_args; i++) {
		unnamed.named |= line->args[i].note != NULL;
		if (!lifetimes_kind(lifetimes, line->args[i].key))
			continue;
		kind = true;
		number |= traceline_number(line->args[i].value, &value);
	}
	if (unnamed.named)
		return;
	if (number)
		unnamed.by_arg++;
	else if (!kind && line->owner.n && lifetimes_owner(line->poller, &owner) &&
		 (owner >> 32 != 't' || memchr(line->owner.p, ':', line->owner.n)))
		unnamed.by_owner[owner >> 32]++;
	else
		return;
	if (line->tsc < unnamed.first)
		unnamed.first = line->tsc;
	if (line->tsc > unnamed.last)
		unnamed.last = line->tsc;
}

/* Finds the objects that the arguments of a line, and its owner, mean. */
static void annotate(struct lifetimes *lifetimes, struct traceline *line)
{
	bool wanted = lifetimes->n && tpoint_wanted(line->tpoint);

	for (unsigned i = 0; i < line->num_args; i++) {
		struct traceline_arg *arg = &line->args[i];
		const struct lifetime_kind *kind = wanted ? lifetimes_kind(lifetimes, arg->key)
							  : NULL;
		uint64_t ptr;

		arg->note = NULL;
		if (kind && traceline_number(arg->value, &ptr))
			arg->note = lifetimes_find(lifetimes, kind, LIFETIME_PTR, ptr, line->tsc);
	}
	if (wanted)
		annotate_owner(lifetimes, line);
	if (wanted && !unnamed.named)
		count_unnamed(lifetimes, line);
}

/* Writes the arguments from the i-th on, which the line itself has not. */
static void write_added(struct out *out, const struct traceline *line, unsigned i)
{
	bool comma = i > 0;

	if (!line->has_args)
		out_text(out, ",\"args\":{");
	for (; i < line->num_args; i++) {
		const struct lifetime *lifetime = line->args[i].note;

		out_text(out, comma ? ",\"" : "\"");
		out_slice(out, line->args[i].key);
		out_text(out, "\":");
		out_slice(out, lifetime->json);
		comma = true;
	}
	if (!line->has_args)
		out_text(out, "}");
}

/* Writes the line as it came, with annotated arguments as objects. */
static void write_json(struct out *out, const struct traceline *line, struct slice raw)
{
	const char *done = raw.p;
	unsigned i;

	for (i = 0; i < line->num_args && line->args[i].value.p; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (!lifetime)
			continue;
		out_bytes(out, done, arg->value.p - done);
		out_slice(out, lifetime->json);
		done = arg->value.p + arg->value.n;
	}
	if (i < line->num_args) {
		out_bytes(out, done, line->args_end - done);
		done = line->args_end;
		write_added(out, line, i);
	}
	out_bytes(out, done, raw.p + raw.n - done);
	out_bytes(out, "\n", 1);
}

/* Passes on a line that could not be read; as text, it may be on its way to a terminal. */
static void write_unread(struct out *out, struct slice line)
{
	char *to;

	if (opt.json) {
		out_slice(out, line);
	} else {
		to = out_room(out, UTF8_VISIBLE(line.n));
		if (to)
			out_commit(out, utf8_visible(to, line));
	}
	out_bytes(out, "\n", 1);
}

/*
 * Annotates and writes all lines. follow: lifetimes that come meanwhile; NULL: none do. Returns 0, or -1 when something
 * was wrong with the input.
 */
static int join(struct lines *lines, struct lifetimes *lifetimes, struct follow_lifetimes *follow,
		struct out *out)
{
	struct text_short brief = TEXT_SHORT;
	struct traceline parsed = {};
	struct slice line;
	const char *error;
	int got = 0;

	while (!out->error && (got = follow ? follow_next(follow, lines, out, &line)
					    : lines_next(lines, &line)) > 0) {
		error = traceline_parse(&parsed, line);
		if (!error)
			annotate(lifetimes, &parsed);
		if (error) {
			lines_complain(lines, "not a trace line, passed on: %s", error);
			write_unread(out, line);
		} else if (opt.json) {
			write_json(out, &parsed, line);
		} else if (opt.brief) {
			who_learn(&brief.who, lifetimes);
			text_write_short(out, &parsed, line.n, &brief);
		} else {
			text_write(out, &parsed, line.n);
		}
	}
	traceline_free(&parsed);
	who_free(&brief.who);
	return lines_close(lines, got < 0 ? errno : 0);
}

/* Why no entry was named by lifetimes that have these ticks, where owners are not the reason. */
static const char *why_unnamed(uint64_t begin, uint64_t end)
{
	if (end < unnamed.first)
		return "their ticks are before those of the entries: they are of another run";
	if (begin > unnamed.last)
		return "their ticks are after those of the entries: they are of another run";
	return "their addresses and owners are not those of the entries: they are of another process, or probe lines are missing";
}

/*
 * Whether entries were named, if there were any that could have been; says so when not. Lifetimes without owners are
 * right, and recorders other than usdt-record have no others: then it is a note.
 */
static bool check_named(const struct lifetimes *lifetimes, const char *name)
{
	uint64_t begin = UINT64_MAX, end = 0, by_owner = 0;
	bool owners[1 << 8] = {}, any = false;

	for (size_t i = 0; i < lifetimes->n; i++) {
		const struct lifetime *l = lifetimes->all[i];

		begin = l->begin < begin ? l->begin : begin;
		end = l->end > end ? l->end : end;
		any |= l->has[LIFETIME_OWNER];
		if (l->has[LIFETIME_OWNER])
			owners[l->key[LIFETIME_OWNER] >> 32] = true;
	}
	/* TCP's connections are what could have had one */
	for (unsigned i = 0; i < sizeof(owners); i++)
		if (any ? owners[i] : i == 't')
			by_owner += unnamed.by_owner[i];
	if (!lifetimes->n && lifetimes->num_skipped) {
		warnx("%s: no lifetime lines, which qpair-lifetimes prints: nothing can be named",
		      io_name(opt.lifetimes[0]));
		return false;
	}
	/* nobody connected while it was recorded */
	if (!lifetimes->n)
		cli_note("%s: no lifetime lines: nothing can be named", io_name(opt.lifetimes[0]));
	if (unnamed.named || unnamed.by_arg + by_owner == 0)
		return true;
	if (by_owner && !unnamed.by_arg && !any && end >= unnamed.first && begin <= unnamed.last) {
		cli_note(
			"%s: named 0 of %" PRIu64
			" entries of %s: the entries have owners, the lifetimes have none: record the owners with usdt-record, or try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES",
			io_name(opt.lifetimes[0]), by_owner, name);
		return true;
	}
	warnx("%s: named 0 of %" PRIu64 " entries of %s: %s", io_name(opt.lifetimes[0]),
	      unnamed.by_arg + by_owner, name, why_unnamed(begin, end));
	return false;
}

/* Says what was there to be joined, and was not. Returns whether the output can be what was asked for. */
static bool check_joined(const struct lifetimes *lifetimes, const struct lines *lines)
{
	if (!lines->number && !lines->is)
		cli_note("%s: empty: there are no trace lines", lines->name);
	for (unsigned i = 0; lines->number && i < opt.num_tpoints; i++)
		if (!opt.matched[i])
			cli_note("%s: no line is of a tracepoint '%s'", lines->name,
				 opt.tpoints[i]);
	/* where lifetimes come meanwhile, those of the entries' hosts may not have */
	return !opt.num_lifetimes || check_named(lifetimes, lines->name) || opt.follow;
}

static const char help[] =
	"Usage: %s [OPTION]... [FILE]\n"
	"Name the objects behind the addresses in the trace lines of FILE, which trace-dump printed, and print the\n"
	"lines as text; without FILE, or when it is -, those of standard input.\n"
	"\n"
	"  -F, --follow          take in lifetime lines as they come, while trace lines do: from pipes and growing files\n"
	"  -j, --json            print the trace lines themselves, annotated arguments being objects\n"
	"  -l, --lifetimes FILE  lifetime lines, which qpair-lifetimes printed; may be repeated\n"
	"  -q, --quiet           no notes about what was not there\n"
	"  -s, --short           print short lines, which name the host and the queue instead of describing them\n"
	"  -t, --tpoint GLOB     annotate only tracepoints of this name; may be repeated\n"
	"  -h, --help            this text\n"
	"  -V, --version         the version\n"
	"\n"
	"Example:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n"
	"  trace-dump -F -p 1234 | trace-join -F -l <(usdt-record -p 1234 | qpair-lifetimes -F)\n";

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	static const struct option options[] = {{"follow", no_argument, NULL, 'F'},
						{"help", no_argument, NULL, 'h'},
						{"json", no_argument, NULL, 'j'},
						{"lifetimes", required_argument, NULL, 'l'},
						{"quiet", no_argument, NULL, 'q'},
						{"short", no_argument, NULL, 's'},
						{"tpoint", required_argument, NULL, 't'},
						{"version", no_argument, NULL, 'V'},
						{}};
	unsigned stdins = 0;
	const char *path;
	int c;

	opt.lifetimes = calloc(argc, sizeof(*opt.lifetimes));
	opt.tpoints = calloc(argc, sizeof(*opt.tpoints));
	opt.matched = calloc(argc, sizeof(*opt.matched));
	if (!opt.lifetimes || !opt.tpoints || !opt.matched)
		err(EXIT_FAILURE, NULL);
	while ((c = getopt_long(argc, argv, "+Fhjl:qst:V", options, NULL)) != -1)
		switch (c) {
		case 'F':
			opt.follow = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'l':
			opt.lifetimes[opt.num_lifetimes++] = optarg;
			stdins += strcmp(optarg, "-") == 0;
			break;
		case 's':
			opt.brief = true;
			break;
		case 't':
			opt.tpoints[opt.num_tpoints++] = optarg;
			break;
		default:
			cli_option(c, help);
		}
	if (opt.num_tpoints && !opt.num_lifetimes)
		cli_usage(
			"-t chooses what -l annotates: give lifetimes, or choose entries with trace-dump -t");
	path = cli_operand(argc, argv, "one file of trace lines");
	if (opt.json && opt.brief)
		cli_usage("-j and -s exclude each other");
	if (stdins + (strcmp(path, "-") == 0) > 1)
		cli_usage("standard input can only be one of the files");
	if (opt.follow && !opt.num_lifetimes)
		cli_usage("-F follows the files of -l: one is expected");
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct lifetimes lifetimes;
	struct interactive interactive;
	struct follow_lifetimes follow;
	struct lines lines;
	struct out out;
	int status = EXIT_SUCCESS;

	if (opt.follow)
		follow_open(&follow, &lifetimes, opt.lifetimes, opt.num_lifetimes);
	for (unsigned i = 0; !opt.follow && i < opt.num_lifetimes; i++)
		if (lifetimes_read(&lifetimes, opt.lifetimes[i]) != 0)
			status = EXIT_FAILURE;
	out_open(&out, STDOUT_FILENO);
	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines_expect(&lines, KIND_TRACE_LINES, "trace-join");
	if (opt.follow)
		lines_follow(&lines, false);
	else
		interactive_start(&interactive, &lines, &out);
	if (join(&lines, &lifetimes, opt.follow ? &follow : NULL, &out) != 0)
		status = EXIT_FAILURE;
	if (opt.follow && follow_close(&follow) != 0)
		status = EXIT_FAILURE;
	if (!out.error && !check_joined(&lifetimes, &lines))
		status = EXIT_FAILURE;
	lifetimes_free(&lifetimes);
	free(opt.lifetimes);
	free(opt.tpoints);
	free(opt.matched);
	return cli_close(&out, status);
}
