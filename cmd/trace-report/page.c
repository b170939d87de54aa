/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aliases.h"
#include "answer.h"
#include "cli.h"
#include "count.h"
#include "fact.h"
#include "means.h"
#include "palette.h"
#include "quota.h"
#include "ratio.h"
#include "recording.h"
#include "terminal.h"
#include "utf8.h"

enum {
	LCORES = 8,
	GROUPS = 4,   /* of tracepoints */
	NAME = 18,    /* columns of a host's name */
	GAPS = 64,    /* that trace-dump -i lists */
	BARS = 10,    /* of a histogram */
	COMMAND = 38, /* columns, after which is what it prints */
};

static bool is_command(struct slice line)
{
	while (line.n && *line.p == ' ')
		slice_cut(&line, 1);
	return slice_starts(line, "see: ") || slice_starts(line, "cure: ") || slice_starts(line, "try: ");
}

static void put_line(struct out *out, struct slice line, const struct terminal *terminal)
{
	if (is_command(line))
		out_slice(out, line);
	else
		out_clipped(out, line, terminal->width);
	out_char(out, '\n');
}

static void put_lines(struct out *out, struct slice text, const struct terminal *terminal)
{
	while (text.n)
		put_line(out, slice_cut_line(&text), terminal);
}

static void put_percent(struct out *out, const char *name, double share)
{
	if (share >= 0.005)
		out_printf(out, " %s %.0f%%", name, 100 * share);
}

/* The n largest layers, as percentages of all, from half a percent on. */
static void put_largest(struct out *out, const double layers[LAYERS], double all, unsigned n,
			const struct terminal *terminal)
{
	enum layer sorted[LAYERS];

	spdk_sort_layers(layers, sorted);
	for (unsigned i = 0; i < n && layers[sorted[i]] > 0 && layers[sorted[i]] >= 0.005 * all; i++) {
		out_char(out, ' ');
		terminal_paint(terminal, out, palette_layers[sorted[i]].sgr);
		out_printf(out, "%s %.0f%%", spdk_layers[sorted[i]], 100 * layers[sorted[i]] / all);
		terminal_plain(terminal, out);
	}
}

/* The groups of tracepoints with most entries, which come first. */
static void put_groups(struct out *out, struct slice groups)
{
	struct slice group;
	struct json j;

	facts_each(&j, groups);
	for (unsigned i = 0; i < GROUPS && facts_next(&j, NULL, &group) && facts_number(group, "entries"); i++) {
		out_text(out, i ? ", " : ": ");
		facts_put(out, json_unquoted(facts_text(group, "group")));
		out_printf(out, " %.0f", facts_number(group, "entries"));
	}
}

static void write_damage(struct out *out, const struct facts *f)
{
	struct slice parts = f->parts, value, gap;
	struct json j, k;

	out_slice(out, out_contents(&f->unread));
	for (facts_each(&j, facts_text(f->info, "damage")); facts_next(&j, NULL, &value);) {
		out_text(out, "damaged: ");
		facts_put(out, json_unquoted(value));
		out_char(out, '\n');
	}
	for (facts_each(&j, facts_text(f->info, "lcores")); facts_next(&j, NULL, &value);) {
		unsigned n = 0;

		for (facts_each(&k, facts_text(value, "gaps")); facts_next(&k, NULL, &gap);)
			n++;
		if (n)
			out_printf(out, "lcore %.0f: entries are missing in %u%s place%s: written faster than copied\n",
				   facts_number(value, "lcore"), n, n < GAPS ? "" : " or more", n == 1 ? "" : "s");
	}
	while (json_line(&parts, &value)) {
		if (!slice_is(json_unquoted(facts_text(value, RECORDING_PART)), "trace") ||
		    !facts_number(value, RECORDING_LOST))
			continue;
		out_printf(out, "%.0f slots of the rings were lost while they were recorded\n",
			   facts_number(value, RECORDING_LOST));
	}
}

/* What is wrong with the trace itself, before the numbers that it affects. */
static void put_damage(struct out *out, const struct facts *f, const struct terminal *terminal)
{
	struct out text = {.fd = OUT_MEMORY};
	struct slice lines;

	write_damage(&text, f);
	for (lines = out_contents(&text); lines.n;) {
		terminal_paint(terminal, out, TERMINAL_BAD);
		out_slice(out, slice_cut_line(&lines));
		terminal_plain(terminal, out);
		out_char(out, '\n');
	}
	out_close(&text);
}

static void put_title(struct out *out, const struct facts *f)
{
	const char *name = strrchr(f->name, '/');
	struct slice value, releases;
	double lcores = 0;
	struct json j;

	out_visible(out, slice_of(name && name[1] ? name + 1 : f->name));
	if (!f->info.n) {
		out_text(out, ": no trace\n");
		return;
	}
	for (facts_each(&j, facts_text(f->info, "lcores")); facts_next(&j, NULL, &value);)
		lcores += facts_number(value, "entries") > 0;
	out_text(out, ": ");
	facts_put_time(out, facts_number(f->info, "us"));
	out_printf(out, ", %" PRIu64 " entries of %.0f lcore%s", facts_entries(f), lcores, lcores == 1 ? "" : "s");
	releases = json_unquoted(facts_text(f->info, "releases"));
	out_text(out, slice_starts(releases, "v") ? ", SPDK " : releases.n ? ", " : "");
	facts_put(out, releases);
	out_char(out, '\n');
}

/* What a folder of the flight recorder is about. */
static void put_trigger(struct out *out, const struct facts *f)
{
	struct slice parts = f->parts, part;

	while (f->min_us && json_line(&parts, &part)) {
		double requests = facts_number(part, RECORDING_REQUESTS);

		if (!slice_is(json_unquoted(facts_text(part, RECORDING_PART)), RECORDING_TRIGGER))
			continue;
		out_printf(out, "recorded for %.0f request%s of ", requests, requests == 1 ? "" : "s");
		facts_put_time(out, facts_number(part, RECORDING_MIN_US));
		out_text(out, " or more, the slowest ");
		facts_put_time(out, facts_number(part, RECORDING_SLOWEST));
		out_char(out, '\n');
	}
}

/* What it is about, if not all requests. */
static void put_chosen(struct out *out, const struct facts *f)
{
	const bool is_window = f->since || f->until < UINT64_MAX;

	if (!is_window && !f->keys.n)
		return;
	out_text(out, "only requests");
	if (f->since) {
		out_text(out, " from ");
		out_us(out, f->since);
	}
	if (f->until < UINT64_MAX) {
		out_text(out, f->since ? " to " : " up to ");
		out_us(out, f->until);
	}
	out_text(out, is_window ? " us" : "");
	for (size_t i = 0; i < f->keys.n; i++) {
		out_text(out, i ? " and " : " with ");
		out_visible(out, slice_of(f->keys.all[i].path.p));
	}
	out_char(out, '\n');
}

static void put_unexplained(struct out *out, uint64_t n, const char *what)
{
	char *text = cli_counted(n, what);

	if (n)
		out_printf(out, "%" PRIu64 " %s\n", n, text);
	free(text);
}

/* A command that makes this report again. */
static void put_report(struct out *out, const struct facts *f)
{
	out_text(out, "trace-report ");
	if (f->pid)
		out_printf(out, "-p %d", f->pid);
	else
		out_word(out, slice_of(f->is_folder ? f->name : f->trace));
	if (f->usdt && !f->is_folder) {
		out_char(out, ' ');
		out_word(out, slice_of(f->usdt));
	}
	out_text(out, " --story ");
}

/* What trace-causes says, with its conclusion first. */
static void put_causes(struct out *out, const struct facts *f, const struct terminal *terminal)
{
	const uint64_t requests = f->causes.requests.dropped, rows = f->causes.all.dropped;
	struct out command = {.fd = OUT_MEMORY};

	put_report(&command, f);
	answer_write(out, &f->causes.findings,
		     &(struct answer_options){.report = out_contents(&command),
					      .elsewhere = network_deaf(&f->network) && !causes_any(&f->causes),
					      .terminal = *terminal});
	out_close(&command);
	if (requests || rows)
		out_text(out, "\nnot all of it is explained\n");
	put_unexplained(out, requests, REQUESTS_DROPPED);
	put_unexplained(out, rows, TALLY_DROPPED);
}

/* The columns of lives. */
static void put_lives(struct out *out, const struct facts *f, const struct share *row)
{
	static const unsigned columns[] = {STAT_P50, STAT_P99, STAT_MAX};
	struct latency_stats without;
	const struct latency *life = facts_life(f, row, &without);
	const struct latency_stats stats = life ? rows_stats(life) : without;
	struct out time = {.fd = OUT_MEMORY};

	for (size_t i = 0; i < COUNT(columns); i++) {
		uint64_t ns = stats.ns[columns[i]];

		/* a little more would be the same here */
		if (ns > without.ns[columns[i]] + without.ns[columns[i]] / 100)
			out_char(&time, '>');
		if (life)
			out_duration_text(&time, ns);
		else
			out_char(&time, '-');
		out_printf(out, "%*.*s", OUT_DURATION + 2, (int)time.len, time.buf);
		time.len = 0;
	}
	out_close(&time);
}

static void put_host(struct out *out, const struct facts *f, const struct share *row, bool has_layers,
		     const struct terminal *terminal)
{
	struct out name = {.fd = OUT_MEMORY};
	double layers[LAYERS];
	size_t width;

	facts_put_host(&name, f, row);
	width = utf8_count(out_contents(&name));
	out_text(out, "  ");
	if (width <= NAME || terminal->width < TERMINAL_WIDE)
		out_shortened(out, out_contents(&name), NAME);
	else
		out_printf(out, "%.*s\n%*s", (int)name.len, name.buf, NAME + 2, "");
	out_printf(out, " %8" PRIu64, row->count);
	out_close(&name);
	put_lives(out, f, row);
	out_text(out, has_layers ? " " : "");
	for (unsigned i = 0; i < LAYERS; i++)
		layers[i] = row->layers[i];
	if (has_layers)
		put_largest(out, layers, row->life, 2, terminal);
	out_char(out, '\n');
}

/* The cause of a host's slow requests, which may be another one than that of all. */
static void put_host_cause(struct out *out, const struct facts *f, const struct share *row)
{
	struct findings findings;

	if (causes_of_host(&f->causes, facts_host(f, row), &findings)) {
		const struct finding *first = findings.all;
		const struct tally_set *set = &findings.group->sets[first->slow];
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
		out_char(out, '\n');
	}
	findings_free(&findings);
}

/* Whether the table of layers is that of all requests. */
static bool has_all(const struct findings *f)
{
	return findings_main(f) == SLOW_ALIKE && f->group->sets[SLOW_ALIKE].slow.n == f->group->n;
}

static void put_hosts(struct out *out, const struct facts *f, bool explains, const struct terminal *terminal)
{
	const struct share *rows[FACTS_ROWS];
	size_t others, n = facts_hosts(f, rows, &others);
	/* those of one host are above */
	bool has_layers = n > 1 || !explains || !has_all(&f->causes.findings);

	if (!n)
		return;
	out_char(out, '\n');
	terminal_paint(terminal, out, TERMINAL_HEADS);
	out_printf(out, "%-*s requests      p50      p99      max%s", NAME + 2, "host",
		   has_layers ? "  where the time is" : "");
	terminal_plain(terminal, out);
	out_char(out, '\n');
	for (size_t i = 0; i < n; i++) {
		put_host(out, f, rows[i], has_layers, terminal);
		/* one host's is that of all */
		if (n > 1 && explains)
			put_host_cause(out, f, rows[i]);
	}
	if (others)
		out_printf(out, "  and %zu others with less time\n", others);
	if (facts_bounded(f))
		out_printf(out,
			   "  > with %" PRIu64 " that did not start and end in the trace, and took at least so long\n",
			   facts_bounded(f));
	if (f->incomplete > facts_bounded(f))
		out_printf(out, "  without %" PRIu64 "%s that did not start and end in the trace\n",
			   f->incomplete - facts_bounded(f),
			   facts_bounded(f)     ? " others"
			   : f->incomplete == 1 ? " request"
						: " requests");
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

/* A bar for each power of two of times; for as many as there is room for, if there are more. */
static void put_bars(struct out *out, const struct histogram *times)
{
	static const char bar[] = "################################";
	enum { BAR = sizeof(bar) - 1 };
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
		out_text(out, "  ");
		out_duration(out, power ? (uint64_t)1 << power : 0);
		out_text(out, "  ");
		out_duration(out, power + step < HISTOGRAM_POWERS ? (uint64_t)1 << (power + step) : UINT64_MAX);
		out_printf(out, " %9" PRIu64 "%s%.*s\n", counts[i], counts[i] ? " " : "",
			   (int)(((unsigned __int128)BAR * counts[i] + most - 1) / most), bar);
	}
}

/* How the lives of one host's requests are spread: two kinds of them have no middle. */
static void put_spread(struct out *out, const struct facts *f, const struct terminal *terminal)
{
	const struct share *rows[FACTS_ROWS], *host;
	size_t others, n = facts_hosts(f, rows, &others);
	struct latency_stats without;
	const struct latency *life;

	host = n ? host_in_question(f, rows, n) : NULL;
	life = host ? facts_life(f, host, &without) : NULL;
	if (!life)
		return;
	out_char(out, '\n');
	terminal_paint(terminal, out, TERMINAL_HEADS);
	out_text(out, "     from    below  requests of ");
	facts_put_host(out, f, host);
	terminal_plain(terminal, out);
	out_char(out, '\n');
	put_bars(out, &life->times);
}

static void put_lcore(struct out *out, const struct facts *f, const struct lcore_sum *sum)
{
	const struct lcore_row *row = sum->row;
	const struct lcore_cause cause = lcore_rows_cause(row);

	out_printf(out, "  %-5" PRIu64 " %9" PRIu64 " %7.1f %9.1f  ", row->lcore, row->entries,
		   100 * ratio_part(row->active, sum->ns), ratio_per_second(row->requests, sum->ns));
	out_duration(out, row->longest.ns);
	for (size_t i = 0; i < sum->num_uses; i++) {
		out_text(out, i ? ", " : "  ");
		out_visible(out, connections_name(f->lcores.connections, sum->uses[i].connection)->name);
	}
	out_char(out, '\n');
	if (!cause.share)
		return;
	out_text(out, "        longest silence: ");
	facts_put(out, cause.text);
	out_printf(out, ", %.0f%% of it\n", 100 * cause.share);
}

static void put_lcores(struct out *out, struct facts *f, const struct terminal *terminal)
{
	struct lcore_sum *sums = f->info.n ? lcore_rows_end(&f->lcores) : NULL;
	const size_t n = sums ? f->lcores.n : 0;

	if (n) {
		out_char(out, '\n');
		terminal_paint(terminal, out, TERMINAL_HEADS);
		out_text(out, "lcore     entries active%      iops  silence  connections");
		terminal_plain(terminal, out);
		out_char(out, '\n');
	}
	for (size_t i = 0; i < n && i < LCORES; i++)
		put_lcore(out, f, &sums[i]);
	if (n > LCORES)
		out_printf(out, "  and %zu other lcores\n", n - LCORES);
	free(sums);
}

static void put_by(struct out *out, struct slice span, const char *key, const char *by, double life)
{
	double share = facts_number(span, key) / life, most;
	struct slice name = facts_largest(facts_text(span, by), &most);

	put_percent(out, key, share);
	if (share < 0.005 || !name.n)
		return;
	out_text(out, " (");
	facts_put(out, name);
	out_char(out, ')');
}

/* The time of a request until it ended, that before it was read included. */
static double time_of(struct slice span)
{
	return facts_number(span, "life") + facts_number(span, "unread");
}

/* The longest wait of a request, as far as its span line says whom it waited for. */
static void put_wait(struct out *out, struct slice span)
{
	struct slice waits = facts_text(span, "waits"), wait, state, name;
	double unread = facts_number(span, "unread");
	double us, silent, most;
	struct json j;

	facts_each(&j, waits);
	if (!facts_next(&j, NULL, &wait))
		wait = (struct slice){};
	if (unread > facts_number(wait, "us")) {
		out_text(out, "    waited ");
		facts_put_time(out, unread);
		out_text(out, " to be read; the reactor was off its CPU: ");
		facts_put(out, json_unquoted(facts_text(span, "unread_by")));
		out_char(out, '\n');
		return;
	}
	if (!wait.n)
		return;
	state = json_unquoted(facts_text(wait, "state"));
	us = facts_number(wait, "us");
	silent = facts_number(wait, "silent");
	out_text(out, "    waited ");
	facts_put_time(out, us);
	out_text(out, state.n ? " in " : " before its first entry");
	facts_put(out, state);
	name = facts_largest(facts_text(wait, "holders"), &most);
	if (name.n) {
		out_text(out, "; ");
		facts_put(out, name);
		out_printf(out, " had %.0f of %.0f buffers", most, facts_number(wait, "buffers"));
	} else if (silent * 2 >= us) {
		out_printf(out, "; lcore %.0f silent for ", facts_number(wait, "lcore"));
		facts_put_time(out, silent);
	} else if ((name = facts_largest(facts_text(wait, "of"), &most)).n) {
		double kept = facts_number(wait, "kept");

		out_printf(out, "; lcore %.0f: %.0f of %s%.0f entries of ", facts_number(wait, "lcore"), most,
			   kept > 0 ? "the latest " : "", kept > 0 ? kept : facts_number(wait, "entries"));
		facts_put(out, name);
	}
	out_char(out, '\n');
}

/* Whether lines of another tool cover the whole life of a span. */
static bool is_covered(struct slice span, const char *part)
{
	struct slice value;
	struct json j;

	for (facts_each(&j, facts_text(span, "covered")); facts_next(&j, NULL, &value);)
		if (slice_is(json_unquoted(value), part))
			return true;
	return false;
}

static void put_slow(struct out *out, struct slice span)
{
	bool bound = facts_text(span, "open").n || facts_text(span, "cut").n;

	out_text(out, bound ? "  >" : "  ");
	facts_put_time(out, time_of(span));
	/* as -k of trace-spans expects it */
	out_text(out, ", us=");
	facts_put(out, facts_text(span, "us"));
	out_text(out, ": ");
	facts_put_what(out, span);
	out_char(out, '\n');
}

/* Where the time of a request was, and its longest wait. */
static void put_time_of(struct out *out, const struct facts *f, struct slice span, const struct terminal *terminal)
{
	struct slice parts = facts_text(span, "layers");
	double life = time_of(span), layers[LAYERS];

	out_text(out, "   ");
	for (unsigned i = 0; i < LAYERS; i++)
		layers[i] = facts_number(parts, spdk_layers[i]);
	layers[LAYER_NETWORK] += facts_number(span, "unread");
	put_largest(out, layers, life, 3, terminal);
	put_by(out, span, "off_cpu", "off_cpu_by", life);
	put_by(out, span, "irq", "irq_by", life);
	if (f->offcpu && !is_covered(span, "off_cpu"))
		out_text(out, " off_cpu ?");
	put_percent(out, "disk", facts_number(span, "disk") / life);
	for (size_t i = 0; i < FACTS_PROVEN; i++) {
		const char *name = fact_table[fact_proven[i]].name;

		put_percent(out, name, facts_number(span, name) / life);
	}
	out_char(out, '\n');
	put_wait(out, span);
}

static void put_slowest(struct out *out, const struct facts *f, const struct terminal *terminal)
{
	const struct facts_span *spans = facts_slowest(f);
	struct out last = {.fd = OUT_MEMORY}, text = {.fd = OUT_MEMORY};

	out_text(out, spans->line.n ? "\nthe slowest requests\n" : "");
	for (size_t i = 0; i < f->num_slowest && spans[i].line.n; i++) {
		text.len = 0;
		put_time_of(&text, f, spans[i].line, terminal);
		/* what is the same of several is below the last one */
		if (!slice_equal(out_contents(&last), out_contents(&text)))
			out_slice(out, out_contents(&last));
		put_slow(out, spans[i].line);
		last.len = 0;
		out_slice(&last, out_contents(&text));
	}
	out_slice(out, out_contents(&last));
	out_close(&last);
	out_close(&text);
}

/* Lines about reactors of connections that stand still. Returns whether all do, since before the recording. */
static bool put_still(struct out *out, struct facts *f)
{
	struct lcore_sum *sums = f->info.n ? lcore_rows_end(&f->lcores) : NULL;
	size_t before = out->len, current = 0;
	bool is_older;

	for (size_t i = 0; sums && i < f->lcores.n; i++) {
		uint64_t last = f->base + (uint64_t)(sums[i].row->last / 1e9 * f->rate);

		if (sums[i].num_uses)
			current += !still_write(out, &f->still, sums[i].row->lcore, last, f->rate) ||
				   last >= f->still.start;
	}
	is_older = out->len > before && !current;
	if (is_older)
		out_text(out, "  what follows is of requests before that\n");
	if (out->len > before && !is_older)
		out_char(out, '\n');
	free(sums);
	return is_older;
}

/* How many requests the lines of another tool cover. */
static void put_covered(struct out *out, const struct facts *f, const char *name, const char *file, bool differs,
			enum overlap part)
{
	uint64_t covered = 0, all = 0;

	if (differs)
		out_printf(out, "  %-10s left out: its times are of another clock than the trace's\n", name);
	if (!file)
		return;
	for (size_t i = 0; i < f->shares.n; i++) {
		covered += f->shares.all[i].overlaps[part].count;
		all += f->shares.all[i].count;
	}
	out_printf(out, "  %-10s covers %" PRIu64 " of %" PRIu64 " requests\n", name, covered, all);
}

/* The first words of a row about what was recorded. */
static void put_part(struct out *out, const char *name)
{
	out_printf(out, "  %-10s ", name);
}

static void put_left_out(struct out *out, const struct facts *f)
{
	static const struct {
		const char *key, *what;
	} all[] = {
		{"before_window", "older than the start of another ring"},
		{"cleared", "older than trace_clear"},
		{"torn", "torn"},
		{"undefined", "without a definition"},
	};
	const char *before = "";

	for (size_t i = 0; i < COUNT(all); i++) {
		double n = facts_number(f->info, all[i].key);

		if (!n)
			continue;
		if (!*before)
			put_part(out, "");
		out_printf(out, "%s%.0f %s", before, n, all[i].what);
		before = ", ";
	}
	out_text(out, *before ? "\n" : "");
}

/* What has overwritten the rest, and how that ends. */
static void put_flood(struct out *out, const struct facts *f)
{
	struct slice missing;
	struct json j;

	for (facts_each(&j, facts_text(f->info, "missing")); facts_next(&j, NULL, &missing);) {
		if (!slice_is(json_unquoted(facts_text(missing, "what")), "flood"))
			continue;
		facts_put(out, json_unquoted(facts_text(missing, "text")));
		out_text(out, "\n  try: ");
		facts_put(out, json_unquoted(facts_text(missing, "try")));
		out_char(out, '\n');
	}
}

/* What the trace lacks for a good answer. The page has other words for names and losses, and no time of day. */
static void put_missing(struct out *out, const struct facts *f)
{
	struct slice missing;
	struct json j;

	for (facts_each(&j, facts_text(f->info, "missing")); facts_next(&j, NULL, &missing);) {
		struct slice what = json_unquoted(facts_text(missing, "what"));

		if (slice_is(what, "names") || slice_is(what, "lost") || slice_is(what, "time") ||
		    slice_is(what, "flood"))
			continue;
		put_part(out, "missing");
		facts_put(out, json_unquoted(facts_text(missing, "text")));
		out_char(out, '\n');
		put_part(out, "");
		out_text(out, "try: ");
		facts_put(out, json_unquoted(facts_text(missing, "try")));
		out_char(out, '\n');
	}
}

/* Groups of tracepoints that were on, as the target said. */
static void put_rpc(struct out *out, const struct facts *f)
{
	struct slice text = f->rpc, line, key, value;
	struct json j;

	while (json_line(&text, &line)) {
		struct slice method = json_unquoted(facts_text(line, "method")), result = facts_text(line, "result");

		if (slice_is(method, "spdk_get_version")) {
			put_part(out, "version");
			facts_put(out, json_unquoted(facts_text(result, "version")));
			out_char(out, '\n');
		} else if (slice_is(method, "trace_get_tpoint_group_mask")) {
			put_part(out, "groups");
			out_text(out, "on:");
			for (facts_each(&j, result); facts_next(&j, &key, &value);) {
				if (!slice_is(facts_text(value, "enabled"), "true"))
					continue;
				out_char(out, ' ');
				facts_put(out, key);
			}
			out_char(out, '\n');
		}
	}
}

static void put_target(struct out *out, struct slice target)
{
	put_part(out, RECORDING_TARGET);
	facts_put(out, json_unquoted(facts_text(target, RECORDING_NAME)));
	out_printf(out, " (%.0f), from ", facts_number(target, RECORDING_PID));
	facts_put(out, json_unquoted(facts_text(target, RECORDING_STARTED)));
	out_text(out, " to ");
	facts_put(out, json_unquoted(facts_text(target, RECORDING_ENDED)));
	out_char(out, '\n');
}

/* What was recorded, and the parts of it that are not complete. */
static void put_parts(struct out *out, const struct facts *f)
{
	struct slice text = f->parts, part;

	while (json_line(&text, &part)) {
		struct slice status = json_unquoted(facts_text(part, RECORDING_STATUS));
		struct slice why = json_unquoted(facts_text(part, RECORDING_WHY));
		struct slice name = json_decode(json_unquoted(facts_text(part, RECORDING_PART)));

		if (slice_is(name, RECORDING_TARGET)) {
			put_target(out, part);
		} else if (status.n && (why.n || !slice_is(status, RECORDING_DONE))) {
			out_text(out, "  ");
			out_column(out, name, 10);
			facts_put(out, status);
			out_text(out, why.n ? ": " : "");
			facts_put(out, why);
			out_char(out, '\n');
		}
		free((char *)name.p);
	}
}

/* Where the names of hosts are from. */
static void put_names(struct out *out, const struct facts *f)
{
	size_t probed = 0, n = f->hosts.n;

	put_part(out, "names");
	for (size_t i = 0; i < f->num_probed; i++)
		probed += f->probed[i];
	if (!n) {
		out_printf(out, "none%s\n",
			   f->names_unread ? ", but addresses: what has those of hosts could not be read"
			   : f->usdt && f->answers
				   ? ": neither probe lines nor JSON-RPC name a connection of this trace"
			   : f->usdt    ? ": the probe lines name no connection of this trace"
			   : f->answers ? ": JSON-RPC names no connection of this trace"
					: ", but addresses: usdt-record(1) records those of hosts");
		return;
	}
	out_printf(out, "of %zu host%s, ", n, n == 1 ? "" : "s");
	if (probed == n)
		out_text(out, "by their probes\n");
	else if (!probed)
		out_text(out, "by JSON-RPC\n");
	else
		out_printf(out, "%zu by their probes, %zu by JSON-RPC\n", probed, n - probed);
}

static void put_recorded(struct out *out, const struct facts *f)
{
	out_text(out, "\nrecorded\n");
	if (f->info.n) {
		put_part(out, "trace");
		out_printf(out, "%" PRIu64 " entries", facts_entries(f));
		put_groups(out, facts_text(f->info, "groups"));
		out_char(out, '\n');
		put_left_out(out, f);
		put_missing(out, f);
	}
	if (f->usdt || f->info.n)
		put_names(out, f);
	put_covered(out, f, "offcpu", f->offcpu, f->offcpu_differs, OVERLAP_OFF_CPU);
	put_covered(out, f, "bio", f->bio, f->bio_differs, OVERLAP_DISK);
	put_rpc(out, f);
	put_parts(out, f);
}

/* A file of the recording, as in its folder. */
static void put_file(struct out *out, const struct facts *f, const char *path)
{
	out_word(out, slice_of(f->is_folder ? path + strlen(f->name) + 1 : path));
}

/* A command that reads the trace. */
static void put_dump(struct out *out, const struct facts *f, const char *command)
{
	out_text(out, command);
	if (f->pid)
		out_printf(out, "-p %d", f->pid);
	else
		put_file(out, f, f->trace);
}

static void put_lifetimes(struct out *out, const struct facts *f)
{
	out_text(out, "  ");
	if (f->has_owners) {
		put_dump(out, f, "trace-dump -O ");
		out_text(out, " | ");
	}
	out_text(out, f->has_owners ? "qpair-lifetimes -O - " : "qpair-lifetimes ");
	if (f->answers) {
		out_text(out, "--rpc ");
		put_file(out, f, f->answers);
	}
	if (f->usdt) {
		out_text(out, f->answers ? " " : "");
		put_file(out, f, f->usdt);
	}
	out_text(out, " >lifetimes.txt\n");
}

/* A command that reads trace lines. */
static void put_command(struct out *out, const struct facts *f, const char *command, const char *to, const char *what)
{
	size_t start = out->len;

	out_text(out, command);
	if (f->is_lines) {
		out_text(out, f->usdt ? "-l lifetimes.txt " : "");
		put_file(out, f, f->trace);
	} else {
		out_text(out, "lines.jsonl");
	}
	out_text(out, to);
	out_printf(out, "%*s  # %s\n", out->len - start < COMMAND ? (int)(COMMAND - (out->len - start)) : 0, "", what);
}

/* The command that makes the file that others on the page read. */
static void put_merge(struct out *out, const struct facts *f)
{
	put_dump(out, f, "  trace-dump ");
	out_text(out, f->usdt || f->answers ? " | trace-join -j -l lifetimes.txt" : "");
	out_text(out, f->offcpu || f->bio ? " |\n      trace-merge -" : "");
	if (f->offcpu) {
		out_char(out, ' ');
		put_file(out, f, f->offcpu);
	}
	if (f->bio) {
		out_char(out, ' ');
		put_file(out, f, f->bio);
	}
	out_text(out, " >lines.jsonl\n");
}

/* The commands that read the trace again. */
static void put_commands(struct out *out, const struct facts *f)
{
	out_text(out, "\nmore\n  ");
	put_report(out, f);
	out_text(out, "'us=*'  # stories of the slowest requests\n");
	if (f->is_folder) {
		out_text(out, "  cd ");
		out_word(out, slice_of(f->name));
		out_char(out, '\n');
	}
	if (f->usdt || f->answers)
		put_lifetimes(out, f);
	if (f->pid)
		out_text(out, "  # the trace goes on: times on this page are of other requests in a later one\n");
	if (!f->is_lines)
		put_merge(out, f);
	put_command(out, f, "  trace-spans --open ", "", "what is in flight at the end");
	put_command(out, f, "  trace-latency -g host ", "", "the states of each host's requests");
	put_command(out, f, "  trace-perfetto ", " >trace.pb", "a picture for ui.perfetto.dev");
}

static void put_pools(struct out *out, const struct facts *f)
{
	struct out text = {.fd = OUT_MEMORY};

	pools_write(&text, &f->pools, f->rpc, f->measured.behind.more);
	out_text(out, text.len ? "\n" : "");
	out_slice(out, out_contents(&text));
	out_close(&text);
}

/* A host that does not read. */
static void put_deaf(struct out *out, struct facts *f, const char *word)
{
	const struct network_connection *deaf = network_deaf(&f->network);

	if (!deaf)
		return;
	out_printf(out, "%s: host ", word);
	network_put_name(out, f, deaf);
	out_printf(out, " does not read its replies: its window was full for %.0f %% of the time\n",
		   100 * network_full(deaf));
}

/* Subsystems that did not answer though the target did later: their calls wait until a pause has begun and ended. */
static void put_paused(struct out *out, const struct facts *f)
{
	struct slice text = f->rpc, line;
	const char *last = text.p;

	while (json_line(&text, &line))
		last = facts_text(line, "result").n ? line.p : last;
	for (text = f->rpc; json_line(&text, &line) && line.p < last;) {
		if (!slice_is(json_unquoted(facts_text(line, "method")), "nvmf_subsystem_get_qpairs") ||
		    !slice_is(json_unquoted(facts_text(line, "error.message")), RECORDING_LATE))
			continue;
		out_text(out, "subsystem ");
		facts_put(out, json_unquoted(facts_text(line, "params.nqn")));
		out_text(out, " is paused or being paused: no reply\n");
	}
}

/* What the target says of the bdev that requests in flight wait for: its limits, and where it is. */
static void write_bdev(struct out *out, struct slice bdev)
{
	struct slice key, value, path, address;
	struct json j;

	for (facts_each(&j, facts_text(bdev, "assigned_rate_limits")); facts_next(&j, &key, &value);)
		if (strtod(value.p, NULL) > 0) {
			out_text(out, " (");
			facts_put(out, key);
			out_printf(out, " %.0f)", strtod(value.p, NULL));
		}
	facts_each(&j, facts_text(bdev, "driver_specific.nvme"));
	address = facts_next(&j, NULL, &path) ? json_unquoted(facts_text(path, "trid.traddr")) : (struct slice){};
	if (!address.n)
		return;
	out_text(out, " (");
	facts_put(out, address);
	out_text(out, facts_text(path, "trid.trsvcid").n ? ":" : "");
	facts_put(out, json_unquoted(facts_text(path, "trid.trsvcid")));
	out_char(out, ')');
}

static void write_head(struct out *out, const struct facts *f)
{
	const char *kinds[] = {"bdev ", "remote of ", "drive of "};
	struct slice head = f->causes.inflight.head, rpc = f->rpc, bdevs, bdev;
	struct json j;

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (slice_starts(head, kinds[i]))
			head = slice_from(head, strlen(kinds[i]));
	while (head.n && facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);)
			if (slice_equal(aliases_name(bdev), head))
				write_bdev(out, bdev);
}

bool page_hang(struct out *out, struct facts *f, bool *all)
{
	const struct inflight *inflight = &f->causes.inflight;

	*all = put_still(out, f) || inflight_is_most(inflight);
	if (inflight->is_older || inflight->unseen) {
		struct out note = {.fd = OUT_MEMORY};

		write_head(&note, f);
		put_paused(out, f);
		inflight_write(out, inflight, GROUPS, out_contents(&note));
		out_close(&note);
	}
	return *all || inflight_hangs(inflight);
}

void page_stories(struct out *out, const struct facts *f, bool as_lines)
{
	const struct facts_span *spans = facts_slowest(f);
	struct out title = {.fd = OUT_MEMORY};

	for (size_t i = 0; i < f->num_slowest && spans[i].line.n; i++) {
		if (as_lines) {
			out_slice(out, spans[i].line);
			continue;
		}
		out_text(out, i ? "\n" : "");
		put_slow(&title, spans[i].line);
		put_time_of(&title, f, spans[i].line, &f->terminal);
		put_lines(out, out_contents(&title), &f->terminal);
		out_slice(out, spans[i].story);
		title.len = 0;
	}
	out_close(&title);
}

bool page_write(struct out *to, struct facts *f, const struct terminal *terminal)
{
	const struct inflight *inflight = &f->causes.inflight;
	struct out out = {.fd = OUT_MEMORY};
	bool explains, named; /* explains: the requests that ended; named: a cause of theirs, or of a hang */
	bool hangs, all;

	put_title(&out, f);
	put_trigger(&out, f);
	put_chosen(&out, f);
	put_damage(&out, f, terminal);
	put_flood(&out, f);
	out_char(&out, '\n');
	if (f->info.n && !facts_entries(f))
		out_text(&out, "The trace has no entries: was tracing enabled, as by -e of an SPDK application?\n");
	else if (f->seen && !f->admin && !f->requests)
		out_text(&out, "No such requests.\n");
	else if (f->info.n && !f->requests)
		out_printf(&out, "No requests but %" PRIu64 " of admin: there is nothing to compare.\n", f->admin);
	hangs = page_hang(&out, f, &all);
	out_text(&out, inflight->is_older && !all ? "\n" : "");
	explains = !all && f->requests;
	named = hangs || causes_any(&f->causes);
	if (!named) {
		put_deaf(&out, f, "cause");
		out_text(&out, network_deaf(&f->network) ? "  cure:  look at that host and its network\n\n" : "");
	}
	put_lines(to, out_contents(&out), terminal);
	out.len = 0;
	if (explains)
		put_causes(to, f, terminal);
	if (named)
		put_deaf(&out, f, "\nalso");
	quota_put(&out, f->kernel);
	put_hosts(&out, f, explains, terminal);
	if (explains)
		put_spread(&out, f, terminal);
	network_put(&out, f, &f->network);
	put_pools(&out, f);
	put_lcores(&out, f, terminal);
	put_slowest(&out, f, terminal);
	if (inflight->n && !inflight->is_older) {
		out_char(&out, '\n');
		inflight_write(&out, inflight, 0, slice_of(""));
	}
	if (!f->is_short)
		put_recorded(&out, f);
	put_lines(to, out_contents(&out), terminal);
	if (facts_entries(f) && !f->is_short)
		put_commands(to, f);
	out_close(&out);
	return named || f->causes.findings.n || network_deaf(&f->network);
}
