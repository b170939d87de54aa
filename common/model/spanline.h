/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is measured of a span, as its span line has it (spdk-trace-lines(7)): parsed from such a line, or filled from a
 * trace by measured.h. A span line is written from it.
 *
 * Times are in ns; one that is absent is 0. Texts are as written in JSON between quotes, others' or slices of the line
 * that was parsed; one that is absent is empty.
 */
#pragma once

#include <stdint.h>

#include "fact.h"
#include "out.h"
#include "request_io.h"

/* Input may have any number of each; no more are parsed. A trace has no more but for hosts. */
enum { SPANLINE_WAITS = 3, SPANLINE_NAMES = 4 };

/* A name, with its time and its number of entries; of a host, with the number of its connections. */
struct spanline_name {
	struct slice name;
	uint64_t ns, n, members;
};

/* Names in spanline.names, from the first one on. */
struct spanline_names {
	unsigned first, n;
};

struct spanline_wait {
	uint64_t ns, at; /* at: from the start of the span */
	struct slice state;
	enum layer layer;
	/* what the lcore wrote meanwhile, if that is known */
	bool has_lcore, lost;
	uint64_t lcore, entries, kept;   /* kept: of the entries */
	uint64_t active;                 /* UINT64_MAX: not known */
	uint64_t silent;                 /* the longest silence */
	bool is_rare;                    /* its lcore is seldom silent for so long */
	struct spanline_names of, hosts; /* for whom, and hosts of several connections among these */
	bool is_buffer, is_queued;       /* for a buffer; in the queue of a socket */
	uint64_t others;                 /* that waited for a buffer, or were queued, before it */
	uint64_t buffers, held; /* buffers that requests had, and those of the holder, which had most of them */
	struct slice holder;
};

struct spanline {
	bool has_parent; /* of one that is parsed, nothing else is set then */
	uint64_t tsc, start, life, to_reply, lcore, value;
	struct slice id, source, parent, owner, poller, connection;
	struct slice host, queue; /* of the connection, if it is one; queue: its number */
	struct {
		uint32_t has; /* bits of the numbers that are known */
		uint64_t numbers[REQUEST_IO_KEYS];
		struct slice texts[REQUEST_IO_KEYS]; /* also that of a type that is a number */
	} io;
	struct slice state;                                /* the first one that has a name */
	struct slice children, remote, states, self, args; /* JSON */
	uint64_t layers[LAYERS];
	uint64_t facts[FACTS];       /* those that are measured in each span, as times */
	bool covered[OVERLAPS];      /* by lines of another tool */
	struct lcores_silent silent; /* the longest silence */
	struct spanline_names off_cpu_by, irq_by;
	uint64_t unread;                    /* before its start, an estimate: see unread.h */
	struct slice behind;                /* of one in flight: see behind.h */
	struct slice unread_by, unread_for; /* what its reactor was off its CPU for; whom it worked for */
	struct spanline_wait waits[SPANLINE_WAITS];
	unsigned num_waits;
	uint64_t retries, full_queue; /* full_queue: the size of the one that it filled */
	bool admin, maybe_admin, open, cut, torn, lost;

	struct spanline_name *names;
	size_t num_names, cap_names;
};

static inline bool spanline_has(const struct spanline *l, enum request_io_key key)
{
	return l->io.has >> key & 1;
}

/* The first of these names; NULL: there are none. */
static inline const struct spanline_name *spanline_first(const struct spanline *l, const struct spanline_names *names)
{
	return names->n ? &l->names[names->first] : NULL;
}

/* Empties it. It is all zero before the first call. */
void spanline_clear(struct spanline *l);

/* Adds a name to names that were added last. Returns it, without a name, valid until the next call. */
struct spanline_name *spanline_add_name(struct spanline *l, struct spanline_names *names);

/* The name of the host in that of a connection: without the queue, and what follows it. */
struct slice spanline_host(struct slice connection);

/* Parses what explains requests. Returns NULL, or why it is no span line. */
const char *spanline_parse(struct spanline *l, struct slice line);

/* Writes a span line with its newline. */
void spanline_write(struct out *out, const struct spanline *l);

/*
 * The value at a path, as JSON in text; empty if it has none. A path is a key, with dots between the keys of objects in
 * objects; "io." may be left out.
 */
struct slice spanline_value(const struct spanline *l, struct slice path, struct out *text);

/* Whether there is such a key at all; whether it is one of io; and whether it is about the tree below it, or waits. */
bool spanline_is_key(struct slice path);
bool spanline_is_io(struct slice path);
bool spanline_is_deep(struct slice path);

/* What to say of any other key. */
#define SPANLINE_NO_KEY                                                                                             \
	"no such key; there are host, queue, connection, type, bdev, leg, blocks, lba, qd, status, lcore, id, us, " \
	"life, those of arguments, such as args.NAME, and more in spdk-trace-lines(7)"

void spanline_free(struct spanline *l);
