/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace entry with everything that its trace line has, and the reader that makes it from a
 * ring's slots: arguments assembled, objects numbered, related objects found.
 *
 * Costs a look-up in a hash table per entry that has an object, and another per relation; memory
 * grows with the number of distinct objects.
 */
#pragma once

#include "map.h"
#include "trace.h"

struct entry {
	uint64_t tsc;
	uint16_t tpoint_id;
	const struct trace_tpoint *tpoint; /* without a name when it is not defined */
	unsigned lcore;                    /* index in the trace */
	uint32_t size;
	char poller_prefix; /* 0: no poller */
	uint64_t poller;
	struct slice owner; /* its description, as a JSON string; empty: none */

	enum entry_object {
		NO_OBJECT,
		OBJECT_UNTYPED, /* has a value, no id */
		OBJECT_UNKNOWN, /* was created before the trace starts */
		OBJECT_KNOWN,
		OBJECT_CREATED, /* by this entry */
	} object;
	char object_prefix;
	uint64_t object_value, object_number;
	uint64_t object_age; /* ticks since the creation of a known one */
	bool related;        /* to another object */
	bool was_related;    /* a known object, when it was created; or one that this entry creates */
	char related_prefix;
	uint64_t related_number;

	bool lost;                       /* entries of its lcore are missing before it */
	bool torn;                       /* arguments are missing */
	unsigned num_args;               /* how many of the tracepoint's arguments are intact: the first ones */
	uint64_t value[TRACE_ARGS];      /* of integers and pointers */
	struct slice string[TRACE_ARGS]; /* valid until the next entry is read */
};

struct entry_reader {
	const struct trace *trace;
	struct entry_object_type {
		struct map numbers; /* object's address → index in known */
		struct entry_known {
			uint64_t number, created;
			bool related; /* to another object, by the entry that created it */
		} * known;
		uint32_t num_known;
		size_t cap;
		uint64_t created; /* objects so far; an address can have had several */
	} types[TRACE_TYPES];
	struct entry_known *created; /* by the latest entry that created one */
	struct entry_owner {
		uint64_t tsc;
		uint8_t type;
		struct slice text; /* description as a JSON string; p is NULL until it is needed */
	} * owners;
	uint8_t args[TRACE_ARGS_MAX + TRACE_MORE_ARGS];
};

/* The trace must outlive r, r the entries. */
void entry_reader_open(struct entry_reader *r, const struct trace *t);

/*
 * Reads the entry in this slot, and numbers its object if it is new. So it must be called for every
 * entry, in the order of time.
 */
void entry_read(struct entry_reader *r, unsigned lcore, uint64_t slot, struct entry *e);

/* Forgets the description of an owner whose record has changed. */
void entry_forget_owner(struct entry_reader *r, unsigned id);

void entry_reader_close(struct entry_reader *r);
