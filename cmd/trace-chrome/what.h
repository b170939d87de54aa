/* SPDX-License-Identifier: BSD-3-Clause */
/* What an I/O is, by the entry that starts it, as stored for each object. */
#ifndef TRACE_CHROME_WHAT_H
#define TRACE_CHROME_WHAT_H

#include <stdint.h>

#include "facts.h"
#include "intern.h"

/* All zero is not known. */
struct what {
	bool known;
	bool is_command; /* to a drive; the I/O that started it has a better description */
	uint32_t bdev;   /* its name as in JSON, in an intern of the caller's; MAP_NONE: not known */
	const char *type;
	struct facts facts;
};

/* Describes an entry that starts an I/O or a command to a drive; any other is not known. */
struct what what_of(const struct traceline *line, struct intern *bdevs);

/* Writes a name such as write 8 @98264 Null0, without unknown parts, for a JSON string. */
void what_write_name(struct out *out, const struct what *what, const struct intern *bdevs);

/* Writes {"type":"write","blocks":8,"lba":98264,"bdev":"Null0"}, without unknown members. */
void what_write_args(struct out *out, const struct what *what, const struct intern *bdevs);

#endif
