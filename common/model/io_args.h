/* SPDX-License-Identifier: BSD-3-Clause */
/* What the arguments of single entries say about an I/O: see enum io_arg. */
#pragma once

#include "out.h"
#include "spdk.h"
#include "traceline.h"

struct io_args {
	unsigned has; /* bits */
	uint64_t values[IO_ARGS];
};

static inline bool io_args_has(const struct io_args *io, enum io_arg arg)
{
	return io->has >> arg & 1;
}

static inline void io_args_set(struct io_args *io, enum io_arg arg, uint64_t value)
{
	io->values[arg] = value;
	io->has |= 1U << arg;
}

/* Adds what an entry of this tracepoint says. */
void io_args_read(struct io_args *io, const struct spdk_tpoint *tpoint, const struct traceline *line);

/* Whether a command of the NVMe driver is one of its admin queue, which has number 0 and, from v24.05 on, no owner. */
bool io_args_is_admin(struct slice poller);

/*
 * Adds the block address and the number of blocks of an NVMe command, as its bdev I/O would have
 * them. poller: of its entry. Returns the name of its type, or NULL if that is unknown.
 */
const char *io_args_add_command(struct io_args *io, struct slice poller);

/*
 * Describes an I/O, as in "write 8 @98264 Null0", omitting what is unknown. type: its name, or NULL. The bdev is as in
 * JSON, and so is the output.
 */
void io_args_write(struct out *out, const struct io_args *io, const char *type, struct slice bdev);
