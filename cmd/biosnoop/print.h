/* SPDX-License-Identifier: BSD-3-Clause */
/* biosnoop's lines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "livelines.h"
#include "bpf/biosnoop.h"

struct biosnoop_printer {
	struct livelines columns;
	bool queued, pattern; /* text has these columns, too */
};

/* A short text, by value. */
struct word {
	char text[24];
};

/* The type of a request by its cmd_flags: the letters of blktrace's RWBS field. */
struct word print_type(uint32_t flags);

/* Prints a request; NULL: the line above the columns. */
void print_line(struct biosnoop_printer *p, const struct biosnoop_event *event);
