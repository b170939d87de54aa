/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process has of commands that cross to another one: those of NVMe/TCP that it sent, and the requests that it
 * got, by queues. Memory grows with queues, and with what is open at a time.
 */
#pragma once

#include "intern.h"
#include "order.h"
#include "spdk.h"
#include "traceline.h"

/* ns: a longer time, of two years, is refused, so that sums of some do not overflow. */
#define SIDE_LONGEST (INT64_C(1) << 56)

/* Requests from this one on are the commands from that one on. */
struct side_run {
	uint32_t request, command, n;
};

struct side_queue {
	struct order order;
	uint64_t number; /* of the queue; UINT64_MAX: not known */
	bool found;      /* which queue of the other side it is */

	/* of requests: where the commands are, once found, and which ones */
	size_t source, commands;
	struct side_run *runs;
	size_t n, cap;

	/* of commands that are found: how many are requests, the first one of them, and the first one after the last */
	uint32_t matched, first, end;

	/* of requests, for side.c: those that wait to be added to order */
	uint32_t waiting, last_waiting;
};

struct side_queues {
	struct side_queue *all;
	size_t n, cap;
	struct map by_key;
};

/* An entry that creates a command, or a request. */
struct side_io {
	bool is_command, is_request;
	uint64_t id, address; /* id: its number */
	uint64_t queue;       /* key of the queue; of a command, see side_key() */
	uint32_t cid, owner;  /* of a command; owner: its number from 1 on */
};

/* A process. All zero before the first line, but for its names. */
struct side {
	struct slice name; /* as written in JSON; see side_name() */
	const char *file;  /* for messages */
	bool sequential;   /* see order_add() */
	struct side_queues commands, requests;
	int64_t first, last; /* times of its lines */
	uint64_t first_tsc, last_tsc;
	bool any;
	uint64_t foreign; /* lines that have a source already: they are passed on only */
	uint64_t stride;  /* between the PDUs of a queue; 0: no queue has two */

	/* side.c's: */
	struct intern names;
	struct side_tpoint {
		const struct spdk_tpoint *tpoint; /* NULL: not looked up so far */
		bool is_command, is_request;      /* states of these objects */
		bool ends;                        /* final */
	} * known;
	size_t num_known, cap_known;
	uint8_t opcode_of[256]; /* of a bdev I/O type, if that has blocks; 0: none */
	struct map pdu_at;      /* address → the latest command there */
	struct side_pdu {
		uint64_t id;
		uint32_t queue, number;
	} * pdus;
	size_t num_pdus, cap_pdus;
	struct side_pending *pending; /* commands before the stride is known; then NULL */
	size_t num_pending;
	bool has_stride;
	struct map request_at, request_of; /* address, and number of an id → the latest request */
	struct side_request *open;         /* by address */
	size_t num_open, cap_open;
};

/* Names a process by NAME=PATH, or PATH without directories. Returns the path; a slash before "=" is part of that. */
const char *side_name(struct side *s, const char *operand);

/* Reads a line. Returns NULL, or what is wrong with it. */
const char *side_line(struct side *s, const struct traceline *line);

/* After the last line. */
void side_end(struct side *s);

/* What the line creates, when the process is read again. */
struct side_io side_creation(struct side *s, const struct traceline *line);

/* The number of the queue of this key; that of commands is known after side_end(). Adds it if there is none. */
uint32_t side_queue(struct side_queues *queues, uint64_t key);
uint64_t side_key(const struct side *s, const struct side_io *command);

void side_free(struct side *s);
