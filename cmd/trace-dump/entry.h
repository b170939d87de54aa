/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace entry with all that its trace line says, and the reader that makes it from a ring's slots:
 * arguments put together, objects numbered, related objects looked up.
 *
 * Costs a look-up in a hash table per entry that has an object, and another per relation; memory grows
 * with the number of distinct objects.
 */
#ifndef TRACE_DUMP_ENTRY_H
#define TRACE_DUMP_ENTRY_H

#include "map.h"
#include "tracefile.h"

struct entry {
	uint64_t tsc;
	const struct trace_tpoint *tpoint;
	unsigned lcore; /* index in the trace */
	uint32_t size;
	char poller_prefix; /* 0: no poller */
	uint64_t poller;
	struct slice owner; /* its description, as a JSON string; empty: none */

	enum entry_object {
		NO_OBJECT,
		OBJECT_UNTYPED, /* has a value, no id */
		OBJECT_UNKNOWN, /* was created before the trace begins */
		OBJECT_KNOWN,
		OBJECT_CREATED, /* by this entry */
	} object;
	char object_prefix;
	uint64_t object_value, object_number;
	uint64_t object_age; /* ticks since the creation of a known one */
	bool related;        /* to another object */
	char related_prefix;
	uint64_t related_number;

	bool torn;                       /* arguments are missing */
	unsigned num_args;               /* the first ones of the tracepoint's that are intact */
	uint64_t value[TRACE_ARGS];      /* of integers and pointers */
	struct slice string[TRACE_ARGS]; /* valid until the next entry is read */
};

struct entry_reader {
	const struct trace *trace;
	uint64_t
		round; /* of reading a live trace: an owner is read anew in each; 0 when it is not live */
	uint8_t *record; /* of an owner, as it is now */
	struct entry_object_type {
		struct map numbers; /* object's address → index in known */
		struct {
			uint64_t number, created;
		} * known;
		uint32_t num_known, cap;
		uint64_t created; /* objects so far, those at an address used before included */
	} types[TRACE_TYPES];
	struct entry_owner {
		uint64_t tsc, round;
		struct slice
			text; /* its description as a JSON string; p is NULL until it is needed */
	} * owners;
	uint8_t args[TRACE_ARGS_MAX + TRACE_MORE_ARGS];
};

/* What the tracepoint of this id is. One without a definition has no name, and is valid until the next call. */
const struct trace_tpoint *entry_tpoint(const struct trace *t, uint16_t id);

/* Returns -1 when there is no memory. The trace must outlive r, r the entries. */
int entry_reader_open(struct entry_reader *r, const struct trace *t);

/*
 * Reads the entry in this slot. Must be called for every entry in the order of time, also for those that
 * nobody prints: objects are numbered by it. Returns -1 when there is no memory.
 */
int entry_read(struct entry_reader *r, unsigned lcore, uint64_t slot, struct entry *e);

void entry_reader_close(struct entry_reader *r);

#endif
