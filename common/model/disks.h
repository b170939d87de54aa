/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches the disk I/O in biosnoop(1) lines of a trace with the bdev I/Os above it. A trace names neither the disk nor
 * the block size, so a disk I/O matches a bdev I/O if it is the only one whose first byte and length fit its blocks.
 *
 * Nothing is stored before the first such line, and then only spans that are open.
 */
#pragma once

#include "intern.h"
#include "map.h"
#include "traceline.h"

struct span;

/* The area of a span, of a bdev I/O: the I/O of a disk below it. */
struct disks_span {
	uint64_t begin, end; /* ns: issue and completion */
	uint32_t name;       /* of the disk, in names */
	enum {
		DISK_NONE,
		DISK_ONE,
		DISK_UNCLEAR, /* ambiguous: another disk I/O or another bdev I/O fits, too */
	} found;
	bool open; /* a line may match its span */
};

/* All zero: no line so far. */
struct disks {
	bool any;            /* there was a line */
	struct intern names; /* of disks, as in JSON */
	struct map map;      /* by lba and number of blocks */
	struct disks_place {
		uint32_t open;  /* number of spans with these blocks */
		uint32_t index; /* exclusive or of their indices in store.all */
	} * places;
	size_t n, cap;
	size_t num_open; /* places with spans */
};

bool disks_is(struct slice tpoint);

/* Start and stop matching lines with a bdev I/O. all: store.all. */
void disks_open(struct disks *d, struct span *const *all, struct span *s);
void disks_close(struct disks *d, struct span *s);

/* Reads a line. ns: its time. Returns NULL, or what is wrong with it. */
const char *disks_line(struct disks *d, struct span *const *all, const struct traceline *line, uint64_t ns);

void disks_free(struct disks *d);
