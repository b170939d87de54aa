/* SPDX-License-Identifier: BSD-3-Clause */
/* What a span is: an I/O, as the objects in its tree know it that are nearest to its root. */
#ifndef TRACE_SPANS_LIFT_H
#define TRACE_SPANS_LIFT_H

#include "spans.h"

struct io {
	struct facts facts; /* of all of them: blocks and bytes are sums, the rest is the first one's */
	const char *type;   /* its name; NULL: not known, or a number that has none */
	/* name of the first status that is no success, or of a success; NULL: ditto */
	const char *status;
	struct out bdev; /* names of the bdevs, with commas between them, as written in JSON */
};

/* io is all zero before the first call, and is used again for the next one. */
void lift_io(struct io *io, const struct spans *spans, const struct span *s);

void lift_free(struct io *io);

#endif
