/* SPDX-License-Identifier: BSD-3-Clause */
/* The I/O of a span, as described by those objects in its tree that are nearest to its root. */
#pragma once

#include "spans.h"

struct request_io {
	struct io_args args; /* of these objects: blocks and bytes are sums, the rest is the first one's */
	const char *type;    /* its name; NULL: unknown, or a number without a name */
	/* name of the first status that is not a success, else of a success; NULL: ditto */
	const char *status;
	struct out bdev; /* names of the bdevs, with commas between them, as written in JSON */
	bool is_stacked; /* its tree has bdev I/Os below others, or of several bdevs */
	const struct span *span;
	const struct spans *spans;
};

/* Keys of a span line's io, in their order. */
enum request_io_key {
	REQUEST_IO_TYPE,
	REQUEST_IO_BLOCKS,
	REQUEST_IO_LBA,
	REQUEST_IO_BDEV,
	REQUEST_IO_LEG,
	REQUEST_IO_QD,
	REQUEST_IO_QPAIR_QD,
	REQUEST_IO_BYTES,
	REQUEST_IO_CID,
	REQUEST_IO_OPC,
	REQUEST_IO_STATUS,
	REQUEST_IO_KEYS
};

extern const char *const request_io_keys[REQUEST_IO_KEYS];

/* io is all zero before the first call; later calls reuse it. */
void request_io_read(struct request_io *io, const struct spans *spans, const struct span *s);

/* The value of a key whose values are numbers. Returns false if it is unknown, or a text. */
bool request_io_number(const struct request_io *io, enum request_io_key key, uint64_t *value);

/*
 * The name of the bdev to which most of the time belongs, as written in JSON, if it is another than io->bdev; else
 * empty. ns: that time. The span must exist until then.
 */
struct slice request_io_leg(const struct request_io *io, uint64_t *ns);

/*
 * The value of a key whose values are texts, as written in JSON between quotes; empty: unknown, or a number. It may be
 * in scratch.
 */
struct slice request_io_text(const struct request_io *io, enum request_io_key key, struct out *scratch);

void request_io_free(struct request_io *io);
