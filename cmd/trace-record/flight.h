/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight recorder: records into a ring of files, which have the last seconds of everything, and keeps them as a
 * folder when requests were slow.
 *
 * Two more tools find the slow requests: trace-dump --requests, and trace-spans. The files of the trace of a folder end
 * with it; the trace-dump that records the next ones starts before that, so that no entry is missed in between.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

struct folder;
struct part;
struct target_process;

struct flight_options {
	uint64_t slow_ns;     /* requests that take so long are slow */
	uint64_t keep_ns;     /* of the ring, and from one folder to the next */
	uint64_t duration_ns; /* 0: no end */
	uint64_t max_size;    /* of all files */
	uint64_t folders;     /* stops after this many; 0: never */
	const char *rpc_socket;
	bool quiet;
};

/* What the flight recorder gets from its caller. */
struct flight_setup {
	const struct target_process *target;
	const struct folder *folder; /* of all folders */
	struct slice state;          /* what the target said of itself at the start */
	struct slice kernel;         /* what the kernel said of it then */
	const char *rpc_why;         /* why it is not asked again; NULL: it is */
	int kmsg;                    /* -1: none */
};

/*
 * Records until the time is over, a signal comes, the target ends or no more folders fit. Prints the name of each
 * folder to standard output. Returns whether all went well, otherwise after messages.
 */
bool flight_record(const struct flight_setup *setup, const struct flight_options *options);
