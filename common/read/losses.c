/* SPDX-License-Identifier: BSD-3-Clause */
#include "losses.h"

#include <inttypes.h>

#include "cli.h"
#include "input.h"
#include "reader.h"
#include "us.h"

enum { NOTED_GAPS = 8 }; /* notes about missing entries */

static void note_gaps(const struct reader *r, const struct us *us, const char *name, bool followed, bool quiet)
{
	const struct reader_counts *c = &r->counts;
	uint64_t n = c->gaps < NOTED_GAPS ? c->gaps : NOTED_GAPS;
	const char *done = r->merge.marked ? "recorded" : "copied; try: trace-dump -p PID";
	char from[US_ROOM], to[US_ROOM];

	for (uint64_t i = 0; i < n; i++) {
		const struct reader_gap *gap = &c->first_gaps[i];

		*us_format(us, from, gap->from - r->first) = 0;
		*us_format(us, to, gap->to - r->first) = 0;
		cli_notice(quiet,
			   "%s: lcore %u: entries are missing between %s and %s us: the application wrote faster than "
			   "the file was %s",
			   name, r->trace.lcores[gap->lcore].id, from, to, followed ? "read" : done);
	}
	cli_count(quiet, c->gaps - n, "%s: entries are missing in %" PRIu64 " more place{|s}", name, c->gaps - n);
	cli_note(quiet, name, r->merge.marked, "slot{ was|s were} lost while it was recorded");
}

void losses_note(const struct reader *r, const struct us *us, const char *name, bool followed, bool quiet)
{
	const struct reader_counts *c = &r->counts;

	if (!r->options.all) {
		cli_count(quiet, c->before_window,
			  "%s: left out %" PRIu64
			  " {entry|entries} from before the time at which all rings are complete; "
			  "trace-dump -a prints {it|them}",
			  name, c->before_window);
		cli_count(quiet, c->cleared,
			  "%s: left out %" PRIu64 " {entry|entries} from before the trace was cleared; trace-dump -a "
			  "prints {it|them}",
			  name, c->cleared);
	}
	cli_note(quiet, name, c->torn,
		 r->in->unreadable ? "{entry is torn: some of its|entries are torn: some of their} arguments were "
				     "overwritten or cannot be read"
				   : "{entry is torn: some of its|entries are torn: some of their} arguments were "
				     "overwritten");
	note_gaps(r, us, name, followed, quiet);
	cli_note(
		quiet, name, r->trace.short_histories,
		"{lcore without entries is|lcores without entries are} truncated, as spdk_trace_record of v26.05 does");
	cli_note(quiet, name, c->undefined,
		 "{entry is of a tracepoint|entries are of tracepoints} without a definition");
	if (followed)
		cli_note(quiet, name, c->late,
			 "{entry comes|entries come} after later ones: {it was|they were} written more than 100 ms "
			 "after {its|their} time, or after another ring had no room for more");
}
