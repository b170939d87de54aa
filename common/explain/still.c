/* SPDX-License-Identifier: BSD-3-Clause */
#include "still.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "number.h"
#include "recording.h"

/* Ticks are compared as seconds: of less, an idle reactor has its reasons. */
static const double LEAST = 1;

/* Of the time between two looks: a reactor that polls never sleeps. */
static const double NEVER = 0.001, ALWAYS = 0.9;

static const char reactor[] = "reactor_";

static struct slice member(struct slice object, const char *key)
{
	return json_member(object, slice_of(key));
}

static uint64_t number(struct slice object, const char *key)
{
	uint64_t n = 0;

	number_decimal(member(object, key), &n);
	return n;
}

/* Microseconds, in ns. */
static uint64_t time_of(struct slice object, const char *key)
{
	uint64_t ns = 0;

	number_fixed(member(object, key), 3, &ns);
	return ns;
}

/* The reactor that is the thread of this name, which is new if need be; NULL: none is. */
static struct still_reactor *find(struct still *s, struct slice name)
{
	uint64_t lcore;
	size_t i = 0;

	if (!slice_starts(name, reactor) || !number_decimal(slice_from(name, strlen(reactor)), &lcore))
		return NULL;
	while (i < s->n && s->all[i].lcore != lcore)
		i++;
	if (i == STILL_REACTORS)
		return NULL;
	if (i == s->n)
		s->all[s->n++] = (struct still_reactor){.lcore = lcore, .name = name};
	return &s->all[i];
}

void still_threads(struct still *s, struct slice lines)
{
	struct slice line;

	while (json_line(&lines, &line)) {
		struct still_reactor *r = find(s, json_unquoted(member(line, RECORDING_NAME)));
		bool is_end = slice_is(json_unquoted(member(line, RECORDING_WHEN)), RECORDING_END);
		struct slice state = json_unquoted(member(line, RECORDING_STATE));
		struct still_moment m = {.state = state.n ? *state.p : 0,
					 .tsc = number(line, "tsc"),
					 .ran = time_of(line, RECORDING_RAN),
					 .switches = number(line, "voluntary") + number(line, "involuntary"),
					 .has_ran = member(line, RECORDING_RAN).n,
					 .syscall = json_unquoted(member(line, RECORDING_SYSCALL)),
					 .file = json_unquoted(member(line, RECORDING_FILE)),
					 .tracer_name = json_unquoted(member(line, RECORDING_TRACER_NAME)),
					 .tracer = number(line, RECORDING_TRACER)};

		if (!s->start || m.tsc < s->start)
			s->start = m.tsc;
		if (m.tsc > s->end)
			s->end = m.tsc;
		if (r)
			*(is_end ? &r->end : &r->start) = m;
	}
}

void still_off_cpu(struct still *s, struct slice lines)
{
	struct slice line;

	/* that it runs again is seen by these */
	if (s->end)
		return;
	while (json_line(&lines, &line)) {
		struct slice args = member(line, "args");
		struct still_reactor *r = find(s, json_unquoted(member(args, "comm")));
		uint64_t end = number(line, "tsc"), begin = number(args, "begin");

		if (!r || !slice_is(member(args, "unfinished"), "true") || time_of(args, "duration") < LEAST * 1e9)
			continue;
		r->unfinished = json_unquoted(member(args, "syscall"));
		if (slice_is(member(args, "late"), "true") && (!s->start || begin < s->start))
			s->start = begin;
		s->end = end > s->end ? end : s->end;
	}
}

/* A reactor in interrupt mode sleeps in these. */
static bool is_poll(struct slice call)
{
	return slice_starts(call, "epoll_") || slice_is(call, "poll") || slice_is(call, "ppoll");
}

static void write_text(struct out *out, struct slice raw)
{
	struct slice text = json_decode(raw);

	out_visible(out, text);
	free((char *)text.p);
}

static void write_call(struct out *out, struct slice call, struct slice file)
{
	out_text(out, "blocked in ");
	write_text(out, call);
	out_text(out, file.n ? "() of " : "()");
	write_text(out, file);
}

/* Writes why it stands still. Returns false if it does not. *runs: it does, but for nothing. */
static bool write_why(struct out *out, const struct still *s, const struct still_reactor *r, double rate, bool *runs)
{
	const struct still_moment *a = &r->start, *b = &r->end;
	double seconds = a->state && b->state ? (double)(b->tsc - a->tsc) / rate : 0, share;

	if (b->state == 't' || (b->state == 'T' && b->tracer)) {
		out_text(out, "traced and stopped by ");
		write_text(out, b->tracer_name);
		out_printf(out, " (pid %" PRIu64 ")", b->tracer);
		return true;
	}
	if (b->state == 'T' || slice_is(r->unfinished, "stop")) {
		out_text(out, "stopped by a signal");
		return true;
	}
	if (!b->state && r->unfinished.n && !is_poll(r->unfinished)) {
		write_call(out, r->unfinished, (struct slice){"", 0});
		return true;
	}
	if (!a->has_ran || !b->has_ran || seconds <= 0)
		return false;
	share = (double)(b->ran - a->ran) / 1e9 / seconds;
	if ((b->state == 'S' || b->state == 'D') && share < NEVER && b->switches == a->switches &&
	    !is_poll(b->syscall)) {
		if (b->syscall.n)
			write_call(out, b->syscall, b->file);
		else
			out_text(out, "blocked in the kernel");
		return true;
	}
	if (share < ALWAYS || !s->unanswered.n)
		return false;
	*runs = true;
	out_printf(out, "it runs for %.0f %% of the time", 100 * (share < 1 ? share : 1));
	return true;
}

/* Whether it is the reactor that did not answer: that of JSON-RPC is the first one. */
static bool is_silent(const struct still *s, const struct still_reactor *r)
{
	bool is_first = true;

	for (size_t i = 0; i < s->n; i++)
		is_first &= s->all[i].lcore >= r->lcore;
	return slice_is(s->unanswered, RECORDING_LATE) ? is_first : slice_starts(s->unanswered, "thread_get_stats");
}

bool still_write(struct out *out, const struct still *s, uint64_t lcore, uint64_t last, double rate)
{
	const struct still_reactor *r = s->all;
	struct out why = {.fd = OUT_MEMORY};
	struct still known = *s;
	bool before = s->start && last < s->start, is_still = false, runs = false;

	while (r < s->all + s->n && r->lcore != lcore)
		r++;
	if (r < s->all + s->n && last < s->end && (double)(s->end - last) / rate >= LEAST) {
		if (!is_silent(s, r))
			known.unanswered.n = 0;
		is_still = write_why(&why, &known, r, rate, &runs);
	}
	if (is_still) {
		write_text(out, r->name);
		out_text(out, runs ? " has polled nothing " : " has not run ");
		out_text(out, before ? "since " : "for the last ");
		out_duration_text(out, (double)((before ? s->start : s->end) - last) / rate * 1e9);
		out_text(out, before ? " before the recording: " : ": ");
		out_slice(out, out_contents(&why));
		out_char(out, '\n');
	}
	out_close(&why);
	return is_still;
}
