/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records a live trace into a file, in the trace's own layout, as spdk_trace_record does: the definitions, and of each
 * lcore all slots that it wrote, oldest first. Slots are copied as they are.
 *
 * While it is recorded, each lcore has a place in the file for as many slots as may be written at most, of which the
 * rest is a hole: the file can be read even if the tool is killed. At the end the lcores are moved together.
 *
 * If only the last seconds are to be kept, older slots become a hole as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "out.h"

struct input;
struct trace;

/*
 * A file to record into, which is created before root gives up its privileges. Another process keeps these, to remove
 * the file if nothing is recorded.
 */
struct record_file {
	int fd, keeper; /* keeper: a pipe to that process; -1: none */
	pid_t pid;      /* of that process */
};

/* Creates it. Exits after a message if there is one already, or it cannot be created. */
void record_create(struct record_file *f, const char *path);

/* Removes it, unless something was recorded. */
void record_close(struct record_file *f);

struct record_options {
	struct record_file *file;
	const char *path;  /* of the file, for messages */
	uint64_t max_size; /* bytes of the file */
	uint64_t keep_ns;  /* older entries are dropped; 0: none are */
	pid_t pid;         /* of the process that writes the trace; 0: not known */
	bool quiet;
};

/*
 * Records t, which was opened on an updated snapshot of in, until the process ends or has removed its trace, a signal
 * comes or the file is full. Prints a line about the file to out. name: of the trace, for messages. Returns whether all
 * of it was recorded, otherwise after a message.
 */
bool record_trace(struct trace *t, struct input *in, const char *name, const struct record_options *options,
		  struct out *out);
