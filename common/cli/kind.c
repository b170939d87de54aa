/* SPDX-License-Identifier: BSD-3-Clause */
#include "kind.h"

#include <err.h>
#include <stdint.h>

#include "count.h"
#include "json.h"
#include "out.h"
#include "probeline.h"

/* Bytes that are examined: more than the stray lines before the first characteristic one. */
enum { EXAMINED = 16 * 1024 };

static const char *const names[] = {
	[KIND_UNKNOWN] = "something else",
	[KIND_EMPTY] = "empty",
	[KIND_DIRECTORY] = "a directory",
	[KIND_XZ] = "compressed by xz",
	[KIND_GZIP] = "compressed by gzip",
	[KIND_ZSTD] = "compressed by zstd",
	[KIND_BZIP2] = "compressed by bzip2",
	[KIND_LZ4] = "compressed by lz4",
	[KIND_ELF] = "a program or library",
	[KIND_UTF16] = "text in UTF-16",
	[KIND_HTML] = "a page for a browser",
	[KIND_TRACE_FILE] = "a binary trace",
	[KIND_BINARY] = "binary data",
	[KIND_SPDK_JSON] = "the JSON of spdk_trace",
	[KIND_SPDK_TEXT] = "the text of spdk_trace",
	[KIND_TRACE_LINES] = "trace lines",
	[KIND_JOINED] = "the text of trace-join",
	[KIND_PROBE_LINES] = "probe lines",
	[KIND_LIFETIMES] = "lifetime lines",
	[KIND_OWNERS] = "the owners of a trace",
	[KIND_DESCRIPTIONS] = "what trace-dump -d or -i prints",
	[KIND_ANSWERS] = "answers to JSON-RPC",
	[KIND_ENCODED] = "encoded lines of trace-latency",
	[KIND_SPANS] = "span lines",
	[KIND_PERFETTO] = "a trace for Perfetto",
	[KIND_SPANS_TEXT] = "the text of trace-spans",
	[KIND_LIVE_TEXT] = "the text of a tool that records",
};

/* Other names for what is wanted, if they read better. */
static const char *const wanted_names[] = {
	[KIND_TRACE_FILE] = "an SPDK trace file",
	[KIND_OWNERS] = "the owners that trace-dump -O prints",
	[KIND_ANSWERS] = "rpc.jsonl of trace-record",
	[KIND_ENCODED] = "what trace-latency -e prints",
};

#define BIT(kind) (1U << (kind))
#define TRACES    (BIT(KIND_TRACE_FILE) | BIT(KIND_SPDK_JSON))
#define ANY       (~0U)

/*
 * The command is in the first row that has both the input's kind and the wanted kind. FILE and
 * READER are replaced in it.
 */
static const struct advice {
	unsigned is, wanted; /* bits */
	const char *command;
} advices[] = {
	{BIT(KIND_XZ), ANY, "xz -dc FILE | READER"},
	{BIT(KIND_GZIP), ANY, "gzip -dc FILE | READER"},
	{BIT(KIND_ZSTD), ANY, "zstd -dc FILE | READER"},
	{BIT(KIND_BZIP2), ANY, "bzip2 -dc FILE | READER"},
	{BIT(KIND_LZ4), ANY, "lz4 -dc FILE | READER"},
	{BIT(KIND_UTF16), ANY, "iconv -f UTF-16 -t UTF-8 FILE | READER"},
	{BIT(KIND_HTML), ANY, "the recording that it is about"},
	{BIT(KIND_SPDK_TEXT), ANY, "spdk_trace -j -f TRACE | trace-dump"},
	{BIT(KIND_JOINED), ANY, "trace-join -j, which prints lines for other tools"},
	{BIT(KIND_DESCRIPTIONS), ANY, "trace-dump without -d and -i"},
	{BIT(KIND_ANSWERS), BIT(KIND_LIFETIMES), "qpair-lifetimes --rpc FILE PROBES | READER"},
	{BIT(KIND_ANSWERS), ANY, "qpair-lifetimes --rpc FILE PROBES"},
	{BIT(KIND_ENCODED), ANY, "trace-latency --merge FILE"},
	{BIT(KIND_PERFETTO), ANY, "open it in ui.perfetto.dev"},
	{BIT(KIND_SPANS) | BIT(KIND_SPANS_TEXT), ANY, "the trace lines that trace-spans read"},
	{BIT(KIND_LIVE_TEXT), ANY, "its option -j, which prints lines for other tools"},
	{BIT(KIND_DIRECTORY), BIT(KIND_TRACE_FILE), "trace-dump -p PID, or a file in it"},
	{BIT(KIND_DIRECTORY), BIT(KIND_TRACE_LINES), "trace-report FILE, or a file in it"},
	{BIT(KIND_OWNERS), ANY, "qpair-lifetimes -O FILE PROBES"},
	{BIT(KIND_LIFETIMES), ANY, "trace-join -l FILE TRACE-LINES"},
	{BIT(KIND_PROBE_LINES), BIT(KIND_LIFETIMES), "qpair-lifetimes FILE | READER"},
	{BIT(KIND_PROBE_LINES), ANY, "qpair-lifetimes FILE | trace-join -l - TRACE-LINES"},
	{BIT(KIND_TRACE_LINES), BIT(KIND_TRACE_FILE), "trace-join FILE"},
	{TRACES | BIT(KIND_TRACE_LINES), BIT(KIND_ENCODED), "trace-latency -e FILE | READER"},
	{TRACES, BIT(KIND_TRACE_LINES), "trace-dump FILE | READER"},
	{BIT(KIND_TRACE_FILE), BIT(KIND_OWNERS), "trace-dump -O FILE | READER"},
	{BIT(KIND_SPDK_JSON) | BIT(KIND_TRACE_LINES), BIT(KIND_OWNERS), "trace-dump -O TRACE | READER"},
	{TRACES | BIT(KIND_TRACE_LINES), BIT(KIND_PROBE_LINES), "usdt-record -p PID > PROBES, while the target runs"},
	{TRACES | BIT(KIND_TRACE_LINES), BIT(KIND_LIFETIMES),
	 "qpair-lifetimes PROBES > LIFETIMES, of what usdt-record wrote"},
};

/* By the number at the start: the ticks per second or the file's size, both of 3 to 6 bytes. */
static bool is_trace_file(struct slice s)
{
	uint64_t first;

	if (s.n < sizeof(first))
		return false;
	memcpy(&first, s.p, sizeof(first));
	return first >> 16 && !(first >> 48);
}

/* A packet whose trusted_packet_sequence_id is 1. */
static bool is_perfetto(struct slice s)
{
	return s.n > 3 && s.p[0] == '\n' && s.p[2] == 0x50 && s.p[3] == 1;
}

static enum input_kind binary_kind(struct slice s)
{
	static const struct {
		const char *magic;
		enum input_kind kind;
	} known[] = {
		{"\3757zXZ", KIND_XZ},    {"\037\213", KIND_GZIP},   {"\050\265\057\375", KIND_ZSTD},
		{"BZh", KIND_BZIP2},      {"\004\"M\030", KIND_LZ4}, {"\177ELF", KIND_ELF},
		{"\377\376", KIND_UTF16}, {"\376\377", KIND_UTF16},  {"<!DOCTYPE html", KIND_HTML},
	};

	if (!s.n)
		return KIND_EMPTY;
	for (size_t i = 0; i < COUNT(known); i++)
		if (slice_starts(s, known[i].magic))
			return known[i].kind;
	if (is_perfetto(s))
		return KIND_PERFETTO;
	if (!memchr(s.p, 0, s.n))
		return KIND_UNKNOWN;
	return is_trace_file(s) ? KIND_TRACE_FILE : KIND_BINARY;
}

/* By the keys of an object, which may be truncated: the first row whose keys it all has. */
static const struct {
	enum input_kind kind;
	const char *keys[3];
} json_kinds[] = {
	{KIND_TRACE_LINES, {"tsc", "tpoint", "lcore"}}, {KIND_OWNERS, {"id", "description"}},
	{KIND_DESCRIPTIONS, {"tpoint", "new_object"}},  {KIND_DESCRIPTIONS, {"tsc_rate", "layout"}},
	{KIND_SPDK_JSON, {"tsc_rate", "tpoints"}},      {KIND_SPANS, {"tsc", "life", "states"}},
	{KIND_ANSWERS, {"method", "begin", "end"}},
};

enum { NUM_JSON_KINDS = COUNT(json_kinds) };

static enum input_kind json_kind(struct slice s)
{
	unsigned missing[NUM_JSON_KINDS];
	bool object = false;
	struct slice key;
	struct json j;

	for (unsigned i = 0; i < NUM_JSON_KINDS; i++)
		for (unsigned k = missing[i] = 0; k < 3; k++)
			missing[i] |= (json_kinds[i].keys[k] != NULL) << k;
	json_init(&j, s.p, s.n);
	for (json_object(&j); json_key(&j, &key); json_skip(&j)) {
		object |= json_is(key, "object");
		for (unsigned i = 0; i < NUM_JSON_KINDS; i++)
			for (unsigned k = 0; k < 3; k++)
				if (json_kinds[i].keys[k] && json_is(key, json_kinds[i].keys[k]))
					missing[i] &= ~(1U << k);
	}
	for (unsigned i = 0; i < NUM_JSON_KINDS; i++)
		if (!missing[i])
			return json_kinds[i].kind;
	/* the key of an encoded line ends with a tab */
	return object && j.p < j.end && *j.p == '\t' ? KIND_ENCODED : KIND_UNKNOWN;
}

static enum input_kind probe_kind(struct slice line)
{
	struct probeline_field field;
	enum input_kind kind = KIND_UNKNOWN;
	struct slice name;
	const char *error;

	if (!probeline_name(&line, &name))
		return KIND_UNKNOWN;
	while (probeline_next(&line, &field, &error) > 0) {
		if (slice_is(field.key, "begin"))
			return KIND_LIFETIMES;
		kind = KIND_PROBE_LINES;
	}
	return kind;
}

static size_t skip(struct slice s, size_t at, const char *set)
{
	while (at < s.n && strchr(set, s.p[at]) && s.p[at])
		at++;
	return at;
}

/* An lcore and microseconds with three decimals. */
static bool is_joined(struct slice s)
{
	static const char digits[] = "0123456789";
	size_t lcore = skip(s, 0, " "), gap = skip(s, lcore, digits), us = skip(s, gap, " ");
	size_t point = skip(s, us, digits), end = skip(s, point + 1, digits);

	return gap > lcore && us > gap && point > us && point < s.n && s.p[point] == '.' && end == point + 4 &&
	       end < s.n && s.p[end] == ' ';
}

/* Cuts the next word off the line. */
static struct slice cut_word(struct slice *line)
{
	size_t start = skip(*line, 0, " \t"), end = start;

	while (end < line->n && line->p[end] != ' ' && line->p[end] != '\t')
		end++;
	slice_cut(line, start);
	return slice_cut(line, end - start);
}

/* The kind of text that has these headings. */
static enum input_kind heading_kind(struct slice line)
{
	struct slice first = cut_word(&line), second;

	/* the time of day, which --wall adds */
	if (slice_is(first, "TIME") || slice_is(first, "time"))
		first = cut_word(&line);
	second = cut_word(&line);
	if ((slice_is(first, "TIME(s)") && slice_is(second, "COMM")) ||
	    (slice_is(first, "us") && slice_is(second, "comm")))
		return KIND_LIVE_TEXT;
	if ((slice_is(first, "US") && (slice_is(second, "LIFE") || slice_is(second, "AGE"))) ||
	    (slice_is(first, "us") && (slice_is(second, "life") || slice_is(second, "age"))))
		return KIND_SPANS_TEXT;
	return KIND_UNKNOWN;
}

/* line: up to its newline; rest: everything from its start on, because JSON text can have many lines. */
static enum input_kind line_kind(struct slice line, struct slice rest)
{
	size_t blanks = skip(line, 0, " \t");
	enum input_kind heading = heading_kind(line);

	if (heading != KIND_UNKNOWN)
		return heading;
	if (blanks < line.n && line.p[blanks] == '{')
		return json_kind(rest);
	if (is_joined(line))
		return KIND_JOINED;
	return probe_kind(line);
}

enum input_kind kind_of(struct slice s, enum input_kind wanted)
{
	enum input_kind first;
	bool spdk = false;

	s.n = s.n < EXAMINED ? s.n : EXAMINED;
	first = binary_kind(s);
	if (first != KIND_UNKNOWN && first != KIND_BINARY)
		return first;
	while (s.n) {
		const char *newline = memchr(s.p, '\n', s.n);
		struct slice line = {s.p, newline ? (size_t)(newline - s.p) : s.n};
		enum input_kind kind = line_kind(line, s);

		if (kind == wanted && kind != KIND_UNKNOWN)
			return kind;
		if (first == KIND_UNKNOWN)
			first = kind;
		spdk |= slice_starts(line, "TSC Rate:") || slice_starts(line, "Trace Size of lcore");
		s.p += line.n + !!newline;
		s.n -= line.n + !!newline;
	}
	return first == KIND_UNKNOWN && spdk ? KIND_SPDK_TEXT : first;
}

/* The command of an advice, with a NUL at its end. */
static void write_command(struct out *to, const char *command, const char *file, const char *reader)
{
	while (*command) {
		if (strncmp(command, "FILE", 4) == 0) {
			if (strcmp(file, "-") == 0)
				out_char(to, '-');
			else
				out_word(to, slice_of(file));
			command += 4;
		} else if (*reader == '>' && strncmp(command, "| READER", 8) == 0) {
			out_text(to, reader);
			command += 8;
		} else if (strncmp(command, "READER", 6) == 0) {
			out_text(to, reader);
			command += 6;
		} else {
			out_char(to, *command++);
		}
	}
	out_char(to, 0);
}

void kind_refuse(const char *name, enum input_kind is, enum input_kind wanted, const char *reader)
{
	const char *want = wanted < COUNT(wanted_names) && wanted_names[wanted] ? wanted_names[wanted] : names[wanted];
	/* commands read standard input as - */
	const char *file = strcmp(name, "<stdin>") == 0 ? "-" : name;

	for (size_t i = 0; i < COUNT(advices); i++) {
		const struct advice *a = &advices[i];
		struct out command = {.fd = OUT_MEMORY};

		if (!(a->is & BIT(is)) || !(a->wanted & BIT(wanted)))
			continue;
		write_command(&command, a->command, file, reader);
		warnx("%s: %s, not %s; try: %s", name, names[is], want, command.buf);
		out_close(&command);
		return;
	}
	warnx("%s: %s, not %s", name, names[is], want);
}
