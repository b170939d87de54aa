/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "io.h"
#include "join.h"
#include "lines.h"
#include "owner_lines.h"
#include "pairing.h"

/* Returns whether all lines are good, else after a message. */
static bool read_probes(struct facts *f, struct events *events, struct owners *owners)
{
	struct lines lines;
	struct slice line;
	int got;

	lines_open_fd(&lines, f->usdt_fd, io_name(f->usdt));
	lines_expect(&lines, KIND_PROBE_LINES, "trace-report TRACE -");
	while ((got = lines_next(&lines, &line)) > 0)
		events_read_line(events, owners, &lines, line);
	return lines_close(&lines, got < 0 ? errno : 0) == 0;
}

static bool read_answers(struct facts *f, struct answers *answers)
{
	struct slice text = f->rpc;
	bool good = true;

	for (uint64_t number = 1; text.n; number++) {
		const char *error = answers_add(answers, slice_cut_line(&text));

		if (error && good)
			warnx("%s:%" PRIu64 ": %s", io_name(f->answers), number, error);
		good &= !error;
	}
	return good;
}

/* The owners that the trace has itself, where no line has them. */
static void add_owners(struct facts *f, const struct reader *r, struct owners *owners)
{
	struct out out = {.fd = OUT_MEMORY};
	struct slice text;

	owner_lines_write(&out, r);
	for (text = out_contents(&out); text.n;)
		registry_add(owners, slice_cut_line(&text));
	registry_add_table(owners);
	f->has_owners = owners->n;
	out_close(&out);
}

bool names_read(struct facts *f, const struct reader *r, struct join *join)
{
	struct events events = {};
	struct answers answers = {.subnqn = MAP_NONE};
	struct pairing p = {.answers = f->answers ? &answers : NULL};
	struct out out = {.fd = OUT_MEMORY};
	struct slice text;
	bool good = true;

	if (!f->usdt && !f->answers)
		return true;
	if (f->usdt)
		good &= read_probes(f, &events, &p.owners);
	if (!p.owners.n && r)
		add_owners(f, r, &p.owners);
	if (f->answers)
		good &= read_answers(f, &answers);
	registry_find_whole(&p.owners);
	pairing_add(&p, &events);
	pairing_pause(&p, &out, true);
	for (text = out_contents(&out); text.n;)
		lifetimes_add(&join->lifetimes, slice_cut_line(&text));
	free(events.all);
	pairing_free(&p);
	answers_free(&answers);
	out_close(&out);
	f->names_unread |= !good;
	return good;
}
