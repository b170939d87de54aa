/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-join: names the objects behind the addresses and owners in trace lines. An argument that a lifetime
 * line is about, and whose address was that object's at that time, is annotated; an entry whose owner was
 * that object's gets the annotation as an argument more. The result is text for people, in the format of
 * SPDK's trace.py, or the same JSON lines with every other byte kept.
 */
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "digits.h"
#include "io.h"
#include "json.h"
#include "lines.h"
#include "out.h"
#include "trace-join-lifetimes.h"
#include "traceline.h"
#include "utf8.h"

static struct {
	bool json;
	const char **lifetimes; /* files */
	const char **tpoints;   /* globs of the tracepoints to annotate; none: all */
	unsigned num_lifetimes, num_tpoints;
} opt;

static bool tpoint_wanted(struct slice raw)
{
	char name[256];

	if (!opt.num_tpoints)
		return true;
	if (raw.n >= sizeof(name))
		return false;
	name[json_unescape(name, raw)] = 0;
	for (unsigned i = 0; i < opt.num_tpoints; i++)
		if (fnmatch(opt.tpoints[i], name, 0) == 0)
			return true;
	return false;
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

/* A line of text in the making. Columns count characters, as Python does. */
struct text {
	char *p;
	unsigned width; /* characters since the last begin of a column */
};

static void put(struct text *t, struct slice s)
{
	t->p = mempcpy(t->p, s.p, s.n);
	t->width += s.n;
}

static void put_string(struct text *t, const char *s)
{
	put(t, slice_of(s));
}

/* A JSON string decoded, with what a terminal must not get escaped. */
static void put_raw(struct text *t, struct slice raw)
{
	size_t n = utf8_plain(raw);
	char *begin;

	if (!raw.n)
		return;
	put(t, (struct slice){raw.p, n});
	if (n == raw.n)
		return;
	raw = (struct slice){raw.p + n, raw.n - n};
	begin = t->p;
	if (memchr(raw.p, '\\', raw.n)) {
		/* decoded behind the room that its visible form may take */
		char *plain = begin + UTF8_VISIBLE(raw.n);

		raw = (struct slice){plain, json_unescape(plain, raw)};
	}
	t->p = utf8_visible(begin, raw);
	for (; begin < t->p; begin++)
		t->width += (*begin & 0xc0) != 0x80;
}

static void column(struct text *t)
{
	t->width = 0;
}

static void pad(struct text *t, unsigned width)
{
	for (; t->width < width; t->width++)
		*t->p++ = ' ';
}

/* Microseconds with three decimals, also where somebody has rewritten the number: 0.04 is 0.040. */
static struct slice three_decimals(struct slice us, char *room)
{
	if (us.n > 4 && us.p[us.n - 4] == '.' && !memchr(us.p, 'e', us.n) &&
	    !memchr(us.p, 'E', us.n))
		return us;
	return (struct slice){room, sprintf(room, "%.3f", strtod(us.p, NULL))};
}

enum { US_ROOM = 320 }; /* the longest double has 309 digits before the point */

static void put_id(struct text *t, const struct traceline *line)
{
	if (!line->object_id.p && !line->object_value)
		return;
	put_string(t, "id: ");
	column(t);
	if (line->object_id.p) {
		put_raw(t, line->object_id);
	} else {
		char value[DIGITS_ROOM], *end = digits_hex(value, line->object_value);

		put(t, (struct slice){value + 2, end - value - 2});
	}
	if (line->related.p) {
		put_string(t, " (");
		put_raw(t, line->related);
		put_string(t, ")");
	}
	pad(t, 12);
	put_string(t, " ");
}

static void put_args(struct text *t, const struct traceline *line)
{
	for (unsigned i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (i)
			put_string(t, ", ");
		put_raw(t, arg->key);
		if (lifetime) {
			put_string(t, "(");
			put(t, lifetime->text);
			put_string(t, ")");
		} else {
			put_string(t, ": ");
			if (arg->value.p[0] == '"')
				put_raw(t, (struct slice){arg->value.p + 1, arg->value.n - 2});
			else
				put_raw(t, arg->value);
		}
	}
}

/* Bytes that the text of a line of n bytes may take. */
static size_t text_room(const struct traceline *line, size_t n)
{
	size_t room = UTF8_VISIBLE(n) + n + 2 * US_ROOM + 128;

	for (unsigned i = 0; i < line->num_args; i++) {
		const struct lifetime *lifetime = line->args[i].note;

		/* the name of one that was added is not in the line */
		if (lifetime)
			room += lifetime->text.n + line->args[i].key.n + 4;
	}
	return room;
}

static void write_text(struct out *out, const struct traceline *line, struct slice raw)
{
	char us[US_ROOM], object_us[US_ROOM];
	struct text t = {.p = out_room(out, text_room(line, raw.n))};
	struct slice time = three_decimals(line->us, us);

	if (!t.p)
		return;
	pad(&t, line->lcore.n < 3 ? 3 - line->lcore.n : 0);
	put(&t, line->lcore);
	put_string(&t, " ");
	column(&t);
	pad(&t, time.n < 16 ? 16 - time.n : 0);
	put(&t, time);
	put_string(&t, " ");
	column(&t);
	put_raw(&t, line->owner.n ? line->owner : line->poller);
	pad(&t, 3);
	put_string(&t, " ");
	column(&t);
	put_raw(&t, line->tpoint);
	pad(&t, 24);
	put_string(&t, " ");
	column(&t);
	if (line->size.p) {
		put_string(&t, "size: ");
		put(&t, line->size);
	}
	pad(&t, 12);
	put_id(&t, line);
	if (line->object_us.p) {
		put_string(&t, "time: ");
		column(&t);
		put(&t, three_decimals(line->object_us, object_us));
		pad(&t, 8);
		put_string(&t, " ");
	}
	put_args(&t, line);
	while (t.p[-1] == ' ')
		t.p--;
	*t.p++ = '\n';
	out_commit(out, t.p);
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

/* Annotates and writes all lines. Returns 0, or -1 when something was wrong with the input. */
static int join(struct lines *lines, struct lifetimes *lifetimes, struct out *out)
{
	struct traceline parsed = {};
	struct slice line;
	const char *error;
	int got = 0;

	while (!out->error && (got = lines_next(lines, &line)) > 0) {
		error = traceline_parse(&parsed, line);
		if (!error)
			annotate(lifetimes, &parsed);
		if (error) {
			lines_complain(lines, "not a trace line, passed on: %s", error);
			write_unread(out, line);
		} else if (opt.json) {
			write_json(out, &parsed, line);
		} else {
			write_text(out, &parsed, line);
		}
	}
	traceline_free(&parsed);
	return lines_close(lines, got < 0 ? errno : 0);
}

static const char help[] =
	"Usage: %s [OPTION]... [FILE]\n"
	"Name the objects behind the addresses in the trace lines of FILE, which trace-dump printed, and print the\n"
	"lines as text; without FILE, or when it is -, those of standard input.\n"
	"\n"
	"  -j, --json            print the trace lines themselves, annotated arguments being objects\n"
	"  -l, --lifetimes FILE  lifetime lines, which qpair-lifetimes printed; may be repeated\n"
	"  -t, --tpoint GLOB     annotate only tracepoints of this name; may be repeated\n"
	"  -h, --help            this text\n"
	"  -V, --version         the version\n"
	"\n"
	"Example:\n"
	"  qpair-lifetimes usdt.txt > lifetimes.txt\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt\n";

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
						{"json", no_argument, NULL, 'j'},
						{"lifetimes", required_argument, NULL, 'l'},
						{"tpoint", required_argument, NULL, 't'},
						{"version", no_argument, NULL, 'V'},
						{}};
	unsigned stdins = 0;
	const char *path;
	int c;

	opt.lifetimes = calloc(argc, sizeof(*opt.lifetimes));
	opt.tpoints = calloc(argc, sizeof(*opt.tpoints));
	if (!opt.lifetimes || !opt.tpoints)
		err(EXIT_FAILURE, NULL);
	while ((c = getopt_long(argc, argv, "+hjl:t:V", options, NULL)) != -1)
		switch (c) {
		case 'j':
			opt.json = true;
			break;
		case 'l':
			opt.lifetimes[opt.num_lifetimes++] = optarg;
			stdins += strcmp(optarg, "-") == 0;
			break;
		case 't':
			opt.tpoints[opt.num_tpoints++] = optarg;
			break;
		default:
			cli_option(c, help);
		}
	path = cli_operand(argc, argv, "one file of trace lines");
	if (stdins + (strcmp(path, "-") == 0) > 1)
		cli_usage("standard input can only be one of the files");
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct lifetimes lifetimes;
	struct lines lines;
	struct out out;
	int status = EXIT_SUCCESS;

	for (unsigned i = 0; i < opt.num_lifetimes; i++)
		if (lifetimes_read(&lifetimes, opt.lifetimes[i]) != 0)
			status = EXIT_FAILURE;
	lifetimes_sort(&lifetimes);
	if (out_open(&out, STDOUT_FILENO) != 0)
		err(EXIT_FAILURE, NULL);
	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.tie = &out;
	if (join(&lines, &lifetimes, &out) != 0)
		status = EXIT_FAILURE;
	lifetimes_free(&lifetimes);
	free(opt.lifetimes);
	free(opt.tpoints);
	return cli_close(&out, status);
}
