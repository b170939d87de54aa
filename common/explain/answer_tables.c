/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "count.h"
#include "owed.h"
#include "palette.h"
#include "utf8.h"

/* Rows of a table. */
enum { TRAIT_ROWS = 5, OWED_ROWS = 8 };
enum { NOTABLE_PART = 50 }; /* of all time: what is less is added up */

/* Widths of the first columns, or what a narrow terminal leaves of them, and of all else in their lines. */
enum { LAYER = 22, COMMON = 58, OWED = 43 };
enum { AFTER_COMMON = 19, AFTER_OWED = 28 };
/* Of names; those of holders are after the time and its share. */
enum { NAME = 15, NARROW_NAME = 12, BEFORE_HOLDER = 18 };

static struct columns start(struct out *out, const struct terminal *terminal)
{
	return (struct columns){.out = out, .terminal = {terminal->width, terminal->color, false}, .indent = 2};
}

static void end(struct columns *c)
{
	out_text(c->out, c->n ? "\n" : "");
	columns_end(c);
}

static unsigned first_width(const struct terminal *terminal, unsigned width, unsigned after)
{
	return terminal->width < width + after ? terminal->width - after : width;
}

/* What has at least half a percent of all is a row. */
static void put_part(struct columns *c, enum slow slow, const char *name, const char *sgr, __int128 ns, __int128 all)
{
	double percent = all ? 100.0 * (double)ns / (double)all : 0;
	struct column columns[] = {
		{slow == SLOW_ALIKE ? "where the time is" : "where the extra time is", NULL, LAYER,
		 columns_word(slice_of(name))},
		{"time", NULL, -9, columns_difference((double)ns)},
		{"share", NULL, -7, columns_percent(percent)},
	};

	columns[0].value.sgr = sgr;
	if (percent >= 0.5 || percent <= -0.5)
		columns_row(c, columns, COUNT(columns));
}

static void put_layers(struct out *out, enum slow slow, const struct means *m, const struct terminal *terminal)
{
	struct columns c = start(out, terminal);
	double layers[LAYERS];
	enum layer sorted[LAYERS];

	for (enum layer i = 0; i < LAYERS; i++)
		layers[i] = (double)m->layers[i];
	spdk_sort_layers(layers, sorted);
	for (unsigned i = 0; i < LAYERS; i++)
		put_part(&c, slow, spdk_layers[sorted[i]], palette_layers[sorted[i]].sgr, m->layers[sorted[i]],
			 m->more);
	for (unsigned i = 0; i < OVERLAPS; i++) {
		char name[LAYER + 1];

		snprintf(name, sizeof(name), "  of it %s", overlaps_name(i));
		put_part(&c, slow, name, NULL, m->overlaps[i], m->more);
	}
	end(&c);
}

static void write_trait(struct out *out, const struct tally *t, const struct traits_value *v)
{
	static const char *const before[TRAITS] = {
		[TRAIT_HOST] = "host ",         [TRAIT_CONNECTION] = "connection ", [TRAIT_BDEV] = "bdev ",
		[TRAIT_LEG] = "leg ",           [TRAIT_LCORE] = "lcore ",           [TRAIT_TYPE] = "type ",
		[TRAIT_SIZE] = "blocks ",       [TRAIT_STATUS] = "status ",         [TRAIT_REGION] = "region from LBA ",
		[TRAIT_DEPTH] = "qd ",          [TRAIT_OFF_CPU] = "off CPU: ",      [TRAIT_IRQ] = "irq: ",
		[TRAIT_FULL] = "full queue of "};
	uint64_t number = v->value.number;
	uint32_t name = v->value.name;

	out_text(out, before[v->trait]);
	switch (v->trait) {
	case TRAIT_SIZE:
		out_u64(out, number);
		break;
	case TRAIT_REGION:
		out_printf(out, "%" PRIu64 " of ", number << REQUESTS_REGION);
		out_visible_json(out, tally_name(t, name));
		break;
	case TRAIT_DEPTH:
		if (number < 2)
			out_u64(out, number);
		else
			out_printf(out, "from %" PRIu64 " to %" PRIu64, (uint64_t)1 << (number - 1),
				   ((uint64_t)1 << (number - 1)) * 2 - 1);
		break;
	default:
		out_visible_json(out, tally_name(t, name));
	}
}

static void put_common(struct columns *c, const struct traits *t, struct slice text, uint64_t slow, uint64_t others)
{
	const struct column columns[] = {
		{"what the slow ones have in common", NULL, first_width(&c->terminal, COMMON, AFTER_COMMON),
		 columns_text(text)},
		{"slow", NULL, -7, columns_percent(100.0 * slow / t->slow)},
		{"others", NULL, -7, columns_percent(100.0 * others / t->others)},
	};

	columns_row(c, columns, COUNT(columns));
}

/* Values that select the same requests are one row, with equals signs between them. Returns its end. */
static size_t put_equal_traits(struct columns *c, const struct tally *tally, const struct traits *t, size_t i)
{
	size_t width = first_width(&c->terminal, COMMON, AFTER_COMMON);
	const struct traits_value *first = &t->all[i];
	struct out text = {.fd = OUT_MEMORY}, value = {.fd = OUT_MEMORY};

	for (bool is_first = true; i < t->n && t->all[i].hash == first->hash; i++, is_first = false) {
		value.len = 0;
		write_trait(&value, tally, &t->all[i]);
		if (!is_first &&
		    utf8_count(out_contents(&text)) + utf8_count(out_contents(&value)) + strlen(" = ") > width) {
			struct out *note = columns_note(c);

			out_text(note, "  ");
			out_short(note, out_contents(&text), c->terminal.width == TERMINAL_WIDE ? SIZE_MAX : width);
			text.len = 0;
			out_text(&text, "  ");
		}
		out_text(&text, is_first ? "" : " = ");
		out_slice(&text, out_contents(&value));
	}
	put_common(c, t, out_contents(&text), first->slow, first->others);
	out_close(&text);
	out_close(&value);
	return i;
}

/* Seconds, with as many decimals as tell the two ends apart, but two at least. */
static void put_window(struct columns *c, const struct traits *t)
{
	const struct traits_window *w = &t->window;
	double ns = (double)(w->end - w->begin);
	int decimals = 2;
	char text[64];

	for (double unit = 1e8; decimals < 6 && ns < unit; unit /= 10)
		decimals++;
	snprintf(text, sizeof(text), "between %.*f and %.*f s", decimals, (double)w->begin / 1e9, decimals,
		 (double)w->end / 1e9);
	put_common(c, t, slice_of(text), w->slow, w->others);
}

static void put_traits(struct out *out, const struct tally *tally, const struct traits *traits,
		       const struct terminal *terminal)
{
	struct columns c = start(out, terminal);

	for (size_t i = 0, row = 0; i < traits->n && row < TRAIT_ROWS; row++)
		i = put_equal_traits(&c, tally, traits, i);
	if (traits->has_window)
		put_window(&c, traits);
	end(&c);
}

/* What was waited for. */
static void write_resource(struct out *out, const struct tally *t, const struct owed_row *row)
{
	static const char *const words[RESOURCES] = {
		[RESOURCE_NONE] = "something else", [RESOURCE_BUFFERS] = "buffers", [RESOURCE_LCORE] = "lcore ",
		[RESOURCE_BDEV] = "bdev ",          [RESOURCE_LEG] = "leg ",        [RESOURCE_DRIVE] = "the drive of ",
		[RESOURCE_SOCKET] = "its socket",   [RESOURCE_DATA] = "its data",   [RESOURCE_NETWORK] = "its network",
	};
	enum resource resource = fact_table[row->fact].resource;
	bool is_any = resource == RESOURCE_LCORE && row->of == MAP_NONE;

	out_text(out, is_any ? "its lcore" : words[resource]);
	out_visible_json(out, tally_name(t, row->of));
}

/* As in "ok      waited for leg B", as wide as its column. */
static void write_waited(struct out *out, const struct tally *t, const struct owed_row *row, unsigned width,
			 const struct terminal *terminal)
{
	bool is_wide = terminal->width == TERMINAL_WIDE;
	unsigned name_width = width < OWED ? NARROW_NAME : NAME;
	struct out text = {.fd = OUT_MEMORY};
	size_t n;

	out_visible_json(&text, tally_name(t, row->host));
	n = out_short(out, out_contents(&text), is_wide ? SIZE_MAX : name_width);
	for (; n < name_width; n++)
		out_char(out, ' ');
	out_text(out, " waited for ");
	text.len = 0;
	write_resource(&text, t, row);
	out_short(out, out_contents(&text), is_wide ? SIZE_MAX : width - utf8_count(out_contents(out)));
	out_close(&text);
}

static void write_holder(struct out *out, const struct tally *t, const struct owed_row *row)
{
	bool is_known = row->who != MAP_NONE;

	out_text(out, is_known || fact_table[row->fact].who != FACT_OF_ANYBODY ? fact_table[row->fact].had
									       : "not attributed");
	out_text(out, is_known ? " " : "");
	out_visible_json(out, tally_name(t, row->who));
}

/* Writes a row: text has the time of all who had what a host waited for, and the one that had most of it. */
static void put_owed_row(struct columns *c, const struct tally *t, const struct owed_row *row)
{
	const unsigned width = first_width(&c->terminal, OWED, AFTER_OWED), used = width + BEFORE_HOLDER;
	const struct fact_row *fact = &fact_table[row->fact];
	struct out waited = {.fd = OUT_MEMORY}, holder = {.fd = OUT_MEMORY};
	bool has_room = c->terminal.width > used + NAME && c->terminal.width != TERMINAL_WIDE;

	if (!c->is_json) {
		write_waited(&waited, t, row, width, &c->terminal);
		write_holder(&holder, t, row);
	}
	const struct column columns[] = {
		{NULL, "resource", 0, columns_word(slice_of(fact_resources[fact->resource]))},
		{NULL, "cause", 0, columns_word(slice_of(fact->name))},
		{NULL, "of", 0, answer_tables_name(t, row->of)},
		{NULL, "who", 0, answer_tables_name(t, row->who)},
		{NULL, "host", 0, answer_tables_name(t, row->host)},
		{"who waited for whom", NULL, width, columns_text(out_contents(&waited))},
		{"time", NULL, -8, columns_difference((double)row->all)},
		{"", NULL, -5, columns_percent(100.0 * row->ns / row->all)},
		{"", NULL, has_room ? c->terminal.width - used : NAME,
		 holder.len ? columns_text(out_contents(&holder)) : columns_word(slice_of(""))},
		{NULL, "us", 0, columns_us(row->ns < UINT64_MAX ? row->ns : UINT64_MAX)},
	};
	columns_row(c, columns, COUNT(columns));
	out_close(&waited);
	out_close(&holder);
}

void answer_tables_owed(struct out *out, const struct tally *t, uint32_t set, const struct terminal *terminal)
{
	struct columns c = start(out, terminal);
	unsigned __int128 all = 0, rest = 0;
	struct owed owed = {};
	size_t row = 0;

	owed_find(&owed, t, set);
	for (size_t i = 0; i < owed.n; i++)
		all += owed.all[i].ns;
	for (size_t i = 0; i < owed.n; i = owed_end(&owed, i)) {
		const struct owed_row *most = &owed.all[i];

		if (most->all >= all / NOTABLE_PART && row++ < OWED_ROWS)
			put_owed_row(&c, t, most);
		else
			rest += most->all;
	}
	if (rest) {
		const struct column others[] = {
			{"who waited for whom", NULL, first_width(terminal, OWED, AFTER_OWED),
			 columns_word(slice_of("all others"))},
			{"time", NULL, -8, columns_difference((double)rest)},
			{"", NULL, 0, columns_word(slice_of(""))},
			{"", NULL, 0, columns_word(slice_of(""))},
		};

		columns_row(&c, others, COUNT(others));
	}
	owed_free(&owed);
	end(&c);
}

void answer_tables(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
		   const struct terminal *terminal)
{
	put_layers(out, slow, m, terminal);
	put_traits(out, f->tally, &f->group->sets[slow].traits, terminal);
	answer_tables_owed(out, f->tally, tally_set_number(f->tally, f->group, slow), terminal);
}

void answer_tables_json(struct out *out, const struct findings *f, enum slow slow)
{
	struct columns c = {.out = out, .is_json = true, .is_array = true};
	struct owed owed = {};

	owed_find(&owed, f->tally, tally_set_number(f->tally, f->group, slow));
	for (size_t i = 0; i < owed.n; i++)
		put_owed_row(&c, f->tally, &owed.all[i]);
	owed_free(&owed);
	columns_end(&c);
}
