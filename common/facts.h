/* SPDX-License-Identifier: BSD-3-Clause */
/* What single entries say about an I/O: the arguments of the tracepoints that know. */
#ifndef FACTS_H
#define FACTS_H

#include <stdint.h>

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

#endif
