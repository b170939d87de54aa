/* SPDX-License-Identifier: BSD-3-Clause */
/* The I/O of a span, as described by those objects in its tree that are nearest to its root. */
#ifndef LIFT_H
#define LIFT_H

#include "spans.h"

struct lift {
	struct io_args io; /* of these objects: blocks and bytes are sums, the rest is the first one's */
	const char *type;  /* its name; NULL: unknown, or a number without a name */
	/* name of the first status that is not a success, else of a success; NULL: ditto */
	const char *status;
	struct out bdev; /* names of the bdevs, with commas between them, as written in JSON */
};

/* Keys of a span line's io, in their order. */
enum lift_key {
	LIFT_TYPE,
	LIFT_BLOCKS,
	LIFT_LBA,
	LIFT_BDEV,
	LIFT_QD,
	LIFT_BYTES,
	LIFT_CID,
	LIFT_OPC,
	LIFT_STATUS,
	LIFT_KEYS
};

extern const char *const lift_keys[LIFT_KEYS];

/* lift is all zero before the first call; later calls reuse it. */
void lift_span(struct lift *lift, const struct spans *spans, const struct span *s);

/* The value of a key whose values are numbers. Returns false if it is unknown, or a text. */
bool lift_number(const struct lift *lift, enum lift_key key, uint64_t *value);

/* Writes a value as JSON. False, with nothing written, if it is unknown. */
bool lift_write(struct out *out, const struct lift *lift, enum lift_key key);

void lift_free(struct lift *lift);

#endif
