/* SPDX-License-Identifier: BSD-3-Clause */
/* ipcsnoop's lines of reads and writes. */
#pragma once

#include <stdbool.h>

#include "livelines.h"
#include "bpf/ipcsnoop.h"

struct ipcsnoop_printer {
	struct livelines columns;
	bool peers, wakers; /* text has these columns, too */
};

/* Prints a read or a write; NULL: the line above the columns. */
void print_line(struct ipcsnoop_printer *p, const struct ipcsnoop_event *event);
