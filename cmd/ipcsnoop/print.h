/* SPDX-License-Identifier: BSD-3-Clause */
/* ipcsnoop's lines of reads and writes. */
#ifndef IPCSNOOP_PRINT_H
#define IPCSNOOP_PRINT_H

#include <stdint.h>

#include "out.h"
#include "bpf/ipcsnoop.h"

struct printer {
	struct out *out;
	uint64_t first; /* when the first call was done, in ns; 0: none yet */
};

/* The line above the columns. */
void print_header(struct printer *p);

void print_text(struct printer *p, const struct event *e);

/* A trace line, see spdk-trace-lines(7). */
void print_json(struct printer *p, const struct event *e);

#endif
