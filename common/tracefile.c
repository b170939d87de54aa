/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All six layouts are tried; the one with no contradictions is used. Where the tables of
 * tracepoints and histories of two layouts overlap, one has a name where the other needs a number,
 * so no file can pass for two. When every layout is contradicted, the file is damaged: the one with
 * the fewest faults is used if most of its definitions are intact.
 *
 * Only what a running application does not change is checked, so that copies of live files are
 * recognised, too.
 */
#include "tracefile.h"

#include "input.h"
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
	HISTORY_IDS = 32,       /* position in a history of G6: how many tracepoints it counts */
	HISTORY_CORE_SIZE = 48, /* of G6, before the counts; a truncated one has nothing more */
};

/*
 * Where things are in a file, and how many. G6 has a table of sections for it; in the others all is
 * fixed.
 */
struct layout {
	const char *name, *releases;
	uint64_t tsc_rate, owner_types, object_types, tpoints, offsets; /* positions in the file */
	uint64_t thread_names;                                          /* 0: none, or in the histories */
	uint64_t file_size;    /* position of the file's size; of its end in G1 to G3 */
	uint64_t owner_count;  /* position of number and size of owner records; 0: there are none */
	uint64_t owner_offset; /* position of their position; 0: they are at owners */
	uint64_t owners;       /* position of the records */
	uint64_t clear_tsc;    /* 0: none */
	uint64_t histories;    /* position of the first one */
	uint64_t num_tpoints, num_lcores;
	unsigned num_args, num_relations;
	unsigned history_size;              /* bytes before the ring */
	unsigned slots, next_entry, thread; /* positions in a history; no thread: 0 */
	bool every_lcore;                   /* has a history, used or not */
};

#define LEGACY                                                                                        \
	.tsc_rate = 0, .owner_types = 136, .object_types = 648, .tpoints = 1160, .num_tpoints = 1024, \
	.num_lcores = 128, .history_size = 8216, .slots = 8, .next_entry = 8208

static const struct layout fixed[] = {
	{"G1", "v21.07", LEGACY, .num_args = 5, .offsets = 113800, .file_size = 114824, .histories = 114832,
	 .every_lcore = true},
	{"G2", "v21.10 to v22.05", LEGACY, .num_args = 5, .num_relations = TRACE_RELATIONS, .offsets = 146568,
	 .file_size = 147592, .histories = 147600, .every_lcore = true},
	{"G3", "v22.09 to v24.01", LEGACY, .num_args = 8, .num_relations = TRACE_RELATIONS, .offsets = 195720,
	 .file_size = 196744, .histories = 196752},
	{"G4", "v24.05", .file_size = 0, .tsc_rate = 8, .thread_names = 144, .owner_types = 16528,
	 .object_types = 17040, .tpoints = 17552, .num_tpoints = 1024, .num_args = 8, .num_relations = TRACE_RELATIONS,
	 .owner_count = 212112, .offsets = 212120, .num_lcores = 1024, .owner_offset = 220312, .histories = 220320,
	 .history_size = 8216, .slots = 8, .next_entry = 8208},
	{"G5", "v24.09 to v26.01", .file_size = 0, .tsc_rate = 8, .thread_names = 176, .owner_types = 16560,
	 .object_types = 17072, .tpoints = 17584, .num_tpoints = 1280, .num_args = 8, .num_relations = TRACE_RELATIONS,
	 .owner_count = 260784, .offsets = 260792, .num_lcores = 1024, .owner_offset = 268984, .histories = 268992,
	 .history_size = 10264, .slots = 8, .next_entry = 10256},
};

enum { NUM_FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static uint64_t number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	/* each byte equals the one before it */
	return !n || (!p[0] && memcmp(p, p + 1, n - 1) == 0);
}

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
	return n > 0 && n < size && all_zero(p + n, size - n);
}

static bool read_args(struct trace_tpoint *tp, const uint8_t *p, unsigned max)
{
	if (tp->num_args > max || !all_zero(p + ARG_SIZE * tp->num_args, ARG_SIZE * (max - tp->num_args)))
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
	return all_zero(p + RELATION_SIZE * i, RELATION_SIZE * (l->num_relations - i));
}

/*
 * Reads the definition with this number. Returns 1, 0 when there is none, -1 when it is damaged;
 * *tp is set only for 1.
 */
static int read_tpoint(struct trace_tpoint *tp, const uint8_t *p, unsigned id, const struct layout *l)
{
	size_t fixed_size = TPOINT_FIXED + ARG_SIZE * l->num_args;
	struct trace_tpoint read = {.id = id};

	/* relations can be registered for a tracepoint that never is */
	if (all_zero(p, fixed_size))
		return read_relations(&read, p + fixed_size, l) ? 0 : -1;
	read.owner_type = p[26];
	read.object_type = p[27];
	read.new_object = p[28];
	read.num_args = p[29];
	if (!read_name(read.name, p, TPOINT_NAME) || number(p + 24, 2) != id || p[28] > 1 ||
	    !read_args(&read, p + TPOINT_FIXED, l->num_args) || !read_relations(&read, p + fixed_size, l))
		return -1;
	*tp = read;
	return 1;
}

/* Returns whether most definitions are valid in this layout, of those that can be read. */
static bool read_tpoints(struct trace *t, const struct input *in, const struct layout *l)
{
	size_t size = TPOINT_FIXED + ARG_SIZE * l->num_args + RELATION_SIZE * l->num_relations;
	unsigned good = 0, bad = 0;

	t->num_tpoints = l->num_tpoints;
	t->definitions = l->tpoints;
	t->definitions_end = l->tpoints + size * l->num_tpoints;
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

/* One layout being tried on one input. */
struct probe {
	struct trace *t;
	struct input *in;
	const struct layout *l;
	uint64_t histories_end;
	bool lost; /* the history after the last one that was found */
};

/*
 * How many slots of a ring fit after a history at this position; -1 when no history can be there.
 */
static int64_t room_for_slots(const struct probe *probe, uint64_t at)
{
	if (at < probe->l->histories || at > probe->in->size || probe->in->size - at < probe->l->history_size ||
	    at > probe->histories_end || probe->histories_end - at < probe->l->history_size)
		return -1;
	return (probe->histories_end - at - probe->l->history_size) / SLOT;
}

/* Whether an lcore's history that is at this position cannot be read. */
static bool is_lost_history(const struct probe *probe, uint64_t at)
{
	return room_for_slots(probe, at) >= 0 && is_lost(probe->in, at, HISTORY_CORE_SIZE);
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
	slots = number(p + l->slots, 8);
	lcore = number(p, 4);
	if (l->thread ? number(p + HISTORY_IDS, 8) != l->num_tpoints : !all_zero(p + 4, 4))
		return false;
	return (lcore == id || (!lcore && !slots)) && slots <= (uint64_t)room;
}

static uint64_t position(const struct probe *probe, const struct trace_slot *ring)
{
	return (const uint8_t *)ring - probe->in->data;
}

/*
 * Makes the ring of the last history end here, where the next one starts, whatever its own number
 * is.
 */
static void end_ring(const struct probe *probe, uint64_t at)
{
	struct trace_lcore *last = &probe->t->lcores[probe->t->num_lcores - 1];

	if (probe->t->num_lcores && !probe->lost && at > position(probe, last->ring))
		last->slots = (at - position(probe, last->ring)) / SLOT;
}

/*
 * The position of an lcore's history. Three things should agree: its offset, the end of the history
 * before, and the number in it. Two are enough; 0 when fewer agree.
 */
static uint64_t find_history(const struct probe *probe, uint64_t offset, uint64_t next, unsigned id)
{
	if (offset == next && (is_history(probe, next, id) || is_lost_history(probe, next)))
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
 * G6 truncates those without entries.
 */
static bool is_short_history(const struct probe *probe, uint64_t at)
{
	return probe->l->thread && at + HISTORY_CORE_SIZE <= probe->in->size &&
	       !is_lost(probe->in, at, HISTORY_CORE_SIZE) && all_zero(probe->in->data + at, HISTORY_CORE_SIZE);
}

/*
 * The offset of an lcore's history, 0 without one. When it cannot be read, the history that starts
 * at `next` shows whether it is this lcore's; absent: see read_histories().
 */
static uint64_t read_offset(const struct probe *probe, unsigned id, uint64_t next, uint64_t absent)
{
	const struct layout *l = probe->l;
	uint64_t at = l->offsets + 8 * (uint64_t)id;

	if (!is_lost(probe->in, at, 8))
		return number(probe->in->data + at, 8);
	if (l->every_lcore || is_short_history(probe, next) ||
	    (is_history(probe, next, id) && number(probe->in->data + next + l->slots, 8)))
		return next + absent;
	return 0;
}

/* Where the ring of an lcore ends, by the offset of the next history. */
static uint64_t ring_end(const struct probe *probe, unsigned id, uint64_t absent)
{
	while (++id < probe->l->num_lcores) {
		uint64_t offset = read_offset(probe, id, 0, 0);

		if (offset > absent)
			return offset - absent;
	}
	return probe->histories_end;
}

static void add_lcore(const struct probe *probe, uint64_t at, unsigned id, uint64_t absent)
{
	const uint8_t *data = probe->in->data;
	struct trace_lcore *lcore = &probe->t->lcores[probe->t->num_lcores++];
	uint64_t room = room_for_slots(probe, at), end;

	lcore->id = id;
	lcore->header = data + at;
	lcore->next_entry = data + at + probe->l->next_entry;
	lcore->ring = (const struct trace_slot *)(data + at + probe->l->history_size);
	lcore->slots = number(data + at + probe->l->slots, 8);
	if (is_lost_history(probe, at)) {
		end = ring_end(probe, id, absent);
		lcore->slots = end > at + probe->l->history_size ? (end - at - probe->l->history_size) / SLOT : 0;
	}
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
 * file's size count all of a history that is truncated: `absent` bytes are missing so far.
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
			next += HISTORY_CORE_SIZE;
			absent += l->history_size - HISTORY_CORE_SIZE;
			probe->histories_end -= l->history_size - HISTORY_CORE_SIZE;
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
		add_lcore(probe, at, i, absent);
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
	t->num_owners = number(data + l->owner_count, 2);
	t->owner_size = TRACE_OWNER_HEAD + number(data + l->owner_count + 2, 2);
	size = (uint64_t)t->num_owners * t->owner_size;
	if (l->owner_offset) {
		at = number(data + l->owner_offset, 8);
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

enum probe_result { OTHER, HEADER_CUT_OFF, MATCHES };

static enum probe_result try_layout(struct probe *probe)
{
	const struct layout *l = probe->l;
	struct trace *t = probe->t;

	if (!input_fill(probe->in, l->histories))
		return OTHER;
	t->layout = l->name;
	t->releases = l->releases;
	t->tsc_rate = number(probe->in->data + l->tsc_rate, 8);
	t->clear_tsc = l->clear_tsc ? number(probe->in->data + l->clear_tsc, 8) : 0;
	t->expected_size = probe->histories_end = number(probe->in->data + l->file_size, 8);
	if (t->tsc_rate < MIN_TSC_RATE || t->expected_size < l->histories || !read_tpoints(t, probe->in, l))
		return OTHER;
	t->lcores = mem_array(l->num_lcores, sizeof(*t->lcores));
	input_fill(probe->in, t->expected_size);
	trace_prefixes_read(t->owner_prefix, probe->in->data + l->owner_types);
	trace_prefixes_read(t->object_prefix, probe->in->data + l->object_types);
	read_owners(probe);
	read_histories(probe);
	return t->num_lcores || t->cut_off ? MATCHES : OTHER;
}

/* The sections of G6, in the order of their offsets in the file's header. */
enum { MAIN, OWNER, MASK, OWNER_TYPE, OBJECT, TPOINT, LCORE, NUM_SECTIONS };

enum {
	G6_HEADER = 16 + 8 * NUM_SECTIONS,
	/* bytes of a section before its table; the first two are the number of elements */
	SECTION_HEAD = 128,
	TPOINTS_A_GROUP = 64,
};

/* Reads the positions of the sections. Returns whether they can be those of G6. */
static bool read_positions(const struct input *in, uint64_t at[NUM_SECTIONS])
{
	unsigned sections = number(in->data + 8, 2);

	if (sections < NUM_SECTIONS || sections > 1024 || !all_zero(in->data + 10, 6))
		return false;
	for (unsigned i = 0; i < NUM_SECTIONS; i++) {
		at[i] = number(in->data + 16 + 8 * i, 8);
		if (at[i] < 16 + 8 * sections || at[i] > UINT32_MAX)
			return false;
	}
	return true;
}

/*
 * Reads a section up to the end of its table, or to that of its head. Returns the number of its
 * elements, -1 without it.
 */
static int read_section(struct input *in, uint64_t at, unsigned element)
{
	unsigned count;

	if (!input_fill(in, at + SECTION_HEAD))
		return -1;
	count = number(in->data + at, 2);
	return input_fill(in, at + SECTION_HEAD + element * count) ? (int)count : -1;
}

/* Fills l from the section table of G6. */
static enum probe_result read_sections(struct probe *probe, struct layout *l)
{
	static const unsigned element[NUM_SECTIONS] = {
		[MASK] = 8, [OWNER_TYPE] = TRACE_TYPE_SIZE, [OBJECT] = TRACE_TYPE_SIZE, [TPOINT] = 190, [LCORE] = 8,
	};
	uint64_t at[NUM_SECTIONS];
	int count[NUM_SECTIONS];

	if (!input_fill(probe->in, G6_HEADER) || !read_positions(probe->in, at))
		return OTHER;
	for (unsigned i = 0; i < NUM_SECTIONS; i++) {
		count[i] = read_section(probe->in, at[i], element[i]);
		if (count[i] < 0)
			return HEADER_CUT_OFF;
	}
	if (count[OWNER_TYPE] < TRACE_TYPES || count[OBJECT] < TRACE_TYPES || !count[TPOINT])
		return OTHER;
	if (count[TPOINT] != TPOINTS_A_GROUP * count[MASK])
		trace_fault(probe->t, "the numbers of tracepoints and of their groups do not match");
	*l = (struct layout){"G6",
			     "v26.05 and later",
			     .tsc_rate = at[MAIN],
			     .clear_tsc = at[MAIN] + 8,
			     .owner_types = at[OWNER_TYPE] + SECTION_HEAD,
			     .object_types = at[OBJECT] + SECTION_HEAD,
			     .tpoints = at[TPOINT] + SECTION_HEAD,
			     .num_tpoints = count[TPOINT],
			     .num_args = TRACE_ARGS,
			     .num_relations = TRACE_RELATIONS,
			     .owner_count = at[OWNER],
			     .owners = at[OWNER] + SECTION_HEAD,
			     .offsets = at[LCORE] + SECTION_HEAD,
			     .num_lcores = count[LCORE],
			     .histories = at[LCORE] + SECTION_HEAD + element[LCORE] * count[LCORE],
			     .history_size = HISTORY_CORE_SIZE + 8 * count[TPOINT],
			     .slots = 24,
			     .next_entry = 40,
			     .thread = 4};
	return MATCHES;
}

/* Tries a layout, G6 being the last. The trace needs trace_close() whatever the result. */
static enum probe_result try_candidate(struct trace *t, struct input *in, unsigned candidate)
{
	struct layout g6;
	struct probe probe = {.t = t, .in = in, .l = &g6};
	enum probe_result result;

	*t = (struct trace){.in = in};
	if (candidate < NUM_FIXED) {
		probe.l = &fixed[candidate];
		return try_layout(&probe);
	}
	result = read_sections(&probe, &g6);
	return result == MATCHES ? try_layout(&probe) : result;
}

int tracefile_open(struct trace *t, struct input *in, const char **error)
{
	unsigned best = 0, fewest = 0, equals = 0;
	struct trace other;

	*error = NULL;
	for (unsigned i = 0; i <= NUM_FIXED; i++) {
		enum probe_result result = try_candidate(&other, in, i);

		if (result == HEADER_CUT_OFF)
			*error = "is cut off before its first entry";
		if (result == MATCHES) {
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
