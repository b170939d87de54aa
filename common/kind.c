/* SPDX-License-Identifier: BSD-3-Clause */
#include "kind.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"
#include "probeline.h"

enum {
	LOOK = 16 * 1024, /* bytes: stray lines before the first one that tells are fewer */
};

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
	[KIND_ENCODED] = "encoded lines of trace-latency",
	[KIND_CHROME] = "a trace for chrome://tracing",
};

/* As what is wanted, where that reads better. */
static const char *const wanted_names[] = {
	[KIND_TRACE_FILE] = "an SPDK trace file",
	[KIND_OWNERS] = "the owners that trace-dump -O prints",
	[KIND_ENCODED] = "what trace-latency -e prints",
};

#define BIT(kind) (1U << (kind))
#define TRACES    (BIT(KIND_TRACE_FILE) | BIT(KIND_SPDK_JSON))
#define ANY       (~0U)

/* The first row for what an input is and what is wanted has the command; FILE and READER stand for those. */
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
	{BIT(KIND_SPDK_TEXT), ANY, "spdk_trace -j -f TRACE | trace-dump"},
	{BIT(KIND_JOINED), ANY, "trace-join -j, which prints lines for other tools"},
	{BIT(KIND_DESCRIPTIONS), ANY, "trace-dump without -d and -i"},
	{BIT(KIND_ENCODED), ANY, "trace-latency --merge FILE"},
	{BIT(KIND_CHROME), ANY, "open it in chrome://tracing or ui.perfetto.dev"},
	{BIT(KIND_DIRECTORY), BIT(KIND_TRACE_FILE), "trace-dump -p PID, or a file in it"},
	{BIT(KIND_OWNERS), ANY, "qpair-lifetimes -O FILE PROBES"},
	{BIT(KIND_LIFETIMES), ANY, "trace-join -l FILE TRACE-LINES"},
	{BIT(KIND_PROBE_LINES), BIT(KIND_LIFETIMES), "qpair-lifetimes FILE | READER"},
	{BIT(KIND_PROBE_LINES), ANY, "qpair-lifetimes FILE | trace-join -l - TRACE-LINES"},
	{BIT(KIND_TRACE_LINES), BIT(KIND_TRACE_FILE), "trace-join FILE"},
	{BIT(KIND_TRACE_LINES), BIT(KIND_ENCODED), "trace-latency -e FILE | READER"},
	{TRACES, BIT(KIND_TRACE_LINES), "trace-dump FILE | READER"},
	{TRACES, BIT(KIND_ENCODED), "trace-dump FILE | trace-latency -e | READER"},
	{BIT(KIND_TRACE_FILE), BIT(KIND_OWNERS), "trace-dump -O FILE | READER"},
	{BIT(KIND_SPDK_JSON) | BIT(KIND_TRACE_LINES), BIT(KIND_OWNERS),
	 "trace-dump -O TRACE | READER"},
	{TRACES | BIT(KIND_TRACE_LINES), BIT(KIND_PROBE_LINES),
	 "usdt-record -p PID > PROBES, while the target runs"},
	{TRACES | BIT(KIND_TRACE_LINES), BIT(KIND_LIFETIMES),
	 "qpair-lifetimes PROBES > LIFETIMES, of what usdt-record wrote"},
};

/* SPDK's numbers at its begin: ticks a second or its own size, both of 3 to 6 bytes. */
static bool is_trace_file(struct slice s)
{
	uint64_t first;

	if (s.n < sizeof(first))
		return false;
	memcpy(&first, s.p, sizeof(first));
	return first >> 16 && !(first >> 48);
}

static enum input_kind binary_kind(struct slice s)
{
	static const struct {
		const char *magic;
		enum input_kind kind;
	} known[] = {
		{"\3757zXZ", KIND_XZ},           {"\037\213", KIND_GZIP},
		{"\050\265\057\375", KIND_ZSTD}, {"BZh", KIND_BZIP2},
		{"\004\"M\030", KIND_LZ4},       {"\177ELF", KIND_ELF},
		{"\377\376", KIND_UTF16},        {"\376\377", KIND_UTF16},
	};

	if (!s.n)
		return KIND_EMPTY;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (s.n >= strlen(known[i].magic) &&
		    !memcmp(s.p, known[i].magic, strlen(known[i].magic)))
			return known[i].kind;
	if (!memchr(s.p, 0, s.n))
		return KIND_UNKNOWN;
	return is_trace_file(s) ? KIND_TRACE_FILE : KIND_BINARY;
}

/* By the names of an object's members, of which the end may be missing. */
static enum input_kind json_kind(struct slice s)
{
	static const struct {
		const char *key;
		unsigned bit;
	} keys[] = {
		{"tsc", 1},          {"tpoint", 2},      {"lcore", 4},          {"id", 8},
		{"description", 16}, {"new_object", 32}, {"tsc_rate", 64},      {"layout", 128},
		{"tpoints", 256},    {"object", 512},    {"traceEvents", 1024},
	};
	unsigned seen = 0;
	struct slice key;
	struct json j;

	json_init(&j, s.p, s.n);
	for (json_object(&j); json_key(&j, &key); json_skip(&j))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			seen |= json_is(key, keys[i].key) ? keys[i].bit : 0;
	if ((seen & 7) == 7)
		return KIND_TRACE_LINES;
	if ((seen & 24) == 24)
		return KIND_OWNERS;
	if ((seen & 34) == 34 || (seen & 192) == 192)
		return KIND_DESCRIPTIONS;
	if ((seen & 320) == 320)
		return KIND_SPDK_JSON;
	if (seen & 1024)
		return KIND_CHROME;
	/* a tab ends its key */
	return seen & 512 && j.p < j.end && *j.p == '\t' ? KIND_ENCODED : KIND_UNKNOWN;
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

	return gap > lcore && us > gap && point > us && point < s.n && s.p[point] == '.' &&
	       end == point + 4 && end < s.n && s.p[end] == ' ';
}

static bool begins(struct slice s, const char *with)
{
	return s.n >= strlen(with) && memcmp(s.p, with, strlen(with)) == 0;
}

/* line: up to its newline; rest: all from there on, as a JSON text goes over many lines. */
static enum input_kind line_kind(struct slice line, struct slice rest)
{
	size_t blanks = skip(line, 0, " \t");

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

	s.n = s.n < LOOK ? s.n : LOOK;
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
		spdk |= begins(line, "TSC Rate:") || begins(line, "Trace Size of lcore");
		s.p += line.n + !!newline;
		s.n -= line.n + !!newline;
	}
	return first == KIND_UNKNOWN && spdk ? KIND_SPDK_TEXT : first;
}

/* Puts the command of an advice together. */
static void expand(char *to, size_t size, const char *command, const char *file, const char *reader)
{
	char *end = to + size - 1;

	while (*command && to < end) {
		const char *text = NULL;

		if (strncmp(command, "FILE", 4) == 0) {
			text = file;
			command += 4;
		} else if (strncmp(command, "READER", 6) == 0) {
			text = reader;
			command += 6;
		}
		if (!text)
			*to++ = *command++;
		else
			to += snprintf(to, end - to, "%s", text);
		to = to < end ? to : end;
	}
	*to = 0;
}

void kind_refuse(const char *name, enum input_kind is, enum input_kind wanted, const char *reader)
{
	const char *want = wanted < sizeof(wanted_names) / sizeof(*wanted_names) &&
					   wanted_names[wanted]
				   ? wanted_names[wanted]
				   : names[wanted];
	/* commands read standard input as - */
	const char *file = strcmp(name, "<stdin>") == 0 ? "-" : name;

	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++) {
		const struct advice *a = &advices[i];
		char command[512];

		if (!(a->is & BIT(is)) || !(a->wanted & BIT(wanted)))
			continue;
		expand(command, sizeof(command), a->command, file, reader);
		warnx("%s: %s, not %s; try: %s", name, names[is], want, command);
		return;
	}
	warnx("%s: %s, not %s", name, names[is], want);
}
