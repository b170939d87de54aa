/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <limits.h>

#include "columns.h"
#include "count.h"
#include "json.h"
#include "palette.h"
#include "utf8.h"

/* Those of a terminal, and of plain tables the layers, what overlaps them, what is proven, and three more. */
enum { COLUMNS = 12 + LAYERS + OVERLAPS + FACTS_PROVEN + 3 };

/* Cuts off the text after `from`; it is valid until more is written. */
static struct slice cut_text(struct out *text, size_t from)
{
	struct slice s = {text->buf + from, text->len - from};

	text->len = from;
	return s;
}

static void start_text(struct print *p)
{
	p->text.fd = p->end.fd = p->id.fd = OUT_MEMORY;
	p->text.len = p->end.len = 0;
}

/* The bdev, and after an arrow the one below it that has most of its time, unless that is little; as in JSON. */
static struct slice bdev_of(struct print *p, uint64_t life)
{
	struct out *bdev = &p->measured->fill.io.bdev;
	uint64_t ns;
	struct slice leg = request_io_leg(&p->measured->fill.io, &ns), both;
	size_t n = bdev->len;

	if (leg.n && ns >= life / 10) {
		out_char(bdev, '>');
		out_slice(bdev, leg);
	}
	both = out_contents(bdev);
	bdev->len = n;
	return both;
}

static struct slice who_of(const struct print *p, const struct span *s)
{
	return s->connection == MAP_NONE ? slice_of("")
					 : connections_name(&p->measured->connections, s->connection)->name;
}

/*
 * The columns that the terminal has room for, but for the last one, which has what is left; for programs all of them,
 * but those at the end. Values are valid until others are asked for or p->text is cut. s: NULL for the headings only.
 * waits: what an open span waits in. Names have a positive width.
 */
static size_t find_columns(struct print *p, const struct span *s, const struct span *waits, bool open,
			   struct column found[COLUMNS])
{
	static const struct span none = {.connection = MAP_NONE};
	const struct spans *spans = &p->measured->spans;
	const struct io_args *args = &p->measured->fill.io.args;
	const struct span *of = s ? s : &none;
	const unsigned room = p->terminal.plain ? UINT_MAX : p->terminal.width;
	const bool wide = room >= TERMINAL_ROOMY, longer = s && (open ? s->unknown : life_is_longer(spans, s));
	const uint64_t life = s ? life_ns(spans, s) : 0, reply = s ? life_to_reply(spans, s) : 0;
	const char *type = p->measured->fill.io.type;
	size_t n = 0;

	p->id.len = 0;
	if (s)
		spans_write_id(&p->id, spans, s);
	const struct column all[] = {
		{"US", NULL, wide ? -14 : -11, columns_us(of->first)},
		{open ? "AGE" : "LIFE", NULL, -8, columns_at_least(longer, columns_duration(life))},
		{"ID", NULL, wide ? 8 : 7, columns_name(out_contents(&p->id))},
		{room >= 90 ? "TYPE" : NULL, NULL, wide ? 8 : 6, columns_raw(slice_of(type ? type : ""))},
		{room >= (open ? 130 : 100) ? "BLOCKS" : NULL, NULL, -6,
		 columns_if(io_args_has(args, IO_BLOCKS), columns_number(args->values[IO_BLOCKS]))},
		{room >= (open ? 100 : 80) ? "BDEV" : NULL, NULL, wide ? 16 : 10,
		 columns_raw(s ? bdev_of(p, life) : slice_of(""))},
		{room >= (open ? 150 : 140) ? "LBA" : NULL, NULL, -10,
		 columns_if(io_args_has(args, IO_LBA), columns_number(args->values[IO_LBA]))},
		{room >= (open ? 70 : 0) ? "CONNECTION" : NULL, NULL, wide ? 20 : 12, columns_name(who_of(p, of))},
		{room >= (open ? 130 : 120) ? "LCORE" : NULL, NULL, -5, columns_number(of->lcore)},
		{!open && room >= 115 ? "TO_REPLY" : NULL, NULL, -8,
		 columns_at_least(s && life_may_reply_later(spans, s), columns_duration(reply))},
		{open ? "WAITS" : NULL, NULL, -OUT_DURATION,
		 columns_duration(waits ? life_until(spans, waits) - waits->last : 0)},
		{open && room >= 110 && !p->terminal.plain ? "BEHIND" : NULL, NULL, wide ? 32 : 26,
		 columns_text(waits ? behind_of(&p->measured->behind, s) : slice_of(""))},
	};
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i].heading) {
			found[n] = all[i];
			/* also for programs */
			found[n++].name = all[i].heading;
		}
	return n;
}

static void put_name(struct print *p, struct out *out, const struct column_value *value, unsigned width)
{
	struct slice name = value->kind == COLUMN_ABSENT ? slice_of("") : value->text;

	if (value->kind == COLUMN_RAW) {
		char *decoded = out_room(&p->text, name.n);

		name = (struct slice){decoded, json_unescape(decoded, name)};
		/* blanks separate columns */
		for (size_t k = 0; k < name.n; k++)
			decoded[k] = decoded[k] == ' ' ? '_' : decoded[k];
	}
	if (p->terminal.width == TERMINAL_WIDE) {
		out_column(out, name, width);
		return;
	}
	out_shortened(out, name, width);
	out_char(out, ' ');
}

static void put_value(struct print *p, struct out *out, const struct column *column)
{
	struct slice text;

	if (column->width > 0) {
		put_name(p, out, &column->value, column->width);
		return;
	}
	columns_put(&p->text, &column->value);
	text = cut_text(&p->text, 0);
	for (int n = -column->width - (int)text.n; n > 0; n--)
		out_char(out, ' ');
	out_slice(out, text);
	out_char(out, ' ');
}

/* Parts of the end of a line, as far as there is room. */
struct parts {
	const struct terminal *terminal;
	struct out *out;
	size_t room, n;      /* characters */
	size_t last, last_n; /* out->len and n before the last part */
	bool is_full;        /* an ellipsis stands for the rest */
};

static void put_dots(struct parts *parts)
{
	enum { DOTS = 2 }; /* characters */

	if (parts->n + DOTS > parts->room && parts->last_n) {
		parts->out->len = parts->last;
		parts->n = parts->last_n;
	}
	parts->is_full = true;
	if (!parts->n || parts->n + DOTS > parts->room)
		return;
	out_char(parts->out, ' ');
	out_text(parts->out, utf8_ellipsis());
	parts->n += DOTS;
}

static bool put_part(struct parts *parts, const char *before, const char *sgr, struct slice text)
{
	size_t n = strlen(before) + text.n;

	if (parts->is_full || parts->n + n > parts->room)
		return false;
	parts->last = parts->out->len;
	parts->last_n = parts->n;
	parts->n += n;
	out_text(parts->out, before);
	if (sgr)
		terminal_paint(parts->terminal, parts->out, sgr);
	out_slice(parts->out, text);
	if (sgr)
		terminal_plain(parts->terminal, parts->out);
	return true;
}

static unsigned percent_of(uint64_t ns, uint64_t life)
{
	return life ? 100.0 * ns / life + 0.5 : 0;
}

static void write_share(struct out *out, const char *name, unsigned percent)
{
	out_text(out, name);
	out_char(out, ' ');
	out_u64(out, percent);
	out_char(out, '%');
}

enum { SHARES = 3 };

static void put_layer(struct print *p, struct parts *parts, enum layer layer, uint64_t life)
{
	unsigned percent = percent_of(p->line->layers[layer], life);

	if (!percent)
		return;
	write_share(&p->text, spdk_layers[layer], percent);
	put_part(parts, parts->n ? " " : "", palette_layers[layer].sgr, cut_text(&p->text, 0));
}

/* Whether silence is worth a share in text: lcores with little to do are silent most of the time. */
static bool is_notable(const struct print *p, unsigned percent)
{
	return percent >= 50 && lcores_is_rare(&p->measured->spans.lcores, p->line->silent.lcore, p->line->silent.ns);
}

/* Puts p->text in parentheses: its time also counts for a layer. */
static void put_other(struct print *p, struct parts *parts)
{
	if (!put_part(parts, parts->n ? " " : " (", NULL, cut_text(&p->text, 0)) && !parts->is_full)
		put_dots(parts);
}

/* The causes that were proven. */
static void put_proofs(struct print *p, struct parts *parts, uint64_t life)
{
	enum { NOTABLE = 10 }; /* percent */

	for (unsigned i = 0; i < FACTS_PROVEN; i++) {
		unsigned percent = percent_of(p->line->facts[fact_proven[i]], life);

		if (percent < NOTABLE)
			continue;
		write_share(&p->text, fact_table[fact_proven[i]].name, percent);
		put_other(p, parts);
	}
	if (!p->line->full_queue)
		return;
	out_printf(&p->text, "qd %" PRIu64 " of %" PRIu64, p->line->full_queue - 1, p->line->full_queue);
	put_other(p, parts);
}

static void put_others(struct print *p, struct parts *parts, uint64_t life)
{
	enum { FEW = 5 }; /* percent: only where there is much room */
	const struct coverage_time *tools = p->measured->spans.coverage.tools;
	unsigned silent = percent_of(p->line->silent.ns, life);

	for (unsigned i = 0; i < OVERLAPS; i++) {
		unsigned percent = percent_of(p->line->facts[fact_overlaps[i]], life);
		bool longer = tools[overlaps_tools[i]].any && !p->line->covered[i];

		if (!percent && (!longer || i == OVERLAP_IRQ))
			continue;
		if (percent < FEW && !longer && p->terminal.width < TERMINAL_ROOMY)
			continue;
		out_text(&p->text, overlaps_name(i));
		out_text(&p->text, percent && longer ? " >" : " ");
		if (percent)
			out_u64(&p->text, percent);
		out_char(&p->text, percent ? '%' : '?');
		put_other(p, parts);
	}
	if (is_notable(p, silent)) {
		write_share(&p->text, "silent", silent);
		put_other(p, parts);
	}
	put_proofs(p, parts, life);
	if (parts->n) {
		out_char(parts->out, ')');
		parts->n++;
	}
}

/* Marks an incomplete span. */
static void put_flags(struct print *p, struct out *out, const struct span *s, bool open)
{
	out_text(out, admin_is_possible(&p->measured->spans.admin, s) ? " admin?" : "");
	if (!open)
		out_text(out, s->end.open ? " open" : "");
	out_text(out, s->cut ? " cut" : "");
	if (!open) {
		out_text(out, spanfill_is_torn(s) ? " torn" : "");
		out_text(out, s->gap || s->end.lost ? " lost" : "");
	}
}

/* The states of a span in flight and of those below it. */
static void put_states(struct print *p, struct out *out, const struct span *s)
{
	for (const struct span *child = s; child; child = life_open_child(&p->measured->spans, child)) {
		out_text(out, child == s ? "" : " > ");
		out_visible(out, p->measured->spans.states->all[child->states[child->n - 1].state]);
	}
}

/*
 * All columns with tabs, for programs: the headings, or those of a span. waits: as in find_columns(). Where the time
 * is, and what explains it, is in microseconds, where trace lines of other tools cover it.
 */
static void put_plain(struct print *p, struct out *out, const struct span *s, const struct span *waits, bool open)
{
	const struct measured *m = p->measured;
	const struct spanline *line = &m->fill.line;
	struct column all[COLUMNS];
	size_t n = find_columns(p, s, waits, open, all);
	struct slice flags;

	for (enum layer i = 0; i < LAYERS; i++)
		all[n++] = (struct column){spdk_layers[i], .value = columns_us(line->layers[i])};
	for (enum overlap i = 0; i < OVERLAPS; i++)
		all[n++] = (struct column){
			overlaps_name(i),
			.value = columns_if(line->covered[i], columns_us(line->facts[fact_overlaps[i]]))};
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		all[n++] = (struct column){fact_table[fact_proven[i]].name,
					   .value = columns_us(line->facts[fact_proven[i]])};
	if (s && open)
		put_states(p, &p->text, s);
	if (s)
		put_flags(p, &p->end, s, open);
	/* without the blank before the first one */
	flags = out_contents(&p->end);
	if (open) {
		all[n++] = (struct column){"FOR", "FOR", .value = columns_text(out_contents(&p->text))};
		all[n++] = (struct column){"BEHIND", "BEHIND",
					   .value = columns_text(s ? behind_of(&m->behind, s) : slice_of(""))};
	}
	all[n++] = (struct column){"FLAGS", "FLAGS", .value = columns_name(flags.n ? slice_from(flags, 1) : flags)};
	columns_tabs(out, 0, all, n, !s);
	out_char(out, '\n');
}

void print_heading(struct print *p, struct out *out, bool open)
{
	struct column all[COLUMNS];

	start_text(p);
	if (p->terminal.plain) {
		put_plain(p, out, NULL, NULL, open);
		return;
	}
	terminal_paint(&p->terminal, out, TERMINAL_HEADS);
	for (size_t i = 0, n = find_columns(p, NULL, NULL, open, all); i < n; i++)
		out_printf(out, "%*s ", -all[i].width, all[i].heading);
	out_text(out, open ? "FOR" : "SHARES");
	terminal_plain(&p->terminal, out);
	out_char(out, '\n');
}

/* Writes the columns but for the last one. Returns the room for that, but at least `least`. */
static size_t put_columns(struct print *p, struct out *out, const struct span *s, const struct span *waits,
			  size_t least)
{
	struct column all[COLUMNS];
	size_t before, n = find_columns(p, s, waits, waits, all);
	struct slice written;

	if (p->is_title)
		terminal_paint(&p->terminal, out, TERMINAL_BOLD);
	before = out->len;
	for (size_t i = 0; i < n; i++)
		put_value(p, out, &all[i]);
	written = slice_from(out_contents(out), before);
	n = utf8_is_ascii(written) ? written.n : utf8_count(written);
	if (p->is_title)
		terminal_plain(&p->terminal, out);
	return p->terminal.width > n + least ? p->terminal.width - n : least;
}

/* Ends a line. One that has no room for its flags, or a very long time, is clipped. */
static void end_line(struct print *p, struct out *out, size_t start)
{
	struct slice line = slice_from(out_contents(out), start);

	if (line.n > p->terminal.width) {
		out_clipped(&p->text, line, p->terminal.width);
		out->len = start;
		out_slice(out, cut_text(&p->text, 0));
	}
	out_char(out, '\n');
}

void print_text(struct print *p, struct out *out, const struct span *s)
{
	enum { LEAST = 12 }; /* a share of a layer */
	uint64_t life = life_ns(&p->measured->spans, s);
	struct parts layers = {.terminal = &p->terminal, .out = out}, others = layers;
	double times[LAYERS];
	enum layer largest[LAYERS];
	size_t start = out->len, flags;

	measured_span(p->measured, s);
	p->line = measured_line(p->measured, 0);
	start_text(p);
	if (p->terminal.plain) {
		put_plain(p, out, s, NULL, false);
		return;
	}
	for (enum layer i = 0; i < LAYERS; i++)
		times[i] = p->line->layers[i];
	spdk_sort_layers(times, largest);
	put_flags(p, &p->end, s, false);
	flags = p->end.len;
	layers.room = put_columns(p, out, s, NULL, LEAST + flags) - flags;
	put_layer(p, &layers, largest[0], life);
	/* these say more than the other layers; a parenthesis ends them */
	others.out = &p->end;
	others.room = layers.room - layers.n;
	others.room -= others.room > 0;
	put_others(p, &others, life);
	layers.room -= others.n;
	for (unsigned i = 1; i < SHARES; i++)
		put_layer(p, &layers, largest[i], life);
	out_text(out, life ? "" : "-");
	if (p->end.len) {
		out_bytes(out, p->end.buf + flags, p->end.len - flags);
		out_bytes(out, p->end.buf, flags);
	}
	end_line(p, out, start);
}

void print_open(struct print *p, struct out *out, const struct span *s)
{
	enum { LEAST = 12 };
	const struct spans *spans = &p->measured->spans;
	const struct span *leaf = s, *child;
	bool replies = s->reply.start != UINT64_MAX;
	enum layer layer;
	size_t start = out->len, used, room;

	measured_span(p->measured, s);
	p->line = measured_line(p->measured, 0);
	start_text(p);
	while ((child = life_open_child(spans, leaf))) {
		leaf = child;
		replies |= leaf->reply.start != UINT64_MAX;
	}
	if (p->terminal.plain) {
		put_plain(p, out, s, leaf, true);
		return;
	}
	layer = replies ? LAYER_REPLY : spans_layer(spans, leaf, leaf->states[leaf->n - 1].state);
	put_flags(p, &p->end, s, true);
	used = strlen(spdk_layers[layer]) + strlen(": ") + p->end.len;
	room = put_columns(p, out, s, leaf, used + LEAST) - used;
	terminal_paint(&p->terminal, out, palette_layers[layer].sgr);
	out_text(out, spdk_layers[layer]);
	terminal_plain(&p->terminal, out);
	out_text(out, ": ");
	put_states(p, &p->text, s);
	out_short(out, cut_text(&p->text, 0), room);
	out_slice(out, out_contents(&p->end));
	end_line(p, out, start);
}

void print_free(struct print *p)
{
	out_close(&p->text);
	out_close(&p->end);
	out_close(&p->id);
}
