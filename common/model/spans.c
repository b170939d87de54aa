/* SPDX-License-Identifier: BSD-3-Clause */
#include "spans.h"

#include <stdlib.h>

#include "livenames.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "table.h"

/* Objects without an id have this letter, which no other can have; their address is their key. */
static const char unknown_id[] = "\\u00000";
static const size_t unknown_letter = 6;

void spans_start(struct spans *spans)
{
	spans->lifecycle.types = spans->types;
	spans->lifecycle.states = spans->states;
	spans->unknown = MAP_NONE;
	spans->first_entry = UINT64_MAX;
	spans->admin.lifecycle = &spans->lifecycle;
}

static struct span *span_of(const struct spans *spans, const struct object *object)
{
	return object->note ? spans->all[object->note - 1] : NULL;
}

/* An object without an id seems to have a single life, so only the names of its states say which are final. */
static bool is_final(const struct spans *spans, const struct object *object)
{
	const struct lifecycle *l = &spans->lifecycle;

	return object->type == spans->unknown ? l->uses[object->use].final_by_name : lifecycle_is_final(l, object);
}

static struct span *new_span(struct spans *spans)
{
	struct span *s = spans->free;

	if (s) {
		spans->free = s->next;
	} else {
		s = mem_array(1, sizeof(*s) + spans->tool_size);
		s->text.fd = s->kept.fd = OUT_MEMORY;
		/* its buffer exists before it has text */
		out_room(&s->text, 1);
		s->index = spans->n;
		spans->all = mem_room(spans->all, spans->n, &spans->cap);
		spans->all[spans->n++] = s;
	}
	s->text.len = s->kept.len = 0;
	*s = (struct span){.index = s->index,
			   .generation = s->generation,
			   .states = s->states,
			   .cap = s->cap,
			   .kept = s->kept,
			   .text = s->text,
			   .reply = UINT64_MAX,
			   .tool = s + 1};
	return s;
}

/* What a free span keeps for its next use. */
static void free_parts(const struct spans *spans, struct span *s)
{
	if (spans->free_tool)
		spans->free_tool(s->tool);
	free(s->states);
	out_close(&s->text);
	out_close(&s->kept);
	s->states = NULL;
	s->cap = 0;
}

/* Frees a span; later entries of its object have no span. */
static void free_span(struct spans *spans, struct span *s)
{
	struct object *object = &spans->lifecycle.all[s->object];

	if (object->note == s->index + 1)
		object->note = 0;
	disks_close(&spans->disks, s);
	s->n = 0;
	s->generation++;
	if (spans->over)
		free_parts(spans, s);
	s->next = spans->free;
	spans->free = s;
}

static void forget_parent(struct span *s)
{
	s->text.len -= s->parent_n;
	memmove(s->text.buf, s->text.buf + s->parent_n, s->text.len);
	s->parent_n = 0;
	s->parent = NULL;
	s->has_parent = false;
}

/* Frees a tree, except for spans that have not ended, which become roots. */
static void free_tree(struct spans *spans, struct span *s)
{
	struct span *next;

	for (struct span *child = s->child; child; child = next) {
		next = child->next;
		child->next = child->parent = NULL;
		/* a request may go on when its command has ended */
		if (spans_is_own(spans, child) && !s->open && spans_is_open(spans, child))
			forget_parent(child);
		else
			child->orphan |= s->orphan || !s->open;
		child->queue = s->queue;
		if (child->emitted)
			free_tree(spans, child);
	}
	free_span(spans, s);
}

static void emit(struct spans *spans, struct span *s)
{
	s->emitted = true;
	spans->emit(spans->context, s);
	if (!s->parent)
		free_tree(spans, s);
}

/* Whether the next line of a tool may show that it was recording until the end of a span. */
static bool may_be_covered(const struct spans *spans, const struct span *s)
{
	for (enum coverage_tool tool = 0; tool < COVERAGE_TOOLS; tool++) {
		const struct coverage *c = &spans->coverage[tool];

		if (c->any && s->first >= c->begin && s->last > c->end)
			return true;
	}
	return false;
}

/* Emits the spans that need not wait, or have for long; at most this many do. */
static void emit_waiting(struct spans *spans, size_t max)
{
	while (spans->num_waiting) {
		struct span *s = spans->first_waiting;

		if (spans->num_waiting <= max && spans->now - s->last < SPANS_WAIT_NS && may_be_covered(spans, s))
			return;
		spans->first_waiting = s->waiting;
		spans->num_waiting--;
		emit(spans, s);
	}
}

static void end_span(struct spans *spans, struct span *s)
{
	s->ended = true;
	admin_end(&spans->admin, s);
	spans->lost += s->lost && !s->has_parent && s->queue != SPAN_QUEUE_ADMIN;
	if (!spans->covered || spans->over) {
		emit(spans, s);
		return;
	}
	disks_close(&spans->disks, s);
	*(spans->num_waiting ? &spans->last_waiting->waiting : &spans->first_waiting) = s;
	spans->last_waiting = s;
	spans->num_waiting++;
	emit_waiting(spans, SPANS_WAITING);
}

/* Whether a tree stays within its bounds, and without a loop, when s becomes a child of parent. */
static bool may_add(const struct span *parent, const struct span *s)
{
	unsigned levels = s->height + 1;

	for (const struct span *up = parent; up; up = up->parent, levels++)
		if (up == s)
			return false;
	return levels < SPANS_DEPTH && parent->num_children < SPANS_CHILDREN;
}

/* MAP_NONE + 1 is 0. */
static inline struct spans_source *source_of(struct spans *spans, uint32_t source)
{
	return table_at(spans->by_source, spans->num_sources, spans->cap_sources, (uint32_t)(source + 1));
}

const char *spans_why_below(const struct spans *spans)
{
	const char *why = NULL;

	for (size_t i = 0; i < spans->num_sources; i++) {
		const struct spans_source *source = &spans->by_source[i];

		if (!source->passes_on || source->shows_bdev_io)
			continue;
		if (!source->has_bdev_io)
			return "no bdev I/O in the lines: requests execute in the layer below; "
			       "try: rpc.py trace_enable_tpoint_group bdev";
		why = "no line says which request started a bdev I/O, as before SPDK v21.10: requests execute in the "
		      "layer below";
	}
	return why;
}

/* Adds a child after those that started before it or with it. */
static void add_child(struct spans *spans, struct span *parent, struct span *s)
{
	struct span **place = &parent->child;
	unsigned height = s->height + 1;

	if (parent->ended)
		return;
	if (!may_add(parent, s)) {
		spans->beyond++;
		return;
	}
	if (parent->last_child && parent->last_child->first <= s->first)
		place = &parent->last_child->next;
	while (*place && (*place)->first <= s->first)
		place = &(*place)->next;
	s->next = *place;
	*place = s;
	if (!s->next)
		parent->last_child = s;
	s->parent = parent;
	if (spans_kind(spans, s) == SPDK_SOCKET_WRITE)
		replies_extend(parent, s);
	else
		parent->has_work = true;
	parent->is_remote = parent->has_work && spans_kind(spans, parent) == SPDK_NVME_COMMAND;
	if (spans_is_bdev_io(spans, s))
		source_of(spans, s->source)->shows_bdev_io = true;
	parent->num_children++;
	for (struct span *up = parent; up; up = up->parent, height++)
		up->height = up->height > height ? up->height : height;
}

const struct spdk_tpoint *spans_tpoint_of(struct spans *spans, struct slice tpoint)
{
	return lifecycle_learn(&spans->lifecycle, intern_add(spans->states, tpoint));
}

void spans_write_id(struct out *out, const struct spans *spans, const struct span *s)
{
	if (s->unknown) {
		out_text(out, "n/a");
		return;
	}
	out_slice(out, lifecycle_letter(spans->types->all[s->type]));
	out_u64(out, s->number);
}

void spans_adopt(struct spans *spans, struct span *command, struct span *s)
{
	size_t n = s->text.len;
	char id[64];

	add_child(spans, command, s);
	if (!s->parent)
		return;
	s->has_parent = true;
	spans_write_id(&s->text, spans, command);
	s->parent_n = s->text.len - n;
	memcpy(id, s->text.buf + n, s->parent_n);
	memmove(s->text.buf + s->parent_n, s->text.buf, n);
	memcpy(s->text.buf, id, s->parent_n);
}

void spans_disown(struct span *s)
{
	struct span *parent = s->parent;

	parent->last_child = NULL;
	for (struct span **place = &parent->child; *place;) {
		if (*place == s) {
			*place = s->next;
			continue;
		}
		parent->last_child = *place;
		place = &(*place)->next;
	}
	parent->num_children--;
	parent->is_remote = parent->has_work = false;
	s->next = NULL;
	forget_parent(s);
}

/* Stores the texts of the first entry, parent first. related: the id of its parent, or empty. */
static void keep_texts(struct spans *spans, struct span *s, const struct traceline *line, struct slice related,
		       const struct span *parent)
{
	const struct spdk_tpoint *tpoint = spans_tpoint(spans, s->states[0].state);
	struct slice bdev = tpoint->bdev ? traceline_string(traceline_arg(line, tpoint->bdev)) : (struct slice){"", 0};

	if (related.p)
		out_slice(&s->text, related);
	else if (parent)
		spans_write_id(&s->text, spans, parent);
	s->parent_n = s->text.len;
	out_slice(&s->text, line->poller);
	s->poller_n = line->poller.n;
	out_slice(&s->text, line->owner);
	s->owner_n = line->owner.n;
	if (line->num_args) {
		const char *start = line->args[0].key.p - 2; /* the brace and the quote */

		while (*start != '{')
			start--;
		out_bytes(&s->text, start, line->args_end - start);
		out_char(&s->text, '}');
		s->args_n = line->args_end - start + 1;
	}
	s->bdev_n = s->text.len;
	out_slice(&s->text, s->is_far ? spdk_bdev(line->owner, bdev) : bdev);
	if (s->is_far && spans_is_bdev_io(spans, s) && s->source != MAP_NONE) {
		out_char(&s->text, '@');
		out_slice(&s->text, spans->sources.all[s->source]);
	}
	s->bdev_n = s->text.len - s->bdev_n;
}

static void find_parent(struct spans *spans, struct span *s, const struct traceline *line, bool first)
{
	struct object *related = lifecycle_related(&spans->lifecycle, line);
	struct slice id = line->related;
	struct span *parent;

	/*
	 * SPDK knows the object only by its address, and the memory of one that has ended may be used for something
	 * that the trace does not have: iscsi_get_pdu() for responses.
	 */
	if (related && lifecycle_has_ended(&spans->lifecycle, related, s->last)) {
		related = NULL;
		id = (struct slice){};
	}
	parent = related ? span_of(spans, related) : NULL;
	if (first && !id.p) {
		struct object *linked = lifecycle_linked(&spans->lifecycle, &spans->lifecycle.all[s->object], line);

		parent = linked ? span_of(spans, linked) : NULL;
	}
	if (first) {
		s->has_parent = id.p || parent;
		s->is_far = parent && (parent->is_far || parent->source != s->source);
		keep_texts(spans, s, line, id, parent);
		if (s->has_parent)
			admin_child(&spans->admin, parent, spans_tpoint(spans, s->states[0].state));
		else
			admin_start(&spans->admin, s, spans_tpoint(spans, s->states[0].state), line);
	}
	if (related)
		s->orphan = !parent || parent->ended;
	if (parent)
		add_child(spans, parent, s);
}

struct reactor *spans_reactor(const struct spans *spans, const struct span *s, uint64_t lcore)
{
	struct reactor *reactor = reactors_of(&spans->reactors, lcore);

	return reactor && (!reactor->has_source || reactor->source == s->source) ? reactor : NULL;
}

/* Adds the time for which the reactor was held since the last entry. */
static void add_held(struct spans *spans, struct span *s)
{
	struct reactor *reactor = spans_reactor(spans, s, s->last_lcore);

	if (!reactor) {
		spans->foreign += reactors_of(&spans->reactors, s->last_lcore) != NULL;
		return;
	}
	reactor->has_source = true;
	reactor->source = s->source;
	for (unsigned i = 0; i < REACTORS_KINDS; i++)
		s->held[i] += reactor->held[i] - s->held_before[i];
}

/* A span is on the lcore of its last entry until the next entry. */
static void move_to(struct spans *spans, struct span *s, const struct traceline *line)
{
	const struct reactor *reactor;

	if (s->n && spans->reactors.n)
		add_held(spans, s);
	number_decimal(line->lcore, &s->last_lcore);
	if (!spans->reactors.n)
		return;
	reactor = reactors_of(&spans->reactors, s->last_lcore);
	for (unsigned i = 0; i < REACTORS_KINDS; i++)
		s->held_before[i] = reactor ? reactor->held[i] : 0;
}

/* Keeps the longest silence since the last entry. */
static void add_silence(struct spans *spans, struct span *s, uint64_t ns)
{
	const struct span_state *before = &s->states[s->n - 1];
	uint64_t silence = lcores_silence(&spans->lcores, before->lcore, before->ns, ns);

	if (silence <= s->silent)
		return;
	s->silent = silence;
	s->silent_lcore = before->lcore;
}

/* The lcore of the latest entry of a span, as a key of struct latest. */
static uint64_t last_lcore_key(const struct spans *spans, const struct span *s)
{
	const struct traceline line = {.source = s->source == MAP_NONE ? (struct slice){}
								       : spans->sources.all[s->source]};

	return traceline_in_source(&line, s->last_lcore);
}

uint64_t spans_gap(const struct spans *spans, const struct span *s)
{
	return spans->gaps.n ? latest_of(&spans->gaps, last_lcore_key(spans, s)) : 0;
}

static void add_state(struct spans *spans, struct span *s, const struct traceline *line, uint64_t ns, uint32_t state)
{
	const struct spdk_tpoint *tpoint = spans_tpoint(spans, state);
	struct span_state new = {ns, state, spans->lines, spans->lcore, 0};

	if (spans->lcore != MAP_NONE)
		new.entry = spans->lcores.all[spans->lcore].entries - 1;
	if (s->n && spans->has_lcores)
		add_silence(spans, s, ns);
	s->gap |= s->n && spans_gap(spans, s) > s->last;
	if (s->n == SPANS_STATES) {
		/* the current state is worth more than the one before it */
		s->n--;
		spans->beyond++;
	}
	move_to(spans, s, line);
	disks_close(&spans->disks, s);
	s->states = mem_room(s->states, s->n, &s->cap);
	s->states[s->n++] = new;
	s->last = ns;
	s->expected = false;
	s->torn |= line->torn;
	if (tpoint->replies)
		s->reply = ns;
	if (tpoint->passes_on)
		source_of(spans, s->source)->passes_on = true;
	if (tpoint->kind == SPDK_BDEV_IO)
		source_of(spans, s->source)->has_bdev_io = true;
	if (tpoint->args->arg)
		io_args_read(&s->io, tpoint, line);
}

static bool has_entry_since(const struct span *s, uint64_t ns)
{
	bool has = s->last >= ns;

	for (const struct span *child = s->child; child && !has; child = child->next)
		has = has_entry_since(child, ns);
	return has;
}

/* object: of the span, as it was after that one's last entry. */
static bool is_end_lost(const struct spans *spans, const struct span *s, const struct object *object)
{
	return spans->gaps.n && !is_final(spans, object) && !has_entry_since(s, spans_gap(spans, s));
}

/* Ends the span of the previous object at an address, unless it is queued to end. */
static void end_before(struct spans *spans, const struct object *before)
{
	struct span *s = before->entries ? span_of(spans, before) : NULL;

	if (!s || s->ended || s->expected)
		return;
	/* it has ended, even if it went on after the gap */
	s->lost = !is_final(spans, before) && spans_gap(spans, s) > s->last;
	end_span(spans, s);
}

/* The same for an object without an id at the address of one that is created. */
static void end_unknown(struct spans *spans, uint64_t address)
{
	uint32_t index = spans->unknown == MAP_NONE ? MAP_NONE
						    : map_get(&spans->lifecycle.addresses[spans->unknown], address);

	if (index != MAP_NONE)
		end_before(spans, &spans->lifecycle.all[index]);
}

static struct span *start_span(struct spans *spans, const struct traceline *line, uint64_t ns,
			       struct lifecycle_change *change)
{
	struct object *object = change->object;
	uint32_t index = object - spans->lifecycle.all;
	struct span *s;

	end_before(spans, &change->before);
	if (!line->has_age)
		end_unknown(spans, traceline_in_source(line, line->object_value));
	s = new_span(spans);
	object->note = s->index + 1;
	s->object = index;
	s->type = object->type;
	s->number = object->number;
	s->value = line->object_value;
	s->source = line->source.p ? intern_add(&spans->sources, line->source) : MAP_NONE;
	s->tsc = line->tsc;
	number_decimal(line->lcore, &s->lcore);
	s->first = ns;
	s->age = object->age;
	s->unknown = s->type == spans->unknown;
	s->cut = line->has_age;
	return s;
}

/* The latest entry of a source, in ns. */
static uint64_t source_latest(const struct spans *spans, uint32_t source)
{
	uint32_t place = source + 1;

	return place < spans->num_sources ? spans->by_source[place].latest : 0;
}

/* Whether a span, and all above it, are open. */
static bool reaches_end(const struct spans *spans, const struct span *s)
{
	while (spans_is_open(spans, s) && !s->orphan) {
		if (!s->parent)
			return true;
		s = s->parent;
	}
	return false;
}

/* The latest entry of a span and of those below it. */
static uint64_t latest_below(const struct span *s)
{
	uint64_t latest = s->last;

	for (const struct span *child = s->child; child; child = child->next)
		latest = max_u64(latest, latest_below(child));
	return latest;
}

uint64_t spans_until(const struct spans *spans, const struct span *s)
{
	const struct reactor *reactor;
	uint64_t end;

	if (!reaches_end(spans, s))
		return spans_is_lost(spans, s) ? latest_below(s) : s->last;
	if (!spans->over)
		return spans->now;
	end = source_latest(spans, s->source);
	reactor = spans_reactor(spans, s, s->last_lcore);
	if (reactor && reactor->after.entry == end && reactor->after.stopped)
		end = reactor->after.stopped;
	return end > spans->passed ? end : spans->passed;
}

uint64_t spans_held(const struct spans *spans, const struct span *s, enum reactors_kind kind)
{
	const struct reactor *reactor = spans_reactor(spans, s, s->last_lcore);
	uint64_t end = spans_until(spans, s), ns = s->held[kind];

	if (!reactor || !reaches_end(spans, s) || end == s->last)
		return ns;
	ns += reactor->held[kind] - s->held_before[kind];
	return reactor->after.entry == end ? ns - reactor->after.held[kind] : ns;
}

/* Ends the spans that have been in final states since ns or longer. */
static void end_since(struct spans *spans, uint64_t ns)
{
	struct queue_entry due;

	while (queue_pop(&spans->ending, ns, &due))
		if (!queue_is_over(&due) && due.span->last == due.since)
			end_span(spans, due.span);
}

void spans_pause(struct spans *spans)
{
	end_since(spans, spans->now);
	emit_waiting(spans, 0);
}

static void see_stuck(struct spans *spans)
{
	struct queue_entry due;

	while (spans->now >= spans->stuck_ns && queue_pop(&spans->open, spans->now - spans->stuck_ns, &due))
		if (!queue_is_over(&due) && !due.span->has_parent && spans_is_open(spans, due.span)) {
			due.span->stuck = true;
			spans->stuck(spans->context, due.span);
		}
}

/* Does what is due at this time. */
static inline void advance(struct spans *spans, uint64_t now)
{
	spans->now = now = max_u64(now, spans->now);
	if (now > SPANS_GRACE_NS && queue_is_due(&spans->ending, now - SPANS_GRACE_NS))
		end_since(spans, now - SPANS_GRACE_NS);
	if (spans->stuck)
		see_stuck(spans);
}

void spans_pass(struct spans *spans, uint64_t now)
{
	if (!spans->passed)
		spans->before_passed = spans->now;
	spans->passed = now;
	advance(spans, now);
	emit_waiting(spans, SPANS_WAITING);
}

/* Notes that an lcore wrote a line. */
static struct spans_source *see_entry(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	uint32_t name = line->source.p ? intern_add(&spans->sources, line->source) : MAP_NONE;
	struct spans_source *source = source_of(spans, name);

	source->latest = ns > source->latest ? ns : source->latest;
	spans->first_entry = min_u64(ns, spans->first_entry);
	spans->last_entry = max_u64(ns, spans->last_entry);
	return source;
}

/* The lcore of a line, as a key of struct latest. */
static uint64_t lcore_key(const struct traceline *line)
{
	uint64_t lcore = 0;

	number_decimal(line->lcore, &lcore);
	return traceline_in_source(line, lcore);
}

/* An entry about no object. */
static void see_plain(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	struct spans_source *source = see_entry(spans, line, ns);
	const struct spdk_tpoint *tpoint = spans_tpoint_of(spans, line->tpoint);

	if (tpoint->kind == SPDK_SOCKET_READ)
		latest_put(&spans->replies.reads, lcore_key(line), ns);
	/* a bdev I/O would be in the trace: SPDK records channels since v22.01, and relations since v21.10 */
	if (tpoint->creates)
		remote_connect(&spans->remote, line);
	if (tpoint->kind == SPDK_BDEV_CHANNEL)
		source->shows_bdev_io = true;
	admin_line(&spans->admin, tpoint, line);
}

/* Notes a line of a tool about a time that the argument has, and that ends at ns. */
static void see_recording(struct spans *spans, enum coverage_tool tool, const struct traceline *line,
			  const char *argument, uint64_t ns)
{
	uint64_t length = 0;

	if (!spans->coverage[tool].any)
		number_fixed(traceline_arg(line, argument), 3, &length);
	coverage_add(&spans->coverage[tool], ns - min_u64(length, ns), ns);
	emit_waiting(spans, SPANS_WAITING);
}

bool spans_covers(const struct spans *spans, const struct span *s, enum coverage_tool tool)
{
	const struct coverage *c = &spans->coverage[tool];

	/* its reactor's lines count for another source */
	if (tool == COVERAGE_OFFCPUSNOOP && reactors_of(&spans->reactors, s->last_lcore) &&
	    !spans_reactor(spans, s, s->last_lcore))
		return false;
	return c->any && s->first >= c->begin && s->first - c->begin >= s->age &&
	       spans_until(spans, s) <= c->end + spans->slack_ns;
}

/* Whether a span is a bdev I/O in flight that has started nothing in the trace. */
static bool may_have_disk(const struct spans *spans, const struct span *s)
{
	return s->n == 1 && !s->ended && !s->child && spans_is_bdev_io(spans, s);
}

/* The first line adds the bdev I/Os that are in flight already. */
static const char *see_disk(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	struct disks *disks = &spans->disks;
	const char *error;

	for (size_t i = 0; !disks->any && i < spans->n; i++)
		if (may_have_disk(spans, spans->all[i]))
			disks_open(disks, spans->all, spans->all[i]);
	disks->any = true;
	error = disks_line(disks, spans->all, line, ns, spans->lines);
	if (!error)
		see_recording(spans, COVERAGE_BIOSNOOP, line, LIVE_LATENCY, ns);
	return error;
}

/* Whether an interval says that the reactor has not run since an entry: that may be the last one therefore. */
static bool is_stopped(const struct reactors_interval *interval, uint64_t entry)
{
	uint64_t before = interval->begin > entry && !interval->late ? interval->begin - entry : 0;

	return interval->kind == REACTORS_OFF_CPU && interval->goes_on &&
	       before <= (interval->end - interval->begin) / 10;
}

/* Adds a time for which a reactor was held. What is after the latest entry is stored apart: it may be the last one. */
static void hold(struct spans *spans, struct reactor *reactor, struct reactors_interval interval)
{
	uint64_t entry = reactor->has_source ? source_latest(spans, reactor->source) : spans->last_entry;
	uint64_t before[REACTORS_KINDS];

	memcpy(before, reactor->held, sizeof(before));
	reactors_hold(reactor, interval);
	if (reactor->after.entry != entry)
		memset(&reactor->after, 0, sizeof(reactor->after));
	reactor->after.entry = entry;
	if (interval.end <= entry)
		return;
	if (is_stopped(&interval, entry))
		reactor->after.stopped = interval.end;
	for (unsigned i = 0; i < REACTORS_KINDS; i++) {
		uint64_t added = reactor->held[i] - before[i], after = interval.end - entry;

		reactor->after.held[i] += (int64_t)added < (int64_t)after ? added : after;
	}
}

bool spans_is_live(const struct traceline *line)
{
	return !line->object_id.p &&
	       (reactors_is(line->tpoint) || disks_is(line->tpoint) || slice_is(line->tpoint, LIVE_LOSSES));
}

/* A line about no object: it may be from another tool than trace-dump. */
static const char *see_other(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	struct reactors_interval interval;
	struct reactor *reactor;
	const char *error;

	if (slice_is(line->tpoint, LIVE_LOSSES))
		return NULL;
	if (disks_is(line->tpoint))
		return see_disk(spans, line, ns);
	if (!reactors_is(line->tpoint)) {
		see_plain(spans, line, ns);
		return NULL;
	}
	error = reactors_line(&spans->reactors, line, ns, &reactor, &interval);
	if (error)
		return error;
	if (reactor) {
		if (spans->held)
			spans->held(spans->context, reactor, &interval, line);
		hold(spans, reactor, interval);
	}
	see_recording(spans, COVERAGE_OFFCPUSNOOP, line, LIVE_DURATION, ns);
	return NULL;
}

/* Gives an object without an id one that no other object can have, in a copy of its line. */
static const struct traceline *with_id(struct spans *spans, const struct traceline *line, struct traceline *copy)
{
	*copy = *line;
	copy->object_id = slice_of(unknown_id);
	copy->has_age = true;
	spans->unknown = intern_add_below(spans->types, (struct slice){unknown_id, unknown_letter}, LIFECYCLE_TYPES);
	return copy;
}

/* The span of the line's object, which the line may start; NULL if it has ended. */
static struct span *find_span(struct spans *spans, const struct traceline *line, uint64_t ns,
			      struct lifecycle_change *change)
{
	struct span *s = span_of(spans, change->object);

	/* the entry is of another object, whose creation is missing */
	if (s && s->expected && !s->ended && spans_gap(spans, s) > s->last)
		end_span(spans, s);
	/* an object without an id starts a new life after each final state */
	if (change->object->type == spans->unknown && (!s || s->ended || s->expected)) {
		change->event = LIFECYCLE_STARTS;
		change->before = *change->object;
	}
	if (change->event == LIFECYCLE_STARTS)
		s = start_span(spans, line, ns, change);
	return s && !s->ended ? s : NULL;
}

/* A disk I/O may match a bdev I/O only while that has started nothing in the trace. */
static void follow_disk(struct spans *spans, struct span *s)
{
	if (!spans->disks.any)
		return;
	if (s->parent)
		disks_close(&spans->disks, s->parent);
	if (may_have_disk(spans, s))
		disks_open(&spans->disks, spans->all, s);
}

/*
 * If the trace does not have the creation of an object, it does not name the object in the writes to its socket. They
 * are stored by its address, since its first entry may be its end, after them: a host that reads slowly.
 */
static void keep_write(struct spans *spans, struct span *s, const struct traceline *line)
{
	const struct spdk_tpoint *tpoint = spans_tpoint(spans, s->states[0].state);
	uint64_t address;

	if (tpoint->kind != SPDK_SOCKET_WRITE || s->has_parent ||
	    !traceline_number(traceline_arg(line, tpoint->parent.arg), &address))
		return;
	replies_keep(&spans->replies, spans->all, s, traceline_in_source(line, address));
}

/* Makes the writes for an object without an id its children. It has lived since the first of them at least. */
static void adopt_writes(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct span *write = replies_latest(&spans->replies, spans->all, traceline_in_source(line, s->value));

	for (; write && write->n && !write->ended && !write->has_parent; write = replies_before(spans->all, write)) {
		add_child(spans, s, write);
		if (!write->parent)
			return;
		write->has_parent = true;
		s->first = min_u64(write->first, s->first);
	}
}

/* Waits for the end of a span, or until it is stuck. */
static void queue_span(struct spans *spans, struct span *s, bool starts, uint64_t ns)
{
	if (is_final(spans, &spans->lifecycle.all[s->object])) {
		queue_add(&spans->ending, s, ns);
		s->expected = true;
	}
	if (spans->stuck && starts && !s->has_parent)
		queue_add(&spans->open, s, ns);
}

/* A line about an object. */
static const char *see_object(struct spans *spans, const struct traceline *line, struct slice text, uint64_t ns)
{
	uint32_t state = intern_add(spans->states, line->tpoint), before;
	struct traceline copy;
	const struct traceline *known = slice_is(line->object_id, "n/a") ? with_id(spans, line, &copy) : line;
	struct lifecycle_change change;
	const char *error = lifecycle_line(&spans->lifecycle, known, ns, state, &change);
	struct span *s;
	bool starts;

	if (error)
		return error;
	see_entry(spans, line, ns);
	if (change.event == LIFECYCLE_NONE)
		return NULL;
	s = find_span(spans, known, ns, &change);
	if (!s) {
		spans->late++;
		return NULL;
	}
	spans->current = s;
	starts = change.event == LIFECYCLE_STARTS;
	before = s->n ? s->states[s->n - 1].state : MAP_NONE;
	add_state(spans, s, line, ns, state);
	if (starts || (s->has_parent && !s->parent))
		find_parent(spans, s, line, starts);
	if (starts)
		remote_see(spans, s, line);
	if (starts && !s->has_parent)
		keep_write(spans, s, line);
	if (starts && s->unknown)
		adopt_writes(spans, s, line);
	if (spans_tpoint(spans, state)->sends)
		replies_delay(&spans->replies, s, lcore_key(line));
	follow_disk(spans, s);
	if (spans->entry)
		spans->entry(spans->context, s, before, line, text);
	queue_span(spans, s, starts, ns);
	if (s->expected && s->place.queue)
		remote_end(spans, s);
	return NULL;
}

/*
 * Whether the lcore of the current line has worked since its entry before: from when a request is ready to execute
 * until it writes that it does, the lcore is in the call that passes it on.
 */
static bool is_in_call(struct spans *spans)
{
	struct lcore *lcore = &spans->lcores.all[spans->lcore];
	const struct span *s = spans->current;
	uint32_t call = lcore->call;
	const struct spdk_tpoint *tpoint;

	if (!s || s->has_parent || spans_kind(spans, s) != SPDK_OTHER)
		return call;
	tpoint = spans_tpoint(spans, s->states[s->n - 1].state);
	lcore->call = tpoint->passes_on && tpoint->layer == LAYER_TARGET && !tpoint->executes ? s->index + 1 : 0;
	/* of another one, the end is missing */
	return call == s->index + 1;
}

const char *spans_line(struct spans *spans, const struct traceline *line, struct slice text)
{
	uint64_t ns;
	const char *error = traceline_time(line, &ns);

	if (error)
		return error;
	if (line->lost && !spans_is_live(line))
		latest_put(&spans->gaps, lcore_key(line), ns);
	/* the lines were late, and time has not passed */
	if (spans->passed)
		spans->now = spans->before_passed;
	spans->passed = 0;
	advance(spans, ns);
	spans->lines++;
	spans->lcore = MAP_NONE;
	spans->is_work = false;
	spans->current = NULL;
	if (spans->has_lcores && !spans_is_live(line))
		spans->lcore = lcores_add(&spans->lcores, line, ns);
	error = line->object_id.p ? see_object(spans, line, text, ns) : see_other(spans, line, ns);
	if (spans->lcore != MAP_NONE)
		spans->is_work = is_in_call(spans);
	if (spans->who && spans->lcore != MAP_NONE)
		lcores_keep(&spans->lcores, spans->lcore, spans->lines,
			    spans->who(spans->context, spans->current, line), spans->is_work);
	return error;
}

bool spans_is_lost(const struct spans *spans, const struct span *s)
{
	const struct object *object = &spans->lifecycle.all[s->object];

	if (s->ended || spans->over)
		return s->lost;
	return object->note == s->index + 1 && is_end_lost(spans, s, object);
}

/* bs_user_op_execute() in lib/blob/request.c gives the set of an operation that was queued back without an entry. */
static bool may_end_unseen(const struct spans *spans, const struct span *s)
{
	return spans_kind(spans, s) == SPDK_BLOB_SET;
}

bool spans_is_open(const struct spans *spans, const struct span *s)
{
	const struct object *object = &spans->lifecycle.all[s->object];

	if (s->ended || spans->over)
		return s->open;
	/* an object whose address was reused has ended, a set that has started nothing may have ended at any time */
	return object->note == s->index + 1 && !is_final(spans, object) && !is_end_lost(spans, s, object) &&
	       (s->n > 1 || s->child || !may_end_unseen(spans, s));
}

const struct span *spans_open_child(const struct spans *spans, const struct span *s)
{
	const struct span *last = NULL;

	for (const struct span *child = s->child; child; child = child->next)
		if (spans_is_open(spans, child))
			last = child;
	return last;
}

static int by_last(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a, *y = *(struct span *const *)b;

	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* What is still queued is in no reply before the latest read. */
static void delay_unsent(const struct spans *spans, struct span *const *left, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct span *s = left[i];

		if (s->n == 1 && spans_kind(spans, s) == SPDK_SOCKET_WRITE)
			replies_delay(&spans->replies, s, last_lcore_key(spans, s));
	}
}

void spans_end(struct spans *spans)
{
	struct span **left;
	size_t n = 0;

	emit_waiting(spans, 0);
	left = mem_array(spans->n, sizeof(struct span *));

	for (size_t i = 0; i < spans->n; i++) {
		struct span *s = spans->all[i];

		/* a span without states is free */
		if (!s->n || s->ended)
			continue;
		left[n++] = s;
		s->open = spans_is_open(spans, s);
		s->lost = spans_is_lost(spans, s);
	}
	spans->over = true;
	delay_unsent(spans, left, n);
	qsort(left, n, sizeof(*left), by_last);
	for (size_t i = 0; i < n; i++)
		end_span(spans, left[i]);
	free(left);
}

void spans_free(struct spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		free_parts(spans, spans->all[i]);
		free(spans->all[i]);
	}
	free(spans->all);
	free(spans->ending.all);
	free(spans->open.all);
	replies_free(&spans->replies);
	latest_free(&spans->gaps);
	intern_free(&spans->sources);
	free(spans->by_source);
	lcores_free(&spans->lcores);
	reactors_free(&spans->reactors);
	disks_free(&spans->disks);
	admin_free(&spans->admin);
	remote_free(&spans->remote);
	lifecycle_free(&spans->lifecycle);
}
