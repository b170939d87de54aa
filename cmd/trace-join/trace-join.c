/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-join: names the objects at the addresses, and of the owners, in trace lines. An argument is
 * annotated if a lifetime line has its name and address at that time. An entry whose owner is in a
 * lifetime line gets the annotation as another argument. The output is text, in the format of
 * SPDK's trace.py or in a shorter one, or the same JSON lines with every other byte unchanged.
 */
#include <err.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "count.h"
#include "connection.h"
#include "each_traceline.h"
#include "follow.h"
#include "interactive.h"
#include "io.h"
#include "json.h"
#include "lifetimes.h"
#include "mem.h"
#include "out.h"
#include "probeline.h"
#include "shorttext.h"
#include "text.h"

static struct {
	enum { TEXT, JSON, SHORT } output;
	bool follow, quiet;
	unsigned stdins;
	const char **lifetimes; /* files */
	const char **tpoints;   /* globs of the tracepoints to annotate; none: all */
	size_t num_lifetimes, cap_lifetimes, num_tpoints, cap_tpoints;
} opt;

/* Entries that could have been named; counted until one is. */
struct unnamed {
	bool named;                /* an entry was named */
	uint64_t by_arg;           /* that have an argument of a lifetime's kind */
	uint64_t by_owner[1 << 8]; /* others that have an owner, by the letter of its type */
	uint64_t first, last;      /* their ticks, lowest and highest */
};

struct join {
	struct out *out;
	struct lifetimes lifetimes;
	struct follow_lifetimes follow;
	/* of the short form */
	struct shorttext brief;
	struct connections connections;
	size_t num_learned; /* lifetimes whose hosts are known */
	struct unnamed unnamed;
	bool *matched;      /* which of opt.tpoints have matched a line */
	bool bad_lifetimes; /* after a message */
};

static bool tpoint_wanted(struct join *join, struct slice raw)
{
	char name[256];
	bool wanted = false;

	if (!opt.num_tpoints)
		return true;
	if (raw.n >= sizeof(name))
		return false;
	name[json_unescape(name, raw)] = 0;
	for (size_t i = 0; i < opt.num_tpoints; i++)
		if ((!wanted || !join->matched[i]) && fnmatch(opt.tpoints[i], name, 0) == 0)
			wanted = join->matched[i] = true;
	return wanted;
}

/* Adds the objects of the line's owner, except under the name of an argument that the line has. */
static void annotate_owner(struct lifetimes *lifetimes, struct traceline *line)
{
	uint64_t owner;

	if (!lifetimes_owner(line->poller, &owner))
		return;
	for (unsigned i = 0; i < lifetimes->num_kinds; i++) {
		const struct lifetime_kind *kind = &lifetimes->kinds[i];
		const struct lifetime *object = lifetimes_find(lifetimes, kind, LIFETIME_OWNER, owner, line->tsc);

		if (object && !traceline_value(line, kind->name).p)
			traceline_add_arg(line, kind->name, object);
	}
}

/*
 * Notes whether a line was named, or else counts it if it could have been. Threads have owners of
 * the same type as connections, but no lifetimes; only the description of a connection has a port.
 */
static void count_unnamed(struct unnamed *unnamed, struct lifetimes *lifetimes, const struct traceline *line)
{
	bool kind = false, number = false;
	uint64_t value, owner;

	for (size_t i = 0; i < line->num_args; i++) {
		unnamed->named |= line->args[i].note != NULL;
		if (!lifetimes_kind(lifetimes, line->args[i].key))
			continue;
		kind = true;
		number |= traceline_number(line->args[i].value, &value);
	}
	if (unnamed->named)
		return;
	if (number)
		unnamed->by_arg++;
	else if (!kind && line->owner.n && lifetimes_owner(line->poller, &owner) &&
		 (owner >> 32 != 't' || memchr(line->owner.p, ':', line->owner.n)))
		unnamed->by_owner[owner >> 32]++;
	else
		return;
	if (line->tsc < unnamed->first)
		unnamed->first = line->tsc;
	if (line->tsc > unnamed->last)
		unnamed->last = line->tsc;
}

/* Finds the objects of a line's arguments and owner. */
static void annotate(struct join *join, struct traceline *line)
{
	struct lifetimes *lifetimes = &join->lifetimes;
	bool wanted = lifetimes->n && tpoint_wanted(join, line->tpoint);

	for (size_t i = 0; i < line->num_args; i++) {
		struct traceline_arg *arg = &line->args[i];
		const struct lifetime_kind *kind = wanted ? lifetimes_kind(lifetimes, arg->key) : NULL;
		uint64_t ptr;

		arg->note = NULL;
		if (kind && traceline_number(arg->value, &ptr))
			arg->note = lifetimes_find(lifetimes, kind, LIFETIME_PTR, ptr, line->tsc);
	}
	if (wanted)
		annotate_owner(lifetimes, line);
	if (wanted && !join->unnamed.named)
		count_unnamed(&join->unnamed, lifetimes, line);
}

/* Writes the arguments from the i-th on, which annotate_owner() added to the line. */
static void write_added(struct out *out, const struct traceline *line, size_t i)
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
	size_t i;

	for (i = 0; i < line->num_args && line->args[i].value.p; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (!lifetime)
			continue;
		out_slice(out, slice_between(done, arg->value.p));
		out_slice(out, lifetime->json);
		done = arg->value.p + arg->value.n;
	}
	if (i < line->num_args) {
		out_slice(out, slice_between(done, line->args_end));
		done = line->args_end;
		write_added(out, line, i);
	}
	out_slice(out, slice_between(done, raw.p + raw.n));
	out_char(out, '\n');
}

/* Writes a line that is not a trace line. Text may go to a terminal, so it is made printable. */
static void write_unparsed(void *context, struct slice line)
{
	struct join *join = context;

	if (opt.output == JSON)
		out_utf8(join->out, line);
	else
		out_visible(join->out, line);
	out_char(join->out, '\n');
}

/* A host's name must not depend on which of the others the trace has shown so far. */
static void learn_hosts(struct join *join)
{
	for (; join->num_learned < join->lifetimes.n; join->num_learned++) {
		struct slice fields = join->lifetimes.all[join->num_learned]->fields, host = {}, subsystem = {};
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
static void write_short(struct join *join, struct traceline *line, size_t n)
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
	struct join *join = context;

	annotate(join, line);
	if (opt.output == JSON) {
		write_json(join->out, line, text);
	} else if (opt.output == SHORT) {
		write_short(join, line, text.n);
	} else {
		text_write(join->out, line, text.n);
	}
	return NULL;
}

static int next_line(void *context, struct lines *lines, struct slice *line)
{
	struct join *join = context;

	return follow_next(&join->follow, lines, join->out, line);
}

/* Why lifetimes with these ticks named no entry, if missing owners are not the reason. */
static const char *why_unnamed(const struct unnamed *unnamed, uint64_t begin, uint64_t end)
{
	if (end < unnamed->first)
		return "all their ticks are before those of the entries: they are from another run";
	if (begin > unnamed->last)
		return "all their ticks are after those of the entries: they are from another run";
	return "the entries have other addresses and owners: the lifetimes are from another process, or probe lines "
	       "are missing";
}

/* How many entries lifetimes could have named by owner. *any: whether lifetimes have owners. */
static uint64_t count_by_owner(const struct join *join, bool *any)
{
	bool owners[1 << 8] = {};
	uint64_t n = 0;

	for (size_t i = 0; i < join->lifetimes.n; i++) {
		const struct lifetime *l = join->lifetimes.all[i];

		if (l->has[LIFETIME_OWNER])
			owners[l->key[LIFETIME_OWNER] >> 32] = *any = true;
	}
	/* lifetimes without owners could have had those of TCP's connections, of type t */
	if (!*any)
		owners['t'] = true;
	for (unsigned i = 0; i < COUNT(owners); i++)
		n += owners[i] ? join->unnamed.by_owner[i] : 0;
	return n;
}

/*
 * Prints why nothing was named. Returns false if the lifetimes do not fit the trace. They fit if
 * they only lack owners: recorders other than usdt-record do not record these.
 */
static bool explain_unnamed(const struct join *join, const char *file, const char *name)
{
	const struct unnamed *unnamed = &join->unnamed;
	bool owners = false;
	uint64_t begin = UINT64_MAX, end = 0, by_owner = count_by_owner(join, &owners);

	for (size_t i = 0; i < join->lifetimes.n; i++) {
		const struct lifetime *l = join->lifetimes.all[i];

		begin = l->begin < begin ? l->begin : begin;
		end = l->end > end ? l->end : end;
	}
	if (unnamed->by_arg + by_owner == 0)
		return true;
	if (!unnamed->by_arg && !owners && end >= unnamed->first && begin <= unnamed->last) {
		cli_notice(opt.quiet,
			   "%s: named 0 of %" PRIu64
			   " entries of %s: the entries have owners, the lifetimes have none: record the owners with "
			   "usdt-record, or try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES",
			   file, by_owner, name);
		return true;
	}
	warnx("%s: named 0 of %" PRIu64 " entries of %s: %s", file, unnamed->by_arg + by_owner, name,
	      why_unnamed(unnamed, begin, end));
	return false;
}

/* Whether entries were named, if any could have been; prints a message if not. */
static bool check_named(const struct join *join, const char *name)
{
	const struct lifetimes *lifetimes = &join->lifetimes;
	const char *file = io_name(opt.lifetimes[0]);

	if (!lifetimes->n && lifetimes->num_skipped) {
		warnx("%s: no lifetime lines, which qpair-lifetimes prints: nothing can be named", file);
		return false;
	}
	/* no host connected during the recording */
	if (!lifetimes->n && !join->bad_lifetimes)
		cli_notice(opt.quiet, "%s: no lifetime lines: nothing can be named", file);
	return join->unnamed.named || explain_unnamed(join, file, name);
}

/*
 * Prints notes about what was not joined. Returns false if there were no lines, or if lifetimes should have named
 * entries, but did not.
 */
static bool check_joined(const struct join *join, const struct lines *lines)
{
	if (!lines->number && !lines->failed) {
		warnx("%s: empty: there are no trace lines", lines->name);
		/* the trace may have ended before its first entry */
		return opt.follow;
	}
	for (size_t i = 0; lines->number && i < opt.num_tpoints; i++)
		if (!join->matched[i])
			cli_notice(opt.quiet, "%s: no line is of a tracepoint '%s'", lines->name, opt.tpoints[i]);
	/* with -F, the lifetimes of the entries' hosts may not have come yet */
	return !opt.num_lifetimes || check_named(join, lines->name) || opt.follow;
}

/* Returns 0, or -1 when something was wrong with the trace lines, or they could not be joined. */
static int join_all(struct join *join, const char *path)
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
	if (!join->out->error && !check_joined(join, &in.lines))
		status = -1;
	return status;
}

static void add_lifetimes(const char *path)
{
	opt.lifetimes = mem_room(opt.lifetimes, opt.num_lifetimes, &opt.cap_lifetimes);
	opt.lifetimes[opt.num_lifetimes++] = path;
	opt.stdins += strcmp(path, "-") == 0;
}

static void add_tpoint(const char *glob)
{
	opt.tpoints = mem_room(opt.tpoints, opt.num_tpoints, &opt.cap_tpoints);
	opt.tpoints[opt.num_tpoints++] = glob;
}

static const struct cli_option options[] = {
	{'F', "follow", NULL,
	 "read lifetime lines while they are written, to pipes and growing files, along with\n"
	 "trace lines",
	 .flag = &opt.follow},
	{'j', "json", NULL, "print the trace lines themselves, with objects for annotated arguments",
	 .choice = &opt.output, JSON},
	{'l', "lifetimes", "FILE", "lifetime lines, which qpair-lifetimes printed; may be given more than once",
	 .call = add_lifetimes},
	{'q', "quiet", NULL, "print no notes about missing input", .flag = &opt.quiet},
	{'s', "short", NULL, "print short lines, which name the host and the queue", .choice = &opt.output, SHORT},
	{'t', "tpoint", "GLOB", "annotate only tracepoints of this name; may be given more than once",
	 .call = add_tpoint},
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
};

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	if (opt.num_tpoints && !opt.num_lifetimes)
		cli_usage("-t selects what -l annotates: add -l, or select entries with trace-dump -t");
	path = cli_operand(argc, argv, "one file of trace lines");
	if (opt.stdins + (strcmp(path, "-") == 0) > 1)
		cli_usage("standard input can only be one of the files");
	if (opt.follow && !opt.num_lifetimes)
		cli_usage("-F follows the files of -l: one is expected");
	return path;
}

/* Adds the lifetime lines of a file. Returns 0, or -1 when some are malformed. */
static int read_lifetimes(struct lifetimes *lifetimes, const char *path)
{
	struct interactive interactive;
	struct lines lines;
	int status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_LIFETIMES, "trace-join -l - TRACE-LINES");
	interactive_start(&interactive, &lines, NULL);
	status = lines_each(&lines, lifetimes_add, lifetimes);
	if (lines.is)
		exit(EXIT_FAILURE);
	return status;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct join join = {.brief = SHORTTEXT_NONE, .unnamed.first = UINT64_MAX};
	struct out out;
	int status = EXIT_SUCCESS;

	join.out = &out;
	join.matched = mem_array(opt.num_tpoints, sizeof(*join.matched));
	if (opt.follow)
		follow_open(&join.follow, &join.lifetimes, opt.lifetimes, opt.num_lifetimes);
	for (size_t i = 0; !opt.follow && i < opt.num_lifetimes; i++)
		join.bad_lifetimes |= read_lifetimes(&join.lifetimes, opt.lifetimes[i]) != 0;
	if (join.bad_lifetimes)
		status = EXIT_FAILURE;
	out_open(&out, STDOUT_FILENO);
	if (join_all(&join, path) != 0)
		status = EXIT_FAILURE;
	connections_free(&join.connections);
	lifetimes_free(&join.lifetimes);
	free(join.matched);
	free(opt.lifetimes);
	free(opt.tpoints);
	return cli_close(&out, status);
}
