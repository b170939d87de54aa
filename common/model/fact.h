/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may explain a part of a request's life, in one table with a row for each: its name in span lines and findings,
 * whom it belongs to, in what layers its time is, and what people are told. All lists of facts are loops over it.
 */
#pragma once

#include <stdbool.h>

#include "slice.h"
#include "spdk.h"

enum fact {
	FACT_BUFFER,
	FACT_HOST,
	FACT_REPLY,
	FACT_NETWORK,
	FACT_TARGET,
	FACT_BELOW,
	FACT_BDEV,
	FACT_LEG, /* one of several bdevs below another */
	FACT_DRIVE,
	FACT_DISK, /* disk I/O below it was in flight */
	FACT_REACTOR,
	FACT_SILENT,
	FACT_OFF_CPU, /* the reactor of its lcore was off its CPU */
	FACT_IRQ,     /* an interrupt ran on that CPU */
	FACT_RATE_LIMIT,
	FACT_QUEUE, /* overlaps all of a life */
	FACT_NO_IO, /* there was no I/O below it */
	FACT_COPY,
	FACT_RETRY, /* from the start of an I/O of an NVMe bdev to its latest retry, or later */
	FACT_UNKNOWN,
	FACTS
};

/* Those that proofs.h finds, in the order in which they are printed. */
enum { FACTS_PROVEN = 4 };
extern const enum fact fact_proven[FACTS_PROVEN];

/* Those that lines of other tools show. They overlap the layers, and their sum means nothing. */
enum overlap { OVERLAP_OFF_CPU, OVERLAP_IRQ, OVERLAP_DISK, OVERLAPS };
extern const enum fact fact_overlaps[OVERLAPS];

/* What a request needs at any time of its life. */
enum resource {
	RESOURCE_NONE, /* nothing that the trace shows */
	RESOURCE_BUFFERS,
	RESOURCE_LCORE,
	RESOURCE_BDEV,
	RESOURCE_LEG,
	RESOURCE_DRIVE,
	RESOURCE_SOCKET,
	RESOURCE_DATA,
	RESOURCE_NETWORK,
	RESOURCES
};

extern const char *const fact_resources[RESOURCES];

struct fact_row {
	const char *name;
	enum resource resource;
	const char *had; /* how, before the name of whoever had it */
	/* whom it belongs to, if anybody is known: a host or bdev is that of the request */
	enum fact_who {
		FACT_OF_NOBODY,
		FACT_OF_ANYBODY,
		FACT_OF_HOST,
		/* what the resource is of */
		FACT_OF_BDEV,
		FACT_OF_LEG,
		FACT_OF_LCORE,
	} who;
	const char *before, *after; /* a sentence, with the name of whom it belongs to between them */
	const char *cure;           /* what is usually done */
	/* its time is taken from these layers; what is taken from the second one counts as second_as */
	unsigned num_layers;
	enum layer first, second;
	enum fact second_as;
};

extern const struct fact_row fact_table[FACTS];

static inline const char *overlaps_name(enum overlap part)
{
	return fact_table[fact_overlaps[part]].name;
}

/* Whether it belongs to what its resource is of, not to somebody who had that. */
static inline bool fact_is_of(enum fact fact)
{
	return fact_table[fact].who >= FACT_OF_BDEV;
}
