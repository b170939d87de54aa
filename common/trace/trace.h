/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An SPDK trace, whichever release wrote it: the definitions of its tracepoints, the rings of its
 * lcores and the records of its owners. tracefile.h reads one from a trace file. Rings and records
 * are not copied: they are in the input's data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

struct input;

enum {
	TRACE_ARGS = 8,
	TRACE_RELATIONS = 16,
	TRACE_GROUP = 64,                  /* tracepoints of a group, by consecutive ids */
	TRACE_TYPES = 256,                 /* of owners, and of objects */
	TRACE_HEAD_ARGS = 8,               /* bytes of arguments in the first slot of an entry */
	TRACE_MORE_ARGS = 22,              /* in each of its other slots */
	TRACE_ARGS_MAX = TRACE_ARGS * 255, /* in an entry */
	TRACE_OWNER_HEAD = 9,              /* bytes of an owner record before its description */
	TRACE_TYPE_SIZE = 2,               /* bytes of an owner or object type in their tables */
	TRACE_DAMAGE = 8,                  /* faults that are stored as text */
};

/*
 * In a recording of trace-dump, where slots were lost: a slot with arguments of no entry that has the ticks of the next
 * slot, this text, and a number of 8 bytes: how many were lost; 0: none. Other readers skip it.
 */
#define TRACE_LOST_TEXT "lost entries: "
enum { TRACE_LOST_SIZE = sizeof(TRACE_LOST_TEXT) - 1 };

enum trace_type { TRACE_INT, TRACE_PTR, TRACE_STR };

struct trace_arg {
	char name[15];
	uint8_t type, size;
	uint16_t offset; /* in the entry's arguments */
};

struct trace_tpoint {
	uint16_t id;
	char name[25]; /* empty: not defined, and all else is 0 */
	uint8_t owner_type, object_type, num_args;
	bool new_object;
	bool off;           /* was not enabled when the file was written; only if the trace has masks */
	uint16_t args_size; /* bytes of all arguments */
	struct trace_arg args[TRACE_ARGS];
	struct trace_relation {
		uint8_t object_type, arg; /* 0 ends the list */
	} related[TRACE_RELATIONS];
};

/*
 * A slot of a ring: an entry; or, if tpoint is the number of tracepoints, more arguments of the
 * entry in the slots before it, which has the same tsc. All zero: never used. At any alignment.
 */
struct trace_slot {
	uint64_t tsc;
	uint16_t tpoint;
	union {
		struct {
			uint16_t owner; /* up to G3 the number of a poller */
			uint32_t size;
			uint64_t object;
			uint8_t args[TRACE_HEAD_ARGS];
		} __attribute__((packed));
		uint8_t more_args[TRACE_MORE_ARGS];
	};
} __attribute__((packed));

_Static_assert(sizeof(struct trace_slot) == 32, "the layout of every release");
_Static_assert(TRACE_LOST_SIZE + sizeof(uint64_t) == TRACE_MORE_ARGS, "a mark of lost slots fills its slot");

struct trace_lcore {
	unsigned id;
	char thread[17];
	const uint8_t *thread_name; /* its 16 bytes in the file; NULL: the layout has none */
	const uint8_t *next_entry;  /* 8 bytes: number of slots ever written, while the trace is live */
	const struct trace_slot *ring;
	uint64_t slots;   /* of the ring */
	uint64_t present; /* the first slots, which the file has: fewer if it is cut off */
};

/* Whether the ring has slots, all of them in the file: other rings cannot be followed. */
static inline bool trace_ring_is_whole(const struct trace_lcore *lcore)
{
	return lcore->slots && lcore->present == lcore->slots;
}

/* Positions of the owner records, even if the file is cut off before them. */
struct trace_owner_table {
	unsigned n, size;  /* number of records, by id, and bytes of each; no records: 0 */
	uint64_t at;       /* position of the first one */
	uint64_t prefixes; /* position of the owner types */
};

struct trace {
	const struct input *in; /* contains rings and records; NULL: there are none */
	const char *layout, *releases;
	uint64_t tsc_rate, clear_tsc;
	uint64_t expected_size; /* bytes that the file should have */
	bool cut_off;           /* it is shorter than that */
	bool is_followed;       /* by bytes that do not belong to it */
	unsigned num_tpoints, num_lcores, num_owners, owner_size;
	unsigned short_histories; /* lcores without entries, truncated by spdk_trace_record */
	struct trace_tpoint *tpoints;
	struct trace_lcore *lcores;
	const uint8_t *owners;
	struct trace_owner_table owner_table;
	char owner_prefix[TRACE_TYPES], object_prefix[TRACE_TYPES]; /* 0: no such type */
	bool owner_descriptions;                                    /* the layout has them */
	bool has_masks;                                             /* of the tracepoints that are enabled */
	unsigned faults;
	char damage[TRACE_DAMAGE][128]; /* the first faults, for the user */
};

struct trace_owner {
	uint64_t tsc; /* of its registration; 0: never used */
	uint8_t type;
	struct slice description; /* points into the record */
};

/* The definition of this tracepoint; one without a name if there is none. */
const struct trace_tpoint *trace_tpoint(const struct trace *t, uint16_t id);

/* The number of slots that the largest entry takes. */
unsigned trace_entry_slots(const struct trace *t);

/* Reads the owner's record, all zero if it is unreadable. False if no owner has this id. */
bool trace_owner(const struct trace *t, unsigned id, struct trace_owner *owner);

/* The same from a record of this many bytes, which must be the size in the owner table. */
void trace_owner_read(struct trace_owner *owner, const uint8_t *record, unsigned size);

/* Reads the letters of all types from their table. */
void trace_prefixes_read(char prefix[TRACE_TYPES], const uint8_t *table);

/* Adds a fault, as a message for the user. */
void trace_fault(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of faults in damage. */
unsigned trace_num_damage(const struct trace *t);

void trace_close(struct trace *t);
