/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probe specs: which USDT probes are wanted, and what to call their arguments.
 *
 *	[PROVIDER:]NAME(ARG[:int|str], ...)
 *
 * Arguments are those of the probe in their order; _ skips one. The type is int unless it is given.
 */
#ifndef PROBESPEC_H
#define PROBESPEC_H

#include "slice.h"
#include "usdt.h"

struct probespec {
	char *text;                  /* as it was given; the slices are parts of it */
	struct slice provider, name; /* an empty provider: any */
	unsigned num_args;
	struct probespec_arg {
		struct slice name; /* empty: skipped */
		bool is_string;
	} args[USDT_MAX_ARGS];
};

struct probespecs {
	struct probespec *all;
	size_t n;
};

/* Adds one. Returns 0, or -1 with what is wrong with it in *error. */
int probespecs_add(struct probespecs *specs, struct slice text, const char **error);

/* Adds the one in the argument of -e; ends in a usage error when it is none. */
void probespecs_option(struct probespecs *specs, const char *text);

/*
 * Adds those of a file ("-": standard input), one a line; blank lines are skipped, and so is what is behind
 * a #. Says on stderr what is wrong. Returns 0, or -1 when something is.
 */
int probespecs_read(struct probespecs *specs, const char *path);

/*
 * Adds the probes of SPDK's NVMe-oF target that tell of qpairs: those that trace.py knows. A lack of memory ends
 * the tool.
 */
void probespecs_add_default(struct probespecs *specs);

void probespecs_free(struct probespecs *specs);

#endif
