/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a recording: what is recorded, by which tool of this toolkit, and how that went. */
#ifndef TRACE_RECORD_PARTS_H
#define TRACE_RECORD_PARTS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "out.h"

struct folder;

enum part_id { PART_TRACE, PART_USDT, PART_OFFCPU, PART_BIO, PART_TOOLS, PART_DMESG = PART_TOOLS, PART_RPC, PARTS };

struct part {
	const char *name, *file; /* in parts.jsonl; in the folder */
	const char *about;       /* what is in the file, and how to read it: for README */
	char *argv[12];          /* the tool and its arguments; those that are made are never freed */
	uint64_t max_size;       /* of the file, which is the tool's standard output; 0: it is not */
	struct child child;
	int messages, result; /* what it says on standard error, and on standard output if that is not the file; -1 */
	struct out said, printed;
	bool is_started, is_stopped, has_ended;

	/* how it went, once it has ended */
	enum part_status { PART_MISSING, PART_DONE, PART_FAILED } status;
	char *why;     /* it is not there, or is not all; NULL: nothing is wrong */
	uint64_t lost; /* entries, events or messages */
};

/* Prepares the parts for this process. max_size: of all files, which is divided among the parts. */
void parts_prepare(struct part parts[PARTS], pid_t pid, uint64_t max_size);

/* Starts a tool, which writes into the folder. If that is not possible, the part has ended. */
void part_start(struct part *p, const struct folder *folder);

/*
 * Reads what the tools say, and notes which have ended. watch: a descriptor to wait for, too, as for poll(2). Returns
 * after ms milliseconds, when something has happened or when a signal comes.
 */
void parts_wait(struct part parts[PARTS], const struct folder *folder, struct pollfd *watch, int ms);

/* Ends the tools from one number up to another, and waits for them. Those that do not end are killed. */
void parts_stop(struct part parts[PARTS], const struct folder *folder, int from, int to);

/* Whether all tools have started to record, which they say, or have ended. */
bool parts_record(const struct part parts[PARTS]);

/* Says once on standard error how a part went, if anything is wrong with it. */
void part_report(const struct part *p);

#endif
