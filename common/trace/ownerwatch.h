/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the owner records of a trace that an application is writing, for new owners and for
 * changes of their descriptions.
 *
 * The records are compared with a copy of them. SPDK reuses the id that was freed first, so a
 * record is not overwritten before all other free ids have been used, 16128 of them in all: reading
 * the records once a second misses none.
 *
 * The file may change in any way meanwhile: it is read, not mapped, and nothing in it is trusted.
 */
#pragma once

#include "trace.h"

struct ownerwatch {
	int fd;
	struct trace_owner_table table;
	uint8_t *seen; /* a copy of the records, as reported */
	uint8_t *block, *again;
	char prefix[TRACE_TYPES];
	size_t left; /* how many more reports may be made: more than there can be, until the caller sets it */
};

/*
 * Starts to watch the records of this table in the file. seen: the records that the caller knows, of
 * the same size; NULL: none. The descriptor stays the caller's. Returns 0, or -1 with errno; EFBIG:
 * the table is larger than any that SPDK makes. Call ownerwatch_close() in both cases.
 */
int ownerwatch_open(struct ownerwatch *w, int fd, const struct trace_owner_table *table, const uint8_t *seen);

/* Gets an owner; prefix: the letter of its type, 0 when it has none. */
typedef void ownerwatch_report(void *context, unsigned id, char prefix, const struct trace_owner *owner);

/*
 * Reports, by ascending id, each owner that is new or whose description has changed since the last
 * call. A record that is being written is left for the next call, and so is the rest when no more
 * reports may be made. Returns 0, or -1 with errno: ENODATA if the file has become too short.
 */
int ownerwatch_read(struct ownerwatch *w, ownerwatch_report *report, void *context);

void ownerwatch_close(struct ownerwatch *w);
