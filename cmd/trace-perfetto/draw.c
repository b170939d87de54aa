/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw.h"

#include "livenames.h"
#include "number.h"
#include "progress.h"

/* Kinds of rows: the types of objects, then these. */
enum { ROWS_OFF_CPU = LIFECYCLE_TYPES, ROWS_INTERRUPTS };

/* What is kept of a span until it is drawn, in span.tool. */
struct drawn {
	bool has_arrow;    /* an arrow leads from its parent to it */
	bool is_later;     /* it started after its parent, not at the same time */
	bool in_flight;    /* it is counted as a request in flight */
	bool waits, holds; /* it is counted as waiting for a buffer, or as holding one */
	bool has_ended;    /* it was a request in flight, and is counted in the rates */
	bool is_full;      /* it has SPANS_STATES states */
	size_t latest;     /* where in span.kept the annotations of its latest state are */
};

/* An arrow cannot lead back in time, as it would if lines are out of order. */
static bool has_arrow(const struct span *parent, const struct span *child)
{
	return parent->first <= child->first;
}

static uint64_t arrow_to(const struct span *child)
{
	return (uint64_t)child->generation << 32 | (child->index + 1);
}

/* Leads to the entry on its lcore with which it started. */
static uint64_t arrow_to_lcore(const struct span *s)
{
	return arrow_to(s) | 1ULL << 63;
}

/* Whether an argument, from the quote of its key on, is next in rest; cuts it off. */
static bool is_next(struct slice *rest, struct slice arg)
{
	if (arg.n >= rest->n || memcmp(arg.p, rest->p, arg.n) != 0)
		return false;
	if (rest->p[arg.n] != ',' && rest->p[arg.n] != '}')
		return false;
	slice_cut(rest, arg.n + 1);
	return true;
}

/*
 * The same for any place before the first argument that is an object: the members of that have other names. Longer
 * arguments than an entry of SPDK has are not searched: each line would cost their length.
 */
static bool is_among(struct slice args, struct slice arg)
{
	enum { SEARCHED = 4096 };
	const char *p = args.n && args.n <= SEARCHED ? memmem(args.p, args.n, arg.p, arg.n) : NULL;

	return p && p + arg.n < args.p + args.n && !memchr(args.p + 1, '{', p - args.p - 1) &&
	       (p[-1] == '{' || p[-1] == ',') && (p[arg.n] == '}' || p[arg.n] == ',');
}

/* Which arguments are the same as in the span's first entry, a bit for each. Most have the same order there. */
static uint64_t repeated_args(const struct span *s, const struct traceline *line)
{
	struct slice rest = span_args(s);
	uint64_t repeated = 0;

	slice_cut(&rest, !!rest.n);
	for (size_t i = 0; i < line->num_args && i < ANNOTATIONS_REPEATED; i++) {
		const struct traceline_arg *arg = &line->args[i];
		struct slice text = slice_between(arg->key.p - 1, arg->value.p + arg->value.n);

		if (is_next(&rest, text) || is_among(span_args(s), text))
			repeated |= 1ULL << i;
	}
	return repeated;
}

/* An owner's description names it better than its number. */
static void annotate_owner(struct annotations *a, struct slice poller, struct slice owner)
{
	if (owner.n)
		annotations_text(a, ANNOTATION_OWNER, owner, false);
	else if (poller.n)
		annotations_text(a, ANNOTATION_POLLER, poller, false);
}

/* Adds what a later entry has that the first one does not. */
static void annotate_changes(struct annotations *a, const struct span *s, const struct traceline *line)
{
	bool same = line->owner.n ? slice_equal(line->owner, span_owner(s))
				  : !line->poller.n || slice_equal(line->poller, span_poller(s));

	if (s->last_lcore != s->lcore)
		annotations_uint(a, ANNOTATION_LCORE, s->last_lcore);
	if (!same)
		annotate_owner(a, line->poller, line->owner);
	annotations_args(a, line, repeated_args(s, line));
}

/* The header of the annotations of a state, in span.kept. States without annotations have none. */
struct kept_annotations {
	uint32_t state; /* its index in the span */
	uint32_t n;     /* bytes */
};

/* Stores the annotations of the latest state. In a span that is full, each further state replaces the last one. */
static void keep_annotations(struct annotations *a, struct span *s)
{
	struct kept_annotations kept = {.state = s->n - 1, .n = annotations_size(a)};
	struct drawn *drawn = s->tool;

	if (drawn->is_full)
		s->kept.len = drawn->latest;
	drawn->is_full = s->n == SPANS_STATES;
	drawn->latest = s->kept.len;
	if (!kept.n)
		return;
	out_bytes(&s->kept, &kept, sizeof(kept));
	annotations_store(a, &s->kept);
}

/* Adds the annotations of a state, if it has any, and cuts them off the rest: states must come in their order. */
static void add_kept(struct annotations *a, struct slice *rest, uint32_t state)
{
	struct kept_annotations kept;

	if (!rest->n)
		return;
	memcpy(&kept, rest->p, sizeof(kept));
	if (kept.state != state)
		return;
	slice_cut(rest, sizeof(kept));
	annotations_load(a, slice_cut(rest, kept.n));
}

/* A request has ended at ns. */
static void end_request(struct draw *d, const struct span *s, uint64_t ns)
{
	uint64_t blocks = 0;

	request_io_read(&d->io, &d->spans, s);
	request_io_number(&d->io, REQUEST_IO_BLOCKS, &blocks);
	tracks_end(&d->tracks, s->connection, ns, blocks);
}

/* Counts a request that is in flight from now on, or is no longer. */
static void count(struct draw *d, struct span *s)
{
	bool in_flight = life_is_open(&d->spans, s);
	struct drawn *drawn = s->tool;

	/* a write may get its parent later */
	if ((s->has_parent && !drawn->in_flight) || in_flight == drawn->in_flight)
		return;
	drawn->in_flight = in_flight;
	tracks_count(&d->tracks, s->connection, s->last, in_flight);
	if (in_flight || drawn->has_ended)
		return;
	drawn->has_ended = true;
	end_request(d, s, s->last);
}

/* Counts an object that waits for a data buffer from now on, or no longer: then it holds one until it has ended. */
static void count_buffers(struct draw *d, struct span *s)
{
	bool waits = spans_tpoint(&d->spans, s->states[s->n - 1].state)->layer == LAYER_BUFFER;
	struct drawn *drawn = s->tool;
	bool holds = life_is_open(&d->spans, s) && !waits && (drawn->waits || drawn->holds);

	if (waits != drawn->waits)
		tracks_wait(&d->tracks, s->connection, s->last, waits);
	if (holds != drawn->holds)
		tracks_hold(&d->tracks, s->connection, s->last, holds);
	drawn->waits = waits;
	drawn->holds = holds;
}

static void put_word(struct out *text, struct slice word)
{
	out_char(text, ' ');
	out_slice(text, word);
}

/*
 * Draws the queue depth that an entry says: of its connection, where nothing caused the object; else of a channel that
 * its lcore has to a bdev or a drive.
 */
static void draw_depth(struct draw *d, const struct span *s, const struct traceline *line)
{
	struct slice channel = slice_of("");
	uint32_t place = s->connection;
	uint64_t depth;

	if (!traceline_number(traceline_arg(line, "qd"), &depth) || !line->poller.p || s->unknown)
		return;
	d->text.len = 0;
	out_text(&d->text, "queue depth");
	if (s->has_parent) {
		place = track_tree_lcore(&d->tracks.tree, line, s->last_lcore);
		channel = line->poller;
		if (line->owner.p)
			put_word(&d->text, line->owner);
		put_word(&d->text, line->poller);
	}
	tracks_depth(&d->tracks, place, channel, out_contents(&d->text), s->last, depth);
}

/* For spans.entry. */
static void draw_entry(void *context, struct span *s, uint32_t before, const struct traceline *line)
{
	struct draw *d = context;
	struct annotations *a = &d->packets.annotations;
	struct drawn *drawn = s->tool;
	bool first = before == MAP_NONE;

	d->is_state = true;
	d->arrow = first ? arrow_to_lcore(s) : 0;
	if (first) {
		*drawn = (struct drawn){};
		track_tree_note_reactor(&d->tracks.tree, track_tree_lcore(&d->tracks.tree, line, s->lcore));
		s->connection = s->parent && !spans_is_own(&d->spans, s) ? s->parent->connection
									 : track_tree_connection(&d->tracks.tree, line);
	}
	if (s->parent && has_arrow(s->parent, s)) {
		drawn->has_arrow = true;
		drawn->is_later |= s->first > s->parent->first;
	}
	annotations_clear(a);
	if (line->size.p)
		annotations_value(a, ANNOTATION_SIZE, line->size);
	if (first)
		annotations_args(a, line, 0);
	else
		annotate_changes(a, s, line);
	keep_annotations(a, s);
	count(d, s);
	count_buffers(d, s);
	draw_depth(d, s, line);
}

static struct slice id_of(struct draw *d, const struct span *s)
{
	d->text.len = 0;
	spans_write_id(&d->text, &d->spans, s);
	return out_contents(&d->text);
}

/* What an I/O is, or the id if nothing of that is known. */
static struct slice name_of(struct draw *d, const struct span *s)
{
	const struct io_args *io = &d->io.args;

	if (!d->io.type && !io_args_has(io, IO_BLOCKS) && !io_args_has(io, IO_LBA) && !d->io.bdev.len)
		return id_of(d, s);
	d->text.len = 0;
	io_args_write(&d->text, io, d->io.type, out_contents(&d->io.bdev));
	return out_contents(&d->text);
}

/* What a request is, as in a span line's io. */
static void annotate_io(struct draw *d)
{
	struct annotations *a = &d->packets.annotations;
	bool is_open = false;

	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++) {
		uint64_t number;
		bool is_number = request_io_number(&d->io, key, &number);
		struct slice text = request_io_text(&d->io, key, &d->text);

		if (!is_number && !text.n)
			continue;
		if (!is_open)
			annotations_open(a, ANNOTATION_IO);
		is_open = true;
		if (is_number)
			annotations_uint(a, ANNOTATION_IO_KEY + key, number);
		else
			annotations_text(a, ANNOTATION_IO_KEY + key, text, false);
	}
	if (is_open)
		annotations_close(a);
}

static void annotate_span(struct draw *d, const struct span *s)
{
	struct annotations *a = &d->packets.annotations;

	annotations_clear(a);
	annotations_text(a, ANNOTATION_ID, id_of(d, s), true);
	annotations_pointer(a, ANNOTATION_VALUE, s->value);
	annotations_uint(a, ANNOTATION_LCORE, s->lcore);
	if (span_parent(s).n)
		annotations_text(a, ANNOTATION_RELATED, span_parent(s), true);
	else
		annotations_uint(a, ANNOTATION_TSC, s->tsc);
	if (s->end.open)
		annotations_flag(a, ANNOTATION_OPEN);
	if (s->cut)
		annotations_flag(a, ANNOTATION_CUT);
	if (s->torn)
		annotations_flag(a, ANNOTATION_TORN);
	if (s->gap || s->end.lost)
		annotations_flag(a, ANNOTATION_LOST);
	annotate_owner(a, span_poller(s), span_owner(s));
	if (!s->has_parent)
		annotate_io(d);
}

/* kept: the annotations of its states, of which those of the first one are cut off. */
static void begin_span(struct draw *d, uint32_t track, const struct span *s, struct slice *kept)
{
	struct annotations *a = &d->packets.annotations;
	const struct drawn *drawn = s->tool;

	request_io_read(&d->io, &d->spans, s);
	packets_begin(&d->packets, track, s->first, name_of(d, s));
	if (drawn->has_arrow)
		packets_arrow(&d->packets, arrow_to(s), true, drawn->is_later);
	for (const struct span *child = s->child; child; child = child->next)
		if (has_arrow(s, child))
			packets_arrow(&d->packets, arrow_to(child), false, child->first > s->first);
	if (d->entries)
		packets_arrow(&d->packets, arrow_to_lcore(s), false, false);
	annotate_span(d, s);
	add_kept(a, kept, 0);
	packets_annotate(&d->packets);
}

/* The last state of a span that has ended has no duration. */
static void draw_states(struct draw *d, uint32_t track, const struct span *s, struct slice *kept)
{
	struct annotations *a = &d->packets.annotations;

	for (size_t i = 0; i < s->n; i++) {
		const struct span_state *state = &s->states[i];

		annotations_clear(a);
		/* those of the first one are the span's */
		if (i)
			add_kept(a, kept, i);
		if (i + 1 < s->n)
			packets_state(&d->packets, track, state->ns, state[1].ns, state->state);
		else if (s->end.open)
			packets_state(&d->packets, track, state->ns, PACKETS_NO_END, state->state);
		else
			packets_instant(&d->packets, track, state->ns, state->state, 0);
	}
}

/* The name of the rows of a type: r, or r TCP. */
static struct slice rows_of(struct draw *d, const struct span *s)
{
	struct slice type = d->types.all[s->type], family = lifecycle_family(type);

	if (s->unknown)
		return slice_of("n/a");
	d->text.len = 0;
	out_slice(&d->text, lifecycle_letter(type));
	if (family.n) {
		out_char(&d->text, ' ');
		out_slice(&d->text, family);
	}
	return out_contents(&d->text);
}

/* Draws a span that has ended; for spans.emit. */
static void draw_span(void *context, const struct span *s)
{
	struct draw *d = context;
	const struct drawn *drawn = s->tool;
	struct slice kept = out_contents(&s->kept);
	uint32_t *track = tracks_row(&d->tracks, s->connection, s->type, s->first,
				     s->end.open ? PACKETS_NO_END : s->last);

	if (!d->spans.over && drawn->in_flight) {
		tracks_count(&d->tracks, s->connection, d->spans.now, false);
		end_request(d, s, d->spans.now);
	}
	if (!d->spans.over && drawn->waits)
		tracks_wait(&d->tracks, s->connection, d->spans.now, false);
	if (!d->spans.over && drawn->holds)
		tracks_hold(&d->tracks, s->connection, d->spans.now, false);
	if (*track == MAP_NONE)
		*track = tracks_add_row(&d->tracks, s->connection, s->type, rows_of(d, s));
	begin_span(d, *track, s, &kept);
	draw_states(d, *track, s, &kept);
	packets_end(&d->packets, *track, s->end.open ? PACKETS_NO_END : s->last);
}

/* Notes that a connection is created or destroyed. One with requests in flight keeps its place, with their number. */
static void note_connection(struct draw *d, const struct traceline *line, uint64_t ns)
{
	const struct spdk_tpoint *tpoint;
	uint32_t place;

	if (line->object_id.p || line->size.n)
		return;
	tpoint = spans_tpoint_of(&d->spans, line->tpoint);
	if (tpoint->creates)
		track_tree_create(&d->tracks.tree, line, ns);
	if (!tpoint->destroys)
		return;
	place = track_tree_destroy(&d->tracks.tree, line);
	if (place != MAP_NONE && tracks_is_idle(&d->tracks, place))
		track_tree_free_place(&d->tracks.tree, place, ns);
}

/* Adds all of a line except time, lcore and name. */
static void annotate_line(struct annotations *a, const struct traceline *line)
{
	annotations_clear(a);
	annotations_text(a, ANNOTATION_ID, line->object_id, true);
	if (line->object_id.p)
		annotations_pointer(a, ANNOTATION_VALUE, line->object_value);
	annotations_text(a, ANNOTATION_RELATED, line->related, true);
	annotate_owner(a, line->poller, line->owner);
	if (line->size.p)
		annotations_value(a, ANNOTATION_SIZE, line->size);
	annotations_args(a, line, 0);
}

static void draw_interval(struct draw *d, uint32_t place, const struct reactors_interval *interval,
			  const struct traceline *line)
{
	const char *row = interval->kind == REACTORS_OFF_CPU ? "off CPU" : "interrupts";
	uint32_t kind = interval->kind == REACTORS_OFF_CPU ? ROWS_OFF_CPU : ROWS_INTERRUPTS;
	struct annotations *a = &d->packets.annotations;
	uint32_t *track = tracks_row(&d->tracks, place, kind, interval->begin, interval->end);

	if (*track == MAP_NONE)
		*track = tracks_add_row(&d->tracks, place, kind, slice_of(row));
	d->text.len = 0;
	reactors_write(&d->text, line);
	packets_begin(&d->packets, *track, interval->begin, out_contents(&d->text));
	annotate_line(a, line);
	packets_annotate(&d->packets);
	packets_end(&d->packets, *track, interval->end);
}

/* Draws an interval in which a reactor did not run; for spans.held. */
static void draw_held(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		      const struct traceline *line)
{
	struct draw *d = context;
	uint32_t place = track_tree_reactor(&d->tracks.tree, reactor->lcore);

	d->is_held = true;
	if (place == MAP_NONE)
		place = track_tree_lcore(&d->tracks.tree, line, reactor->lcore);
	draw_interval(d, place, interval, line);
}

/* Draws an interval of a thread that is no reactor of the trace. False, with nothing drawn, for any other line. */
static bool draw_thread(struct draw *d, const struct traceline *line, uint64_t ns)
{
	struct reactors_interval interval = {.end = ns};
	struct slice comm;
	uint64_t duration;

	if (!reactors_is(line->tpoint) || !number_fixed(traceline_arg(line, LIVE_DURATION), 3, &duration))
		return false;
	comm = traceline_string(traceline_arg(line, LIVE_COMM));
	if (!comm.n)
		return false;
	interval.kind = slice_is(line->tpoint, LIVE_IRQ) ? REACTORS_IRQ : REACTORS_OFF_CPU;
	interval.begin = duration < ns ? ns - duration : 0;
	draw_interval(d, track_tree_thread(&d->tracks.tree, line, comm, traceline_arg(line, LIVE_TID)), &interval,
		      line);
	return true;
}

/* Draws any other line, on the track of its lcore, or of its thread if that is no reactor of the trace. */
static const char *draw_other(struct draw *d, const struct traceline *line, uint64_t ns)
{
	struct annotations *a = &d->packets.annotations;
	uint64_t lcore;
	uint32_t place;

	if (!number_decimal(line->lcore, &lcore))
		return "lcore is not an integer";
	if (draw_thread(d, line, ns))
		return NULL;
	place = track_tree_lcore(&d->tracks.tree, line, lcore);
	annotate_line(a, line);
	packets_instant(&d->packets, tracks_place(&d->tracks, place), ns, intern_add(&d->states, line->tpoint),
			d->arrow);
	return NULL;
}

const char *draw_line(void *context, struct traceline *line, struct slice text)
{
	struct draw *d = context;
	uint64_t ns;
	const char *error = traceline_time(line, &ns);

	(void)text;
	if (error)
		return error;
	packets_line(&d->packets, line, ns);
	d->idle_ticks = 0;
	d->is_state = d->is_held = false;
	d->arrow = 0;
	note_connection(d, line, ns);
	error = spans_line(&d->spans, line);
	if (error || d->is_held || (d->is_state && !d->entries))
		return error;
	return draw_other(d, line, ns);
}

void draw_pause(void *context)
{
	enum { TICKS = 1000 / INTERACTIVE_TICK_MS };
	struct draw *d = context;

	if (++d->idle_ticks == TICKS)
		spans_pause(&d->spans);
}

void draw_start(struct draw *d, struct out *out)
{
	packets_start(&d->packets, out, &d->states);
	d->text.fd = OUT_MEMORY;
	d->tracks.packets = &d->packets;
	d->spans.types = &d->types;
	d->spans.states = &d->states;
	d->spans.store.tool_size = sizeof(struct drawn);
	d->spans.context = d;
	d->spans.emit = draw_span;
	d->spans.entry = draw_entry;
	d->spans.held = draw_held;
	spans_start(&d->spans);
}

void draw_end(struct draw *d)
{
	spans_end(&d->spans);
	tracks_finish(&d->tracks);
}

void draw_free(struct draw *d)
{
	spans_free(&d->spans);
	intern_free(&d->types);
	intern_free(&d->states);
	tracks_free(&d->tracks);
	packets_free(&d->packets);
	request_io_free(&d->io);
	out_close(&d->text);
}
