/* SPDX-License-Identifier: BSD-3-Clause */
/* What the entries of a trace have shown so far, of each source of merged lines. Lines of live tools are no entries. */
#pragma once

#include "intern.h"
#include "minmax.h"
#include "table.h"
#include "traceline.h"

/* All zero at first, but for first. */
struct seen {
	struct intern names; /* of sources, as written */
	struct seen_source {
		uint64_t latest;    /* ns of the latest entry */
		bool passes_on;     /* a request has passed an I/O on */
		bool has_bdev_io;   /* there was a bdev I/O */
		bool shows_bdev_io; /* a bdev I/O was started by another object, or would be in the lines */
	} * all;                    /* that of lines without a source, then as in names */
	size_t n, cap;
	uint64_t first, last; /* ns of the earliest entry, UINT64_MAX: none so far; and of the latest one */
};

/* The number of a line's source in names; MAP_NONE: it has none. */
static inline uint32_t seen_name(struct seen *seen, const struct traceline *line)
{
	return line->source.p ? intern_add(&seen->names, line->source) : MAP_NONE;
}

/* MAP_NONE + 1 is 0. */
static inline struct seen_source *seen_source(struct seen *seen, uint32_t name)
{
	return table_at(seen->all, seen->n, seen->cap, (uint32_t)(name + 1));
}

/* The latest entry of a source, in ns. */
static inline uint64_t seen_latest(const struct seen *seen, uint32_t name)
{
	uint32_t place = name + 1;

	return place < seen->n ? seen->all[place].latest : 0;
}

/* ns from the earliest entry to the latest one. */
static inline uint64_t seen_elapsed(const struct seen *seen)
{
	return seen->last > seen->first ? seen->last - seen->first : 0;
}

/* Sees an entry. Returns its source. */
static inline struct seen_source *seen_entry(struct seen *seen, const struct traceline *line, uint64_t ns)
{
	struct seen_source *source = seen_source(seen, seen_name(seen, line));

	source->latest = max_u64(ns, source->latest);
	seen->first = min_u64(ns, seen->first);
	seen->last = max_u64(ns, seen->last);
	return source;
}

/* Why there is time in LAYER_BELOW, and what helps. NULL: there is none after the first bdev I/O. */
const char *seen_why_below(const struct seen *seen);

void seen_free(struct seen *seen);
