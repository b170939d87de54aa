/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the trace lines of a file into sums over its spans. */
#pragma once

#include "connection.h"
#include "sums.h"

struct reading {
	/* set before the first file */
	struct sums sums; /* its settings */
	bool wants_wall;
	bool quiet;              /* no notes about a trace file */
	struct joining *joining; /* names objects; or NULL */
	struct out *out;
	void (*pause)(void *context); /* gets the context of sums, every INTERACTIVE_TICK_MS without a line; or NULL */

	uint64_t wall; /* if wanted: the latest time of day in the lines of all files so far; 0: none */

	/* of the file that was read last */
	struct spans spans;
	struct proofs proofs;
	uint64_t lines;

	struct connections connections;
};

/* Returns 0, or -1 after a message. A file that cannot be opened ends the tool. */
int reading_file(struct reading *r, const char *path);

/* Prints notes about what could not be measured in the file. */
void reading_notes(const struct reading *r, const char *name, bool quiet);

void reading_free(struct reading *r);
