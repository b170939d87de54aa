/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a trace entry by entry: the rings of a trace file in the order of time, or the JSON that spdk_trace -j printed.
 */
#pragma once

#include "document.h"
#include "entry.h"
#include "merge.h"

struct us;

enum { READER_GAPS = 64 };

struct reader_options {
	bool entries; /* are wanted, so that reader_next() will be called */
	bool all;     /* also those from before the window and from before the trace was cleared */
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

	/* JSON */
	struct document document;
};

/* Reads up to the first entry. Returns 0, or -1 with r->error. The input must outlive r. */
int reader_open(struct reader *r, struct input *in, const struct reader_options *options);

/* The next entry, which is valid until the next call. False at the end, or with r->error. */
bool reader_next(struct reader *r, struct entry *e);

/* The same for a slot that the caller got from merge_next(). False if reader_next() would leave it out. */
bool reader_take(struct reader *r, unsigned lcore, uint64_t slot, struct entry *e);

/* The index of the lcore without entries from before the window, at which that starts. False if there is no window. */
bool reader_window_lcore(const struct reader *r, unsigned *lcore);

/* Prints on stderr what is wrong with the trace of this name. Returns true if nothing is. */
bool reader_report(const struct reader *r, const char *name);

/*
 * Prints notes about the entries of the trace of this name that were left out or are incomplete, unless quiet. us: the
 * rate of its ticks; followed: it was read while it was written.
 */
void reader_note(const struct reader *r, const struct us *us, const char *name, bool followed, bool quiet);

void reader_close(struct reader *r);
