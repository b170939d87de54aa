/* SPDX-License-Identifier: BSD-3-Clause */
#include "ownerwatch.h"

#include <errno.h>
#include <stdlib.h>

#include "io.h"
#include "mem.h"

enum {
	TABLE_MAX = 8 << 20,  /* bytes; SPDK's has 2 MiB */
	RECORD_MAX = 1 << 10, /* bytes; SPDK's have 128 */
	BLOCK = 64 << 10,     /* bytes that are read at once */
	TRIES = 4,
};

int ownerwatch_open(struct ownerwatch *w, int fd, const struct trace_owner_table *table, const uint8_t *seen)
{
	size_t size = (size_t)table->n * table->size;

	*w = (struct ownerwatch){.fd = fd, .table = *table, .left = SIZE_MAX};
	if (size > TABLE_MAX || table->size > RECORD_MAX || table->at > INT64_MAX - size) {
		errno = EFBIG;
		return -1;
	}
	w->seen = mem_array(size, 1);
	w->block = mem_array(BLOCK, 1);
	w->again = mem_array(RECORD_MAX, 1);
	if (seen)
		memcpy(w->seen, seen, size);
	return 0;
}

/* The prefixes are registered when the application starts, which may be now. */
static int read_prefixes(struct ownerwatch *w)
{
	uint8_t types[TRACE_TYPES * TRACE_TYPE_SIZE];

	if (io_pread(w->fd, types, sizeof(types), w->table.prefixes) != 0)
		return -1;
	trace_prefixes_read(w->prefix, types);
	return 0;
}

/*
 * Reads the record until it is the same twice. Returns 1; 0 when it keeps changing; -1 with errno.
 */
static int read_stable(struct ownerwatch *w, unsigned id, uint8_t *record)
{
	unsigned size = w->table.size;

	for (int i = 0; i < TRIES; i++) {
		if (io_pread(w->fd, w->again, size, w->table.at + (uint64_t)id * size) != 0)
			return -1;
		if (memcmp(record, w->again, size) == 0)
			return 1;
		memcpy(record, w->again, size);
	}
	return 0;
}

/* Bytes after the NUL of a description do not matter. */
static bool has_changed(const struct trace_owner *a, const struct trace_owner *b)
{
	return a->tsc != b->tsc || a->type != b->type || !slice_equal(a->description, b->description);
}

/* Returns 0, or -1 with errno. */
static int read_record(struct ownerwatch *w, unsigned id, uint8_t *record, ownerwatch_report *report, void *context)
{
	uint8_t *seen = w->seen + (size_t)id * w->table.size;
	struct trace_owner old, owner;
	int stable;

	if (memcmp(seen, record, w->table.size) == 0)
		return 0;
	stable = read_stable(w, id, record);
	if (stable <= 0)
		return stable;
	trace_owner_read(&old, seen, w->table.size);
	trace_owner_read(&owner, record, w->table.size);
	/* id 0 means no owner */
	if (id && owner.tsc && has_changed(&old, &owner)) {
		if (!w->prefix[owner.type] && read_prefixes(w) != 0)
			return -1;
		report(context, id, w->prefix[owner.type], &owner);
		w->left--;
	}
	memcpy(seen, record, w->table.size);
	return 0;
}

int ownerwatch_read(struct ownerwatch *w, ownerwatch_report *report, void *context)
{
	unsigned size = w->table.size, at_once = BLOCK / size, n;

	for (unsigned id = 0; id < w->table.n && w->left; id += n) {
		uint64_t at = (uint64_t)id * size;

		n = w->table.n - id < at_once ? w->table.n - id : at_once;
		if (io_pread(w->fd, w->block, (size_t)n * size, w->table.at + at) != 0)
			return -1;
		if (memcmp(w->block, w->seen + at, (size_t)n * size) == 0)
			continue;
		for (unsigned i = 0; i < n && w->left; i++)
			if (read_record(w, id + i, w->block + (size_t)i * size, report, context) != 0)
				return -1;
	}
	return 0;
}

void ownerwatch_close(struct ownerwatch *w)
{
	free(w->seen);
	free(w->block);
	free(w->again);
	*w = (struct ownerwatch){.fd = -1};
}
