/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probe specs: the USDT probes that are wanted, and names for their arguments.
 *
 *	[PROVIDER:]NAME(ARG[:int|str], ...)
 *
 * Arguments are in the order of the probe's; _ skips one. The default type is int.
 */
#pragma once

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

/* Its row in a table of options: a function that gets a spec. */
/* clang-format off */
#define PROBESPEC_OPTION(add_spec) \
	{'e', "spec", "SPEC", \
	 "a probe and its arguments: [PROVIDER:]NAME(ARG[:int|str], ...); _ skips one;\n" \
	 "may be given more than once", \
	 .call = add_spec}
/* what was another */
#define PROBESPEC_FORMER \
	{'f', "file", "is gone: sed 's/^/-e\\n/' FILE | xargs -d '\\n' gives each line as -e"}
/* clang-format on */

/* Adds one. Returns NULL, or what is wrong with it. */
const char *probespec_add(struct probespecs *specs, struct slice text);

/* Adds the probes of SPDK's NVMe-oF target that report qpairs: those that trace.py knows. */
void probespec_add_default(struct probespecs *specs);

/* Whether the spec names the probe that this site belongs to. */
bool probespec_matches(const struct probespec *spec, const struct usdt_site *site);

void probespec_free(struct probespecs *specs);
