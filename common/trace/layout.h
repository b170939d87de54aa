/* SPDX-License-Identifier: BSD-3-Clause */
/* The layouts that trace files can have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace.h"

struct input;

enum {
	LAYOUTS = 6,
	LAYOUT_HISTORY_CORE = 48, /* bytes of a G6 history before the counts; a short history ends there */
};

/*
 * Positions and sizes in a file. G6 has a table of sections; in the other layouts, everything is
 * fixed.
 */
struct layout {
	const char *name, *releases;
	uint64_t tsc_rate, owner_types, object_types, tpoints, offsets; /* positions in the file */
	uint64_t thread_names;                                          /* 0: none, or in the histories */
	uint64_t masks;        /* of the tracepoints that are enabled, 8 bytes for each group */
	uint64_t file_size;    /* position of the file's size; of its end in G1 to G3 */
	uint64_t owner_count;  /* position of number and size of owner records; 0: no records */
	uint64_t owner_offset; /* position of the records' position; 0: use owners */
	uint64_t owners;       /* position of the records */
	uint64_t clear_tsc;    /* 0: none */
	uint64_t histories;    /* position of the first one */
	uint64_t num_masks, num_tpoints, num_lcores;
	unsigned num_args, num_relations;
	unsigned history_size;              /* bytes before the ring */
	unsigned slots, next_entry, thread; /* positions in a history; thread 0: none */
	bool every_lcore;                   /* each lcore has a history, used or not */
};

enum layout_result { LAYOUT_OTHER, LAYOUT_CUT_OFF, LAYOUT_MATCHES };

/*
 * Sets *l to layout i of LAYOUTS. The last one is read from the file: LAYOUT_OTHER if the file has another layout,
 * LAYOUT_CUT_OFF if it ends too early. Faults are counted in t.
 */
enum layout_result layout_get(struct layout *l, unsigned i, struct trace *t, struct input *in);

/* The layout of a trace that was recognised in this input. */
void layout_of(struct layout *l, const struct trace *t, struct input *in);

static inline uint64_t layout_number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static inline bool layout_is_zero(const uint8_t *p, size_t n)
{
	/* each byte equals the one before it */
	return !n || (!p[0] && memcmp(p, p + 1, n - 1) == 0);
}
