/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "input.h"
#include "mem.h"
#include "snapshot.h"
#include "tracefile.h"
#include "us.h"

static int open_rings(struct reader *r)
{
	if (tracefile_open(&r->trace, r->in, &r->error) != 0) {
		if (!r->error)
			r->error = strerror(r->in->error);
		return -1;
	}
	if (r->in->snapshot)
		snapshot_update(&r->trace, r->in);
	if (r->options.entries) {
		merge_open(&r->merge, &r->trace, r->in);
		entry_reader_open(&r->entries, &r->trace);
	}
	return 0;
}

int reader_open(struct reader *r, struct input *in, const struct reader_options *options)
{
	int status;

	*r = (struct reader){.options = *options, .in = in, .is_json = document_is_text(in)};
	if (r->is_json) {
		status = document_open(&r->document, &r->trace, in);
		r->error = r->document.error;
	} else {
		status = open_rings(r);
	}
	r->counts.by_tpoint = mem_array(UINT16_MAX + 1, sizeof(*r->counts.by_tpoint));
	r->counts.by_lcore = mem_array(r->trace.num_lcores, sizeof(*r->counts.by_lcore));
	r->counts.oldest = mem_array(r->trace.num_lcores, sizeof(*r->counts.oldest));
	return status;
}

/* Counts the entry in this slot, and reads it. Returns whether it is wanted. */
static inline bool read_slot(struct reader *r, unsigned lcore, uint64_t slot, struct entry *e)
{
	struct reader_counts *c = &r->counts;
	const struct trace_slot *head = &r->trace.lcores[lcore].ring[slot];
	uint64_t tsc = head->tsc;
	bool cleared = tsc < r->trace.clear_tsc, before = !cleared && tsc < r->merge.window;

	/* the end of the ring's last slot may be on a page that was not read before */
	if (input_is_lost(r->in, head, sizeof(*head)))
		return false;
	c->entries++;
	c->by_lcore[lcore]++;
	c->cleared += cleared;
	c->before_window += before;
	/* entries before the window still number their objects, cleared ones do not */
	if (cleared && !r->options.all)
		return false;
	if (!c->oldest[lcore])
		c->oldest[lcore] = tsc;
	entry_read(&r->entries, lcore, slot, e);
	/* the slot is empty if the file was truncated since */
	return e->tsc && (!before || r->options.all);
}

/* An entry before which others are missing. Those before the first one do not count. */
static void see_gap(struct reader *r, struct entry *e)
{
	struct reader_counts *c = &r->counts;
	uint64_t from = r->merge.before;

	r->merge.gap = false;
	e->lost = e->tsc != r->first;
	if (!e->lost || c->gaps++ >= READER_GAPS)
		return;
	c->first_gaps[c->gaps - 1] = (struct reader_gap){e->lcore, from > r->first ? from : r->first, e->tsc};
}

/* Counts an entry that is returned. */
static inline void count(struct reader *r, struct entry *e)
{
	struct reader_counts *c = &r->counts;

	if (!c->returned++)
		r->first = e->tsc;
	e->lost = r->merge.gap;
	if (e->lost)
		see_gap(r, e);
	c->by_tpoint[e->tpoint_id]++;
	c->torn += e->torn;
	c->undefined += !e->tpoint->name[0];
	c->late += e->tsc < r->highest;
	if (e->tsc > r->highest)
		r->highest = e->tsc;
}

static inline bool take(struct reader *r, unsigned lcore, uint64_t slot, struct entry *e)
{
	bool taken = read_slot(r, lcore, slot, e);

	if (taken)
		count(r, e);
	r->merge.gap = false;
	return taken;
}

bool reader_take(struct reader *r, unsigned lcore, uint64_t slot, struct entry *e)
{
	return take(r, lcore, slot, e);
}

static bool next_in_document(struct reader *r, struct entry *e)
{
	if (document_next(&r->document, e)) {
		r->counts.entries++;
		if (!r->counts.by_lcore[e->lcore]++)
			r->counts.oldest[e->lcore] = e->tsc;
		count(r, e);
		return true;
	}
	r->error = r->document.error;
	if (r->error)
		trace_fault(&r->trace, "%s", r->error);
	return false;
}

bool reader_next(struct reader *r, struct entry *e)
{
	unsigned lcore;
	uint64_t slot;

	if (r->is_json)
		return next_in_document(r, e);
	while (merge_next(&r->merge, &lcore, &slot))
		if (take(r, lcore, slot, e))
			return true;
	return false;
}

bool reader_window_lcore(const struct reader *r, unsigned *lcore)
{
	for (*lcore = 0; r->merge.window && *lcore < r->trace.num_lcores; (*lcore)++)
		if (r->merge.rings[*lcore].oldest == r->merge.window)
			return true;
	return false;
}

static bool report_document(const struct reader *r, const char *name)
{
	const struct document *d = &r->document;

	if (r->error && d->position)
		warnx("%s: byte %" PRIu64 ", after %" PRIu64 " entr%s: %s", name, d->position, d->entries,
		      d->entries == 1 ? "y" : "ies", r->error);
	else if (r->error)
		warnx("%s: %s", name, r->error);
	return !r->error;
}

bool reader_report(const struct reader *r, const char *name)
{
	const struct trace *t = &r->trace;
	const struct input *in = r->in;
	bool good = !in->unreadable;

	if (!good)
		warnx("%s: %zu bytes from offset %zu on could not be read: %s; the rest was read", name, in->unreadable,
		      in->first_unreadable, strerror(in->read_error));
	if (r->is_json)
		return report_document(r, name) && good;
	if (r->error) {
		warnx("%s: %s", name, r->error);
		return false;
	}
	for (unsigned i = 0; i < trace_num_damage(t); i++)
		warnx("%s: %s", name, t->damage[i]);
	if (t->faults > TRACE_DAMAGE)
		warnx("%s: and %u more such fault%s", name, t->faults - TRACE_DAMAGE,
		      t->faults - TRACE_DAMAGE == 1 ? "" : "s");
	if (t->cut_off)
		warnx("%s: is cut off: it has %zu of %" PRIu64 " bytes, which were read", name, r->in->size,
		      t->expected_size);
	if (t->is_followed)
		warnx("%s: has more than a trace of %" PRIu64
		      " bytes: what follows it was not read; give each file by itself",
		      name, t->expected_size);
	if (r->in->error)
		warnx("%s: %s", name, strerror(r->in->error));
	return good && !t->faults && !t->cut_off && !t->is_followed && !r->in->error;
}

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

void reader_note(const struct reader *r, const struct us *us, const char *name, bool followed, bool quiet)
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

void reader_close(struct reader *r)
{
	if (r->is_json)
		document_close(&r->document);
	else if (r->entries.trace)
		entry_reader_close(&r->entries);
	merge_close(&r->merge);
	free(r->counts.by_lcore);
	free(r->counts.oldest);
	free(r->counts.by_tpoint);
	trace_close(&r->trace);
}
