/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <inttypes.h>
#include <stdlib.h>

#include "digits.h"
#include "mem.h"
#include "palette.h"
#include "sentences.h"
#include "self_time.h"
#include "table.h"
#include "utf8.h"

/* Columns before those of an entry: a mark, and the time before it. */
enum { INDENT = 2 + OUT_DURATION + 1 };

/*
 * The columns of an entry. wide: the width on a roomy terminal; from: how wide a terminal is that has room
 * for the column.
 */
static const struct {
	unsigned width, wide, from;
} columns[SHORTTEXT_COLUMNS] = {
	[SHORTTEXT_LCORE] = {5, 5, 120}, [SHORTTEXT_US] = {11, 14, 0},     [SHORTTEXT_TIME] = {30, 30, 140},
	[SHORTTEXT_WHO] = {12, 20, 0},   [SHORTTEXT_TPOINT] = {23, 24, 0}, [SHORTTEXT_OBJECT] = {14, 17, 75},
	[SHORTTEXT_AGE] = {9, 9, 160},   [SHORTTEXT_SIZE] = {5, 5, 95},    [SHORTTEXT_ARGS] = {0, 0, 80},
};

void story_start(struct story *story, struct measured *m, const struct terminal *terminal)
{
	*story = (struct story){.measured = m,
				.spans = &m->spans,
				.connections = &m->connections,
				.holders = &m->holders,
				.proofs = &m->proofs,
				.terminal = terminal,
				.columns.shortens = terminal->width < TERMINAL_WIDE,
				.text.fd = OUT_MEMORY,
				.row.fd = OUT_MEMORY,
				.sentences.fd = OUT_MEMORY};
	for (enum shorttext_column i = 0; i < SHORTTEXT_COLUMNS; i++) {
		story->columns.widths[i] = terminal->width < TERMINAL_ROOMY ? columns[i].width : columns[i].wide;
		story->columns.hidden[i] = terminal->width < columns[i].from;
	}
}

/* An entry in span.kept: what the short text shows of it, except for names. Its texts follow, then its arguments. */
enum { TEXTS = 7, ABSENT = UINT32_MAX };

struct kept_entry {
	uint64_t object_value;
	uint32_t connection;
	uint32_t num_args;
	uint32_t lengths[TEXTS];
};

/* Its texts follow. */
struct kept_arg {
	uint32_t key_n, value_n;
};

/* The texts that are stored. */
static void texts_of(struct traceline *line, struct slice *texts[TEXTS])
{
	struct slice *all[TEXTS] = {&line->lcore,   &line->us,        &line->time, &line->object_id,
				    &line->related, &line->object_us, &line->size};

	memcpy(texts, all, sizeof(all));
}

/* named: the argument that names the connection is not stored. */
static void keep_line(struct out *to, const struct traceline *line, uint32_t connection, size_t named)
{
	struct kept_entry kept = {line->object_value, connection, line->num_args - (named < line->num_args), {}};
	struct traceline shown = *line;
	char us[DIGITS_ROOM + 4], age[DIGITS_ROOM + 4];
	struct slice *texts[TEXTS];

	/* the line of an entry has no text of these */
	if (!line->us.p)
		shown.us = slice_between(us, digits_us(us, line->ns));
	if (!line->object_us.p && line->has_age)
		shown.object_us = slice_between(age, digits_us(age, line->age_ns));
	texts_of(&shown, texts);
	for (unsigned i = 0; i < TEXTS; i++)
		kept.lengths[i] = texts[i]->p ? texts[i]->n : ABSENT;
	out_bytes(to, &kept, sizeof(kept));
	for (unsigned i = 0; i < TEXTS; i++)
		out_slice(to, *texts[i]);
	for (size_t i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		struct kept_arg lengths = {arg->key.n, arg->value.n};

		if (i == named)
			continue;
		out_bytes(to, &lengths, sizeof(lengths));
		out_slice(to, arg->key);
		out_slice(to, arg->value);
	}
}

/* Sets what keep_line() stored. Returns the connection. */
static uint32_t load_line(struct traceline *line, struct slice kept)
{
	struct slice *texts[TEXTS];
	struct kept_entry lengths;

	memcpy(&lengths, slice_cut(&kept, sizeof(lengths)).p, sizeof(lengths));
	line->object_value = lengths.object_value;
	texts_of(line, texts);
	for (unsigned i = 0; i < TEXTS; i++)
		*texts[i] = lengths.lengths[i] == ABSENT ? (struct slice){} : slice_cut(&kept, lengths.lengths[i]);
	line->num_args = 0;
	while (line->num_args < lengths.num_args) {
		struct kept_arg arg;
		struct slice key;

		memcpy(&arg, slice_cut(&kept, sizeof(arg)).p, sizeof(arg));
		key = slice_cut(&kept, arg.key_n);
		traceline_add_arg(line, key, NULL);
		line->args[line->num_args - 1].value = slice_cut(&kept, arg.value_n);
	}
	return lengths.connection;
}

void story_add(struct story *story, struct span *s, uint32_t before, const struct traceline *line, uint32_t connection,
	       size_t named)
{
	struct holders_span *area = holders_of(s);

	if (before == MAP_NONE)
		area->n = 0;
	/* in a span of SPANS_STATES states, each further one replaces the last one */
	if (area->n == s->n)
		s->kept.len = area->entries[--area->n];
	area->entries = mem_room(area->entries, area->n, &area->cap);
	area->entries[area->n++] = s->kept.len;
	/* the heading comes first */
	story->columns.has_times |= line->time.p != NULL;
	keep_line(&s->kept, line, connection, named);
}

/* A row as far as the terminal has room for it. */
static void put_row(struct story *story, struct out *out)
{
	struct slice row = out_contents(&story->row);

	row.n -= row.n && row.p[row.n - 1] == '\n';
	out_clipped(out, row, story->terminal->width);
	out_char(out, '\n');
	story->row.len = 0;
}

/* Bytes of a line in at most `width` characters, up to a blank if there is one, and at least one character. */
static size_t line_length(struct slice text, size_t width)
{
	size_t n = 0, blank = 0;

	for (; n < text.n && width; width--) {
		do
			n++;
		while (n < text.n && utf8_continues(text.p[n]));
		if (n < text.n && text.p[n] == ' ')
			blank = n;
	}
	return n < text.n && blank ? blank : n;
}

/* A sentence, or several; continued in a line of its own where it is wider than the terminal. */
static void put_sentences(struct story *story, struct out *out, struct slice text)
{
	enum { DEEPER = 2 };
	size_t width = story->terminal->width - INDENT;

	while (text.n) {
		struct slice sentence = slice_cut_line(&text);

		out_printf(out, "%*s", INDENT, "");
		out_slice(out, slice_cut(&sentence, line_length(sentence, width)));
		while (sentence.n) {
			slice_cut(&sentence, *sentence.p == ' ');
			out_printf(out, "\n%*s", INDENT + DEEPER, "");
			out_slice(out, slice_cut(&sentence, line_length(sentence, width - DEEPER)));
		}
		out_char(out, '\n');
	}
}

/* Writes the sentences that were collected. */
static void put_collected(struct story *story, struct out *out)
{
	put_sentences(story, out, out_contents(&story->sentences));
	story->sentences.len = 0;
}

/* Starts a row: the time before an entry, in the colour of what it was waited for, and a mark if it is long. */
static void put_wait(struct story *story, struct out *out, size_t entry, uint64_t gap, bool marked)
{
	if (marked)
		terminal_paint(story->terminal, out, TERMINAL_BOLD);
	terminal_paint(story->terminal, out, palette_layers[holders_layer(story->holders, &story->waits, entry)].sgr);
	out_text(out, marked ? "* " : "  ");
	out_duration(out, gap);
	terminal_plain(story->terminal, out);
	out_char(out, ' ');
}

static void put_entry(struct story *story, struct out *out, const struct waits_entry *e)
{
	const struct span *s = e->span;
	const size_t *at = &holders_of(s)->entries[e->state], n = (e->state + 1 < s->n ? at[1] : s->kept.len) - *at;
	uint32_t connection = load_line(&story->line, (struct slice){s->kept.buf + *at, n});

	story->line.tpoint = story->spans->states->all[s->states[e->state].state];
	/* no entry says which command a request is */
	if (!e->state && spans_is_own(story->spans, e->span))
		story->line.related = span_parent(e->span);
	shorttext_write(&story->columns, out, &story->line, n + story->line.tpoint.n, story->connections, connection,
			SIZE_MAX);
}

static void add_aside(struct story *story, struct story_aside aside)
{
	story->asides = mem_room(story->asides, story->num_asides, &story->cap_asides);
	story->asides[story->num_asides++] = aside;
}

/* Once per story. */
static void add_held(void *context, const struct reactor *reactor, struct reactors_interval *interval, uint64_t ns)
{
	struct story *story = context;

	(void)ns;
	if (interval->mark == story->num_stories)
		return;
	interval->mark = story->num_stories;
	add_aside(story, (struct story_aside){reactor->lcore, interval->end, interval, NULL});
}

/* Gathers what held the span's reactors, and its disk I/O. */
static void gather_asides(struct story *story, const struct span *s)
{
	life_held(story->spans, s, add_held, story);
	if (s->disk.found == DISK_ONE)
		add_aside(story, (struct story_aside){s->last_lcore, s->disk.end, NULL, s});
	for (const struct span *child = s->child; child; child = child->next)
		gather_asides(story, child);
}

static uint64_t length_of(const struct story_aside *aside)
{
	return aside->held ? aside->held->end - aside->held->begin : UINT64_MAX;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = length_of(a), y = length_of(b);

	return (x < y) - (x > y);
}

static int by_end(const void *a, const void *b)
{
	const struct story_aside *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->lcore > y->lcore) - (x->lcore < y->lcore);
}

/* Gathers the lines that are printed among the entries, and writes how many are left out. */
static void find_asides(struct story *story, struct out *out, const struct span *s)
{
	story->num_stories++;
	story->num_asides = 0;
	gather_asides(story, s);
	if (story->num_asides > STORY_HELD) {
		qsort(story->asides, story->num_asides, sizeof(*story->asides), longest_first);
		out_printf(out, "its reactor was held %zu times: these are the longest %d\n", story->num_asides,
			   STORY_HELD);
		story->num_asides = STORY_HELD;
	}
	if (story->num_asides)
		qsort(story->asides, story->num_asides, sizeof(*story->asides), by_end);
}

/* Prints a line in the columns of an entry, without a wait, with the time at which the interval ended. */
static void put_aside(struct story *story, struct out *out, const struct story_aside *aside)
{
	struct out *text = &story->sentences;

	if (!story->columns.hidden[SHORTTEXT_LCORE])
		out_printf(text, "%*" PRIu64 " ", story->columns.widths[SHORTTEXT_LCORE], aside->lcore);
	story->text.len = 0;
	out_us(&story->text, aside->ns);
	out_printf(text, "%*.*s ", story->columns.widths[SHORTTEXT_US], (int)story->text.len, story->text.buf);
	if (aside->held) {
		out_slice(text, held_text(&story->measured->held, aside->held));
		out_text(text, " for ");
		out_duration_text(text, aside->held->end - aside->held->begin);
	} else {
		out_text(text, "disk");
		out_text(text, story->spans->disks.names.all[aside->span->disk.name].n ? " " : "");
		out_visible(text, story->spans->disks.names.all[aside->span->disk.name]);
		out_text(text, " for ");
		out_duration_text(text, aside->span->disk.end - aside->span->disk.begin);
	}
	put_collected(story, out);
}

/* Prints an entry, and why the wait before it is long. */
static void put_step(struct story *story, struct out *out, size_t i)
{
	const struct wait *wait = waits_at(&story->waits, i);
	uint64_t gap = waits_before(&story->waits, story->spans, i);
	const struct waits_entry *e = &story->waits.entries[i];
	struct out *text = &story->sentences;
	bool silent;

	put_wait(story, &story->row, i, gap, wait);
	if (i < story->waits.n)
		put_entry(story, &story->row, e);
	else
		out_text(&story->row, "no entry since");
	put_row(story, out);
	if (!i)
		sentences_first(story->proofs, text, e->span);
	if (wait) {
		silent = sentences_wait(story->holders, text, &story->waits, wait);
		if (i == story->waits.n)
			sentences_open(story->proofs, text, story->waits.root);
		else if (i)
			sentences_proven(story->proofs, text, e->span, e->state, gap, silent);
	}
	put_collected(story, out);
}

static bool is_in_tree(const struct span *s, const struct span *of)
{
	while (s && s != of)
		s = s->parent;
	return s;
}

/* Of the bdev I/Os beside this one that were in flight at the same time, the one that ends last; NULL: none was. */
static const struct span *rival_of(const struct spans *spans, const struct span *s)
{
	const struct span *last = NULL;

	for (const struct span *other = s->parent->child; other; other = other->next) {
		uint64_t end = life_is_open(spans, other) ? UINT64_MAX : other->last;

		if (other != s && spans_is_bdev_io(spans, other) && other->first < s->last && end > s->first &&
		    (!last || (!life_is_open(spans, last) && end > last->last)))
			last = other;
	}
	return last;
}

/* After the last entry of an I/O that has the leg in its tree: how long the others had ended by then. */
static void put_leg(struct story *story, struct out *out, const struct waits_entry *e, const struct span *leg)
{
	const struct span *s = e->span, *rival;

	if (e->state + 1 < s->n || !s->parent || !is_in_tree(leg, s) || life_is_open(story->spans, s))
		return;
	rival = rival_of(story->spans, s);
	if (!rival || rival->last > s->last || life_is_open(story->spans, rival) || !spans_bdev(s).n ||
	    slice_equal(spans_bdev(s), spans_bdev(rival)))
		return;
	sentences_put_bdev(out, s);
	out_text(out, " ended last: ");
	out_duration_text(out, s->last - rival->last);
	out_text(out, " after ");
	sentences_put_bdev(out, rival);
}

/* The names of the columns. */
static void put_heading(struct story *story, struct out *out)
{
	terminal_paint(story->terminal, &story->row, TERMINAL_HEADS);
	out_printf(&story->row, "%*s ", INDENT - 1, "WAIT");
	shorttext_heading(&story->columns, &story->row);
	story->row.len--;
	terminal_plain(story->terminal, &story->row);
	put_row(story, out);
}

static void add_unread(struct story *story, struct out *out, const struct span *s)
{
	struct slice by = {}, of = {};
	uint64_t ns = measured_unread(story->measured, s, &by, &of);

	if (!ns)
		return;
	out_text(out, "was in its socket for another ~");
	out_duration_text(out, (double)ns);
	out_text(out, by.n ? " while the reactor was off its CPU: " : " while the lcore worked for ");
	out_slice(out, by.n ? by : of);
	out_char(out, '\n');
}

void story_write(struct story *story, struct out *out, const struct span *s)
{
	const struct waits *waits = &story->waits;
	const struct span *leg = self_time_leg(story->spans, s);
	size_t aside = 0;

	waits_find(&story->waits, story->spans, s);
	add_unread(story, &story->sentences, s);
	find_asides(story, &story->sentences, s);
	put_heading(story, out);
	put_collected(story, out);
	for (size_t i = 0; i < waits->n; i++) {
		const struct waits_entry *e = &waits->entries[i];

		for (; aside < story->num_asides && story->asides[aside].ns <= waits_state(waits, i)->ns; aside++)
			put_aside(story, out, &story->asides[aside]);
		put_step(story, out, i);
		put_leg(story, &story->sentences, e, leg);
		put_collected(story, out);
	}
	for (; aside < story->num_asides; aside++)
		put_aside(story, out, &story->asides[aside]);
	if (waits_before(waits, story->spans, waits->n))
		put_step(story, out, waits->n);
	if (s->end.lost)
		put_sentences(
			story, out,
			slice_of("entries of its lcore are missing after its last one: its end may be among them"));
}

void story_free(struct story *story)
{
	waits_free(&story->waits);
	free(story->asides);
	out_close(&story->text);
	out_close(&story->row);
	out_close(&story->sentences);
	traceline_free(&story->line);
}
