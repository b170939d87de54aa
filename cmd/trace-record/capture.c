/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "kmsg.h"
#include "mem.h"
#include "recording.h"
#include "state.h"
#include "targets.h"
#include "utf8.h"

/* Says what of a text that is so far complete came before its tool was started again. */
static void say_gap(struct capture *c, struct part *p)
{
	struct out why = {.fd = OUT_MEMORY};
	/* connections may have been older than the rest of the folder */
	bool is_probes = p == &c->parts[PART_USDT];

	if (!p->is_again || p->status != PART_DONE || p->why || (!is_probes && p->since < c->description.started))
		return;
	out_text(&why, "lines from before ");
	describe_time(&why, p->since ? p->since : clock_wall_ns());
	out_text(&why, " are missing");
	p->why = mem_copy(out_contents(&why));
	out_close(&why);
}

static void copy_texts(struct capture *c)
{
	for (int i = 0; i < CAPTURE_TEXTS; i++) {
		struct part *p = &c->parts[PART_USDT + i];
		int fd;

		*p = part_so_far(&c->texts[i]);
		if (p->status == PART_MISSING)
			continue;
		fd = folder_file(&c->folder, p->file, 0);
		if (fd < 0 || !window_copy(&c->windows[i], fd)) {
			warn("%s/%s", c->folder.path, p->file);
			c->is_bad = true;
		}
		io_close(&fd);
		say_gap(c, p);
	}
}

bool capture_begin(struct capture *c, const char *name, struct incident *incident)
{
	const struct flight_setup *setup = c->setup;
	const struct flight_options *options = c->options;
	uint64_t now = clock_wall_ns();

	c->incident = *incident;
	c->since = clock_ms();
	*incident = (struct incident){.lines.fd = OUT_MEMORY};
	part_stop(c->trace);
	if (!folder_add(&c->folder, setup->folder, name)) {
		incident_clear(&c->incident);
		return false;
	}
	c->is_active = true;
	parts_prepare(c->parts, 0, options->max_size);
	c->description = (struct description){.folder = &c->folder,
					      .target = setup->target,
					      .parts = c->parts,
					      .started = now - options->keep_ns,
					      .ended = now,
					      .has_target_ended = c->has_target_ended};
	c->is_bad = !describe_open(&c->description);
	copy_texts(c);
	c->is_bad |= !kmsg_write(setup->kmsg, &c->parts[PART_DMESG], &c->folder);
	c->is_asked = !c->has_target_ended && !setup->rpc_why;
	if (!c->has_target_ended)
		ask_kernel(&c->look, setup->target->pid, RECORDING_END);
	if (c->is_asked)
		ask_start(&c->ask, setup->target->pid, options->rpc_socket, false,
			  state_max(options->max_size) - setup->state.n);
	else
		part_write(&c->parts[PART_RPC], &c->folder, &(struct out){.fd = OUT_MEMORY},
			   c->has_target_ended ? "the target has ended" : setup->rpc_why);
	return true;
}

bool capture_is_ready(struct capture *c)
{
	return ask_is_over(&c->ask) && ask_is_over(&c->look) && !part_is_running(c->trace);
}

static void end_look(struct capture *c)
{
	struct out kernel = {.fd = OUT_MEMORY};
	char *why;

	out_slice(&kernel, c->setup->kernel);
	why = c->has_target_ended ? mem_copy(slice_of("the target has ended")) : ask_end(&c->look, &kernel, NULL);
	c->is_bad |= !part_write(&c->parts[PART_KERNEL], &c->folder, &kernel, why);
	free(why);
}

/* With what the target answered at the start. */
static void end_answer(struct capture *c)
{
	struct out state = {.fd = OUT_MEMORY};
	char *why;

	if (!c->is_asked)
		return;
	out_slice(&state, c->setup->state);
	why = ask_end(&c->ask, &state, NULL);
	c->is_bad |= !part_write(&c->parts[PART_RPC], &c->folder, &state, why);
	free(why);
}

static void take_trace(struct capture *c, const struct folder *ring)
{
	struct part *p = &c->parts[PART_TRACE];

	*p = *c->trace;
	p->name = "trace";
	p->file = RECORDING_TRACE;
	if (p->status == PART_MISSING || renameat(ring->fd, c->trace->file, c->folder.fd, RECORDING_TRACE) == 0)
		return;
	warn("%s/%s", c->folder.path, RECORDING_TRACE);
	c->is_bad = true;
}

static void describe(struct capture *c)
{
	struct out about = {.fd = OUT_MEMORY}, object = {.fd = OUT_MEMORY};
	const struct incident *i = &c->incident;

	if (i->requests) {
		out_printf(&about, "trigger: %" PRIu64 " request%s of ", i->requests, i->requests == 1 ? "" : "s");
		out_us(&about, c->options->slow_ns);
		out_text(&about, " us or more, the slowest ");
		out_us(&about, i->slowest);
		out_text(&about, " us, first seen ");
		describe_time(&about, i->since);
		out_printf(&about, "\n\n%-13s their span lines, as far as they are known without the rest: jq\n",
			   RECORDING_SLOW);
		if (i->left_out)
			out_printf(&about, "              lost: %" PRIu64 ", for which it has no room\n", i->left_out);
		out_printf(&object,
			   "{\"" RECORDING_PART "\":\"" RECORDING_TRIGGER "\",\"" RECORDING_STATUS
			   "\":\"" RECORDING_DONE "\",\"" RECORDING_FILE "\":\"" RECORDING_SLOW
			   "\",\"" RECORDING_REQUESTS "\":%" PRIu64 ",\"" RECORDING_MIN_US "\":",
			   i->requests);
		out_us(&object, c->options->slow_ns);
		out_text(&object, ",\"" RECORDING_SLOWEST "\":");
		out_us(&object, i->slowest);
		out_printf(&object, ",\"" RECORDING_LOST "\":%" PRIu64 "}\n", i->left_out);
	}
	c->description.about = out_contents(&about);
	c->description.object = out_contents(&object);
	c->is_bad |= !describe_index(&c->description);
	c->is_bad |= !describe_readme(&c->description);
	out_close(&about);
	out_close(&object);
}

/* Says what a folder lacks. Returns whether it lacks anything that was recorded. */
static bool say_loss(const struct capture *c, const struct part *p)
{
	bool lost = p->status == PART_DONE && p->lost;
	char *why;

	if (p->status != PART_FAILED && !lost)
		return false;
	why = utf8_visible_copy(p->why ? p->why : lost ? "not everything was recorded" : "ended early");
	warnx("%s: %s: %s", c->folder.path, p->name, why);
	free(why);
	return true;
}

void capture_end(struct capture *c, const struct folder *ring)
{
	int fd = -1;

	end_answer(c);
	end_look(c);
	take_trace(c, ring);
	if (c->incident.requests) {
		fd = folder_file(&c->folder, RECORDING_SLOW, 0);
		c->is_bad |= !folder_write(&c->folder, RECORDING_SLOW, fd, &c->incident.lines);
	}
	io_close(&fd);
	describe(c);
	for (int i = PART_TRACE; i < PART_TOOLS; i++)
		c->is_bad |= say_loss(c, &c->parts[i]);
	describe_close(&c->description);
	incident_clear(&c->incident);
	/* those of the trace are its tool's */
	for (int i = PART_TRACE + 1; i < PARTS; i++) {
		out_close(&c->parts[i].said);
		free(c->parts[i].why);
	}
	c->is_active = false;
}
