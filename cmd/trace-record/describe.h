/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that describe a recording: README for people, and RECORDING_PARTS for programs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"

struct folder;
struct part;
struct target_process;

struct description {
	const struct folder *folder;
	int readme, index; /* files, as of describe_open(): -1 if one could not be created */
	const struct target_process *target;
	const struct part *parts; /* PARTS of them */
	uint64_t started, ended;  /* nanoseconds of the time of day; ended 0: it goes on */
	bool has_target_ended;
	struct slice about, object; /* more lines for README, and for RECORDING_PARTS; or empty */
};

/* Creates the files, with reserved room in case the disk becomes full. Returns false after a message. */
bool describe_open(struct description *d);

/* Write what is known. Return false after a message. */
bool describe_readme(const struct description *d);
bool describe_index(const struct description *d);

void describe_close(struct description *d);

/* How to copy a trace while it is recorded, or after its tool was killed: after a line that says so. */
#define DESCRIBE_HOLES                                                                                                 \
	"the trace is mostly holes until then, which take no space, and ls shows up to 8 TiB: copy it with cp or tar " \
	"-S\n"

/* A time of day, as lines of a trace have it. */
void describe_time(struct out *out, uint64_t ns);
