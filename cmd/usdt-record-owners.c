/* SPDX-License-Identifier: BSD-3-Clause */
#include "usdt-record-owners.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "privilege.h"
#include "probeline.h"
#include "usdt-record-attach.h"
#include "usdt-record-trace.h"

/* Milliseconds from one look, or search, to the next. */
enum {
	LOOK_BUSY = 10, /* while qpairs come */
	LOOK_IDLE = 1000,
	SEARCH_BUSY = 1000,
	SEARCH_IDLE = 5000,
};

bool owners_wanted(const struct probespecs *specs)
{
	for (size_t i = 0; i < specs->n; i++)
		if (slice_is(specs->all[i].name, "nvmf_poll_group_add_qpair"))
			return true;
	return false;
}

/* An ownerwatch_take. */
static void write_owner(void *context, unsigned id, char prefix, const struct trace_owner *owner)
{
	struct owners *o = context;
	char *to = out_room(o->out, PROBELINE_ESCAPED(1 + owner->description.n) + 128);

	if (!to)
		return;
	to += sprintf(to, "owner: tsc=0x%" PRIx64 ", id=0x%x, poller='", owner->tsc, id);
	to = probeline_escape(to, (struct slice){&prefix, prefix != 0});
	to += sprintf(to, "%02u', description='", id);
	to = probeline_escape(to, owner->description);
	to = mempcpy(to, "'\n", 2);
	out_commit(o->out, to);
}

static void stop(struct owners *o)
{
	if (o->state == OWNERS_FOLLOWING) {
		ownerwatch_close(&o->watch);
		close(o->fd);
		free(o->name);
	}
	o->state = OWNERS_OFF;
}

static void look(struct owners *o)
{
	o->due = false;
	o->looked = clock_ms();
	if (ownerwatch_look(&o->watch, write_owner, o) == 0)
		return;
	warnx("%s: owners are not followed any more: %s", o->name,
	      errno == ENODATA ? "it became shorter" : strerror(errno));
	o->failed = true;
	stop(o);
}

/* Takes over what was found. */
static void follow(struct owners *o, struct found_trace *found)
{
	o->name = found->name;
	o->fd = found->fd;
	o->state = OWNERS_FOLLOWING;
	if (!found->owners.n) {
		cli_note("%s: no owners to follow: traces of layout %s name qpairs by address",
			 o->name, found->layout);
		stop(o);
	} else if (ownerwatch_open(&o->watch, o->fd, &found->owners, NULL) != 0) {
		warn("%s: its owners are not followed", o->name);
		o->failed = true;
		stop(o);
	} else {
		cli_note("following the owners of %s", o->name);
		look(o);
	}
}

static void search(struct owners *o)
{
	struct recorder_walk walk = {};
	struct found_trace found;

	o->due = false;
	while (o->state == OWNERS_SEARCHING && recorder_next_process(o->recorder, &walk))
		switch (trace_find(&found, walk.pid)) {
		case 1:
			follow(o, &found);
			break;
		case -1:
			o->state = OWNERS_OFF;
			o->failed = true;
		}
	o->looked = clock_ms();
}

void owners_start(struct owners *o, const struct recorder *r, struct out *out, bool starting)
{
	*o = (struct owners){
		.state = OWNERS_SEARCHING, .recorder = r, .out = out, .starting = starting};
	if (starting)
		return;
	search(o);
	if (o->state == OWNERS_SEARCHING)
		cli_note(
			"no trace of process %d so far: its owners are followed from when there is one",
			r->pid);
}

void owners_event(struct owners *o, const struct probespec *spec)
{
	o->due |= o->state != OWNERS_OFF && (slice_is(spec->name, "nvmf_poll_group_add_qpair") ||
					     slice_is(spec->name, "nvmf_ctrlr_add_qpair"));
}

void owners_look(struct owners *o)
{
	uint64_t age = o->state != OWNERS_OFF ? clock_ms() - o->looked : 0;

	if (o->state == OWNERS_FOLLOWING && age >= (o->due ? LOOK_BUSY : LOOK_IDLE))
		look(o);
	if (o->state == OWNERS_SEARCHING && age >= (o->due ? SEARCH_BUSY : SEARCH_IDLE)) {
		search(o);
		if (o->state != OWNERS_SEARCHING && privilege_drop() != 0)
			err(EXIT_FAILURE, "capabilities");
	}
}

bool owners_finish(struct owners *o)
{
	if (o->state == OWNERS_SEARCHING)
		search(o);
	else if (o->state == OWNERS_FOLLOWING)
		look(o);
	if (o->state == OWNERS_SEARCHING && o->starting)
		cli_note("no owners: process %d had no trace", o->recorder->pid);
	stop(o);
	return !o->failed;
}
