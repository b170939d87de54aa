/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include <stdlib.h>

#include "lines.h"
#include "mem.h"
#include "minmax.h"
#include "probeline.h"

enum field { TSC, QPAIR, THREAD, QID, SUBNQN, HOSTNQN, NUM_FIELDS };

static const char *const field_names[NUM_FIELDS] = {"tsc", "qpair", "thread", "qid", "subnqn", "hostnqn"};

enum { NUM_PROBES = CONNECT + 1 };

static const struct {
	const char *name;
	bool needs[NUM_FIELDS];
} probes[NUM_PROBES] = {
	[ADD] = {EVENTS_ADD_PROBE, {[TSC] = true, [QPAIR] = true, [THREAD] = true}},
	[REMOVE] = {"nvmf_poll_group_remove_qpair", {[TSC] = true, [QPAIR] = true}},
	[CONNECT] = {"nvmf_ctrlr_add_qpair",
		     {[TSC] = true, [QPAIR] = true, [QID] = true, [SUBNQN] = true, [HOSTNQN] = true}},
};

/* number: NULL for a string. Returns NULL, or what to say after the field's name. */
static const char *read_field(const struct probeline_field *f, uint64_t *number)
{
	if (!f->key.p)
		return " is missing";
	if (number)
		return probeline_number(f, number) ? NULL : ": a hexadecimal number is expected";
	return f->quoted ? NULL : ": a string is expected; it could not be read when it was recorded";
}

/* Reads the fields of a probe's line. Returns false, after a message, when they are malformed. */
static bool read_fields(struct lines *lines, struct slice rest, struct qpair_event *e)
{
	uint64_t qid = 0;
	uint64_t *const numbers[NUM_FIELDS] = {
		[TSC] = &e->tsc, [QPAIR] = &e->qpair, [THREAD] = &e->thread, [QID] = &qid};
	struct probeline_field fields[NUM_FIELDS];
	const char *error = probeline_fields(rest, field_names, NUM_FIELDS, fields);

	if (error) {
		lines_complain(lines, "%s", error);
		return false;
	}
	for (unsigned i = 0; i < NUM_FIELDS; i++) {
		error = probes[e->probe].needs[i] ? read_field(&fields[i], numbers[i]) : NULL;
		if (error) {
			lines_complain(lines, "%s%s", field_names[i], error);
			return false;
		}
	}
	if (e->probe == CONNECT)
		e->connect = qpair_connect_new(e->tsc, qid, fields[SUBNQN].value, fields[HOSTNQN].value);
	return true;
}

void events_read_line(struct events *events, struct owners *owners, struct lines *lines, struct slice line)
{
	struct qpair_event e = {.line = lines->number};
	struct slice name;
	unsigned probe = 0;

	if (!probeline_name(&line, &name))
		return;
	if (slice_is(name, "owner")) {
		const char *error = registry_add_line(owners, line, events->last_added);

		if (error)
			lines_complain(lines, "%s", error);
		return;
	}
	while (probe < NUM_PROBES && !slice_is(name, probes[probe].name))
		probe++;
	if (probe == NUM_PROBES)
		return;
	e.probe = probe;
	if (!read_fields(lines, line, &e))
		return;
	events->all = mem_room(events->all, events->n, &events->cap);
	if (events->n && e.tsc < events->all[events->n - 1].tsc)
		events->unsorted = true;
	if (e.probe == ADD && e.tsc > events->last_added)
		events->last_added = e.tsc;
	events->all[events->n++] = e;
}

static int by_time(const void *a, const void *b)
{
	const struct qpair_event *x = a, *y = b;

	return ORDER(x->tsc, y->tsc) ?: ORDER(x->line, y->line);
}

void events_sort(struct events *events)
{
	if (events->unsorted)
		qsort(events->all, events->n, sizeof(*events->all), by_time);
	events->unsorted = false;
}
