/* SPDX-License-Identifier: BSD-3-Clause */
/* What an I/O is, by the entry that starts it, in the form that is kept for each object. */
#ifndef TRACE_CHROME_WHAT_H
#define TRACE_CHROME_WHAT_H

#include <stdint.h>

#include "facts.h"
#include "intern.h"

/* All zero is not known. */
struct what {
	bool known;
	bool is_command; /* to a drive: the I/O that it was started for would know more */
	uint32_t bdev;   /* its name as in JSON, in an intern of the caller's; MAP_NONE: not known */
	const char *type;
	struct facts facts;
};

/* Of an entry that starts an I/O or a command to a drive; otherwise it is not known. */
struct what what_of(const struct traceline *line, struct intern *bdevs);

/* write 8 @98264 Null0, without what is not known; a name within a JSON string. */
void what_write_name(struct out *out, const struct what *what, const struct intern *bdevs);

/* {"type":"write","blocks":8,"lba":98264,"bdev":"Null0"} */
void what_write_args(struct out *out, const struct what *what, const struct intern *bdevs);

#endif
