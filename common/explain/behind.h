/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits for what among the requests in flight, by the innermost object in flight of each, and its state:
 *
 *	a buffer                    the requests that have one
 *	a remote subsystem          the request that the command is, if that is in the same trace: see remote.h
 *	execution                   I/O before it: that a pause of the subsystem waits for, or that has all bdev_io
 *	a bdev that passes I/O on, but not this one    I/O of the target itself, such as that of a snapshot
 *	a bdev, a drive, the host's data, its socket   nothing in the trace: a head
 *
 * A request that waits for a buffer goes on when one of those that have one does. If none can, they are a deadlock.
 */
#pragma once

#include "connection.h"
#include "holders.h"

/* All zero at first, but for the first ones; the areas of spans are those of holders.h. */
struct behind {
	struct spans *spans;
	struct connections *connections;
	uint64_t pool; /* of bdev_io; 0: not known */

	struct behind_node {
		/* root: or a request below a command; io: the innermost bdev I/O, NULL: none; below: such a request */
		const struct span *root, *leaf, *io, *below;
		enum behind_why {
			BEHIND_TARGET,
			BEHIND_BUFFER,
			BEHIND_DATA,
			BEHIND_SOCKET,
			BEHIND_EXECUTION,
			BEHIND_BELOW,
			BEHIND_BDEV,
			BEHIND_DRIVE,
			BEHIND_REMOTE,
		} why;
		uint32_t next; /* node that it waits for; MAP_NONE: a head, or a buffer */
		uint32_t text; /* of behind_of(), in texts */
		bool holds;    /* a buffer */
	} * nodes;
	size_t n, cap;
	struct map by_span; /* index of a root → node */
	uint32_t holder;    /* node: of the host that has most buffers; MAP_NONE: nobody has any */
	bool is_deadlock;   /* of those that wait for a buffer */
	uint64_t more;      /* buffers that their commands would want then */
	bool is_pool;       /* that of bdev_io is empty */
	uint64_t at;        /* spans.now then */
	uint64_t ios, most; /* bdev I/O in flight, and the most so far */
	struct intern bdevs, texts;
	struct map by_bdev; /* bdev and lcore → channel */
	struct behind_channel {
		uint32_t bdev;   /* in bdevs */
		bool passes;     /* I/O on to other bdevs */
		uint64_t n;      /* in flight */
		uint64_t unseen; /* besides, as SPDK counted at the latest one: they have started before the trace */
	} * channels;
	size_t num_channels, cap_channels;
	struct out text;
};

/* Sees each entry of a span; before: the state that it left, MAP_NONE for its first entry. */
void behind_see(struct behind *b, const struct span *s, uint32_t before);

/* Finds what waits for what now. */
void behind_find(struct behind *b);

/*
 * What a root in flight waited for when that was found, for terminals: steps with BEHIND_STEP between them, of which
 * the last one is the head. Empty: not known.
 */
#define BEHIND_STEP " > "
struct slice behind_of(const struct behind *b, const struct span *root);

/* The number of I/Os of a bdev, and its name as written in JSON, that started before the trace and have not ended. */
uint64_t behind_unseen(const struct behind *b, struct slice *bdev);

void behind_free(struct behind *b);
