/* SPDX-License-Identifier: BSD-3-Clause */
#include "owners.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach.h"
#include "cli.h"
#include "clock.h"
#include "io.h"
#include "privilege.h"
#include "probeline.h"
#include "trace.h"

enum {
	/* milliseconds from one look, or search, to the next */
	LOOK_AGAIN = 50, /* a description can be appended to behind the probe that tells of it */
	LOOK_IDLE = 1000,
	SEARCH_BUSY = 1000,
	SEARCH_IDLE = 5000,

	PASSES = 8,
	/* bytes of lines that wait for a look; with one more no flush is needed */
	HELD_MAX = IO_BLOCK / 4,
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
	o->lines++;
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

/* Writes what is new. The records are read one after the other, and one before those of this pass may have come. */
static int write_owners(struct owners *o)
{
	uint64_t lines = UINT64_MAX;

	for (int i = 0; i < PASSES && lines != o->lines; i++) {
		lines = o->lines;
		if (ownerwatch_look(&o->watch, write_owner, o) != 0)
			return -1;
	}
	return 0;
}

static void look(struct owners *o)
{
	struct out *out = o->out;
	size_t n = o->due && o->mark < out->len ? out->len - o->mark : 0;
	char *held = n ? malloc(n) : NULL;

	if (held) {
		memcpy(held, out->buf + o->mark, n);
		out->len = o->mark;
	}
	o->again = o->due;
	o->due = false;
	o->looked = clock_ms();
	if (write_owners(o) != 0) {
		warnx("%s: owners are not followed any more: %s", o->name,
		      errno == ENODATA ? "it became shorter" : strerror(errno));
		o->failed = true;
		stop(o);
	}
	if (held)
		out_bytes(out, held, n);
	free(held);
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

static bool names_qpairs(const struct probespec *spec)
{
	return slice_is(spec->name, "nvmf_poll_group_add_qpair") ||
	       slice_is(spec->name, "nvmf_ctrlr_add_qpair");
}

void owners_event(struct owners *o, const struct probespec *spec)
{
	if (o->state == OWNERS_OFF)
		return;
	if (o->due && o->state == OWNERS_FOLLOWING && o->out->len - o->mark > HELD_MAX)
		look(o);
	if (o->due || !names_qpairs(spec))
		return;
	o->due = true;
	/* what is before it need not wait, and leaves room */
	if (o->out->len > HELD_MAX / 2)
		out_flush(o->out);
	o->mark = o->out->len;
}

void owners_look(struct owners *o)
{
	uint64_t age = o->state != OWNERS_OFF ? clock_ms() - o->looked : 0;

	if (o->state == OWNERS_SEARCHING && age >= (o->due ? SEARCH_BUSY : SEARCH_IDLE)) {
		search(o);
		if (o->state != OWNERS_SEARCHING && privilege_drop(false) != 0)
			exit(EXIT_FAILURE);
	} else if (o->state == OWNERS_FOLLOWING &&
		   (o->due || age >= (o->again ? LOOK_AGAIN : LOOK_IDLE))) {
		look(o);
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
