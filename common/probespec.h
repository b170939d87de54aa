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
	bool has_tsc;                /* an argument is called tsc: the time, which the program passes itself */
	unsigned num_args;
	struct probespec_arg {
		struct slice name; /* empty: skipped */
		bool is_string;
	} args[USDT_MAX_ARGS];
};

struct probespecs {
	struct probespec *all;
	size_t n, cap;
};

/* Adds one. Returns NULL, or what is wrong with it. */
const char *probespec_add(struct probespecs *specs, struct slice text);

/*
 * Adds those of a file ("-": standard input), one per line; blank lines are skipped, and so is what
 * follows a #. Returns 0, or -1 after a message.
 */
int probespec_read(struct probespecs *specs, const char *path);

/* Adds the probes of SPDK's NVMe-oF target that report qpairs: those that trace.py knows. */
void probespec_add_default(struct probespecs *specs);

/* Whether the spec names the probe that this site belongs to. */
bool probespec_matches(const struct probespec *spec, const struct usdt_site *site);

void probespec_free(struct probespecs *specs);

#endif
