/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace lacks for a good answer to why a request was slow, as far as the trace itself shows it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct reader;
struct us;

enum { MISSING_MAX = 8 };

struct missing {
	const char *what; /* a word for programs */
	char *text;       /* what is missing, and what follows from that */
	char *cure;       /* the call or option that adds it */
};

/* When all entries have been read. has_times: the times of day are known. Returns how many are set. */
size_t missing_find(struct missing found[MISSING_MAX], const struct reader *r, const struct us *rate, bool has_times);

void missing_free(struct missing *found, size_t n);
