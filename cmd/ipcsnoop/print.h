/* SPDX-License-Identifier: BSD-3-Clause */
/* ipcsnoop's lines of reads and writes. */
#ifndef IPCSNOOP_PRINT_H
#define IPCSNOOP_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "stamp.h"
#include "bpf/ipcsnoop.h"

struct ipcsnoop_printer {
	struct out *out;
	struct stamp stamp;
	bool peers, wakers; /* also print these columns */
};

/* The line above the columns. */
void print_header(struct ipcsnoop_printer *p);

void print_text(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e);

/* A trace line, see spdk-trace-lines(7). */
void print_json(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e);

#endif
