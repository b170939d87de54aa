/* SPDX-License-Identifier: BSD-3-Clause */
/* What single entries say about an I/O, in the arguments of some tracepoints. */
#ifndef FACTS_H
#define FACTS_H

#include <stdint.h>

#include "out.h"
#include "traceline.h"

/* Tracepoints with facts. */
enum facts_source {
	FACTS_NONE,
	FACTS_BDEV_IO,       /* starts a bdev I/O */
	FACTS_NVME_SUBMIT,   /* starts an NVMe command */
	FACTS_NVME_COMPLETE, /* its completion */
	FACTS_SOCKET,        /* starts a write to a socket */
	FACTS_SCSI_TASK,     /* starts a SCSI task */
};

enum facts_source facts_source(struct slice tpoint);

enum fact {
	FACT_TYPE, /* of the bdev I/O, as a number */
	FACT_BLOCKS,
	FACT_LBA,
	FACT_QD,
	FACT_BYTES,
	FACT_CID,
	FACT_OPC,
	FACT_DW10,
	FACT_DW11,
	FACT_DW12,
	FACT_CPL, /* status of the completion, raw */
	FACTS
};

struct facts {
	unsigned has; /* bits */
	uint64_t values[FACTS];
};

static inline bool facts_has(const struct facts *f, enum fact fact)
{
	return f->has >> fact & 1;
}

/* Adds what an entry from this source says. */
void facts_read(struct facts *f, enum facts_source source, const struct traceline *line);

/* The name of a bdev I/O's type, FACT_TYPE. NULL: it has none. */
const char *facts_type(uint64_t type);

/*
 * Adds the block address and the number of blocks of an NVMe command, as its bdev I/O would have
 * them. poller: of its entry. Returns the name of its type, or NULL if that is unknown.
 */
const char *facts_add_command(struct facts *f, struct slice poller);

/*
 * Describes an I/O, as in "write 8 @98264 Null0", omitting what is unknown. type: its name, or NULL. The bdev is as in
 * JSON, and so is the output.
 */
void facts_write_name(struct out *out, const struct facts *f, const char *type, struct slice bdev);

/* The name of the bdev of an I/O, by its entry's owner and argument "name"; empty: unknown. */
struct slice facts_bdev(struct slice owner, struct slice name);

#endif
