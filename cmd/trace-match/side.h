/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process has of commands that cross to another: those of NVMe/TCP that it sent, and the requests that it got.
 * Both are in the order in which their queues had them. Times are ns of the process's own trace.
 */
#ifndef SIDE_H
#define SIDE_H

#include "each_traceline.h"
#include "intern.h"
#include "spdk.h"

enum { SIDE_UNKNOWN = -1 }; /* the time of an event that is not in the trace */

/* ns: a longer time, of two years, is refused, so that sums of some do not overflow. */
#define SIDE_LONGEST (INT64_C(1) << 56)

/*
 * A command from submit to complete; or a request from its creation until it queued the last part of its reply for the
 * socket. Without these entries, until it had the reply: later ones may come when the host has it.
 */
struct side_io {
	int64_t begin, end;
	uint64_t what;   /* hash of type, address and number of blocks; 0: it has none, or they are not known */
	uint64_t next;   /* the same of what follows it on the disk */
	uint64_t value;  /* address of the object */
	uint64_t number; /* of its id */
	uint32_t cid;    /* of a command */
	uint32_t queue;  /* in queues */
	uint32_t match;  /* in the ios of the other side; MAP_NONE: none */
	uint32_t source; /* of that side */
	bool queued;     /* end is a time when something was queued for the socket */
};

struct side_queue {
	uint64_t number; /* UINT64_MAX: not known */
	uint32_t *all;   /* its ios */
	uint32_t n;
	bool found; /* which queue of the other side it is */
};

/* The commands of a process, or its requests. */
struct side {
	struct side_io *ios;
	size_t n, cap;
	struct side_queue *queues;
	size_t num_queues, cap_queues;
	struct map by_key; /* key of a queue → queue */
};

/* A process. All zero before the first line, but for its names. */
struct source {
	struct slice name; /* as written in JSON */
	const char *file;  /* for messages */
	char *path;        /* of that, or of a copy of what can only be read once */
	struct side commands, requests;
	int64_t first, last; /* times of its lines */
	uint64_t first_tsc, last_tsc;
	bool any;
	uint64_t foreign; /* lines that have a source already: they are passed on only */

	struct intern tpoints;
	struct source_tpoint {
		const struct spdk_tpoint *tpoint; /* NULL: not looked up so far */
		bool is_command, is_request;      /* states of these objects */
		bool ends;                        /* final */
	} * known;
	size_t num_known, cap_known;
	struct map command_at;  /* address → command */
	struct map request_of;  /* number of an id → request */
	uint8_t opcode_of[256]; /* of a bdev I/O type, if that has blocks; 0: none */
};

/* Starts reading. */
void source_start(struct source *s);

/* Reads a line. Returns NULL, or what is wrong with it. */
const char *source_line(struct source *s, const struct traceline *line);

/* Whether the line is the creation of a request: the next one in requests.ios. */
bool source_is_request(struct source *s, const struct traceline *line);

/* After the last line: finds the queues of the commands. */
void source_end(struct source *s);

void source_free(struct source *s);

#endif
