/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "input.h"
#include "mem.h"
#include "snapshot.h"
#include "tracefile.h"

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
	if (r->options.follow)
		follow_open(&r->follow, &r->trace, r->in, &r->merge, r->options.pid, r->options.lag);
	return 0;
}

int reader_open(struct reader *r, struct input *in, const struct reader_options *options)
{
	int status;

	*r = (struct reader){.options = *options, .in = in, .is_json = document_is_text(in)};
	r->waiting = options->follow;
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

/* Counts the entry in this slot, and reads it. Returns whether reader_next() returns it. */
static bool read_slot(struct reader *r, unsigned lcore, uint64_t slot, struct entry *e)
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
	if (r->options.follow && follow_refresh_owner(&r->follow, head->owner))
		entry_forget_owner(&r->entries, head->owner);
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

static bool next_slot(struct reader *r, unsigned *lcore, uint64_t *slot)
{
	return r->options.follow ? follow_next(&r->follow, lcore, slot) : merge_next(&r->merge, lcore, slot);
}

static enum reader_result next_in_rings(struct reader *r, struct entry *e)
{
	unsigned lcore;
	uint64_t slot;

	if (r->waiting) {
		r->waiting = false;
		r->ended = !follow_read(&r->follow, r->stopped);
	}
	for (; next_slot(r, &lcore, &slot); r->merge.gap = false)
		if (read_slot(r, lcore, slot, e))
			return READER_ENTRY;
	r->waiting = r->options.follow && !r->ended;
	return r->waiting ? READER_WAIT : READER_END;
}

static enum reader_result next_in_document(struct reader *r, struct entry *e)
{
	if (document_next(&r->document, e)) {
		r->counts.entries++;
		if (!r->counts.by_lcore[e->lcore]++)
			r->counts.oldest[e->lcore] = e->tsc;
		return READER_ENTRY;
	}
	r->error = r->document.error;
	if (r->error)
		trace_fault(&r->trace, "%s", r->error);
	return READER_END;
}

enum reader_result reader_next(struct reader *r, struct entry *e)
{
	struct reader_counts *c = &r->counts;
	enum reader_result result = r->is_json ? next_in_document(r, e) : next_in_rings(r, e);

	if (result != READER_ENTRY)
		return result;
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
	return READER_ENTRY;
}

bool reader_wait(const struct reader *r, int out)
{
	return rings_wait(&r->follow.rings, out);
}

void reader_stop(struct reader *r)
{
	r->stopped = true;
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
	good &= rings_report(&r->follow.rings, name, "follow");
	return good && !t->faults && !t->cut_off && !t->is_followed && !r->in->error;
}

void reader_close(struct reader *r)
{
	if (r->is_json)
		document_close(&r->document);
	else if (r->entries.trace)
		entry_reader_close(&r->entries);
	if (r->follow.trace)
		follow_close(&r->follow);
	merge_close(&r->merge);
	free(r->counts.by_lcore);
	free(r->counts.oldest);
	free(r->counts.by_tpoint);
	trace_close(&r->trace);
}
