/* SPDX-License-Identifier: BSD-3-Clause */
#include "reactors.h"

#include <stdlib.h>

#include "livenames.h"
#include "minmax.h"
#include "number.h"
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

static struct reactor *reactor_of(struct reactors *r, uint64_t lcore, uint64_t pid)
{
	size_t n = r->n;
	struct reactor *reactor = table_put(&r->map, lcore, r->all, r->n, r->cap);

	if (r->n > n)
		*reactor = (struct reactor){.lcore = lcore, .pid = pid};
	return reactor;
}

const char *reactors_line(struct reactors *r, const struct traceline *line, uint64_t ns, struct reactor **reactor,
			  struct reactors_interval *interval)
{
	uint64_t lcore, pid, begin, kernel_ns, length;

	*reactor = NULL;
	if (!find_kind(line->tpoint, &interval->kind))
		return NULL;
	if (!is_reactor(line, &lcore)) {
		r->others++;
		return NULL;
	}
	if (!number_decimal(traceline_arg(line, LIVE_PID), &pid) ||
	    !number_decimal(traceline_arg(line, LIVE_BEGIN), &begin) ||
	    !number_fixed(traceline_arg(line, LIVE_DURATION), 3, &kernel_ns) || begin > line->tsc)
		return LIVE_PID ", " LIVE_BEGIN " or " LIVE_DURATION " is missing";
	*reactor = reactor_of(r, lcore, pid);
	length = ns_of(r, line->tsc - begin, line, ns, kernel_ns);
	interval->begin = length < ns ? ns - length : 0;
	interval->end = ns;
	interval->late = slice_is(traceline_arg(line, LIVE_LATE), "true");
	interval->goes_on = slice_is(traceline_arg(line, LIVE_ON), "true");
	if ((*reactor)->pid != pid) {
		r->foreign++;
		*reactor = NULL;
	}
	return NULL;
}

/*
 * Lines come in the order of their ends. So an interval within another one comes before it, and its time is subtracted
 * again. Of an interrupt, only the time that no other interval has counted is added.
 */
void reactors_hold(struct reactor *reactor, struct reactors_interval interval)
{
	while (reactor->num_recent) {
		struct reactors_interval *last = &reactor->recent[reactor->num_recent - 1];
		uint64_t from = max_u64(last->begin, interval.begin);

		if (last->end <= interval.begin)
			break;
		if (interval.kind == REACTORS_IRQ && last->kind == REACTORS_OFF_CPU) {
			interval.begin = last->end;
			break;
		}
		/* a line that is late may end before the latest one */
		interval.end = max_u64(interval.end, last->end);
		reactor->held[last->kind] -= last->end - from;
		last->end = from;
		if (last->begin < from)
			break;
		reactor->num_recent--;
	}
	if (interval.begin >= interval.end)
		return;
	reactor->held[interval.kind] += interval.end - interval.begin;
	if (reactor->num_recent == REACTORS_RECENT)
		memmove(reactor->recent, reactor->recent + 1, --reactor->num_recent * sizeof(*reactor->recent));
	reactor->recent[reactor->num_recent++] = interval;
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

void reactors_free(struct reactors *r)
{
	map_free(&r->map);
	free(r->all);
	*r = (struct reactors){};
}
