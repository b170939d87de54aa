/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-merge: merges trace lines of several sources into one timeline, in the order of their ticks. Each line gets the
 * name of its source, and microseconds computed from one time 0 at one rate. The rest of the line does not change.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "out.h"
#include "progress.h"
#include "source.h"
#include "us.h"

static struct {
	bool quiet;
	uint64_t lag_ns, rate;
} opt;

struct merge {
	struct source *sources;
	size_t n;
	struct out out;
	struct progress progress;
	struct us us;
	bool has_origin;
	uint64_t origin, highest; /* ticks: of time 0, and the highest of the lines so far */
	uint64_t late;            /* lines that came after the lag */
	uint64_t polled;          /* milliseconds: when sources without a line were polled */
};

static void set_rate(const char *argument)
{
	if (!number_decimal(slice_of(argument), &opt.rate) || !opt.rate)
		cli_usage("-r '%s': ticks per second are expected, such as 2600000000", argument);
}

static const struct cli_option options[] = {
	{0, "lag", "MS", "wait at most MS milliseconds for a source that writes nothing", .ms = &opt.lag_ns},
	{'q', "quiet", NULL, "print no notes about the order and the times of the sources", .flag = &opt.quiet},
	{'r', "rate", "HZ", "ticks per second, instead of the rate of the first source", .call = set_rate},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [[NAME=]FILE]...\n"
	"Merge the trace lines of all FILEs, which may be traces, in the order of their ticks. Without FILE, or\n"
	"when it is -, read standard input. NAME is what FILE is called in its lines, instead of its own name.\n",
	"Examples:\n"
	"  %s target=lines.jsonl host=other.jsonl\n"
	"  %s --lag 500 <(trace-dump -F -p 1234) <(trace-dump -F -p 5678)\n",
	.options = options,
	.former = (const struct cli_former[]){{'s', "source", "is now an operand: NAME=FILE"}, {}},
};

static void hook(void *context, const struct lines *l, enum lines_moment moment)
{
	struct merge *m = context;
	uint64_t done = 0, total = 0;

	(void)l;
	if (moment == LINES_REPORT) {
		progress_end(&m->progress);
		return;
	}
	for (size_t i = 0; i < m->n; i++) {
		done += m->sources[i].lines.consumed;
		total += m->sources[i].lines.size;
	}
	progress_show(&m->progress, done, total >= done ? total : 0, NULL);
}

static void open_source(struct merge *m, const char *path, struct slice name)
{
	struct source *s = &m->sources[m->n];

	if (source_open(s, path, name, opt.lag_ns) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	s->lines.hook = hook;
	s->lines.context = m;
	for (size_t i = 0; i < m->n; i++)
		if (slice_equal(m->sources[i].name, s->name))
			cli_usage("two sources are called '%.*s': NAME=FILE gives another name", (int)s->name.n,
				  s->name.p);
	m->n++;
}

/* Cuts NAME= off an operand, unless a slash is before it: then it is part of a path. */
static struct slice cut_name(char **operand)
{
	char *equals = strchr(*operand, '=');
	struct slice name = {*operand, equals ? equals - *operand : 0};

	if (!name.n || !equals[1] || memchr(name.p, '/', name.n))
		return (struct slice){};
	*operand = equals + 1;
	return name;
}

static void open_sources(struct merge *m, int argc, char **argv)
{
	struct slice *names = mem_array(argc + 1, sizeof(*names));
	const char *const *paths;
	size_t n;

	for (int i = optind; i < argc; i++)
		names[i - optind] = cut_name(&argv[i]);
	paths = cli_operands(argc, argv, "files of trace lines", &n);
	m->sources = mem_array(n, sizeof(*m->sources));
	for (size_t i = 0; i < n; i++)
		open_source(m, paths[i], names[i]);
	free(names);
}

/*
 * Waits until a source without a line has more; for at most ms milliseconds unless that is -1. With a limit, it also
 * reads ahead in sources that have lines, so that their writers need not wait.
 */
static void wait_for_more(struct merge *m, int ms)
{
	struct pollfd *fds = mem_array(m->n + 1, sizeof(*fds));

	out_flush(&m->out);
	for (size_t i = 0; i < m->n; i++)
		fds[i] = (struct pollfd){source_pollfd(&m->sources[i], ms >= 0), POLLIN, 0};
	fds[m->n] = (struct pollfd){m->out.fd, 0, 0};
	if (poll(fds, m->n + 1, ms) > 0) {
		for (size_t i = 0; i < m->n; i++)
			if (fds[i].revents && m->sources[i].state == SOURCE_READY)
				source_read(&m->sources[i]);
		if (fds[m->n].revents & POLLERR)
			m->out.error = EPIPE;
	}
	free(fds);
}

/* The rate of the first source that has lines to compute it from. */
static uint64_t find_rate(struct merge *m)
{
	bool any = false;

	for (struct source *s = m->sources; s < m->sources + m->n; s++) {
		struct rate_range range;

		for (source_next(s); s->state == SOURCE_EMPTY; source_next(s))
			poll(&(struct pollfd){lines_pollfd(&s->lines), POLLIN, 0}, 1, -1);
		if (source_rate(s, &range))
			return rate_roundest(range);
		any |= s->any;
	}
	if (any)
		errx(EXIT_FAILURE,
		     "no source has two lines with different times, which give the rate of the ticks: use --rate");
	/* no line will be written */
	return 1;
}

/*
 * The source with the earliest line, the first of several; NULL: no source has a line. *all: no source has to be waited
 * for.
 */
static struct source *find_earliest(struct merge *m, bool *all)
{
	uint64_t now = opt.lag_ns ? clock_ms() : 0;
	/* with a lag, sources without a line are polled once a millisecond, not for each line */
	bool poll_now = !opt.lag_ns || now != m->polled;
	struct source *first = NULL;

	m->polled = now;
	*all = true;
	for (struct source *s = m->sources; s < m->sources + m->n; s++) {
		if (s->state == SOURCE_EMPTY && poll_now)
			source_next(s);
		*all &= s->state != SOURCE_EMPTY;
		if (s->state == SOURCE_READY && (!first || s->next.at.tsc < first->next.at.tsc))
			first = s;
	}
	return first;
}

static void write_line(struct merge *m, const struct source *s)
{
	const struct head *h = &s->next;
	struct out *out = &m->out;
	uint64_t tsc = h->at.tsc;
	bool before;
	char *to;

	if (!m->has_origin)
		m->origin = tsc;
	m->has_origin = true;
	before = tsc < m->origin;
	out_slice(out, slice_between(h->text.p, h->us.p));
	to = out_room(out, 1 + US_ROOM);
	if (before)
		*to++ = '-';
	out_commit(out, us_format(&m->us, to, before ? m->origin - tsc : tsc - m->origin));
	if (!h->named)
		out_slice(out, s->member);
	out_slice(out, slice_between(h->us.p + h->us.n, h->text.p + h->text.n));
	out_char(out, '\n');
	/* a line below the highest ticks of its own source is counted in unordered instead */
	m->late += tsc < m->highest && tsc == s->highest;
	if (tsc > m->highest)
		m->highest = tsc;
}

static void merge_all(struct merge *m)
{
	const uint64_t lag = (opt.lag_ns + NS_A_MS - 1) / NS_A_MS;

	while (!m->out.error) {
		bool all;
		struct source *s = find_earliest(m, &all);
		uint64_t age = s && !all && lag ? source_age(s) : 0;

		if (s && (all || (lag && age >= lag))) {
			write_line(m, s);
			source_next(s);
		} else if (all) {
			break;
		} else {
			wait_for_more(m, s && lag ? (int)(lag - age) : -1);
		}
	}
}

/* Prints a note if the rate of the source's own times is another one, and not the same clock's, measured or rounded. */
static void check_rate(const struct merge *m, const struct source *s)
{
	enum { ROUNDING = 5000000 }; /* Hz: DPDK rounds the rate that it measures to 10 MHz */

	struct rate_range range;
	uint64_t rate, distance;

	if (!rate_between(s->first, s->last, &range) || (m->us.rate >= range.low && m->us.rate <= range.high))
		return;
	rate = rate_roundest(range);
	distance = rate > m->us.rate ? rate - m->us.rate : m->us.rate - rate;
	if (distance > ROUNDING)
		cli_notice(opt.quiet,
			   "%s: its times are of %" PRIu64 " ticks per second, not of %" PRIu64 ": see --rate",
			   s->lines.name, rate, m->us.rate);
}

/* Prints a note if all lines of the source are more than a second before, or after, those of the sources before it. */
static void check_overlap(const struct merge *m, const struct source *s)
{
	uint64_t first = UINT64_MAX, last = 0, distance;
	bool later;

	for (const struct source *other = m->sources; other < s; other++) {
		if (!other->first.tsc)
			continue;
		first = min_u64(first, other->first.tsc);
		last = max_u64(last, other->last.tsc);
	}
	if (!last || !s->first.tsc)
		return;
	later = s->first.tsc > last;
	distance = later ? s->first.tsc - last : first - s->last.tsc;
	if ((later || s->last.tsc < first) && distance > m->us.rate)
		cli_notice(opt.quiet,
			   "%s: all of it is %s the sources named before it, by %.3f s: is it from the same machine?",
			   s->lines.name, later ? "later than" : "earlier than", (double)distance / m->us.rate);
}

/* Prints notes about the sources. Returns false if reading one failed, or no source has trace lines. */
static bool check(const struct merge *m)
{
	bool good = true, any = false;

	for (const struct source *s = m->sources; s < m->sources + m->n; s++) {
		good &= !s->failed;
		any |= s->any;
		if (!s->any && !s->failed)
			cli_notice(opt.quiet, "%s: empty: there are no trace lines", s->lines.name);
		cli_note(opt.quiet, s->lines.name, s->unordered,
			 "line{ is|s are} earlier than a previous one, and {was|were} not sorted");
		check_rate(m, s);
		check_overlap(m, s);
	}
	cli_count(opt.quiet, m->late, "%" PRIu64 " line{|s} came too late and follow{s|} later ones: see --lag",
		  m->late);
	if (!any && good && !m->out.error)
		warnx("no source has trace lines");
	return good && any;
}

int main(int argc, char **argv)
{
	struct merge m = {};
	int status = EXIT_SUCCESS;

	cli_parse(&cli, argc, argv);
	out_open(&m.out, STDOUT_FILENO);
	progress_start(&m.progress);
	open_sources(&m, argc, argv);
	us_init(&m.us, opt.rate ? opt.rate : find_rate(&m));
	merge_all(&m);
	progress_end(&m.progress);
	if (!m.out.error && !check(&m))
		status = EXIT_FAILURE;
	for (size_t i = 0; i < m.n; i++)
		source_free(&m.sources[i]);
	free(m.sources);
	return cli_close(&m.out, status);
}
