/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of biosnoop(1) among those of a trace: matches I/O of disks with the bdev I/Os above. A trace names neither the
 * disk nor the block size, so the only I/O whose first byte and length fit the blocks of a bdev I/O is its match.
 *
 * Nothing is kept before the first such line, and then only what is open.
 */
#ifndef DISKS_H
#define DISKS_H

#include "intern.h"
#include "traceline.h"

struct span;

/* The I/O of a disk. */
struct disks_io {
	uint64_t begin, end; /* ns: issue and completion */
	uint64_t order;      /* of its line, as spans.lines */
	uint32_t name;       /* of the disk, in disks.names */
	enum {
		DISKS_NONE,
		DISKS_ONE,
		DISKS_UNCLEAR, /* there was another one, or another bdev I/O for it */
	} found;
	bool open; /* its span is among those that a line may be for */
};

/* All zero has seen no lines. */
struct disks {
	bool any;            /* there was a line */
	struct intern names; /* of disks, as in JSON */
	struct map map;      /* by lba and number of blocks */
	struct disks_place {
		uint32_t open;  /* spans with these blocks */
		uint32_t index; /* of each of them in spans.all, combined by exclusive or */
	} * places;
	size_t n, cap;
	size_t num_open; /* places with spans */
};

bool disks_is(struct slice tpoint);

/* A bdev I/O may have an I/O of a disk below it from now on; no longer. all: spans.all. */
void disks_open(struct disks *d, struct span *const *all, struct span *s);
void disks_close(struct disks *d, struct span *s);

/* Reads a line, with its time in ns, and its place among all. Returns NULL, or what is wrong with it. */
const char *disks_line(struct disks *d, struct span *const *all, const struct traceline *line, uint64_t ns,
		       uint64_t order);

void disks_free(struct disks *d);

#endif
