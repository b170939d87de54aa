/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw.h"

#include "mem.h"
#include "number.h"
#include "proto.h"

/* Kinds of rows: the types of objects, then these. */
enum { ROWS_OFF_CPU = LIFECYCLE_TYPES, ROWS_INTERRUPTS };

/*
 * Indexes in span.notes: bits, the numbers of requests in flight after its start and after its end, the index of the
 * state in which it ended, and the offset in span.kept of the notes of its latest state.
 */
enum { BITS, AT_START, AT_END = AT_START + PACKETS_COUNTERS, END_STATE = AT_END + PACKETS_COUNTERS, KEPT };
enum {
	HAS_FLOW = 1,
	IS_LATER = 2,
	IN_FLIGHT = 4,
	HAS_ENDED = 8,
	WAITS = 16,
	COUNTS_START = 32,
	COUNTS_END = 64,
	IS_FULL = 128
};

/* An arrow cannot lead back in time, as it would if lines are out of order. */
static bool has_flow(const struct span *parent, const struct span *child)
{
	return parent->first <= child->first;
}

static uint64_t flow_of(const struct span *child)
{
	return (uint64_t)child->generation << 32 | (child->index + 1);
}

/* How many leading arguments are the same as in the span's first entry. */
static size_t num_repeated(const struct span *s, const struct traceline *line)
{
	struct slice rest = span_args(s), text;
	size_t i;

	slice_cut(&rest, !!rest.n);
	for (i = 0; i < line->num_args; i++) {
		text = slice_between(line->args[i].key.p - 1, line->args[i].value.p + line->args[i].value.n);
		if (text.n >= rest.n || memcmp(text.p, rest.p, text.n) != 0)
			break;
		if (rest.p[text.n] != ',' && rest.p[text.n] != '}')
			break;
		slice_cut(&rest, text.n + 1);
	}
	return i;
}

/* An owner's description names it better than its number. */
static void note_owner(struct notes *notes, struct slice poller, struct slice owner)
{
	if (owner.n)
		notes_text(notes, NOTE_OWNER, owner, false);
	else if (poller.n)
		notes_text(notes, NOTE_POLLER, poller, false);
}

/* Notes what a later entry has that the first one does not. */
static void note_changes(struct notes *notes, const struct span *s, const struct traceline *line)
{
	bool same = line->owner.n ? slice_equal(line->owner, span_owner(s))
				  : !line->poller.n || slice_equal(line->poller, span_poller(s));

	if (s->last_lcore != s->lcore)
		notes_uint(notes, NOTE_LCORE, s->last_lcore);
	if (!same)
		note_owner(notes, line->poller, line->owner);
	notes_args(notes, line, num_repeated(s, line));
}

/* Stores the notes of the latest state. In a span of SPANS_STATES states, each further one replaces the last one. */
static void keep_notes(struct notes *notes, struct span *s)
{
	if (s->n == SPANS_STATES && s->notes[BITS] & IS_FULL)
		s->kept.len = s->notes[KEPT];
	s->notes[BITS] |= s->n == SPANS_STATES ? IS_FULL : 0;
	s->notes[KEPT] = s->kept.len;
	notes_store(notes, &s->kept, s->n - 1);
}

/* Stores numbers of requests in flight, to be drawn with the span. */
static void keep_count(struct span *s, unsigned note, struct tracks_count count)
{
	for (unsigned i = 0; i < PACKETS_COUNTERS; i++)
		s->notes[note + i] = count.values[i];
}

static struct tracks_count count_of(const struct span *s, unsigned note)
{
	struct tracks_count count;

	for (unsigned i = 0; i < PACKETS_COUNTERS; i++)
		count.values[i] = s->notes[note + i];
	return count;
}

/* Draws the numbers at the end of a span that is now in flight again. */
static void draw_end_count(struct draw *d, struct span *s)
{
	if (s->notes[BITS] & COUNTS_END)
		tracks_draw(&d->tracks, s->connection, s->states[s->notes[END_STATE]].ns, count_of(s, AT_END));
	s->notes[BITS] &= ~COUNTS_END;
}

/* Counts a request that is in flight from now on, or is no longer. */
static void count(struct draw *d, struct span *s)
{
	bool in_flight = spans_is_open(d->spans, s);
	struct tracks_count count;

	if (s->has_parent || in_flight == !!(s->notes[BITS] & IN_FLIGHT))
		return;
	s->notes[BITS] ^= IN_FLIGHT;
	count = tracks_count(&d->tracks, s->connection, in_flight);
	if (!in_flight) {
		keep_count(s, AT_END, count);
		s->notes[END_STATE] = s->n - 1;
		if (!(s->notes[BITS] & HAS_ENDED))
			tracks_end(&d->tracks, s->connection, s->last);
		s->notes[BITS] |= HAS_ENDED | COUNTS_END;
	} else if (s->n == 1) {
		keep_count(s, AT_START, count);
		s->notes[BITS] |= COUNTS_START;
	} else {
		draw_end_count(d, s);
		tracks_draw(&d->tracks, s->connection, s->last, count);
	}
}

/* Counts an object that waits for a data buffer from now on, or no longer. */
static void count_waiting(struct draw *d, struct span *s)
{
	bool waits = d->spans->info[s->states[s->n - 1].state].layer == LAYER_BUFFER;

	if (waits == !!(s->notes[BITS] & WAITS))
		return;
	s->notes[BITS] ^= WAITS;
	tracks_wait(&d->tracks, s->connection, s->last, waits);
}

void draw_entry(struct draw *d, struct span *s, uint32_t before, const struct traceline *line)
{
	struct notes *notes = &d->packets.notes;
	bool first = before == MAP_NONE;

	if (first) {
		places_note_reactor(&d->tracks.places, places_lcore(&d->tracks.places, line, s->lcore));
		s->connection = s->parent ? s->parent->connection : places_connection(&d->tracks.places, line);
	}
	if (s->parent && has_flow(s->parent, s))
		s->notes[BITS] |= HAS_FLOW | (s->first > s->parent->first ? IS_LATER : 0);
	notes_clear(notes);
	if (line->size.p)
		notes_value(notes, NOTE_SIZE, line->size);
	if (first)
		notes_args(notes, line, 0);
	else
		note_changes(notes, s, line);
	keep_notes(notes, s);
	count(d, s);
	count_waiting(d, s);
}

static struct slice id_of(struct draw *d, const struct span *s)
{
	d->text.fd = OUT_MEMORY;
	d->text.len = 0;
	spans_write_id(&d->text, d->spans, s);
	return out_contents(&d->text);
}

/* What an I/O is, or the id if nothing of that is known. */
static struct slice name_of(struct draw *d, const struct span *s)
{
	const struct facts *facts = &d->lift.facts;

	if (!d->lift.type && !facts_has(facts, FACT_BLOCKS) && !facts_has(facts, FACT_LBA) && !d->lift.bdev.len)
		return id_of(d, s);
	d->text.fd = OUT_MEMORY;
	d->text.len = 0;
	facts_write_name(&d->text, facts, d->lift.type, out_contents(&d->lift.bdev));
	return out_contents(&d->text);
}

/* What a request is, as in a span line's io. */
static void note_io(struct draw *d)
{
	struct notes *notes = &d->packets.notes;
	size_t start = 0;

	for (enum lift_key key = 0; key < LIFT_KEYS; key++) {
		bool is_number;
		uint64_t number;

		d->text.len = 0;
		is_number = lift_number(&d->lift, key, &number);
		if (!is_number && !lift_write(&d->text, &d->lift, key))
			continue;
		start = start ? start : notes_open(notes, NOTE_IO);
		if (is_number)
			notes_member_uint(notes, NOTE_LIFT + key, number);
		else
			notes_member(notes, NOTE_LIFT + key, out_contents(&d->text));
	}
	if (start)
		notes_close(notes, start);
}

static void note_span(struct draw *d, const struct span *s)
{
	struct notes *notes = &d->packets.notes;

	notes_clear(notes);
	notes_text(notes, NOTE_ID, id_of(d, s), true);
	notes_pointer(notes, NOTE_VALUE, s->value);
	notes_uint(notes, NOTE_LCORE, s->lcore);
	if (s->has_parent)
		notes_text(notes, NOTE_RELATED, span_parent(s), true);
	else
		notes_uint(notes, NOTE_TSC, s->tsc);
	if (s->open)
		notes_flag(notes, NOTE_OPEN);
	if (s->cut)
		notes_flag(notes, NOTE_CUT);
	if (s->torn)
		notes_flag(notes, NOTE_TORN);
	note_owner(notes, span_poller(s), span_owner(s));
	if (!s->has_parent)
		note_io(d);
}

/* first: notes of its first state. */
static void begin_span(struct draw *d, uint32_t track, const struct span *s, struct notes_list first)
{
	struct packets *p = &d->packets;

	lift_span(&d->lift, d->spans, s);
	packets_open(p, track, s->first, TYPE_SLICE_BEGIN);
	packets_name_text(p, name_of(d, s));
	if (s->notes[BITS] & COUNTS_START)
		tracks_draw_with(&d->tracks, s->connection, count_of(s, AT_START));
	if (s->notes[BITS] & HAS_FLOW)
		packets_flow(p, flow_of(s), s->notes[BITS] & IS_LATER);
	for (const struct span *child = s->child; child; child = child->next)
		if (has_flow(s, child))
			packets_flow(p, flow_of(child), false);
	note_span(d, s);
	packets_notes(p, notes_list(&p->notes));
	packets_notes(p, first);
	packets_close(p);
}

/* The last state of a span that has ended has no duration. */
static void draw_state(struct draw *d, uint32_t track, const struct span *s, size_t i, struct notes_list notes)
{
	bool last = i + 1 == s->n;
	struct packets *p = &d->packets;

	packets_named(p, track, s->states[i].ns, last && !s->open ? TYPE_INSTANT : TYPE_SLICE_BEGIN, s->states[i].state,
		      notes);
	if (!last)
		packets_end(p, track, s->states[i + 1].ns);
}

/* The name of the rows of a type: r, or r TCP. */
static struct slice rows_of(struct draw *d, const struct span *s)
{
	struct slice type = d->spans->types->all[s->type], family = lifecycle_family(type);

	if (s->unknown)
		return slice_of("n/a");
	d->text.fd = OUT_MEMORY;
	d->text.len = 0;
	out_slice(&d->text, lifecycle_letter(type));
	if (family.n) {
		out_char(&d->text, ' ');
		out_slice(&d->text, family);
	}
	return out_contents(&d->text);
}

static void end_span(struct draw *d, uint32_t track, const struct span *s)
{
	bool counts = s->notes[BITS] & COUNTS_END, with;
	uint64_t ns = counts ? s->states[s->notes[END_STATE]].ns : 0;

	with = counts && !s->open && ns == s->last;
	if (counts && !with)
		tracks_draw(&d->tracks, s->connection, ns, count_of(s, AT_END));
	if (s->open)
		return;
	packets_open(&d->packets, track, s->last, TYPE_SLICE_END);
	if (with)
		tracks_draw_with(&d->tracks, s->connection, count_of(s, AT_END));
	packets_close(&d->packets);
}

void draw_span(struct draw *d, const struct span *s)
{
	uint64_t end = s->open ? LANES_NO_END : s->last;
	struct slice kept = out_contents(&s->kept);
	uint32_t *track = tracks_row(&d->tracks, s->connection, s->type, s->first, end);

	if (!d->spans->over && s->notes[BITS] & IN_FLIGHT) {
		tracks_draw(&d->tracks, s->connection, d->spans->now, tracks_count(&d->tracks, s->connection, false));
		tracks_end(&d->tracks, s->connection, d->spans->now);
	}
	if (!d->spans->over && s->notes[BITS] & WAITS)
		tracks_wait(&d->tracks, s->connection, d->spans->now, false);
	if (*track == MAP_NONE)
		*track = tracks_add_row(&d->tracks, s->connection, s->type, rows_of(d, s));
	begin_span(d, *track, s, notes_load(&kept, 0));
	draw_state(d, *track, s, 0, (struct notes_list){});
	for (size_t i = 1; i < s->n; i++)
		draw_state(d, *track, s, i, notes_load(&kept, i));
	end_span(d, *track, s);
}

/* Notes all of a line except time, lcore and name. */
static void note_line(struct notes *notes, const struct traceline *line)
{
	notes_clear(notes);
	notes_text(notes, NOTE_ID, line->object_id, true);
	if (line->object_id.p)
		notes_pointer(notes, NOTE_VALUE, line->object_value);
	notes_text(notes, NOTE_RELATED, line->related, true);
	note_owner(notes, line->poller, line->owner);
	if (line->size.p)
		notes_value(notes, NOTE_SIZE, line->size);
	notes_args(notes, line, 0);
}

static void draw_interval(struct draw *d, uint32_t place, const struct reactors_interval *interval,
			  const struct traceline *line)
{
	const char *row = interval->kind == REACTORS_OFF_CPU ? "off CPU" : "interrupts";
	uint32_t kind = interval->kind == REACTORS_OFF_CPU ? ROWS_OFF_CPU : ROWS_INTERRUPTS;
	uint32_t *track = tracks_row(&d->tracks, place, kind, interval->begin, interval->end);

	if (*track == MAP_NONE)
		*track = tracks_add_row(&d->tracks, place, kind, slice_of(row));
	d->text.fd = OUT_MEMORY;
	d->text.len = 0;
	reactors_write(&d->text, line);
	packets_open(&d->packets, *track, interval->begin, TYPE_SLICE_BEGIN);
	packets_name_text(&d->packets, out_contents(&d->text));
	note_line(&d->packets.notes, line);
	packets_notes(&d->packets, notes_list(&d->packets.notes));
	packets_close(&d->packets);
	packets_end(&d->packets, *track, interval->end);
}

void draw_held(struct draw *d, const struct reactor *reactor, const struct reactors_interval *interval,
	       const struct traceline *line)
{
	uint32_t place = places_reactor(&d->tracks.places, reactor->lcore);

	if (place == MAP_NONE)
		place = places_lcore(&d->tracks.places, line, reactor->lcore);
	draw_interval(d, place, interval, line);
}

/* Draws an interval of a thread that is no reactor of the trace. False, with nothing drawn, for any other line. */
static bool draw_thread(struct draw *d, const struct traceline *line, uint64_t ns)
{
	struct reactors_interval interval = {.end = ns};
	struct slice comm;
	uint64_t duration;

	if (!reactors_is(line->tpoint) || !number_fixed(traceline_arg(line, "duration"), 3, &duration))
		return false;
	comm = traceline_string(traceline_arg(line, "comm"));
	if (!comm.n)
		return false;
	interval.kind = slice_is(line->tpoint, "IRQ") ? REACTORS_IRQ : REACTORS_OFF_CPU;
	interval.begin = duration < ns ? ns - duration : 0;
	draw_interval(d, places_thread(&d->tracks.places, line, comm, traceline_arg(line, "tid")), &interval, line);
	return true;
}

const char *draw_line(struct draw *d, const struct traceline *line, uint64_t ns)
{
	struct packets *p = &d->packets;
	uint64_t lcore;
	uint32_t place;

	if (!number_decimal(line->lcore, &lcore))
		return "lcore is not an integer";
	if (draw_thread(d, line, ns))
		return NULL;
	place = places_lcore(&d->tracks.places, line, lcore);
	note_line(&p->notes, line);
	packets_named(p, tracks_place(&d->tracks, place), ns, TYPE_INSTANT, intern_add(d->spans->states, line->tpoint),
		      notes_list(&p->notes));
	return NULL;
}

void draw_free(struct draw *d)
{
	packets_free(&d->packets);
	tracks_free(&d->tracks);
	lift_free(&d->lift);
	out_close(&d->text);
}
