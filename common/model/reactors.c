/* SPDX-License-Identifier: BSD-3-Clause */
#include "reactors.h"

#include <stdlib.h>

#include "livenames.h"
#include "minmax.h"
#include "number.h"
#include "search.h"
#include "span.h"
#include "table.h"

static const char *const tpoints[REACTORS_KINDS] = {[REACTORS_OFF_CPU] = LIVE_OFF_CPU, [REACTORS_IRQ] = LIVE_IRQ};

static bool find_kind(struct slice tpoint, enum reactors_kind *kind)
{
	for (*kind = 0; *kind < REACTORS_KINDS; ++*kind)
		if (slice_is(tpoint, tpoints[*kind]))
			return true;
	return false;
}

bool reactors_is(struct slice tpoint)
{
	enum reactors_kind kind;

	return find_kind(tpoint, &kind);
}

static struct slice string_of(const struct traceline *line, const char *key)
{
	return traceline_string(traceline_arg(line, key));
}

static bool is_reactor(const struct traceline *line, uint64_t *lcore)
{
	static const char prefix[] = "reactor_";
	struct slice comm = string_of(line, LIVE_COMM);

	return slice_starts(comm, prefix) && number_decimal(slice_from(comm, strlen(prefix)), lcore);
}

/*
 * Converts ticks before a line to ns, by the line's distance from the first one in both units: the tick rate of a trace
 * is rounded, so its microseconds are not the kernel's. If the two lines are too close, returns kernel_ns.
 */
static uint64_t ns_of(struct reactors *r, uint64_t ticks, const struct traceline *line, uint64_t ns, uint64_t kernel_ns)
{
	enum { ENOUGH = 1000 * 1000 };

	if (!r->first_tsc) {
		r->first_tsc = line->tsc;
		r->first_ns = ns;
	}
	if (line->tsc <= r->first_tsc || ns < r->first_ns + ENOUGH)
		return kernel_ns;
	return (unsigned __int128)ticks * (ns - r->first_ns) / (line->tsc - r->first_tsc);
}

static bool has_slept(const struct traceline *line)
{
	return slice_starts(string_of(line, LIVE_SYSCALL), "epoll_") && !traceline_arg(line, LIVE_BY).n;
}

bool reactors_away(const struct traceline *line, uint64_t *ticks, uint64_t *ns)
{
	uint64_t begin, slept;

	if (!number_decimal(traceline_arg(line, LIVE_BEGIN), &begin) || begin > line->tsc ||
	    !number_fixed(traceline_arg(line, LIVE_DURATION), 3, ns))
		return false;
	*ticks = line->tsc - begin;
	if (!has_slept(line))
		return true;
	slept = *ns;
	if (!number_fixed(traceline_arg(line, LIVE_QUEUED), 3, ns) || *ns > slept)
		*ns = 0;
	*ticks = slept ? (unsigned __int128)*ticks * *ns / slept : 0;
	return true;
}

const char *reactors_line(struct reactors *r, const struct traceline *line, uint64_t ns, struct reactor **reactor,
			  struct reactors_interval *interval)
{
	uint64_t lcore, pid, ticks, kernel_ns, length;
	size_t n = r->n;

	*reactor = NULL;
	if (!find_kind(line->tpoint, &interval->kind))
		return NULL;
	if (!is_reactor(line, &lcore)) {
		r->others++;
		return NULL;
	}
	if (!number_decimal(traceline_arg(line, LIVE_PID), &pid) || !reactors_away(line, &ticks, &kernel_ns))
		return LIVE_PID ", " LIVE_BEGIN " or " LIVE_DURATION " is missing";
	*reactor = table_put(&r->map, lcore, r->all, r->n, r->cap);
	if (r->n > n)
		**reactor = (struct reactor){.lcore = lcore, .pid = pid};
	length = ns_of(r, ticks, line, ns, kernel_ns);
	interval->cause = interval->text = MAP_NONE;
	interval->mark = 0;
	interval->begin = length < ns ? ns - length : 0;
	interval->end = ns;
	interval->late = slice_is(traceline_arg(line, LIVE_LATE), "true");
	interval->goes_on = slice_is(traceline_arg(line, LIVE_ON), "true");
	r->foreign += (*reactor)->pid != pid;
	if ((*reactor)->pid != pid || !ticks)
		*reactor = NULL;
	return NULL;
}

/* The first part that ends after a time. */
static size_t first_after(const struct reactor *reactor, uint64_t ns)
{
	return search_first(i, reactor->n, reactor->parts[i].end > ns);
}

/* Adds a part that overlaps no other one, if it is not empty. */
static void add_part(struct reactor *reactor, struct reactors_interval part)
{
	enum { MOST = REACTORS_KEPT + REACTORS_KEPT / 4 };
	size_t i;

	if (part.begin >= part.end)
		return;
	if (reactor->n == MOST) {
		memmove(reactor->parts, reactor->parts + (MOST - REACTORS_KEPT),
			REACTORS_KEPT * sizeof(*reactor->parts));
		reactor->n = REACTORS_KEPT;
	}
	reactor->parts = mem_room(reactor->parts, reactor->n, &reactor->cap);
	i = first_after(reactor, part.begin);
	memmove(reactor->parts + i + 1, reactor->parts + i, (reactor->n - i) * sizeof(part));
	reactor->parts[i] = part;
	reactor->n++;
}

/* Removes all parts from a time, which they may reach beyond. */
static void clear(struct reactor *reactor, uint64_t begin, uint64_t end)
{
	size_t from = first_after(reactor, begin), to = from;
	struct reactors_interval before, after;

	while (to < reactor->n && reactor->parts[to].begin < end)
		to++;
	if (to == from)
		return;
	before = reactor->parts[from];
	after = reactor->parts[to - 1];
	memmove(reactor->parts + from, reactor->parts + to, (reactor->n - to) * sizeof(before));
	reactor->n -= to - from;
	before.end = begin;
	add_part(reactor, before);
	after.begin = max_u64(after.begin, end);
	add_part(reactor, after);
}

/* Adds what no part has of an interval. */
static void fill(struct reactor *reactor, struct reactors_interval interval)
{
	uint64_t end = interval.end;

	while (interval.begin < end) {
		size_t i = first_after(reactor, interval.begin);
		uint64_t next = end;

		interval.end = end;
		if (i < reactor->n) {
			interval.end = min_u64(end, reactor->parts[i].begin);
			next = reactor->parts[i].end;
		}
		add_part(reactor, interval);
		interval.begin = next;
	}
}

/* The bound keeps lines in any order from moving all parts each. */
static void add(struct reactor *reactor, struct reactors_interval interval)
{
	const struct reactors_interval *oldest = reactor->n > REACTORS_RECENT
							 ? &reactor->parts[reactor->n - REACTORS_RECENT]
							 : NULL;

	if (oldest && interval.end <= oldest->begin)
		return;
	if (interval.kind == REACTORS_OFF_CPU)
		clear(reactor, interval.begin, interval.end);
	else if (oldest)
		interval.begin = max_u64(interval.begin, oldest->begin);
	fill(reactor, interval);
}

void reactors_hold(struct reactor *reactor, struct reactors_interval interval, uint64_t entry)
{
	uint64_t ran = interval.begin > entry && !interval.late ? interval.begin - entry : 0;

	add(reactor, interval);
	if (reactor->entry != entry)
		reactor->stopped = 0;
	reactor->entry = entry;
	/* it has not run since the entry: that may be the last one therefore */
	if (interval.end > entry && interval.kind == REACTORS_OFF_CPU && interval.goes_on &&
	    ran <= (interval.end - interval.begin) / 10)
		reactor->stopped = interval.end;
}

struct reactor *reactors_of_span(const struct reactors *r, const struct span *s, uint64_t lcore)
{
	struct reactor *reactor = reactors_of(r, lcore);

	return reactor && (!reactor->has_source || reactor->source == s->source) ? reactor : NULL;
}

void reactors_each(const struct reactor *reactor, uint64_t from, uint64_t to, reactors_part *part, void *context)
{
	for (size_t i = first_after(reactor, from); i < reactor->n && reactor->parts[i].begin < to; i++) {
		struct reactors_interval *p = &reactor->parts[i];

		part(context, reactor, p, min_u64(p->end, to) - max_u64(p->begin, from));
	}
}

void reactors_entry(struct reactors *r, const struct span *s)
{
	struct reactor *reactor = reactors_of(r, s->last_lcore);

	if (!reactor)
		return;
	r->elsewhere += reactor->has_source && reactor->source != s->source;
	if (!reactor->has_source)
		reactor->source = s->source;
	reactor->has_source = true;
}

static void put_if(struct out *out, const char *before, struct slice text)
{
	if (!text.n)
		return;
	out_text(out, before);
	out_slice(out, text);
}

void reactors_write(struct out *out, const struct traceline *line)
{
	struct slice why = string_of(line, LIVE_WHY);
	uint64_t pid;

	if (slice_is(line->tpoint, tpoints[REACTORS_IRQ])) {
		out_text(out, slice_is(string_of(line, LIVE_KIND), LIVE_SOFTIRQ) ? "soft interrupt" : "interrupt");
		put_if(out, " ", string_of(line, LIVE_NAME));
		return;
	}
	if (why.n)
		out_slice(out, why);
	else
		out_text(out, "off CPU");
	put_if(out, " in ", string_of(line, LIVE_SYSCALL));
	put_if(out, slice_is(why, LIVE_YIELDED) ? " to " : " by ", string_of(line, LIVE_BY));
	if (number_decimal(traceline_arg(line, LIVE_BY_PID), &pid)) {
		out_text(out, " (");
		out_u64(out, pid);
		out_char(out, ')');
	}
}

void reactors_write_away(struct out *out, const struct traceline *line)
{
	if (has_slept(line))
		out_text(out, "woken, without a CPU");
	else
		reactors_write(out, line);
}

void reactors_free(struct reactors *r)
{
	map_free(&r->map);
	for (size_t i = 0; i < r->n; i++)
		free(r->all[i].parts);
	free(r->all);
	*r = (struct reactors){};
}
