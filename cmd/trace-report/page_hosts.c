/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_hosts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "answer.h"
#include "busy.h"
#include "count.h"
#include "fact.h"
#include "means.h"
#include "page.h"
#include "ratio.h"

/* A percentile of lives, or a lower bound of it. */
static struct column_value life_of(const struct latency *life, const struct latency_stats *without, unsigned stat)
{
	uint64_t ns = life ? rows_stats(life).ns[stat] : 0, known = without->ns[stat];

	/* a little more would be the same here */
	return columns_if(life, columns_at_least(ns > known + known / 100, columns_duration(ns)));
}

static void put_host(struct columns *c, const struct facts *f, const struct share *row, bool has_layers)
{
	struct out name = {.fd = OUT_MEMORY}, largest = {.fd = OUT_MEMORY};
	struct latency_stats without;
	const struct latency *life = facts_life(f, row, &without);
	double layers[LAYERS];

	for (unsigned i = 0; i < LAYERS; i++)
		layers[i] = row->layers[i];
	page_put_largest(&largest, f, layers, row->life, 2);
	facts_put_host(&name, f, row);
	const struct column columns[] = {
		{"host", NULL, 18, columns_text(out_contents(&name))},
		{"requests", NULL, -8, columns_number(row->count)},
		{"p50", NULL, -8, life_of(life, &without, STAT_P50)},
		{"p99", NULL, -8, life_of(life, &without, STAT_P99)},
		{"max", NULL, -8, life_of(life, &without, STAT_MAX)},
		{has_layers ? " where the time is" : NULL, NULL, 0, columns_painted(out_contents(&largest))},
	};
	columns_row(c, columns, COUNT(columns));
	out_close(&name);
	out_close(&largest);
}

/* The cause of a host's slow requests, which may be another one than that of all. */
static void put_host_cause(struct columns *c, const struct facts *f, const struct share *row)
{
	struct findings findings;

	if (causes_of_host(&f->causes, facts_host(f, row), &findings)) {
		const struct finding *first = findings.all;
		const struct tally_set *set = &findings.group->sets[first->slow];
		struct out *out = columns_note(c);
		size_t before;

		out_printf(out, "    cause: %s, ", fact_table[findings_cause(first)].name);
		before = out->len;
		answer_write_who(out, findings.tally, first);
		out->len -= out->len == before ? strlen(", ") : 0;
		out_text(out, " (");
		answer_write_share(out, first);
		out_char(out, ')');
		if (first->slow != SLOW_ALIKE) {
			out_printf(out, "; %" PRIu64 " slow, mean ", set->slow.n);
			out_duration_text(out, means_of(set).slow);
		}
	}
	findings_free(&findings);
}

/* Whether the table of layers is that of all requests. */
static bool has_all(const struct findings *f)
{
	return findings_main(f) == SLOW_ALIKE && f->group->sets[SLOW_ALIKE].slow.n == f->group->n;
}

static void put_others(struct out *out, const struct facts *f, size_t others)
{
	const uint64_t bounded = facts_bounded(f);

	if (others)
		out_printf(out, "  and %zu others with less time\n", others);
	if (bounded)
		out_printf(out,
			   "  > with %" PRIu64 " that did not start and end in the trace, and took at least so long\n",
			   bounded);
	if (f->incomplete > bounded)
		out_printf(out, "  without %" PRIu64 "%s that did not start and end in the trace\n",
			   f->incomplete - bounded,
			   bounded              ? " others"
			   : f->incomplete == 1 ? " request"
						: " requests");
}

void page_hosts(struct out *out, const struct facts *f, bool explains)
{
	struct columns c = page_table(out, f);
	const struct share *rows[FACTS_ROWS];
	size_t others, n = facts_hosts(f, rows, &others);
	/* those of one host are above */
	bool has_layers = n > 1 || !explains || !has_all(&f->causes.findings);

	if (!n)
		return;
	out_char(out, '\n');
	for (size_t i = 0; i < n; i++) {
		put_host(&c, f, rows[i], has_layers);
		/* one host's is that of all */
		if (n > 1 && explains)
			put_host_cause(&c, f, rows[i]);
	}
	columns_end(&c);
	put_others(out, f, others);
}

/*
 * The row of the host that the page is about: one that the cause is its own cause of, rather than who causes it; else
 * that of the longest wait for it, or the host with most time.
 */
static const struct share *host_in_question(const struct facts *f, const struct share *const *rows, size_t n)
{
	const struct findings *page = &f->causes.findings;
	const struct share *host = rows[0];
	unsigned best = 0;

	for (size_t i = 0; page->n && i < n; i++) {
		struct slice name = facts_host(f, rows[i]);
		uint32_t who = page->all->cause.subject, example = page->all->cause.example->host;
		unsigned match = slice_equal(tally_name(page->tally, example), name);
		struct findings own;

		if (causes_of_host(&f->causes, name, &own) && findings_cause(own.all) == findings_cause(page->all) &&
		    own.all->cause.subject == who)
			match = slice_equal(tally_name(page->tally, who), name) ? 2 : 3;
		findings_free(&own);
		if (match > best)
			host = rows[i];
		best = match > best ? match : best;
	}
	return host;
}

/* A bar for each power of two of times; for as many as there is room for, if there are more. of: whose times. */
static void put_bars(struct columns *c, const struct histogram *times, const char *of)
{
	static const char bar[] = "################################";
	enum { BARS = 10, BAR = sizeof(bar) - 1 };
	uint64_t powers[HISTOGRAM_POWERS] = {}, counts[BARS] = {}, most = 0;
	unsigned last = histogram_fold(times, powers), first = 0, step;

	while (first < last && !powers[first])
		first++;
	step = (last - first) / BARS + 1;
	for (unsigned i = first; i <= last; i++)
		counts[(i - first) / step] += powers[i];
	for (unsigned i = 0; i < BARS; i++)
		most = counts[i] > most ? counts[i] : most;
	for (unsigned i = 0, power = first; power <= last; i++, power += step) {
		unsigned end = power + step;
		size_t n = ((unsigned __int128)BAR * counts[i] + most - 1) / most;
		const struct column columns[] = {
			{"from", NULL, -7, columns_duration(power ? (uint64_t)1 << power : 0)},
			{"below", NULL, -8, columns_duration(end < HISTOGRAM_POWERS ? (uint64_t)1 << end : UINT64_MAX)},
			{"requests", NULL, -9, columns_number(counts[i])},
			{of, NULL, BAR, columns_word((struct slice){bar, n})},
		};

		columns_row(c, columns, COUNT(columns));
	}
}

/* How the lives of one host's requests are spread: two kinds of them have no middle. */
void page_spread(struct out *out, const struct facts *f)
{
	struct columns c = page_table(out, f);
	const struct share *rows[FACTS_ROWS], *host;
	size_t others, n = facts_hosts(f, rows, &others);
	struct out of = {.fd = OUT_MEMORY};
	struct latency_stats without;
	const struct latency *life;

	host = n ? host_in_question(f, rows, n) : NULL;
	life = host ? facts_life(f, host, &without) : NULL;
	if (!life)
		return;
	out_char(out, '\n');
	out_text(&of, "of ");
	facts_put_host(&of, f, host);
	out_char(&of, '\0');
	put_bars(&c, &life->times, of.buf);
	columns_end(&c);
	out_close(&of);
}

static void put_lcore(struct columns *c, const struct facts *f, const struct lcore_sum *sum)
{
	const struct lcore_row *row = sum->row;
	const struct lcore_cause cause = lcore_rows_cause(row);
	const double busy = busy_part(f->rpc, row->lcore);
	struct out names = {.fd = OUT_MEMORY}, *note;

	for (size_t i = 0; i < sum->num_uses; i++) {
		out_text(&names, i ? ", " : " ");
		out_visible(&names, connections_name(f->lcores.connections, sum->uses[i].connection)->name);
	}
	const struct column columns[] = {
		{"lcore", NULL, 5, columns_number(row->lcore)},
		{"entries", NULL, -9, columns_number(row->entries)},
		{"active%", NULL, -7, columns_real(1, 100 * (busy < 0 ? ratio_part(row->active, sum->ns) : busy))},
		{"iops", NULL, -9, columns_real(1, ratio_per_second(row->requests, sum->ns))},
		{"silence", NULL, -8, columns_duration(row->longest.ns)},
		{" connections", NULL, 0, columns_painted(out_contents(&names))},
	};
	columns_row(c, columns, COUNT(columns));
	out_close(&names);
	if (!cause.share)
		return;
	note = columns_note(c);
	out_text(note, "        longest silence: ");
	facts_put(note, cause.text);
	out_printf(note, ", %.0f%% of it", 100 * cause.share);
}

void page_lcores(struct out *out, struct facts *f)
{
	enum { LCORES = 8 };
	struct lcore_sum *sums = f->info.n ? lcore_rows_end(&f->lcores) : NULL;
	const size_t n = sums ? f->lcores.n : 0;
	struct columns c = page_table(out, f);

	out_text(out, n ? "\n" : "");
	for (size_t i = 0; i < n && i < LCORES; i++)
		put_lcore(&c, f, &sums[i]);
	columns_end(&c);
	if (n > LCORES)
		out_printf(out, "  and %zu other lcores\n", n - LCORES);
	free(sums);
}
