/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All six layouts are tried; the one with no contradictions is used. Where the tables of
 * tracepoints and histories of two layouts overlap, one has a name where the other needs a number,
 * so no file can pass for two. When every layout is contradicted, the file is damaged: the one with
 * the fewest faults is used if most of its definitions are intact.
 *
 * Only data that a running application does not change is checked, so that copies of live files are
 * recognised, too.
 */
#include "tracefile.h"

#include "input.h"
#include "layout.h"
#include "mem.h"

/*
 * Ticks per second; in the same place, a tracepoint mask and a number of sections are always
 * smaller.
 */
enum { MIN_TSC_RATE = 65536 };

enum {
	TPOINT_NAME = 24,
	ARG_NAME = 14,
	ARG_SIZE = 16,
	TPOINT_FIXED = 30, /* bytes of a tracepoint before its arguments */
	RELATION_SIZE = 2,
	THREAD_NAME = sizeof(((struct trace_lcore *)0)->thread) - 1,
	SLOT = sizeof(struct trace_slot),
	HISTORY_IDS = 32, /* position in a history of G6 of the number of tracepoints that it counts */
};

/* Whether some of these bytes are on a page that cannot be read. */
static bool is_lost(const struct input *in, uint64_t at, size_t n)
{
	return at < in->size && in->size - at >= n && input_is_lost(in, in->data + at, n);
}

/* Copies a name, which must be printable and followed by NULs until the end of its field. */
static bool read_name(char *name, const uint8_t *p, size_t size)
{
	size_t n = strnlen((const char *)p, size);

	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] > 0x7e)
			return false;
	memcpy(name, p, n);
	name[n] = 0;
	return n > 0 && n < size && layout_is_zero(p + n, size - n);
}

static bool read_args(struct trace_tpoint *tp, const uint8_t *p, unsigned max)
{
	if (tp->num_args > max || !layout_is_zero(p + ARG_SIZE * tp->num_args, ARG_SIZE * (max - tp->num_args)))
		return false;
	for (unsigned i = 0; i < tp->num_args; i++, p += ARG_SIZE) {
		struct trace_arg *arg = &tp->args[i];

		arg->type = p[ARG_NAME];
		arg->size = p[ARG_NAME + 1];
		arg->offset = tp->args_size;
		tp->args_size += arg->size;
		if (!read_name(arg->name, p, ARG_NAME) || arg->type > TRACE_STR || !arg->size ||
		    (arg->type != TRACE_STR && arg->size != 4 && arg->size != 8))
			return false;
	}
	return true;
}

static bool read_relations(struct trace_tpoint *tp, const uint8_t *p, const struct layout *l)
{
	unsigned i;

	for (i = 0; i < l->num_relations && p[RELATION_SIZE * i]; i++) {
		tp->related[i] = (struct trace_relation){p[RELATION_SIZE * i], p[RELATION_SIZE * i + 1]};
		if (tp->related[i].arg >= l->num_args)
			return false;
	}
	return layout_is_zero(p + RELATION_SIZE * i, RELATION_SIZE * (l->num_relations - i));
}

/*
 * Reads the definition with this number. Returns 1, 0 if there is none, -1 if it is damaged; *tp is
 * set only for 1.
 */
static int read_tpoint(struct trace_tpoint *tp, const uint8_t *p, unsigned id, const struct layout *l)
{
	size_t fixed_size = TPOINT_FIXED + ARG_SIZE * l->num_args;
	struct trace_tpoint read = {.id = id};

	/* relations can be registered for a tracepoint that never is */
	if (layout_is_zero(p, fixed_size))
		return read_relations(&read, p + fixed_size, l) ? 0 : -1;
	read.owner_type = p[26];
	read.object_type = p[27];
	read.new_object = p[28];
	read.num_args = p[29];
	if (!read_name(read.name, p, TPOINT_NAME) || layout_number(p + 24, 2) != id || p[28] > 1 ||
	    !read_args(&read, p + TPOINT_FIXED, l->num_args) || !read_relations(&read, p + fixed_size, l))
		return -1;
	*tp = read;
	return 1;
}

/* Returns whether most of the readable definitions are valid in this layout. */
static bool read_tpoints(struct trace *t, const struct input *in, const struct layout *l)
{
	size_t size = TPOINT_FIXED + ARG_SIZE * l->num_args + RELATION_SIZE * l->num_relations;
	unsigned good = 0, bad = 0;

	t->num_tpoints = l->num_tpoints;
	t->tpoints = mem_array(l->num_tpoints, sizeof(*t->tpoints));
	for (unsigned i = 0; i < l->num_tpoints; i++) {
		uint64_t at = l->tpoints + i * size;
		int found = is_lost(in, at, size) ? 0 : read_tpoint(&t->tpoints[i], in->data + at, i, l);

		good += found > 0;
		bad += found < 0;
		if (found < 0)
			trace_fault(t, "the definition of tracepoint %u is damaged", i);
	}
	return good > bad;
}

/* Reads which of the defined tracepoints are enabled. */
static void read_masks(struct trace *t, const struct input *in, const struct layout *l)
{
	t->has_masks = l->num_masks && !is_lost(in, l->masks, 8 * l->num_masks);
	for (unsigned i = 0; t->has_masks && i < t->num_tpoints; i++) {
		unsigned group = i / TRACE_GROUP;
		uint64_t mask = group < l->num_masks ? layout_number(in->data + l->masks + 8 * group, 8) : 0;

		t->tpoints[i].off = t->tpoints[i].name[0] && !(mask >> i % TRACE_GROUP & 1);
	}
}

/* One layout being tried on one input. */
struct probe {
	struct trace *t;
	struct input *in;
	const struct layout *l;
	uint64_t histories_end;
	bool lost; /* the history after the last one in t->lcores was not found */
};

/*
 * The number of slots that fit after a history at this position; -1 if no history can be there.
 */
static int64_t room_for_slots(const struct probe *probe, uint64_t at)
{
	if (at < probe->l->histories || at > probe->in->size || probe->in->size - at < probe->l->history_size ||
	    at > probe->histories_end || probe->histories_end - at < probe->l->history_size)
		return -1;
	return (probe->histories_end - at - probe->l->history_size) / SLOT;
}

/* Whether a history of this lcore is at this position. */
static bool is_history(const struct probe *probe, uint64_t at, unsigned id)
{
	const struct layout *l = probe->l;
	int64_t room = room_for_slots(probe, at);
	uint64_t slots, lcore;
	const uint8_t *p;

	if (room < 0)
		return false;
	p = probe->in->data + at;
	slots = layout_number(p + l->slots, 8);
	lcore = layout_number(p, 4);
	if (l->thread ? layout_number(p + HISTORY_IDS, 8) != l->num_tpoints : !layout_is_zero(p + 4, 4))
		return false;
	return (lcore == id || (!lcore && !slots)) && slots <= (uint64_t)room;
}

static uint64_t position(const struct probe *probe, const struct trace_slot *ring)
{
	return (const uint8_t *)ring - probe->in->data;
}

/*
 * Ends the ring of the last history at this position, where the next history starts, whatever its
 * own number of slots is.
 */
static void end_ring(const struct probe *probe, uint64_t at)
{
	struct trace_lcore *last;

	if (!probe->t->num_lcores || probe->lost)
		return;
	last = &probe->t->lcores[probe->t->num_lcores - 1];
	if (at > position(probe, last->ring))
		last->slots = (at - position(probe, last->ring)) / SLOT;
}

/*
 * The position of an lcore's history. Three things should agree: its offset, the end of the history
 * before, and the number in it. Two are enough. Returns 0 if fewer agree.
 */
static uint64_t find_history(const struct probe *probe, uint64_t offset, uint64_t next, unsigned id)
{
	if (offset == next && is_history(probe, next, id))
		return next;
	trace_fault(probe->t, "the history of lcore %u is damaged, or not where it should be", id);
	if (offset == next)
		return room_for_slots(probe, next) < 0 ? 0 : next;
	if (is_history(probe, offset, id)) {
		end_ring(probe, offset);
		return offset;
	}
	return is_history(probe, next, id) ? next : 0;
}

/*
 * Whether only the first bytes of a history, all zero, are at this position: spdk_trace_record of
 * G6 truncates histories without entries.
 */
static bool is_short_history(const struct probe *probe, uint64_t at)
{
	return probe->l->thread && at + LAYOUT_HISTORY_CORE <= probe->in->size &&
	       !is_lost(probe->in, at, LAYOUT_HISTORY_CORE) &&
	       layout_is_zero(probe->in->data + at, LAYOUT_HISTORY_CORE);
}

/*
 * The offset of an lcore's history, 0 if it has none. If the offset is unreadable, the history at
 * `next` shows whether it is this lcore's. absent: see read_histories().
 */
static uint64_t read_offset(const struct probe *probe, unsigned id, uint64_t next, uint64_t absent)
{
	const struct layout *l = probe->l;
	uint64_t at = l->offsets + 8 * (uint64_t)id;

	if (!is_lost(probe->in, at, 8))
		return layout_number(probe->in->data + at, 8);
	if (l->every_lcore || is_short_history(probe, next) ||
	    (is_history(probe, next, id) && layout_number(probe->in->data + next + l->slots, 8)))
		return next + absent;
	return 0;
}

static void add_lcore(const struct probe *probe, uint64_t at, unsigned id)
{
	const uint8_t *data = probe->in->data;
	struct trace_lcore *lcore = &probe->t->lcores[probe->t->num_lcores++];
	uint64_t room = room_for_slots(probe, at);

	lcore->id = id;
	lcore->next_entry = data + at + probe->l->next_entry;
	lcore->ring = (const struct trace_slot *)(data + at + probe->l->history_size);
	lcore->slots = layout_number(data + at + probe->l->slots, 8);
	if (lcore->slots > room)
		lcore->slots = room;
	if (probe->l->thread)
		lcore->thread_name = data + at + probe->l->thread;
	else if (probe->l->thread_names)
		lcore->thread_name = data + probe->l->thread_names + THREAD_NAME * id;
	if (lcore->thread_name && !input_is_lost(probe->in, lcore->thread_name, THREAD_NAME))
		memcpy(lcore->thread, lcore->thread_name, THREAD_NAME);
}

/*
 * Walks the histories, which follow each other in the order of their offsets. Offsets and the
 * file's size include truncated histories in full: `absent` bytes are missing so far.
 */
static void read_histories(struct probe *probe)
{
	const struct layout *l = probe->l;
	struct trace *t = probe->t;
	uint64_t next = l->histories, absent = 0;

	for (unsigned i = 0; i < l->num_lcores; i++) {
		uint64_t at = read_offset(probe, i, next, absent);

		if (!at && l->every_lcore)
			trace_fault(t, "the history of lcore %u is missing", i);
		if (!at)
			continue;
		if (is_short_history(probe, next)) {
			t->short_histories++;
			next += LAYOUT_HISTORY_CORE;
			absent += l->history_size - LAYOUT_HISTORY_CORE;
			probe->histories_end -= l->history_size - LAYOUT_HISTORY_CORE;
			continue;
		}
		at -= absent;
		if (probe->in->size < t->expected_size - absent && room_for_slots(probe, at) < 0 &&
		    room_for_slots(probe, next) < 0)
			continue; /* it was cut off */
		at = find_history(probe, at, next, i);
		probe->lost = !at;
		if (!at)
			continue;
		add_lcore(probe, at, i);
		next = at + l->history_size + SLOT * t->lcores[t->num_lcores - 1].slots;
	}
	t->expected_size -= absent;
	t->cut_off = probe->in->size < t->expected_size;
	if (!t->cut_off && next != probe->histories_end) {
		trace_fault(t, "the last history does not end where it should");
		end_ring(probe, probe->histories_end);
	}
	for (struct trace_lcore *lcore = t->lcores; lcore < t->lcores + t->num_lcores; lcore++) {
		uint64_t rest = (probe->in->size - position(probe, lcore->ring)) / SLOT;

		lcore->present = rest < lcore->slots ? rest : lcore->slots;
	}
}

/* Finds the owner records, which in G4 and G5 come after the histories. */
static void read_owners(struct probe *probe)
{
	const struct layout *l = probe->l;
	struct trace *t = probe->t;
	const uint8_t *data = probe->in->data;
	uint64_t at = l->owners, size;

	if (!l->owner_count)
		return;
	t->owner_descriptions = true;
	t->num_owners = layout_number(data + l->owner_count, 2);
	t->owner_size = TRACE_OWNER_HEAD + layout_number(data + l->owner_count + 2, 2);
	size = (uint64_t)t->num_owners * t->owner_size;
	if (l->owner_offset) {
		at = layout_number(data + l->owner_offset, 8);
		if (is_lost(probe->in, l->owner_offset, 8))
			at = size < t->expected_size ? t->expected_size - size : 0;
		probe->histories_end = at;
		if (!is_lost(probe->in, l->owner_count, 4) && (at > t->expected_size || t->expected_size - at != size))
			trace_fault(t, "the owner records are not where they should be");
	}
	t->owner_table = (struct trace_owner_table){t->num_owners, t->owner_size, at, l->owner_types};
	if (at > probe->in->size)
		at = probe->in->size;
	if (size > probe->in->size - at)
		t->num_owners = (probe->in->size - at) / t->owner_size;
	t->owners = data + at;
}

static enum layout_result try_layout(struct probe *probe)
{
	const struct layout *l = probe->l;
	struct trace *t = probe->t;

	if (!input_fill(probe->in, l->histories))
		return LAYOUT_OTHER;
	t->layout = l->name;
	t->releases = l->releases;
	t->tsc_rate = layout_number(probe->in->data + l->tsc_rate, 8);
	t->clear_tsc = l->clear_tsc ? layout_number(probe->in->data + l->clear_tsc, 8) : 0;
	t->expected_size = probe->histories_end = layout_number(probe->in->data + l->file_size, 8);
	if (t->tsc_rate < MIN_TSC_RATE || t->expected_size < l->histories || !read_tpoints(t, probe->in, l))
		return LAYOUT_OTHER;
	read_masks(t, probe->in, l);
	t->lcores = mem_array(l->num_lcores, sizeof(*t->lcores));
	input_fill(probe->in, t->expected_size);
	trace_prefixes_read(t->owner_prefix, probe->in->data + l->owner_types);
	trace_prefixes_read(t->object_prefix, probe->in->data + l->object_types);
	read_owners(probe);
	read_histories(probe);
	return t->num_lcores || t->cut_off ? LAYOUT_MATCHES : LAYOUT_OTHER;
}

/* Call trace_close() whatever the result. */
static enum layout_result try_candidate(struct trace *t, struct input *in, unsigned candidate)
{
	struct layout layout;
	struct probe probe = {.t = t, .in = in, .l = &layout};
	enum layout_result result;

	*t = (struct trace){.in = in};
	result = layout_get(&layout, candidate, t, in);
	return result == LAYOUT_MATCHES ? try_layout(&probe) : result;
}

int tracefile_open(struct trace *t, struct input *in, const char **error)
{
	unsigned best = 0, fewest = 0, equals = 0;
	struct trace other;

	*error = NULL;
	for (unsigned i = 0; i < LAYOUTS; i++) {
		enum layout_result result = try_candidate(&other, in, i);

		if (result == LAYOUT_CUT_OFF)
			*error = "is cut off before its first entry";
		if (result == LAYOUT_MATCHES) {
			if (equals && other.faults == fewest)
				equals++;
			if (!equals || other.faults < fewest) {
				best = i;
				fewest = other.faults;
				equals = 1;
			}
		}
		trace_close(&other);
	}
	if (equals == 1) {
		try_candidate(t, in, best);
		t->is_followed = !in->snapshot && input_fill(in, t->expected_size + 1);
		return 0;
	}
	if (equals > 1)
		*error = "has the marks of two layouts: it is damaged or forged";
	else if (!*error)
		*error = "not an SPDK trace file, or cut off within its header, or of an unknown layout";
	if (in->unreadable)
		*error = "no trace is recognised without the bytes that cannot be read";
	if (in->error)
		*error = NULL;
	return -1;
}
