/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "mem.h"

enum {
	NS = 1000000000,
	RATE_NS = 2000000,     /* of the trace, so that the rounding of its times is a millionth */
	RATE_BYTES = 1 << 20,  /* read for the rate at most */
	TAIL_BYTES = 64 << 10, /* at the end of a file, searched for its last line */
	HELD_BYTES = 32 << 20, /* read while a line is held back; after that, the writer has to wait */
};

/* The file's name without its folders. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (strcmp(path, "-") == 0)
		return "stdin";
	return slash && slash[1] ? slash + 1 : path;
}

int source_open(struct source *s, const char *path, struct slice name, bool ages)
{
	struct out member = {.fd = OUT_MEMORY};

	*s = (struct source){
		.name = name.n ? name : slice_of(name_of(path)),
		.utf8.fd = OUT_MEMORY,
		.state = SOURCE_EMPTY,
		.ages = ages,
	};
	if (lines_open(&s->lines, path) != 0)
		return -1;
	lines_expect(&s->lines, KIND_TRACE_LINES, "trace-merge -");
	lines_follow(&s->lines, false);
	out_text(&member, ",\"source\":");
	out_json(&member, s->name);
	s->member = mem_slice(out_contents(&member));
	out_close(&member);
	return 0;
}

/* Returns NULL, or why it is not a trace line. */
static const char *parse(struct head *h, struct slice text, struct traceline *parsed)
{
	const char *error = traceline_parse_head(parsed, text) ? NULL : traceline_parse(parsed, text);
	uint64_t ns = 0;

	if (error)
		return error;
	h->text = text;
	h->timed = !traceline_time(parsed, &ns) && ns <= INT64_MAX;
	h->at = (struct rate_point){parsed->tsc, ns};
	h->us = parsed->us;
	h->named = parsed->source.p;
	return NULL;
}

/* The same for the line that was read. *repaired: whether it was not UTF-8. */
static inline const char *parse_read(struct source *s, bool *repaired)
{
	struct slice text = s->read;

	*repaired = lines_repair(&s->lines, &text, &s->utf8);
	return parse(&s->next, text, &s->parsed);
}

/* Parses the next of the lines that have been read. False when none of them is a trace line. */
static bool parse_next(struct source *s)
{
	while (lines_ready(&s->lines, &s->read)) {
		bool repaired;
		const char *error = parse_read(s, &repaired);

		if (error)
			lines_complain(&s->lines, "not a trace line, left out: %s", error);
		else if (repaired)
			lines_complain(&s->lines, LINES_REPAIRED);
		if (!error)
			return true;
	}
	return false;
}

/* Forgets arrivals of lines before the next one. */
static void forget_arrivals(struct source *s)
{
	uint64_t end = s->lines.consumed - (s->lines.end - s->lines.start);

	while (s->first_arrival + 1 < s->num_arrivals && s->arrivals[s->first_arrival].consumed < end)
		s->first_arrival++;
	if (s->first_arrival > s->num_arrivals / 2) {
		s->num_arrivals -= s->first_arrival;
		memmove(s->arrivals, s->arrivals + s->first_arrival, s->num_arrivals * sizeof(*s->arrivals));
		s->first_arrival = 0;
	}
}

static int more(struct source *s)
{
	int got = lines_more(&s->lines);

	if (got > 0 && s->ages) {
		forget_arrivals(s);
		mem_add(s->arrivals, s->num_arrivals, s->cap, (struct arrival){s->lines.consumed, clock_ms()});
	}
	return got;
}

/* Starts again with the lines of a trace, or what xz or gzip unpacks. False if it is neither. */
static bool start_unpacked(struct source *s)
{
	const enum input_kind is = s->lines.is;
	struct slice start;
	int fd;

	if (s->num_unpacks == SOURCE_UNPACKS ||
	    (is != KIND_XZ && is != KIND_GZIP && is != KIND_TRACE_FILE && is != KIND_BINARY && is != KIND_SPDK_JSON))
		return false;
	fd = lines_detach(&s->lines, &start);
	fd = unpack_open(&s->unpack[s->num_unpacks], is, fd, start);
	if (fd < 0) {
		s->lines.is = is;
		return false;
	}
	s->num_unpacks++;
	lines_attach(&s->lines, fd);
	lines_follow(&s->lines, false);
	return true;
}

/* Closes the file, unless it was, and ends what unpacks it. */
static void close_source(struct source *s, int error)
{
	if (s->state == SOURCE_ENDED)
		return;
	s->failed |= lines_close(&s->lines, error) != 0;
	while (s->num_unpacks)
		s->failed |= unpack_close(&s->unpack[--s->num_unpacks], s->lines.name, s->lines.eof) != 0;
	s->state = SOURCE_ENDED;
}

static void see(struct source *s)
{
	const struct head *h = &s->next;

	s->unordered += s->any && h->at.tsc < s->highest;
	if (!s->any || h->at.tsc > s->highest)
		s->highest = h->at.tsc;
	s->any = true;
	if (!h->timed)
		return;
	if (!s->first.tsc || h->at.tsc < s->first.tsc)
		s->first = h->at;
	if (h->at.tsc >= s->last.tsc)
		s->last = h->at;
}

void source_next(struct source *s)
{
	int got = 1;

	/* nothing is read of a file of another kind */
	while (got < 0 || !parse_next(s)) {
		if (got < 0 && errno == EMEDIUMTYPE && start_unpacked(s))
			got = 0;
		if (s->lines.eof || got < 0) {
			close_source(s, got < 0 ? errno : 0);
			return;
		}
		if (!got) {
			s->state = SOURCE_EMPTY;
			return;
		}
		got = more(s);
	}
	s->state = SOURCE_READY;
	see(s);
}

bool source_read(struct source *s)
{
	bool repaired;
	int got;

	/* lines_more() moves the buffer, so the line is put back first and parsed again after it */
	lines_unread(&s->lines, s->read);
	got = more(s);
	if (lines_ready(&s->lines, &s->read))
		parse_read(s, &repaired);
	return got > 0;
}

int source_pollfd(const struct source *s, bool ahead)
{
	if (s->state == SOURCE_EMPTY)
		return lines_pollfd(&s->lines);
	ahead &= s->state == SOURCE_READY && s->lines.end - s->lines.start < HELD_BYTES;
	return ahead ? lines_pollfd(&s->lines) : -1;
}

uint64_t source_age(struct source *s)
{
	forget_arrivals(s);
	return clock_ms() - s->arrivals[s->first_arrival].ms;
}

bool rate_between(struct rate_point a, struct rate_point b, struct rate_range *range)
{
	unsigned __int128 ticks = (unsigned __int128)(b.tsc - a.tsc) * NS, low, high;
	uint64_t ns = (uint64_t)b.ns - a.ns;

	if (b.tsc <= a.tsc || b.ns <= a.ns || ns < 2)
		return false;
	/* each of the times is rounded by at most half a nanosecond */
	low = ticks / (ns + 1) + 1;
	high = ticks / (ns - 1);
	if (high > UINT64_MAX)
		return false;
	*range = (struct rate_range){low, high};
	return low <= high;
}

uint64_t rate_roundest(struct rate_range range)
{
	uint64_t roundest = range.low, unit = 1;

	while (range.high / unit >= 10) {
		uint64_t multiple;

		unit *= 10;
		multiple = (range.low + unit - 1) / unit * unit;
		if (multiple > range.high || multiple < range.low)
			break;
		roundest = multiple;
	}
	return roundest;
}

/* The rate from the first line and the last later one in the text; *last: the time of that one. */
static bool rate_in(struct source *s, struct slice text, struct rate_range *range, struct rate_point *last)
{
	while (text.n) {
		const char *newline = memrchr(text.p, '\n', text.n - 1);
		const char *start = newline ? newline + 1 : text.p;
		struct head head;

		/* a line that is cut off does not parse */
		if (!parse(&head, slice_between(start, text.p + text.n - 1), &s->parsed) && head.timed &&
		    rate_between(s->first, head.at, range)) {
			*last = head.at;
			return true;
		}
		text.n = start - text.p;
	}
	return false;
}

/* The same for the end of a file. */
static bool rate_in_file(struct source *s, struct rate_range *range)
{
	size_t n = s->lines.size < TAIL_BYTES ? s->lines.size : TAIL_BYTES;
	char *tail = mem_resize(NULL, n, 1);
	struct rate_point last;
	bool found = io_pread(s->lines.fd, tail, n, s->lines.size - n) == 0 &&
		     rate_in(s, slice_between(tail, tail + n), range, &last);

	free(tail);
	return found;
}

bool source_rate(struct source *s, struct rate_range *range)
{
	if (s->state != SOURCE_READY || !s->next.timed)
		return false;
	if (s->lines.size)
		return rate_in_file(s, range);
	for (;;) {
		struct slice rest = slice_between(s->lines.buf + s->lines.start, s->lines.buf + s->lines.end);
		struct rate_point last;
		bool found = rate_in(s, rest, range, &last);

		if ((found && last.ns - s->first.ns >= RATE_NS) || s->lines.eof || rest.n >= RATE_BYTES)
			return found;
		if (!source_read(s) && !s->lines.eof)
			poll(&(struct pollfd){lines_pollfd(&s->lines), POLLIN, 0}, 1, -1);
	}
}

void source_free(struct source *s)
{
	close_source(s, 0);
	free((char *)s->member.p);
	free(s->arrivals);
	out_close(&s->utf8);
	traceline_free(&s->parsed);
}
