/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout.h"

#include "count.h"
#include "input.h"

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

enum { NUM_FIXED = COUNT(fixed) };

/* The sections of G6, in the order of their offsets in the file's header. */
enum { MAIN, OWNER, MASK, OWNER_TYPE, OBJECT, TPOINT, LCORE, NUM_SECTIONS };

enum {
	G6_HEADER = 16 + 8 * NUM_SECTIONS,
	/* bytes of a section before its table; the first two are the number of elements */
	SECTION_HEAD = 128,
};

/* Reads the positions of the sections. Returns whether they can be those of G6. */
static bool read_positions(const struct input *in, uint64_t at[NUM_SECTIONS])
{
	unsigned sections = layout_number(in->data + 8, 2);

	if (sections < NUM_SECTIONS || sections > 1024 || !layout_is_zero(in->data + 10, 6))
		return false;
	for (unsigned i = 0; i < NUM_SECTIONS; i++) {
		at[i] = layout_number(in->data + 16 + 8 * i, 8);
		if (at[i] < 16 + 8 * sections || at[i] > UINT32_MAX)
			return false;
	}
	return true;
}

/*
 * Reads a section up to the end of its table. element: bytes of an element; 0 reads the head only.
 * Returns the number of elements, or -1 if the file ends before.
 */
static int read_section(struct input *in, uint64_t at, unsigned element)
{
	unsigned count;

	if (!input_fill(in, at + SECTION_HEAD))
		return -1;
	count = layout_number(in->data + at, 2);
	return input_fill(in, at + SECTION_HEAD + element * count) ? (int)count : -1;
}

/* Fills l from the section table of G6. */
static enum layout_result read_sections(struct layout *l, struct trace *t, struct input *in)
{
	static const unsigned element[NUM_SECTIONS] = {
		[MASK] = 8, [OWNER_TYPE] = TRACE_TYPE_SIZE, [OBJECT] = TRACE_TYPE_SIZE, [TPOINT] = 190, [LCORE] = 8,
	};
	uint64_t at[NUM_SECTIONS];
	int count[NUM_SECTIONS];

	if (!input_fill(in, G6_HEADER) || !read_positions(in, at))
		return LAYOUT_OTHER;
	for (unsigned i = 0; i < NUM_SECTIONS; i++) {
		count[i] = read_section(in, at[i], element[i]);
		if (count[i] < 0)
			return LAYOUT_CUT_OFF;
	}
	if (count[OWNER_TYPE] < TRACE_TYPES || count[OBJECT] < TRACE_TYPES || !count[TPOINT])
		return LAYOUT_OTHER;
	if (count[TPOINT] != TRACE_GROUP * count[MASK])
		trace_fault(t, "the numbers of tracepoints and of their groups do not match");
	*l = (struct layout){"G6",
			     "v26.05 and later",
			     .tsc_rate = at[MAIN],
			     .clear_tsc = at[MAIN] + 8,
			     .masks = at[MASK] + SECTION_HEAD,
			     .num_masks = count[MASK],
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
			     .history_size = LAYOUT_HISTORY_CORE + 8 * count[TPOINT],
			     .slots = 24,
			     .next_entry = 40,
			     .thread = 4};
	return LAYOUT_MATCHES;
}

_Static_assert(NUM_FIXED + 1 == LAYOUTS, "all are numbered");

enum layout_result layout_get(struct layout *l, unsigned i, struct trace *t, struct input *in)
{
	if (i == NUM_FIXED)
		return read_sections(l, t, in);
	*l = fixed[i];
	l->masks = l->tsc_rate + sizeof(uint64_t);
	l->num_masks = l->num_tpoints / TRACE_GROUP;
	return LAYOUT_MATCHES;
}

void layout_of(struct layout *l, const struct trace *t, struct input *in)
{
	struct trace unused = {};
	unsigned i = 0;

	while (i < NUM_FIXED && strcmp(fixed[i].name, t->layout) != 0)
		i++;
	layout_get(l, i, &unused, in);
}
