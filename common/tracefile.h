/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An SPDK trace file, whichever release wrote it, as one set of definitions and rings.
 *
 * Six layouts exist (docs call them G1 to G6); none has a magic number or a version field, so a layout is
 * recognised by what the others cannot have. Everything here is checked against the file's size: no offset,
 * count or index from the file is trusted behind trace_open().
 */
#ifndef TRACEFILE_H
#define TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "slice.h"

struct input;

enum {
	TRACE_ARGS = 8,
	TRACE_RELATIONS = 16,
	TRACE_TYPES = 256, /* of owners, and of objects */
	TRACE_TYPE = 2,    /* bytes of each */
	TRACE_SLOT = 32,   /* bytes of a ring's slot: an entry, or 22 more bytes of its arguments */
	TRACE_HEAD_ARGS = 8,
	TRACE_MORE_ARGS = 22,
	TRACE_ARGS_MAX = TRACE_ARGS * 255, /* bytes of arguments that an entry can have */
	TRACE_DAMAGE = 8,                  /* faults that are kept in words */
};

enum trace_type { TRACE_INT, TRACE_PTR, TRACE_STR };

struct trace_arg {
	char name[15];
	uint8_t type, size;
	uint16_t offset; /* in the entry's arguments */
};

struct trace_tpoint {
	uint16_t id;
	char name[25]; /* empty: not registered, and all else is 0 */
	uint8_t owner_type, object_type, num_args;
	bool new_object;
	uint16_t args_size; /* bytes of all arguments */
	struct trace_arg args[TRACE_ARGS];
	struct trace_relation {
		uint8_t object_type, arg; /* 0 ends the list */
	} related[TRACE_RELATIONS];
};

struct trace_lcore {
	unsigned id;
	char thread[17];
	const uint8_t *thread_name; /* where it comes from: 16 bytes; NULL: the layout has none */
	const uint8_t
		*next_entry; /* how many slots were ever written, while it is live; unaligned */
	const uint8_t *ring;
	uint64_t slots;   /* of the ring */
	uint64_t present; /* the first ones, that the file holds: fewer when it is cut off */
};

/* Where the owner records are in the file, also in one that is cut off before them. */
struct trace_owner_table {
	unsigned n, size; /* number of records, by id, and bytes of each; no records: 0 */
	uint64_t at;      /* position of the first one */
	uint64_t
		prefixes; /* position of their types, TRACE_TYPE bytes each, the last one the prefix */
};

struct trace {
	struct input *in;
	const char *layout, *releases;
	uint64_t tsc_rate, clear_tsc;
	uint64_t end; /* bytes that the file should have */
	bool cut_off; /* and has not */
	unsigned num_tpoints, num_lcores, num_owners, owner_size;
	unsigned
		short_histories; /* of lcores without entries, which spdk_trace_record of G6 cuts short */
	struct trace_tpoint *tpoints;
	struct trace_lcore *lcores;
	const uint8_t *owners;
	struct trace_owner_table owner_table;
	char owner_prefix[TRACE_TYPES], object_prefix[TRACE_TYPES]; /* 0: no such type */
	bool owner_descriptions;                                    /* the layout has them */
	unsigned faults;
	char *damage[TRACE_DAMAGE]; /* the first of them, NULL behind the last */
};

struct trace_owner {
	uint64_t tsc; /* of its registration; 0: never used */
	uint8_t type;
	struct slice description; /* points into the file */
};

/*
 * Recognises the layout and fills t, which points into the input's data. Returns 0, also for a damaged
 * or cut off file of which something can be read (see faults and cut_off); or -1 with *error, in words, unless it is the input's. A lack of memory ends the tool.
 */
int trace_open(struct trace *t, struct input *in, const char **error);

/* The owner's record; false when there is none of this id. */
bool trace_owner(const struct trace *t, unsigned id, struct trace_owner *owner);

/* The same from a record of so many bytes, which must be all of those that the table tells. */
void trace_owner_read(struct trace_owner *owner, const uint8_t *record, unsigned size);

/* Notes a fault; the format makes a line for the user. */
void trace_fault(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

void trace_close(struct trace *t);

/* The fields of a slot. */
static inline uint64_t slot_tsc(const uint8_t *slot)
{
	uint64_t v;

	memcpy(&v, slot, sizeof(v));
	return v;
}

static inline uint16_t slot_tpoint(const uint8_t *slot)
{
	uint16_t v;

	memcpy(&v, slot + 8, sizeof(v));
	return v;
}

/* Up to G3 the number of a poller. */
static inline uint16_t slot_owner(const uint8_t *slot)
{
	uint16_t v;

	memcpy(&v, slot + 10, sizeof(v));
	return v;
}

#endif
