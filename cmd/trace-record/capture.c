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
#include <sys/prctl.h>
#include <unistd.h>

#include "clock.h"
#include "kmsg.h"
#include "mem.h"
#include "recording.h"
#include "rpc.h"
#include "state.h"
#include "targets.h"
#include "utf8.h"

enum {
	ANSWER_MS = 20000, /* for the target, all in all */
	WHY_MAX = 512,
};

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

static void copy_texts(struct capture *c, const struct part *texts, const struct window *windows)
{
	for (int i = 0; i < CAPTURE_TEXTS; i++) {
		struct part *p = &c->parts[PART_USDT + i];
		int fd;

		*p = part_so_far(&texts[i]);
		if (p->status == PART_MISSING)
			continue;
		fd = folder_file(&c->folder, p->file, 0);
		if (fd < 0 || !window_copy(&windows[i], fd)) {
			warn("%s/%s", c->folder.path, p->file);
			c->is_bad = true;
		}
		if (fd >= 0)
			close(fd);
		say_gap(c, p);
	}
}

/* In a child, because an answer may take seconds. Errors are written to a pipe. */
static _Noreturn void ask(const struct capture *c, const struct flight_setup *setup,
			  const struct flight_options *options, int answer)
{
	struct out state = {.fd = OUT_MEMORY};
	const char *error = NULL;
	struct rpc rpc;
	char *why;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	out_slice(&state, setup->state);
	why = rpc_connect(&rpc, setup->target->pid, options->rpc_socket);
	if (!why)
		error = state_write(&rpc, false, &state, state_max(options->max_size));
	if (!why && error)
		why = mem_copy(slice_of(error));
	fd = folder_file(&c->folder, RECORDING_RPC, 0);
	if (!folder_write(&c->folder, RECORDING_RPC, fd, &state) && !why)
		why = mem_copy(slice_of("not all could be written"));
	_exit(!why || write(answer, why, strlen(why)) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void begin_to_ask(struct capture *c, const struct flight_setup *setup, const struct flight_options *options)
{
	struct part *p = &c->parts[PART_RPC];
	int ends[2];

	p->status = PART_MISSING;
	c->rpc_answer = -1;
	p->why = setup->rpc_why ? mem_copy(slice_of(setup->rpc_why)) : NULL;
	if (p->why)
		return;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
		p->why = mem_copy(slice_of(strerror(errno)));
		return;
	}
	c->rpc = (struct child){.pid = fork(), .pidfd = -1};
	if (c->rpc.pid == 0)
		ask(c, setup, options, ends[1]);
	if (c->rpc.pid < 0) {
		p->why = mem_copy(slice_of(strerror(errno)));
		c->rpc.pid = 0;
		close(ends[0]);
	} else {
		c->rpc_answer = ends[0];
	}
	close(ends[1]);
}

bool capture_begin(struct capture *c, const struct flight_setup *setup, const struct flight_options *options,
		   const char *name, struct incident *incident, struct part *trace, const struct part *texts,
		   const struct window *windows, bool has_target_ended)
{
	uint64_t now = clock_wall_ns();

	*c = (struct capture){.incident = *incident, .trace = trace, .since = clock_ms(), .rpc_answer = -1};
	*incident = (struct incident){.lines.fd = OUT_MEMORY};
	part_stop(trace);
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
					      .has_target_ended = has_target_ended};
	c->is_bad = !describe_open(&c->description);
	copy_texts(c, texts, windows);
	c->is_bad |= !kmsg_write(setup->kmsg, &c->parts[PART_DMESG], &c->folder);
	if (has_target_ended)
		part_write(&c->parts[PART_RPC], &c->folder, &(struct out){.fd = OUT_MEMORY}, "the target has ended");
	else
		begin_to_ask(c, setup, options);
	return true;
}

bool capture_is_ready(struct capture *c)
{
	bool has_answer = child_has_ended(&c->rpc);

	if (!has_answer && clock_ms() - c->since > ANSWER_MS)
		child_signal(&c->rpc, SIGKILL);
	return has_answer && !part_is_running(c->trace);
}

static void end_answer(struct capture *c)
{
	struct part *p = &c->parts[PART_RPC];
	char why[WHY_MAX];
	ssize_t n;

	if (c->rpc_answer < 0)
		return;
	n = read(c->rpc_answer, why, sizeof(why));
	close(c->rpc_answer);
	p->status = folder_size(&c->folder, p->file) ? PART_DONE : PART_MISSING;
	if (n > 0)
		p->why = mem_copy((struct slice){why, n});
	else if (c->rpc.status)
		p->why = child_ending(&c->rpc);
	if (p->why && p->status == PART_DONE)
		p->status = PART_FAILED;
	else if (!p->why && p->status == PART_MISSING)
		p->why = mem_copy(slice_of("it could not be written"));
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

static void describe(struct capture *c, const struct flight_options *options)
{
	struct out about = {.fd = OUT_MEMORY}, object = {.fd = OUT_MEMORY};
	const struct incident *i = &c->incident;

	if (i->requests) {
		out_printf(&about, "trigger: %" PRIu64 " request%s of ", i->requests, i->requests == 1 ? "" : "s");
		out_us(&about, options->slow_ns);
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
		out_us(&object, options->slow_ns);
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

void capture_end(struct capture *c, const struct flight_options *options, const struct folder *ring)
{
	int fd = -1;

	end_answer(c);
	take_trace(c, ring);
	if (c->incident.requests) {
		fd = folder_file(&c->folder, RECORDING_SLOW, 0);
		c->is_bad |= !folder_write(&c->folder, RECORDING_SLOW, fd, &c->incident.lines);
	}
	if (fd >= 0)
		close(fd);
	describe(c, options);
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
