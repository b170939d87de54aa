/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of day as text. It is in nanoseconds of CLOCK_REALTIME, since 1970 in UTC.
 *
 *	2026-11-21T13:14:15.123456789Z     in lines, always in UTC and with nine decimals
 *	14:14:15.123456                    in columns, in the local time
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

/* All zero before the first use. The text of one second serves all times in it. */
struct wall {
	uint64_t second; /* that the text is for, unless it is empty */
	char text[24];
};

enum {
	WALL_ROOM = 40,   /* bytes that each of these functions may write; they return the end of the text */
	WALL_COLUMN = 15, /* the length of what wall_write_local() writes */
};

/* Use a struct wall for only one of the two. */
char *wall_write(struct wall *w, char *to, uint64_t ns);
char *wall_write_local(struct wall *w, char *to, uint64_t ns);

/* Reads what wall_write() writes, and the same with fewer decimals or none. False if it has another form. */
bool wall_read(struct slice text, uint64_t *ns);
