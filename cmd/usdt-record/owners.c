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
#include "mem.h"
#include "privilege.h"
#include "probeline.h"
#include "trace.h"

enum {
	/* milliseconds from one reading of the owners, or search, to the next */
	CHECK_AGAIN = 50, /* a description can grow after the probe that reports the qpair */
	CHECK_IDLE = 1000,
	SEARCH_BUSY = 1000,
	SEARCH_IDLE = 5000,

	PASSES = 8,
	/* lines a second: many more than hosts connect to a target, and few enough for any disk */
	LINES_A_SECOND = 4096,
	/* bytes of lines held back until the owners are read; one more line fits without a flush */
	HELD_MAX = IO_BLOCK / 4,
};

bool owners_wanted(const struct probespecs *specs)
{
	for (size_t i = 0; i < specs->n; i++)
		if (slice_is(specs->all[i].name, "nvmf_poll_group_add_qpair"))
			return true;
	return false;
}

static void write_escaped(struct out *out, struct slice text)
{
	out_commit(out, probeline_escape(out_room(out, PROBELINE_ESCAPED(text.n)), text));
}

/* An ownerwatch_report. */
static void write_owner(void *context, unsigned id, char prefix, const struct trace_owner *owner)
{
	struct owners_follower *o = context;
	struct out *out = o->out;

	out_printf(out, "owner: tsc=0x%" PRIx64 ", id=0x%x, poller='", owner->tsc, id);
	write_escaped(out, (struct slice){&prefix, prefix != 0});
	out_printf(out, "%02u', description='", id);
	write_escaped(out, owner->description);
	out_text(out, "'\n");
	o->lines++;
}

static void stop(struct owners_follower *o)
{
	if (o->state == OWNERS_FOLLOWING) {
		ownerwatch_close(&o->watch);
		close(o->fd);
		free(o->name);
	}
	o->state = OWNERS_OFF;
}

static void allow(struct owners_follower *o, size_t lines)
{
	o->renewed = clock_ms();
	o->watch.left = lines;
}

/*
 * Writes new owners, until there are none: a record may change after a pass has read it. The process that writes the
 * trace can change all of them all the time.
 */
static int write_owners(struct owners_follower *o)
{
	uint64_t lines = UINT64_MAX;

	if (clock_ms() - o->renewed >= 1000)
		allow(o, LINES_A_SECOND);
	for (int i = 0; i < PASSES && lines != o->lines; i++) {
		lines = o->lines;
		if (ownerwatch_read(&o->watch, write_owner, o) != 0)
			return -1;
	}
	if (!o->watch.left && !o->flooded) {
		warnx("%s: more than %d owners change in a second: they are written late, or not at all", o->name,
		      LINES_A_SECOND);
		o->flooded = o->failed = true;
	}
	return 0;
}

/* Reads the owners, and writes them before the lines that are held back. */
static void check(struct owners_follower *o)
{
	struct out *out = o->out;
	size_t n = o->due && o->mark < out->len ? out->len - o->mark : 0;
	char *held = mem_copy((struct slice){out->buf + out->len - n, n});

	out->len -= n;
	o->again = o->due;
	o->due = false;
	o->checked = clock_ms();
	if (write_owners(o) != 0) {
		warnx("%s: owners are not followed any more: %s", o->name,
		      errno == ENODATA ? "it was truncated" : strerror(errno));
		o->failed = true;
		stop(o);
	}
	out_bytes(out, held, n);
	free(held);
}

static void follow(struct owners_follower *o, struct found_trace *found)
{
	o->name = found->name;
	o->fd = found->fd;
	o->state = OWNERS_FOLLOWING;
	if (!found->owners.n) {
		cli_notice(o->quiet, "%s: no owners to follow: traces of layout %s name qpairs by address", o->name,
			   found->layout);
		stop(o);
	} else if (ownerwatch_open(&o->watch, o->fd, &found->owners, NULL) != 0) {
		warn("%s: its owners are not followed", o->name);
		o->failed = true;
		stop(o);
	} else {
		cli_notice(o->quiet, "following the owners of %s", o->name);
		/* all that are there already */
		allow(o, found->owners.n);
		check(o);
	}
}

static void search(struct owners_follower *o)
{
	struct attach_walk walk = {};
	struct found_trace found;

	o->due = false;
	while (o->state == OWNERS_SEARCHING && attach_next_process(o->attach, &walk))
		switch (trace_find(&found, walk.pid)) {
		case 1:
			follow(o, &found);
			break;
		case -1:
			o->state = OWNERS_OFF;
			o->failed = true;
		}
	o->checked = clock_ms();
}

void owners_start(struct owners_follower *o)
{
	o->state = OWNERS_SEARCHING;
	if (o->starting)
		return;
	search(o);
	if (o->state == OWNERS_SEARCHING)
		cli_notice(o->quiet, "no trace of process %d so far: its owners are followed once there is one",
			   o->attach->recorder->pid);
}

static bool names_qpairs(const struct probespec *spec)
{
	return slice_is(spec->name, "nvmf_poll_group_add_qpair") || slice_is(spec->name, "nvmf_ctrlr_add_qpair");
}

void owners_event(struct owners_follower *o, const struct probespec *spec)
{
	if (o->state == OWNERS_OFF)
		return;
	if (o->due && o->state == OWNERS_FOLLOWING && o->out->len - o->mark > HELD_MAX)
		check(o);
	if (o->due || !names_qpairs(spec))
		return;
	o->due = true;
	/* lines before it need not wait; flushing them makes room */
	if (o->out->len > HELD_MAX / 2)
		out_flush(o->out);
	o->mark = o->out->len;
}

void owners_check(struct owners_follower *o)
{
	uint64_t age = o->state != OWNERS_OFF ? clock_ms() - o->checked : 0;

	if (o->state == OWNERS_SEARCHING && age >= (o->due ? SEARCH_BUSY : SEARCH_IDLE)) {
		search(o);
		if (o->state != OWNERS_SEARCHING && privilege_drop(PRIVILEGE_NONE, o->starting) != 0)
			exit(EXIT_FAILURE);
	} else if (o->state == OWNERS_FOLLOWING && (o->due || age >= (o->again ? CHECK_AGAIN : CHECK_IDLE))) {
		check(o);
	}
}

bool owners_finish(struct owners_follower *o)
{
	if (o->state == OWNERS_SEARCHING) {
		search(o);
	} else if (o->state == OWNERS_FOLLOWING) {
		allow(o, o->watch.table.n);
		check(o);
	}
	if (o->state == OWNERS_SEARCHING && o->starting)
		cli_notice(o->quiet, "no owners: process %d had no trace", o->attach->recorder->pid);
	stop(o);
	return !o->failed;
}
