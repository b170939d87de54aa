/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What SPDK's tracepoints mean, in one table with a row for each. No other file of the model has their names or those
 * of their arguments. A tracepoint is looked up once for each new name in a trace, so rows cost nothing per line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

/* What a request waits for, as a rule according to the state of the object at work. */
enum layer {
	LAYER_NETWORK, /* the connection: its send queue, or the wire */
	LAYER_BUFFER,  /* a free data buffer */
	LAYER_HOST,    /* data from the host */
	LAYER_TARGET,  /* the target itself, and states that are in no row */
	LAYER_BELOW,   /* what the target has passed the I/O on to, when the trace does not show that */
	LAYER_BDEV,    /* a block device or its module */
	LAYER_DRIVE,   /* an NVMe drive, or a remote subsystem as one */
	LAYER_REPLY,   /* the end of its reply, which the target has passed to the socket */
	LAYER_UNKNOWN, /* the time before the first entry */
	LAYERS
};

extern const char *const spdk_layers[LAYERS];

/* Sorts the layers, the one with the largest value first; equal ones stay in their order. */
void spdk_sort_layers(const double values[LAYERS], enum layer sorted[LAYERS]);

/* What a tracepoint tells of, as far as a tool treats it differently. */
enum spdk_kind {
	SPDK_OTHER,
	SPDK_BDEV_IO,       /* starts a bdev I/O */
	SPDK_BDEV_CHANNEL,  /* opens or closes a channel for I/O to a bdev */
	SPDK_NVME_IO,       /* starts an I/O of an NVMe bdev on a path, or again */
	SPDK_NVME_COMMAND,  /* submits an NVMe command */
	SPDK_SOCKET_READ,   /* a socket was read */
	SPDK_SOCKET_WRITE,  /* queues a write to a socket */
	SPDK_SCSI_TASK,     /* starts a SCSI task */
	SPDK_BLOB_SET,      /* starts a set of requests to a blobstore */
	SPDK_QPAIR,         /* is about a connection of NVMe-oF TCP; the one after it, too */
	SPDK_QPAIR_DESTROY, /* its end */
};

static inline bool spdk_is_qpair(enum spdk_kind kind)
{
	return kind >= SPDK_QPAIR;
}

/* Numbers in arguments that describe an I/O. */
enum io_arg {
	IO_TYPE = 1, /* of the bdev I/O: spdk_bdev_type() */
	IO_BLOCKS,
	IO_LBA,
	IO_QD,
	IO_QPAIR_QD,
	IO_BYTES,
	IO_CID,
	IO_OPC,
	IO_DW10,
	IO_DW11,
	IO_DW12,
	IO_CPL, /* status of the completion, raw */
	IO_ARGS
};

struct spdk_tpoint {
	const char *name;
	enum layer layer; /* of the time until the object's next entry */
	enum spdk_kind kind;
	struct spdk_arg {
		enum io_arg arg;  /* 0 ends the list */
		const char *name; /* NULL: the size of the entry */
	} args[8];                /* a later one counts more */
	const char *bdev;         /* the argument with the name of the bdev */
	/*
	 * A parent that no relation of the trace names: the argument with its address, and letters of its type. No
	 * letters: it is named, unless the trace does not have its creation.
	 */
	struct {
		const char *arg, *letters;
	} parent;
	bool replies;     /* the object has passed its reply to the socket */
	bool sends;       /* the kernel has got the write */
	bool passes_on;   /* the object passes its I/O on to a bdev, and waits for it */
	bool executes;    /* a request of a host is executing, or waits for that */
	bool creates;     /* a connection */
	bool disconnects; /* the connection is closed, or was */
	bool destroys;    /* the connection: it has no other entry */
};

/* The row of a tracepoint. One without a row belongs to LAYER_TARGET, and is SPDK_OTHER. Never NULL. */
const struct spdk_tpoint *spdk_tpoint(struct slice name);

/* Whether the name of a state says that lives end in it. */
bool spdk_is_final(struct slice name);

/* What tells the types of a letter apart that SPDK uses for several: how the names of their states start; or empty. */
struct slice spdk_family(struct slice letter, struct slice name);

/* The letter of ids of objects with a state of this name; "n/a": not known. SPDK_LETTERS: there are no more of them. */
enum { SPDK_LETTERS = 16 };
struct slice spdk_letter(struct slice name);

/* The group that SPDK enables with the tracepoint of this name, as its RPCs and -e call it; empty: not known. */
struct slice spdk_group(struct slice name);

/* The name of a bdev I/O's type. NULL: it has none. */
const char *spdk_bdev_type(uint64_t type);

/* Whether a rate limit of a bdev applies to I/Os of this type; and that for writes. */
bool spdk_may_be_limited(uint64_t type);
bool spdk_is_write(uint64_t type);

/* The name of the bdev of an I/O, by the owner of its entry and the argument with the name; empty: unknown. */
struct slice spdk_bdev(struct slice owner, struct slice name);
