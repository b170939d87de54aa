/* SPDX-License-Identifier: BSD-3-Clause */
#include "owner_watch.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include "input.h"
#include "out.h"
#include "owner_lines.h"
#include "ownerwatch.h"
#include "reader.h"
#include "rings.h"

enum { WATCH_MS = 100 }; /* between two reads of the records, each of which takes 0.25 ms */

/* An ownerwatch_report. */
static void print_owner(void *context, unsigned id, char prefix, const struct trace_owner *owner)
{
	struct out *out = context;

	owner_lines_start(out, id, prefix, owner);
	out_text(out, "}\n");
}

bool owner_watch(struct out *out, const struct reader *r, const struct rings *rings, const char *name)
{
	const struct trace_owner_table *table = &r->trace.owner_table;
	struct ownerwatch watch;
	bool last = false, good = true;

	/* a table that is cut off has been reported */
	if (table->n != r->trace.num_owners)
		return true;
	if (ownerwatch_open(&watch, r->in->fd, table, r->trace.owners) != 0)
		err(EXIT_FAILURE, "%s", name);
	while (!last && good && !out->error) {
		out_flush(out);
		if (!rings_wait_ms(rings, out->fd, WATCH_MS))
			out->error = EPIPE;
		last = rings_have_ended(rings);
		good = ownerwatch_read(&watch, print_owner, out) == 0;
	}
	if (!good)
		warnx("%s: owners are not followed any more: %s", name,
		      errno == ENODATA ? "it was truncated" : strerror(errno));
	ownerwatch_close(&watch);
	return good;
}
