/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <inttypes.h>

#include "means.h"
#include "owed.h"
#include "palette.h"
#include "utf8.h"

/* Rows of a table in text. */
enum { TRAIT_ROWS = 5, OWED_ROWS = 8 };
enum { NOTABLE_PART = 50 }; /* of all time: what is less is added up */

/* Widths of columns. The first column of a table has these, or what a narrow terminal leaves of them. */
enum { COMMON = 60, OWED = 45 };
/* Widths of the columns after these, of times and of names. */
enum { AFTER_COMMON = 17, AFTER_OWED = 26, TIME = 9, NAME = 15, NARROW_NAME = 12 };

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

static void put_who(struct out *out, const struct tally *t, const struct finding *f)
{
	answer_write_who(out, t, f);
	if (!out->len && fact_table[findings_cause(f)].who != FACT_OF_NOBODY)
		out_text(out, "(unknown)");
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

/* Aligned to the right, in a column. */
static void put_time_column(struct out *out, __int128 ns, int width)
{
	struct out text = {.fd = OUT_MEMORY};

	put_time(&text, ns);
	out_printf(out, "%*.*s", width, (int)text.len, text.buf);
	out_close(&text);
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

static bool has_row(__int128 ns, __int128 all)
{
	double percent = all ? 100.0 * (double)ns / (double)all : 0;

	return percent >= 0.5 || percent <= -0.5;
}

static void end_row(struct out *out, __int128 ns, __int128 all)
{
	put_time_column(out, ns, TIME);
	out_printf(out, " %5.0f %%\n", 100.0 * (double)ns / (double)all);
}

static void put_layer(struct out *out, const struct terminal *terminal, enum layer layer)
{
	terminal_paint(terminal, out, palette_layers[layer].sgr);
	out_text(out, spdk_layers[layer]);
	terminal_plain(terminal, out);
}

/* Starts the line with the names of columns, and ends it. */
static void start_heads(struct out *out, const struct terminal *terminal)
{
	out_char(out, '\n');
	terminal_paint(terminal, out, TERMINAL_HEADS);
}

static void end_heads(struct out *out, const struct terminal *terminal)
{
	terminal_plain(terminal, out);
	out_char(out, '\n');
}

static void put_layers(struct out *out, const struct means *m, enum slow slow, const struct terminal *terminal)
{
	enum { FIRST = 24 };
	double layers[LAYERS];
	enum layer sorted[LAYERS];

	start_heads(out, terminal);
	out_printf(out, "%-*s %*s %7s", FIRST, slow == SLOW_ALIKE ? "where the time is" : "where the extra time is",
		   TIME, "time", "share");
	end_heads(out, terminal);
	for (enum layer i = 0; i < LAYERS; i++)
		layers[i] = (double)m->layers[i];
	spdk_sort_layers(layers, sorted);
	for (unsigned i = 0; i < LAYERS; i++) {
		enum layer layer = sorted[i];

		if (!has_row(m->layers[layer], m->more))
			continue;
		out_text(out, "  ");
		put_layer(out, terminal, layer);
		out_printf(out, "%*s", FIRST - 1 - (int)strlen(spdk_layers[layer]), "");
		end_row(out, m->layers[layer], m->more);
	}
	for (unsigned i = 0; i < OVERLAPS; i++) {
		if (!has_row(m->overlaps[i], m->more))
			continue;
		out_printf(out, "    of it %-*s", FIRST - 9, overlaps_name(i));
		end_row(out, m->overlaps[i], m->more);
	}
}

static void put_trait(struct out *out, const struct tally *t, const struct traits_value *v)
{
	/* where the name of the trait and a blank do not read well */
	static const char *const before[TRAITS] = {
		[TRAIT_OFF_CPU] = "off CPU: ", [TRAIT_IRQ] = "irq: ", [TRAIT_FULL] = "full queue of "};
	uint64_t number = v->value.number;
	uint32_t name = v->value.name;

	out_text(out, before[v->trait] ? before[v->trait] : trait_names[v->trait]);
	if (!before[v->trait])
		out_char(out, ' ');
	switch (v->trait) {
	case TRAIT_SIZE:
		out_u64(out, number);
		break;
	case TRAIT_REGION:
		out_printf(out, "from LBA %" PRIu64 " of ", number << REQUESTS_REGION);
		put_name(out, t, name);
		break;
	case TRAIT_DEPTH:
		if (number < 2)
			out_u64(out, number);
		else
			out_printf(out, "from %" PRIu64 " to %" PRIu64, (uint64_t)1 << (number - 1),
				   ((uint64_t)1 << (number - 1)) * 2 - 1);
		break;
	default:
		put_name(out, t, name);
	}
}

/* Pads text to a column. Wider text is shortened; in full it has its own line. */
static void put_padded(struct out *out, struct slice text, const struct terminal *terminal, size_t width)
{
	size_t n = utf8_count(text);

	put_within(out, text, terminal, width);
	if (n > width && terminal->width == TERMINAL_WIDE)
		out_printf(out, "\n%*s", (int)width, "");
	else if (n < width)
		out_printf(out, "%*s", (int)(width - n), "");
}

static size_t first_width(const struct terminal *terminal, size_t width, size_t after)
{
	return terminal->width < width + after ? terminal->width - after : width;
}

static size_t common_width(const struct terminal *terminal)
{
	return first_width(terminal, COMMON, AFTER_COMMON);
}

/* Values that select the same requests are one row, with equals signs between them. Returns its end. */
static size_t put_equal_traits(struct out *out, const struct tally *tally, const struct traits *t, size_t i,
			       const struct terminal *terminal)
{
	size_t width = common_width(terminal);
	const struct traits_value *first = &t->all[i];
	struct out text = {.fd = OUT_MEMORY}, value = {.fd = OUT_MEMORY};
	size_t end = i;

	for (; end < t->n && t->all[end].hash == first->hash; end++) {
		value.len = 0;
		put_trait(&value, tally, &t->all[end]);
		if (end > i &&
		    utf8_count(out_contents(&text)) + utf8_count(out_contents(&value)) + strlen(" = ") > width) {
			put_within(out, out_contents(&text), terminal, width);
			out_char(out, '\n');
			text.len = 0;
			out_text(&text, "    ");
		}
		out_text(&text, end == i ? "  " : " = ");
		out_slice(&text, out_contents(&value));
	}
	put_padded(out, out_contents(&text), terminal, width);
	out_printf(out, " %5.0f %% %5.0f %%\n", 100.0 * first->slow / t->slow, 100.0 * first->others / t->others);
	out_close(&text);
	out_close(&value);
	return end;
}

/* Seconds, with as many decimals as tell the two ends apart, but two at least. */
static void put_window(struct out *out, const struct traits *t, const struct terminal *terminal)
{
	const struct traits_window *w = &t->window;
	struct out text = {.fd = OUT_MEMORY};
	double ns = (double)(w->end - w->begin);
	int decimals = 2;

	for (double unit = 1e8; decimals < 6 && ns < unit; unit /= 10)
		decimals++;
	out_printf(&text, "  between %.*f and %.*f s", decimals, (double)w->begin / 1e9, decimals,
		   (double)w->end / 1e9);
	put_padded(out, out_contents(&text), terminal, common_width(terminal));
	out_printf(out, " %5.0f %% %5.0f %%\n", 100.0 * w->slow / t->slow, 100.0 * w->others / t->others);
	out_close(&text);
}

static void put_traits(struct out *out, const struct tally *tally, const struct traits *traits,
		       const struct terminal *terminal)
{
	if (traits->n || traits->has_window) {
		start_heads(out, terminal);
		out_printf(out, "%-*s %7s %7s", (int)common_width(terminal), "what the slow ones have in common",
			   "slow", "others");
		end_heads(out, terminal);
	}
	for (size_t i = 0, row = 0; i < traits->n && row < TRAIT_ROWS; row++)
		i = put_equal_traits(out, tally, traits, i, terminal);
	if (traits->has_window)
		put_window(out, traits, terminal);
}

/* What was waited for. */
static void put_resource(struct out *out, const struct tally *t, const struct owed_row *row)
{
	static const char *const words[RESOURCES] = {
		[RESOURCE_NONE] = "something else", [RESOURCE_BUFFERS] = "buffers", [RESOURCE_LCORE] = "lcore ",
		[RESOURCE_BDEV] = "bdev ",          [RESOURCE_LEG] = "leg ",        [RESOURCE_DRIVE] = "the drive of ",
		[RESOURCE_SOCKET] = "its socket",   [RESOURCE_DATA] = "its data",   [RESOURCE_NETWORK] = "its network",
	};
	enum resource resource = fact_table[row->fact].resource;

	if (resource == RESOURCE_LCORE && row->of == MAP_NONE) {
		out_text(out, "its lcore");
		return;
	}
	out_text(out, words[resource]);
	put_name(out, t, row->of);
}

/* A row for what a host waited for, with the one that had most of it. */
static void put_owed_row(struct out *out, const struct tally *t, const struct owed_row *most,
			 const struct terminal *terminal)
{
	const char *had = fact_table[most->fact].had;
	struct out text = {.fd = OUT_MEMORY}, name = {.fd = OUT_MEMORY};
	size_t width = first_width(terminal, OWED, AFTER_OWED), used = width + TIME + strlen(" 100 % ");

	out_text(&text, "  ");
	put_name(&name, t, most->host);
	put_padded(&text, out_contents(&name), terminal, width < OWED ? NARROW_NAME : NAME);
	out_text(&text, " waited for ");
	name.len = 0;
	put_resource(&name, t, most);
	put_within(&text, out_contents(&name), terminal, width - utf8_count(out_contents(&text)));
	put_padded(out, out_contents(&text), terminal, width);
	put_time_column(out, most->all, TIME);
	out_printf(out, " %3.0f %% ", 100.0 * most->ns / most->all);
	name.len = 0;
	if (most->who == MAP_NONE && fact_table[most->fact].who == FACT_OF_ANYBODY)
		out_text(&name, "not attributed");
	else
		out_printf(&name, "%s%s", had, most->who != MAP_NONE ? " " : "");
	put_name(&name, t, most->who);
	put_within(out, out_contents(&name), terminal, terminal->width > used + NAME ? terminal->width - used : NAME);
	out_char(out, '\n');
	out_close(&text);
	out_close(&name);
}

static void put_owed(struct out *out, const struct tally *t, uint32_t set, const struct terminal *terminal)
{
	int width = first_width(terminal, OWED, AFTER_OWED);
	unsigned __int128 all = 0, rest = 0;
	struct owed owed = {};
	size_t row = 0;

	owed_find(&owed, t, set);
	for (size_t i = 0; i < owed.n; i++)
		all += owed.all[i].ns;
	for (size_t i = 0; i < owed.n; i = owed_end(&owed, i)) {
		const struct owed_row *most = &owed.all[i];

		if (!row) {
			start_heads(out, terminal);
			out_printf(out, "%-*s%*s", width, "who waited for whom", TIME, "time");
			end_heads(out, terminal);
		}
		if (most->all >= all / NOTABLE_PART && row++ < OWED_ROWS)
			put_owed_row(out, t, most, terminal);
		else
			rest += most->all;
	}
	if (rest) {
		out_printf(out, "%-*s", width, "  all others");
		put_time_column(out, rest, TIME);
		out_char(out, '\n');
	}
	owed_free(&owed);
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
	put_who(&who, f->tally, finding);
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
		put_layer(out, terminal, largest);
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

/* Names are shortened already; commands are never cut. */
static void put_lines(struct out *to, struct slice page, const struct terminal *terminal)
{
	while (page.n) {
		struct slice line = slice_cut_line(&page);

		if (slice_starts(line, "  see: ") || slice_starts(line, "  cure: "))
			out_slice(to, line);
		else
			out_clipped(to, line, terminal->width);
		out_char(to, '\n');
	}
}

/* How many are slow, and what they have in common. */
static void put_tables(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
		       const struct answer_options *options)
{
	uint32_t set = tally_set_number(f->tally, f->group, slow);

	put_summary(out, f, slow, m, options);
	put_failed(out, f);
	if (!f->group->sets[slow].slow.n)
		return;
	put_layers(out, m, slow, &options->terminal);
	put_traits(out, f->tally, &f->group->sets[slow].traits, &options->terminal);
	put_owed(out, f->tally, set, &options->terminal);
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
	put_lines(to, out_contents(&page), &options->terminal);
	out_close(&page);
}
