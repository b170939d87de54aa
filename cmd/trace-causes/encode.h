/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of trace-causes -e, which --merge adds up: a tally, a row in each line:
 *
 *	{"row":"cause","kind":"tail","what":"buffer","who":"hog"}<TAB>{"ns":…,"proven":…,…}
 *
 * A tab ends the key. The first row has the options that change what is slow, and the number of traces. Rows are in the
 * order of sort(1) in the C locale, so equal tallies are equal bytes. All numbers are integers.
 */
#ifndef TRACE_CAUSES_ENCODE_H
#define TRACE_CAUSES_ENCODE_H

#include "out.h"
#include "tally.h"

/* What the requests of a tally were asked for, as the members of a JSON object. */
struct encode_options {
	struct out text; /* in memory */
	char *group;     /* the key of -g, NULL: none; after encode_read() to be freed */
	bool against;
	uint64_t budget_ns;
};

void encode_write(struct out *out, const struct tally *t, const struct encode_options *options);

/*
 * Adds the rows of a file to a tally; skips malformed ones, after a message. The first file sets the options; one with
 * other options is refused, after a message. *lines: how many the file had. Returns 0, or -1 after a message. A file
 * that cannot be opened, or is of another kind, ends the tool.
 */
int encode_read(struct tally *t, struct encode_options *options, const char *path, uint64_t *lines);

#endif
