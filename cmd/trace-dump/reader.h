/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a trace entry by entry: the rings of a trace file in the order of time, also while an
 * application writes to them, or the JSON that spdk_trace -j printed.
 */
#ifndef TRACE_DUMP_READER_H
#define TRACE_DUMP_READER_H

#include "document.h"
#include "entry.h"
#include "follow.h"
#include "merge.h"

enum { READER_GAPS = 64 };

struct reader_options {
	bool entries; /* are wanted, so that reader_next() will be called */
	bool all;     /* also those from before the window and from before the trace was cleared */
	bool follow;  /* also those that are written from now on; the input must be a snapshot */
	pid_t pid;    /* of the process that writes it; 0: not known */
	uint64_t lag; /* milliseconds; see follow.h */
};

struct reader_counts {
	uint64_t entries; /* all, and of those: */
	uint64_t cleared, before_window;
	uint64_t *by_lcore; /* by index in the trace */
	uint64_t *oldest;   /* ditto: ticks of the oldest entry that was not cleared; 0: none */

	/* of the entries that reader_next() returned */
	uint64_t returned, torn, undefined;
	uint64_t *by_tpoint; /* by number */
	uint64_t late;       /* which came after one with higher ticks */
	uint64_t gaps;       /* times that entries of an lcore are missing, since a copy was made too slowly */
	/* the first of them: ticks of the entries before and after */
	struct reader_gap {
		unsigned lcore; /* index in the trace */
		uint64_t from, to;
	} first_gaps[READER_GAPS];
};

struct reader {
	struct reader_options options;
	struct input *in;
	struct trace trace;
	struct reader_counts counts;
	uint64_t first, highest; /* ticks of what reader_next() returned */
	const char *error;       /* NULL, or why it ends early; for JSON at document.position */
	bool is_json;

	/* a trace file */
	struct merge merge;
	struct entry_reader entries;
	struct follow follow;
	bool waiting; /* the next round has to be read */
	bool stopped; /* by reader_stop() */
	bool ended;   /* the last round has been read */

	/* JSON */
	struct document document;
};

/* Reads up to the first entry. Returns 0, or -1 with r->error. The input must outlive r. */
int reader_open(struct reader *r, struct input *in, const struct reader_options *options);

/*
 * READER_WAIT: there is no entry now, but there may be one after reader_wait(); only with
 * options.follow. An entry is valid until the next call.
 */
enum reader_result { READER_END, READER_ENTRY, READER_WAIT };
enum reader_result reader_next(struct reader *r, struct entry *e);

/*
 * Waits for more entries. Returns false when the output, with this descriptor, has no reader any
 * more.
 */
bool reader_wait(const struct reader *r, int out);

/* Stops following: what the rings hold now is still read. */
void reader_stop(struct reader *r);

/* The index of the lcore without entries from before the window, at which that starts. False if there is no window. */
bool reader_window_lcore(const struct reader *r, unsigned *lcore);

/* Prints on stderr what is wrong with the trace of this name. Returns true if nothing is. */
bool reader_report(const struct reader *r, const char *name);

void reader_close(struct reader *r);

#endif
