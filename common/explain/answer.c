/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <inttypes.h>

#include "answer_tables.h"
#include "count.h"
#include "palette.h"

enum { NAME = 15 }; /* the least that a sentence has of a name */

/* Names are as written in JSON: decoded, and for terminals. */
static void put_name(struct out *out, const struct tally *t, uint32_t name)
{
	out_visible_json(out, tally_name(t, name));
}

/* Text, shortened where the terminal is narrow. */
static void put_within(struct out *out, struct slice text, const struct terminal *terminal, size_t width)
{
	if (terminal->width == TERMINAL_WIDE)
		out_slice(out, text);
	else
		out_short(out, text, width);
}

void answer_write_who(struct out *out, const struct tally *t, const struct finding *f)
{
	uint32_t who = f->cause.subject;

	if (fact_table[findings_cause(f)].who == FACT_OF_LCORE)
		out_text(out, who == MAP_NONE ? "an lcore" : "lcore ");
	put_name(out, t, who);
	out_text(out, f->cause.of_several && who != MAP_NONE ? " and others" : "");
}

/* More than 64 bits hold, 584 years, is printed as 584 years. */
static void put_time(struct out *out, __int128 ns)
{
	if (ns < 0) {
		out_char(out, '-');
		ns = -ns;
	}
	out_duration_text(out, ns < UINT64_MAX ? ns : UINT64_MAX);
}

static void put_group(struct out *out, const struct findings *f, const struct answer_options *options)
{
	if (!options->group)
		return;
	out_text(out, "= ");
	out_visible(out, slice_of(options->group));
	out_char(out, '=');
	put_name(out, f->tally, f->group->name);
	out_char(out, '\n');
}

static const char *one_or_many(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* n of all requests; is_said: that nothing stands out. */
static void put_alike(struct out *out, uint64_t n, uint64_t all, const struct means *m, bool is_said)
{
	out_text(out, n < all ? "; those that are alike: mean " : n > 1 ? ", mean " : ", which took ");
	put_time(out, m->slow);
	out_text(out, n < all || n == 1 || is_said ? "\n" : "; no group stands out\n");
}

static void put_summary(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
			const struct answer_options *options)
{
	uint64_t n = f->group->sets[slow].slow.n, all = f->group->n;

	out_printf(out, "%" PRIu64 " %s", all, one_or_many(all, "request", "requests"));
	if (!all) {
		out_text(out, ": nothing to compare\n");
		return;
	}
	if (!n) {
		out_text(out, ": none is slow\n");
		return;
	}
	if (slow == SLOW_ALIKE) {
		put_alike(out, n, all, m, !f->n && !options->elsewhere);
		return;
	}
	if (options->against)
		out_printf(out, "; %" PRIu64 " took ", n);
	else
		out_printf(out, ", %" PRIu64 " slow %s took ", n, one_or_many(n, "one", "ones"));
	put_time(out, m->slow);
	out_text(out, one_or_many(n, ",\n", " each,\n"));
	if (options->against)
		out_text(out, "those of the earlier trace ");
	else
		out_text(out, one_or_many(n, "the fast ones like it ", "the fast ones like them "));
	put_time(out, m->fast);
	out_text(out, ": ");
	put_time(out, m->more >= 0 ? m->more : -m->more);
	out_text(out, m->more >= 0 ? " more\n" : " less\n");
}

/* Requests that failed are as slow as others, or faster. */
static void put_failed(struct out *out, const struct findings *f)
{
	const struct tally_group *group = f->group;
	uint64_t rest = group->failed;

	if (!rest)
		return;
	out_printf(out, "%" PRIu64 " failed:", rest);
	for (size_t i = 0; i < TALLY_STATUSES && group->statuses[i].n; i++) {
		out_printf(out, "%s %" PRIu64 " with ", i ? "," : "", group->statuses[i].n);
		put_name(out, f->tally, group->statuses[i].name);
		rest -= group->statuses[i].n;
	}
	if (rest)
		out_printf(out, ", %" PRIu64 " with others", rest);
	out_char(out, '\n');
}

static void put_percent(struct out *out, const struct finding *f)
{
	out_printf(out, "%.0f %%", 100 * f->share < 100 ? 100 * f->share : 100);
}

/* What the share is of, as the table of layers calls it. */
static void put_whole(struct out *out, const struct finding *f)
{
	bool alike = f->slow == SLOW_ALIKE;

	if (findings_cause(f) == FACT_QUEUE)
		out_text(out, alike ? " of the requests" : " of the slow ones");
	else
		out_text(out, alike ? " of the time" : " of the extra time");
}

void answer_write_share(struct out *out, const struct finding *f)
{
	put_percent(out, f);
	put_whole(out, f);
}

/* Shares of the same whole say it once; one with more time than the first says why it is not the first. */
static void put_share(struct out *out, const struct findings *f, const struct finding *finding)
{
	static const char *const doubts[DOUBTS] = {
		[DOUBT_NONE] = "",
		[DOUBT_ONCE] = ", once",
		[DOUBT_OWN] = "; only that host suffers from it",
		[DOUBT_MEANT] = "; that may be normal for it",
	};
	const struct finding *first = f->all;
	enum findings_doubt doubt = findings_doubt(finding);

	out_text(out, " (");
	put_percent(out, finding);
	if (finding == first || finding->slow != first->slow || findings_cause(finding) == FACT_QUEUE)
		put_whole(out, finding);
	if (finding->slow != first->slow)
		out_printf(out, " of %" PRIu64 " others", f->group->sets[finding->slow].slow.n);
	out_char(out, ')');
	if (doubt == DOUBT_ONCE || finding->ns > first->ns)
		out_text(out, doubts[doubt]);
}

static void put_cause(struct out *out, const struct findings *f, const struct finding *finding,
		      const struct answer_options *options)
{
	const struct terminal *terminal = &options->terminal;
	const char *word = finding == f->all && !options->elsewhere ? "cause" : "also";
	const struct fact_row *row = &fact_table[findings_cause(finding)];
	struct out who = {.fd = OUT_MEMORY}, share = {.fd = OUT_MEMORY};
	size_t used = strlen(word) + strlen(": ") + strlen(row->before) + strlen(row->after);

	put_share(&share, f, finding);
	used += share.len;
	out_printf(out, "%s: %s", word, row->before);
	answer_write_who(&who, f->tally, finding);
	if (!who.len && row->who != FACT_OF_NOBODY)
		out_text(&who, "(unknown)");
	put_within(out, out_contents(&who), terminal, terminal->width > used + NAME ? terminal->width - used : NAME);
	out_text(out, row->after);
	out_slice(out, out_contents(&share));
	out_close(&who);
	out_close(&share);
}

static void put_cure(struct out *out, const struct finding *f, struct slice report)
{
	out_text(out, "  see:   ");
	out_slice(out, report.n ? report : slice_of("trace-spans -s -k "));
	out_text(out, "us=");
	out_us(out, f->cause.example->us);
	out_printf(out, "\n  cure:  %s\n", fact_table[findings_cause(f)].cure);
}

/* Whether one said the same of other requests. There may be very many. */
static bool is_repeated(struct map *said, const struct finding *f)
{
	uint32_t *value = map_put(said, (uint64_t)findings_cause(f) << 32 | f->cause.subject);
	bool repeated = *value != MAP_NONE;

	*value = 0;
	return repeated;
}

/* The last lines: the cause if the lines prove one; else where most of the time is. */
static void put_findings(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
			 const struct answer_options *options)
{
	const struct terminal *terminal = &options->terminal;
	bool has_cause = f->n;
	enum layer largest = means_largest(m);
	struct map said = {};

	if (has_cause) {
		terminal_paint(terminal, out, TERMINAL_BOLD);
		put_cause(out, f, &f->all[0], options);
		terminal_plain(terminal, out);
		out_char(out, '\n');
		put_cure(out, &f->all[0], options->report);
	} else {
		out_printf(out, "%s ",
			   options->elsewhere   ? "in the trace, most of the time is in"
			   : slow == SLOW_ALIKE ? "nothing stands out: most of the time is in"
						: "cause not found: most of the extra time is in");
		terminal_paint(terminal, out, palette_layers[largest].sgr);
		out_text(out, spdk_layers[largest]);
		terminal_plain(terminal, out);
		out_printf(out, " (%.0f %%)\n", m->more ? 100.0 * m->layers[largest] / m->more : 0.0);
	}
	for (size_t i = 0; i < f->n; i++) {
		/* the first one is above */
		if (is_repeated(&said, &f->all[i]) || !i)
			continue;
		put_cause(out, f, &f->all[i], options);
		out_char(out, '\n');
	}
	map_free(&said);
}

/* How many are slow, and what they have in common. */
static void put_tables(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
		       const struct answer_options *options)
{
	put_summary(out, f, slow, m, options);
	put_failed(out, f);
	if (f->group->sets[slow].slow.n)
		answer_tables(out, f, slow, m, &options->terminal);
}

void answer_write(struct out *to, const struct findings *f, const struct answer_options *options)
{
	enum slow slow = findings_main(f);
	struct means m = means_of(&f->group->sets[slow]);
	struct out page = {.fd = OUT_MEMORY};
	bool has_slow = f->group->sets[slow].slow.n;

	put_group(&page, f, options);
	if (!options->report.n)
		put_tables(&page, f, slow, &m, options);
	if (has_slow && !options->report.n)
		out_char(&page, '\n');
	if (has_slow)
		put_findings(&page, f, slow, &m, options);
	if (has_slow && options->report.n)
		out_char(&page, '\n');
	if (options->report.n)
		put_tables(&page, f, slow, &m, options);
	terminal_lines(&options->terminal, to, out_contents(&page));
	out_close(&page);
}

static void add(struct columns *c, const char *name, struct column_value value)
{
	columns_add(c, NULL, name, value);
}

static void write_group(struct out *out, const struct findings *f, const char *key)
{
	out_char(out, '{');
	out_json(out, slice_of(key));
	out_text(out, ":\"");
	out_utf8(out, tally_name(f->tally, f->group->name));
	out_text(out, "\"}");
}

static void add_cause(struct columns *c, struct out *who, const struct findings *f, const struct finding *finding)
{
	const struct fact_row *row = &fact_table[findings_cause(finding)];
	const struct findings_cause *cause = &finding->cause;
	const bool is_lcore = row->who == FACT_OF_LCORE;

	if (is_lcore) {
		out_text(who, cause->subject == MAP_NONE ? "an lcore" : "lcore ");
		out_slice(who, tally_name(f->tally, cause->subject));
	}
	add(c, "cause", columns_word(slice_of(row->name)));
	add(c, "who", is_lcore ? columns_raw(out_contents(who)) : answer_tables_name(f->tally, cause->subject));
	add(c, "of_several", columns_if(!is_lcore && cause->of_several, columns_bool(true)));
	add(c, "victim", answer_tables_name(f->tally, cause->victim));
}

static void write_statuses(struct out *out, const struct findings *f)
{
	const struct tally_status *status = f->group->statuses;

	out_char(out, '{');
	for (size_t i = 0; i < TALLY_STATUSES && status[i].n; i++) {
		out_text(out, i ? ",\"" : "\"");
		out_utf8(out, tally_name(f->tally, status[i].name));
		out_printf(out, "\":%" PRIu64, status[i].n);
	}
	out_char(out, '}');
}

void answer_json(struct out *out, const struct findings *f, const struct answer_options *options)
{
	struct columns c = {.out = out, .is_json = true};
	struct out group = {.fd = OUT_MEMORY}, who = group, rows = group, statuses = group;
	bool has_rows[SLOWS] = {};

	if (options->group)
		write_group(&group, f, options->group);
	write_statuses(&statuses, f);
	for (size_t i = 0; i < f->n || !i; i++, who.len = rows.len = 0) {
		const struct finding *finding = f->n ? &f->all[i] : NULL;
		enum slow slow = finding ? finding->slow : findings_main(f);
		const struct tally_set *set = &f->group->sets[slow];
		struct means m = means_of(set);

		add(&c, "group", columns_json(out_contents(&group)));
		if (finding) {
			add_cause(&c, &who, f, finding);
		} else {
			add(&c, "cause", columns_word(slice_of("none")));
		}
		add(&c, "kind", columns_word(slice_of(options->against ? "against" : tally_slows[slow])));
		if (finding) {
			add(&c, "excess_us", columns_real(3, finding->ns / 1000 / set->slow.n));
			add(&c, "share", columns_real(3, finding->share));
		}
		add(&c, "slow_us", columns_difference((double)m.slow));
		add(&c, "fast_us", columns_difference((double)m.fast));
		add(&c, "slow", columns_number(set->slow.n));
		add(&c, "others", columns_number(set->others));
		if (finding) {
			add(&c, "n", columns_number(finding->cause.n));
			add(&c, "bursts", columns_number(finding->bursts));
			add(&c, "example_us", columns_us(finding->cause.example->us));
		}
		for (unsigned k = 0; k < LAYERS; k++)
			add(&c, spdk_layers[k], columns_in("layers", columns_difference((double)m.layers[k])));
		if (!has_rows[slow])
			answer_tables_json(&rows, f, slow);
		has_rows[slow] = true;
		add(&c, "rows", columns_json(out_contents(&rows)));
		if (!i && f->group->failed) {
			add(&c, "failed", columns_number(f->group->failed));
			add(&c, "statuses", columns_json(out_contents(&statuses)));
		}
		columns_row(&c, NULL, 0);
	}
	out_close(&group);
	out_close(&who);
	out_close(&rows);
	out_close(&statuses);
	columns_end(&c);
}
