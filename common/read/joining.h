/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of lifetime lines, and whether they name what is in a trace. */
#pragma once

#include "cli.h"
#include "join.h"
#include "out.h"

/* For cli_operand(). */
#define JOINING_OPERAND "one trace or file of trace lines (-l is for lifetimes)"

/* All zero before the first file. */
struct joining {
	struct cli_list files;
	struct join join;
	bool faulty;     /* some lifetime lines are malformed, after messages */
	struct out text; /* of a named line, or of its arguments */
};

/* Its row in a table of options. */
/* clang-format off */
#define JOINING_OPTION(joining) \
	{'l', "lifetimes", "FILE", "lifetime lines, which qpair-lifetimes printed; may be given more than once", \
	 .list = &(joining).files}
/* clang-format on */

/* Whether standard input would be more than one of the files and this one. */
bool joining_share_stdin(const struct joining *j, const char *path);

/*
 * Reads the files. Returns 0; -1 after a message when one cannot be read, or is of another kind. reader: the command
 * that reads lifetime lines from a pipe, for messages.
 */
int joining_read(struct joining *j, const char *reader);

/*
 * Whether entries of the file of this name were named, if any could have been. Prints a message if not. quiet: as in
 * cli_notice().
 */
bool joining_check(const struct joining *j, const char *name, bool quiet);

void joining_free(struct joining *j);
