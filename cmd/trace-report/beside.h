/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of other tools that recorded beside the trace, in the order of their ticks. */
#pragma once

#include "lines.h"
#include "out.h"
#include "traceline.h"
#include "us.h"

enum { BESIDE_MAX = 2 };

struct beside {
	struct beside_source {
		struct lines lines;
		const char *name; /* of the source, in its lines */
		bool failed;      /* something was wrong, after a message */
		bool ended;
		struct traceline next;
		struct slice text; /* of that */
		struct out utf8, plain;
	} all[BESIDE_MAX];
	unsigned n;
};

/* Adds a file that is open, and reads its first line. path: for messages. */
void beside_add(struct beside *b, int fd, const char *path);

/* The ticks of the next line. UINT64_MAX: all sources have ended. */
uint64_t beside_tsc(const struct beside *b);

/* The next line, with its time since the ticks `base`; valid until beside_pass() reads the one after it. */
struct traceline *beside_next(struct beside *b, const struct us *us, uint64_t base);
void beside_pass(struct beside *b);

/* Prints what is wrong with the next line. */
void beside_complain(struct beside *b, const char *error);

/* Closes the files. Returns whether all lines were good, else after a message. */
bool beside_close(struct beside *b);
