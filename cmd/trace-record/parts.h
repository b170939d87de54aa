/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a recording: what is recorded, by which tool of this toolkit, and how that went. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "out.h"

struct folder;

enum part_id {
	PART_TRACE,
	PART_USDT,
	PART_OFFCPU,
	PART_BIO,
	PART_TOOLS,
	PART_DMESG = PART_TOOLS,
	PART_RPC,
	PART_KERNEL,
	PARTS
};

struct part {
	const char *name, *file; /* in parts.jsonl; in the folder */
	const char *about;       /* what is in the file, and how to read it: for README */
	char *argv[12];          /* the tool and its arguments; those that are made are never freed */
	uint64_t max_size;       /* of the file, which is the tool's standard output; 0: it is not */
	bool is_window;          /* of that file the caller drops what is old: max_size is no limit for the tool */
	int in, out;             /* its standard streams, in place of none and of the above; -1 */
	struct child child;
	int messages, result; /* what it says on standard error, and on standard output if that is not the file; -1 */
	struct out said, printed;
	bool is_started, is_stopped, has_ended;
	bool is_again;       /* lines from before `since` are missing: it was started again, or had no room */
	uint64_t since;      /* nanoseconds of the time of day when it started to record; 0: not yet */
	uint64_t started_ms; /* milliseconds */
	uint64_t stopped_ms; /* the caller's: when a signal stopped it; 0: none has */

	/* how it went, once it has ended */
	enum part_status { PART_MISSING, PART_DONE, PART_FAILED } status;
	char *why;     /* it is not there, or is not all; NULL: nothing is wrong */
	uint64_t lost; /* entries, events or messages, once they are counted */
	bool is_counted;
};

/*
 * Prepares the parts for this process. max_size: of all files, which is divided among the parts. Without a process, 0,
 * they can be described, but not started.
 */
void parts_prepare(struct part parts[PARTS], pid_t pid, uint64_t max_size);

/* Starts a tool, which writes into the folder. If that is not possible, the part has ended. */
void part_start(struct part *p, const struct folder *folder);

/* Gives its tool an option, in place of the value that it has so far. value: must stay. */
void part_set_option(struct part *p, const char *name, char *value);

/* Prepares a part to be started. */
void part_init(struct part *p);

/* Resets a part whose tool has ended, to be started again. */
void part_close(struct part *p);

/* Whether its tool is running. */
bool part_is_running(const struct part *p);

/* Whether its tool has said that it records. */
bool part_is_recording(const struct part *p);

enum { PARTS_WATCH = 2, PARTS_MAX = 16 };

/*
 * Reads what n tools say, and notes which have ended. watch: descriptors to wait for, too, as for poll(2). Returns
 * after ms milliseconds, when something has happened or when a signal comes.
 */
void parts_wait(struct part *parts, int n, const struct folder *folder, struct pollfd watch[PARTS_WATCH], int ms);

/* Asks the tool to end, unless it has. */
void part_stop(struct part *p);

/*
 * The wait for tools at the end of a recording. A signal ends it: half a second after the start if one has ended the
 * recording, because timeout(1) sends two at once; else after two seconds, when a message has said so.
 */
struct patience {
	bool is_again, quiet; /* the caller sets these: a signal has come before; no notes */
	bool is_cut, is_said;
	uint64_t since, until; /* milliseconds */
};

/* Starts to wait for ms milliseconds; for a moment if a signal has ended an earlier wait. */
void patience_begin(struct patience *w, uint64_t ms);

/* Whether the wait is over. Says after two seconds which of n tools it is for. */
bool patience_is_over(struct patience *w, const struct part *parts, int n);

/*
 * Ends n tools, and waits for them. Those that do not end within ms milliseconds are killed. w: or until that is over;
 * NULL: a signal changes nothing.
 */
void parts_stop(struct part *parts, int n, const struct folder *folder, uint64_t ms, struct patience *w);

enum {
	PARTS_STOP_MS = 60000,    /* for a tool to end, which mostly takes it milliseconds */
	PARTS_FINISH_MS = 600000, /* for trace-dump, which completes its file */
};

/* The part as if its tool had ended by now, if it is running. The caller frees its `said` and `why`. */
struct part part_so_far(const struct part *p);

/* Whether all tools have started to record or have ended. */
bool parts_record(const struct part parts[PARTS]);

/*
 * Writes the text of a part that trace-record itself records, and frees it. why: the part is not there, or is not all;
 * NULL: nothing is wrong. Returns false after a message if the file cannot be written.
 */
bool part_write(struct part *p, const struct folder *folder, struct out *text, const char *why);

/* Says once on standard error how a part went, if anything is wrong with it. */
void part_report(const struct part *p);
