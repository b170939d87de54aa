/* SPDX-License-Identifier: BSD-3-Clause */
#include "spans.h"

#include "livenames.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"

/* Objects without an id have this letter, which no other can have; their address is their key. */
static const char unknown_id[] = "\\u00000";
static const size_t unknown_letter = 6;

void spans_start(struct spans *spans)
{
	spans->lifecycle.types = spans->types;
	spans->lifecycle.states = spans->states;
	spans->unknown = MAP_NONE;
	spans->seen.first = UINT64_MAX;
	spans->admin.lifecycle = &spans->lifecycle;
}

static struct span *span_of(const struct spans *spans, const struct object *object)
{
	return object->note ? spans->store.all[object->note - 1] : NULL;
}

void spans_forget_parent(struct span *s)
{
	s->text.len -= s->parent_n;
	memmove(s->text.buf, s->text.buf + s->parent_n, s->text.len);
	s->parent_n = 0;
	s->parent = NULL;
	s->has_parent = false;
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

/* Adds a child after those that started before it or with it. */
static void add_child(struct spans *spans, struct span *parent, struct span *s)
{
	struct span **place = &parent->child;
	unsigned height = s->height + 1;

	if (parent->end.over)
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
		seen_source(&spans->seen, s->source)->shows_bdev_io = true;
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
	char id[64]; /* a letter and a number */

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
	spans_forget_parent(s);
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
		out_slice(&s->text, spans->seen.names.all[s->source]);
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
		s->orphan = !parent || parent->end.over;
	if (parent)
		add_child(spans, parent, s);
}

static void add_state(struct spans *spans, struct span *s, const struct traceline *line, uint64_t ns, uint32_t state)
{
	const struct spdk_tpoint *tpoint = spans_tpoint(spans, state);
	struct span_state new = {ns, state, spans->lines, spans->lcore, 0}, *last = s->n ? &s->states[s->n - 1] : NULL;
	uint64_t lcore = s->last_lcore;

	if (spans->lcore != MAP_NONE)
		new.entry = spans->lcores.all[spans->lcore].entries - 1;
	if (last && spans->has_lcores)
		lcores_longer(&spans->lcores, &s->silent, last->lcore, last->ns, ns);
	s->gap |= last && spans->gaps.n && life_gap(spans, s) > s->last;
	if (s->n == SPANS_STATES) {
		/* the current state is worth more than the one before it */
		s->n--;
		spans->beyond++;
	}
	number_decimal(line->lcore, &lcore);
	if (spans->reactors.n && last)
		reactors_entry(&spans->reactors, s);
	s->last_lcore = lcore;
	disks_close(&spans->disks, s);
	s->states = mem_room(s->states, s->n, &s->cap);
	s->states[s->n++] = new;
	s->last = ns;
	s->end.expected = false;
	s->torn |= line->torn;
	if (tpoint->replies)
		s->reply.start = ns;
	if (tpoint->passes_on)
		seen_source(&spans->seen, s->source)->passes_on = true;
	if (tpoint->kind == SPDK_BDEV_IO)
		seen_source(&spans->seen, s->source)->has_bdev_io = true;
	if (tpoint->args->arg)
		io_args_read(&s->io, tpoint, line);
}

/* Ends the span of the previous object at an address, unless it is queued to end. */
static void end_before(struct spans *spans, const struct object *before)
{
	struct span *s = before->entries ? span_of(spans, before) : NULL;

	if (!s || s->end.over || s->end.expected)
		return;
	/* it has ended, even if it went on after the gap */
	s->end.lost = !spans_is_final(spans, before) && life_gap(spans, s) > s->last;
	ending_end(spans, s);
}

static struct span *start_span(struct spans *spans, const struct traceline *line, uint64_t ns,
			       struct lifecycle_change *change)
{
	struct object *object = change->object;
	uint32_t index = object - spans->lifecycle.all;
	struct span *s;

	end_before(spans, &change->before);
	/* one without an id at the address of one that is created */
	if (!line->has_age && spans->unknown != MAP_NONE) {
		uint32_t unknown = map_get(&spans->lifecycle.addresses[spans->unknown],
					   traceline_in_source(line, line->object_value));

		if (unknown != MAP_NONE)
			end_before(spans, &spans->lifecycle.all[unknown]);
	}
	s = store_take(&spans->store);
	object->note = s->index + 1;
	s->object = index;
	s->type = object->type;
	s->number = object->number;
	s->value = line->object_value;
	s->source = seen_name(&spans->seen, line);
	s->tsc = line->tsc;
	number_decimal(line->lcore, &s->lcore);
	s->first = ns;
	s->age = object->age;
	s->unknown = s->type == spans->unknown;
	s->cut = line->has_age;
	return s;
}

void spans_pause(struct spans *spans)
{
	ending_due(spans, spans->now);
	ending_emit(spans, true);
}

/* Does what is due at this time. */
static inline void advance(struct spans *spans, uint64_t now)
{
	spans->now = now = max_u64(now, spans->now);
	if (now > ENDING_GRACE_NS && ending_is_due(&spans->ending, now - ENDING_GRACE_NS))
		ending_due(spans, now - ENDING_GRACE_NS);
	if (spans->stuck)
		ending_stuck(spans);
}

void spans_pass(struct spans *spans, uint64_t now)
{
	if (!spans->passed)
		spans->before_passed = spans->now;
	spans->passed = now;
	advance(spans, now);
	ending_emit(spans, false);
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
	struct seen_source *source = seen_entry(&spans->seen, line, ns);
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

/* Whether a span is a bdev I/O in flight that has started nothing in the trace. */
static bool may_have_disk(const struct spans *spans, const struct span *s)
{
	return s->n == 1 && !s->end.over && !s->child && spans_is_bdev_io(spans, s);
}

/* The first line adds the bdev I/Os that are in flight already. */
static const char *see_disk(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	const struct store *store = &spans->store;
	struct disks *disks = &spans->disks;

	for (size_t i = 0; !disks->any && i < store->n; i++)
		if (may_have_disk(spans, store->all[i]))
			disks_open(disks, store->all, store->all[i]);
	disks->any = true;
	return disks_line(disks, store->all, line, ns);
}

static const char *see_reactor(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	struct reactors_interval interval;
	struct reactor *reactor;
	const char *error = reactors_line(&spans->reactors, line, ns, &reactor, &interval);

	if (error || !reactor)
		return error;
	if (spans->held)
		spans->held(spans->context, reactor, &interval, line);
	reactors_hold(reactor, interval,
		      reactor->has_source ? seen_latest(&spans->seen, reactor->source) : spans->seen.last);
	return NULL;
}

bool spans_is_live(const struct traceline *line)
{
	return !line->object_id.p &&
	       (reactors_is(line->tpoint) || disks_is(line->tpoint) || slice_is(line->tpoint, LIVE_LOSSES));
}

/* A line about no object: it may be from another tool than trace-dump. */
static const char *see_other(struct spans *spans, const struct traceline *line, uint64_t ns)
{
	bool is_disk = disks_is(line->tpoint);
	const char *error;

	if (slice_is(line->tpoint, LIVE_LOSSES))
		return NULL;
	if (!is_disk && !reactors_is(line->tpoint)) {
		see_plain(spans, line, ns);
		return NULL;
	}
	error = is_disk ? see_disk(spans, line, ns) : see_reactor(spans, line, ns);
	if (error)
		return error;
	if (is_disk)
		coverage_line(&spans->coverage, COVERAGE_BIOSNOOP, line, LIVE_LATENCY, ns);
	else
		coverage_line(&spans->coverage, COVERAGE_OFFCPUSNOOP, line, LIVE_DURATION, ns);
	ending_emit(spans, false);
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
	if (s && s->end.expected && !s->end.over && life_gap(spans, s) > s->last)
		ending_end(spans, s);
	/* an object without an id starts a new life after each final state */
	if (change->object->type == spans->unknown && (!s || s->end.over || s->end.expected)) {
		change->event = LIFECYCLE_STARTS;
		change->before = *change->object;
	}
	if (change->event == LIFECYCLE_STARTS)
		s = start_span(spans, line, ns, change);
	return s && !s->end.over ? s : NULL;
}

/* A disk I/O may match a bdev I/O only while that has started nothing in the trace. */
static void follow_disk(struct spans *spans, struct span *s)
{
	if (!spans->disks.any)
		return;
	if (s->parent)
		disks_close(&spans->disks, s->parent);
	if (may_have_disk(spans, s))
		disks_open(&spans->disks, spans->store.all, s);
}

/* Makes the writes for an object without an id its children. It has lived since the first of them at least. */
static void adopt_writes(struct spans *spans, struct span *s, const struct traceline *line)
{
	struct store_ref next = replies_latest(&spans->replies, traceline_in_source(line, s->value));
	struct span *write;

	for (; (write = store_find(&spans->store, next)) && !write->end.over && !write->has_parent;
	     next = write->reply.before) {
		add_child(spans, s, write);
		if (!write->parent)
			return;
		write->has_parent = true;
		s->first = min_u64(write->first, s->first);
	}
}

/* A line about an object. */
static const char *see_object(struct spans *spans, const struct traceline *line, uint64_t ns)
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
	seen_entry(&spans->seen, line, ns);
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
	if (starts && !s->has_parent && spans_kind(spans, s) == SPDK_SOCKET_WRITE)
		replies_keep(&spans->replies, s, spans_tpoint(spans, state)->parent.arg, line);
	if (starts && s->unknown)
		adopt_writes(spans, s, line);
	if (spans_tpoint(spans, state)->sends)
		replies_delay(&spans->replies, s, lcore_key(line));
	follow_disk(spans, s);
	if (spans->entry)
		spans->entry(spans->context, s, before, line);
	ending_add(spans, s, starts, ns);
	if (s->end.expected && s->place.queue)
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

const char *spans_line(struct spans *spans, const struct traceline *line)
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
	error = line->object_id.p ? see_object(spans, line, ns) : see_other(spans, line, ns);
	if (spans->lcore != MAP_NONE)
		spans->is_work = is_in_call(spans);
	if (spans->who && spans->lcore != MAP_NONE)
		lcores_keep(&spans->lcores, spans->lcore, spans->lines,
			    spans->who(spans->context, spans->current, line), spans->is_work);
	return error;
}

void spans_end(struct spans *spans)
{
	ending_all(spans);
}

void spans_free(struct spans *spans)
{
	store_free(&spans->store);
	seen_free(&spans->seen);
	lcores_free(&spans->lcores);
	latest_free(&spans->gaps);
	admin_free(&spans->admin);
	replies_free(&spans->replies);
	reactors_free(&spans->reactors);
	disks_free(&spans->disks);
	remote_free(&spans->remote);
	ending_free(&spans->ending);
	lifecycle_free(&spans->lifecycle);
}
