/* SPDX-License-Identifier: BSD-3-Clause */
#include "flight.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "cli.h"
#include "clock.h"
#include "mem.h"
#include "minmax.h"
#include "probes.h"
#include "recording.h"
#include "signals.h"
#include "state.h"
#include "targets.h"
#include "utf8.h"

enum {
	RECORDERS = 3, /* of the folder that is being completed, the current one and the next one */
	WATCHERS = 2,  /* trace-dump and trace-spans */
	TOOLS = CAPTURE_TEXTS + RECORDERS + WATCHERS,

	WAIT_MS = 100,
	START_MS = 20000,   /* for a tool to start */
	SHORT_MS = 5000,    /* a tool that has run for less may have a reason to end */
	TRIES = 4,          /* one that is killed has none, but not so often in a row */
	DOUBLINGS = 7,      /* of the time to the next start: at most eleven minutes */
	STOPPED_MS = 1000,  /* a tool that is stopped for so long is killed */
	TAIL_MS = 1000,     /* from the first slow request on */
	QUIET_MS = 500,     /* without another one */
	LATE_MS = 200,      /* for the watcher to see one: trace-dump holds entries back for 100 */
	RENEW_MS = 600000,  /* a recorder uses up the positions in its file */
	WATCHED_MS = 10000, /* for the watcher to end */
	STUCK_NS = 1000000000,
	RING_SHARE = 4, /* of --max-size */
	NAME_ROOM = 64,
};

static const char ring_name[] = "ring";

struct flight {
	const struct flight_setup *setup;
	const struct flight_options *options;
	struct folder ring;
	/* all tools, and which of them are of each kind; usdt is one of the texts */
	struct part parts[TOOLS], *texts, *usdt, *recorders, *dump, *spans;
	struct part *recorder, *next;         /* of the recorders; NULL: none */
	unsigned recorder_runs, watcher_runs; /* short ones in a row until now */
	unsigned text_runs[CAPTURE_TEXTS];
	uint64_t resume[CAPTURE_TEXTS]; /* when to start a text again, in milliseconds; 0: it runs, or cannot */
	struct window windows[CAPTURE_TEXTS];
	bool is_said[CAPTURE_TEXTS]; /* that what is old cannot be dropped */
	struct patience patience;
	struct probes probes;
	unsigned files; /* of recorders so far */
	struct watch watch;
	struct incident pending;
	struct capture capture;
	uint64_t captured; /* milliseconds: when the latest folder began; 0: never */
	uint64_t since;    /* nanoseconds of the time of day when the tools were started */
	uint64_t folders, space, requests;
	char *unwatched; /* why not all requests were seen; NULL: all were */
	bool has_target_ended, has_failed, is_bad;
};

static uint64_t keep_ms(const struct flight *f)
{
	return f->options->keep_ns / NS_A_MS;
}

static uint64_t stuck_ns(const struct flight *f)
{
	return f->options->slow_ns > STUCK_NS ? f->options->slow_ns : STUCK_NS;
}

static void start_text(struct flight *f, int i)
{
	struct part *p = &f->texts[i];
	/* probes of a connection count while it lives: all are there until they have half of the size */
	struct probes *old = p == f->usdt ? &f->probes : NULL;

	part_start(p, &f->ring);
	window_close(&f->windows[i]);
	if (old)
		probes_clear(old);
	if (p->is_started && !window_open(&f->windows[i], &f->ring, p->file, old ? UINT64_MAX : keep_ms(f),
					  old ? p->max_size / 2 : p->max_size, old))
		warn("%s/%s", f->ring.path, p->file);
}

/* Starts to record the trace into another file. */
static struct part *start_recorder(struct flight *f)
{
	struct part *p = f->recorders;

	while (p == f->recorder || p == f->next || (f->capture.is_active && f->capture.trace == p))
		p++;
	if (p->file)
		unlinkat(f->ring.fd, p->file, 0);
	free((char *)p->file);
	part_close(p);
	p->file = mem_printf("trace-%u.bin", ++f->files);
	part_set_option(p, "--record", (char *)p->file);
	part_start(p, &f->ring);
	return p;
}

/* trace-dump and trace-spans with a pipe between them. */
static bool start_watch(struct flight *f)
{
	int ends[2];

	watch_close(&f->watch);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		warn("pipe");
		return false;
	}
	/* not to be late for entries when many come at once */
	fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
	f->dump->out = ends[1];
	f->spans->in = ends[0];
	part_start(f->dump, &f->ring);
	part_start(f->spans, &f->ring);
	f->watch.fd = f->spans->result;
	f->spans->result = -1;
	close(ends[0]);
	close(ends[1]);
	return true;
}

static void prepare(struct flight *f)
{
	struct part parts[PARTS], *trace = &parts[PART_TRACE];
	const struct flight_options *o = f->options;
	char *us = mem_printf("%.3f", o->slow_ns / 1e3), *stuck = mem_printf("%.3f", stuck_ns(f) / 1e3);
	char *pid = mem_printf("%d", f->setup->target->pid);

	f->texts = f->parts;
	f->usdt = &f->texts[0]; /* the first one */
	f->recorders = &f->texts[CAPTURE_TEXTS];
	f->dump = &f->recorders[RECORDERS];
	f->spans = f->dump + 1;
	parts_prepare(parts, f->setup->target->pid, o->max_size / RING_SHARE);
	/* a request may have started long before it is seen */
	part_set_option(trace, "--keep", mem_printf("%.3f", (keep_ms(f) + TAIL_MS) / 1e3));
	trace->file = NULL;
	for (int i = 0; i < RECORDERS; i++)
		f->recorders[i] = *trace;
	for (int i = 0; i < CAPTURE_TEXTS; i++) {
		f->texts[i] = parts[PART_USDT + i];
		f->texts[i].is_window = true;
		f->windows[i].fd = -1;
	}
	*f->dump = (struct part){.name = "watcher", .argv = {"trace-dump", "-F", "-q", "-p", pid, "--requests"}};
	*f->spans = (struct part){.name = "watcher", .argv = {"trace-spans", "-j", "-q", "-m", us, "--stuck", stuck}};
	part_init(f->dump);
	part_init(f->spans);
	f->probes.max_size = f->usdt->max_size / 2;
	f->watch.fd = -1;
	f->watch.line.fd = f->pending.lines.fd = OUT_MEMORY;
}

/* A tool that a signal holds records nothing: it is killed, to be started again. */
static void see_stopped(struct flight *f)
{
	uint64_t now = clock_ms();

	for (int i = 0; i < TOOLS; i++) {
		struct part *p = &f->parts[i];

		if (!child_is_stopped(&p->child)) {
			p->stopped_ms = 0;
		} else if (!p->stopped_ms) {
			p->stopped_ms = now;
		} else if (now - p->stopped_ms >= STOPPED_MS) {
			warnx("%s: %s, process %d, is stopped by a signal: it is killed", p->name, p->argv[0],
			      p->child.pid);
			child_signal(&p->child, SIGKILL);
			p->stopped_ms = now;
		}
	}
}

/* Waits for anything, at most for a moment. */
static void wait_a_moment(struct flight *f)
{
	struct pollfd watch[PARTS_WATCH] = {{f->has_target_ended ? -1 : f->setup->target->pidfd, POLLIN, 0},
					    {f->watch.fd, POLLIN, 0}};

	parts_wait(f->parts, TOOLS, &f->ring, watch, WAIT_MS);
	see_stopped(f);
	f->has_target_ended |= watch[0].revents != 0;
	/* later ones may have ended after the folder's trace */
	watch_read(&f->watch,
		   f->capture.is_active && clock_ms() - f->capture.since < LATE_MS ? &f->capture.incident : &f->pending,
		   stuck_ns(f));
	for (int i = 0; i < CAPTURE_TEXTS; i++)
		if (!window_slide(&f->windows[i], clock_ms()) && part_is_running(&f->texts[i]) && !f->is_said[i]) {
			warn("%s/%s: what is old cannot be dropped", f->ring.path, f->texts[i].file);
			f->is_said[i] = f->is_bad = true;
		}
	if (f->probes.has_dropped) {
		warnx("%s/%s: --max-size has no room for the probes of all connections: those so far are dropped",
		      f->ring.path, f->usdt->file);
		f->usdt->since = clock_wall_ns();
		f->usdt->is_again = f->is_bad = true;
		f->probes.has_dropped = false;
	}
	/* the pipe of a tool that has ended would be readable without end */
	if (watch[1].revents & POLLHUP && !part_is_running(f->spans))
		watch_close(&f->watch);
}

/* Closes the watcher after its tools have ended. Keeps the first reason why its tool p missed requests. */
static void close_watcher(struct flight *f, const struct part *p, const char *why)
{
	char *visible = why ? utf8_visible_copy(why) : NULL;

	if (why && !f->unwatched)
		f->unwatched = mem_printf("%s: %s", p->argv[0], visible);
	free(visible);
	part_close(f->dump);
	part_close(f->spans);
}

/* Whether its tool was killed, maybe by somebody else or for lack of memory. */
static bool was_killed(const struct part *p)
{
	return WIFSIGNALED(p->child.status);
}

/*
 * Reports how a tool ended that was still needed. short_runs: in a row, of those in its place; resume: of a text, or
 * NULL. Returns whether it must be started again: a text at that time.
 */
static bool complain(struct flight *f, const struct part *p, unsigned *short_runs, uint64_t *resume)
{
	char *why = utf8_visible_copy(p->why ? p->why : "exit status 0");
	uint64_t now = clock_ms(), pause = 0;
	bool again;

	*short_runs = now - p->started_ms >= SHORT_MS ? 0 : *short_runs + 1;
	again = !*short_runs || resume || (was_killed(p) && *short_runs < TRIES);
	if (resume) {
		pause = *short_runs ? SHORT_MS << min_u64(*short_runs - 1, DOUBLINGS) : 0;
		*resume = now + pause;
	}
	f->is_bad = true;
	if (p->status == PART_MISSING && !was_killed(p))
		part_report(p);
	else if (pause)
		warnx("%s: ended early: %s; it is started again in %" PRIu64 " seconds", p->name, why, pause / 1000);
	else if (again)
		warnx("%s: ended early: %s; it is started again", p->name, why);
	else
		warnx("%s: ended early: %s; not started again, as it has run for less than 5 seconds%s", p->name, why,
		      *short_runs > 1 ? ", like those before it" : "");
	free(why);
	return again;
}

/* The same for a recorder. */
static bool complain_recorder(struct flight *f, const struct part *p)
{
	bool again = complain(f, p, &f->recorder_runs, NULL);

	if (p->why && strstr(p->why, "--max-size"))
		warnx("of --max-size, the trace has an eighth: a quarter is for the ring");
	return again;
}

static void see_watcher(struct flight *f)
{
	const struct part *ended = f->dump->has_ended ? f->dump : f->spans;
	bool again;

	if (!ended->has_ended || f->has_target_ended || f->has_failed)
		return;
	/* the target ends it, too */
	wait_a_moment(f);
	if (f->has_target_ended)
		return;
	parts_stop(f->dump, WATCHERS, &f->ring, SHORT_MS, NULL);
	again = complain(f, ended, &f->watcher_runs, NULL);
	close_watcher(f, ended, ended->why ? ended->why : "exit status 0");
	if (!again || !start_watch(f)) {
		warnx("slow requests cannot be watched");
		f->has_failed = true;
	}
}

static void see_texts(struct flight *f, bool reported[CAPTURE_TEXTS])
{
	for (int i = 0; i < CAPTURE_TEXTS; i++) {
		struct part *p = &f->texts[i];

		if (!p->has_ended || f->has_target_ended)
			continue;
		/* without BPF, for example */
		if (!reported[i] && p->status == PART_MISSING && !was_killed(p))
			part_report(p);
		else if (!reported[i])
			complain(f, p, &f->text_runs[i], &f->resume[i]);
		reported[i] = true;
		if (!f->resume[i] || clock_ms() < f->resume[i])
			continue;
		unlinkat(f->ring.fd, p->file, 0);
		part_close(p);
		start_text(f, i);
		p->is_again = true;
		f->resume[i] = 0;
		reported[i] = false;
	}
}

/* Prints the name of a folder, at once. */
static void print_folder(struct flight *f)
{
	struct out out;

	if (!folder_has_name(f->setup->folder)) {
		f->is_bad = true;
		return;
	}
	out_open(&out, STDOUT_FILENO);
	out_printf(&out, "%s\n", f->capture.folder.path);
	if (out_close(&out) == 0)
		return;
	warn("standard output: %s is complete, but could not be named", f->capture.folder.path);
	f->is_bad = true;
}

static void end_capture(struct flight *f)
{
	f->requests += f->capture.incident.requests;
	capture_end(&f->capture, &f->ring);
	f->is_bad |= f->capture.is_bad;
	f->space += folder_space(&f->capture.folder);
	print_folder(f);
	folder_close(&f->capture.folder);
}

static void begin_capture(struct flight *f)
{
	char name[NAME_ROOM] = "last", date[32];
	time_t now = time(NULL);
	struct part *recorder = f->recorder;
	struct tm utc;

	if (f->pending.requests) {
		strftime(date, sizeof(date), "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
		snprintf(name, sizeof(name), "%04" PRIu64 "-%s-%" PRIu64 "us", ++f->folders, date,
			 f->pending.slowest / 1000);
	}
	f->recorder = f->next;
	f->next = NULL;
	f->captured = clock_ms();
	f->capture = (struct capture){.setup = f->setup,
				      .options = f->options,
				      .trace = recorder,
				      .texts = f->texts,
				      .windows = f->windows,
				      .has_target_ended = f->has_target_ended};
	if (!capture_begin(&f->capture, name, &f->pending))
		f->is_bad = f->has_failed = true;
	else if (f->capture.description.started < f->since)
		f->capture.description.started = f->since;
}

/* Whether the time after the slow requests is over, so that a folder can be written. */
static bool is_due(const struct flight *f)
{
	const struct incident *p = &f->pending;
	uint64_t now = clock_ms(), age = now - p->first;

	if (!p->requests || f->capture.is_active || (f->captured && now - f->captured < keep_ms(f)))
		return false;
	if (age >= keep_ms(f) / 2)
		return true;
	return !p->open && age >= TAIL_MS && now - p->seen >= QUIET_MS;
}

/* Whether the next recorder has started, or has failed to. */
static bool has_next(struct flight *f)
{
	if (!f->next)
		f->next = start_recorder(f);
	return part_is_recording(f->next) || f->next->has_ended || clock_ms() - f->next->started_ms > START_MS;
}

/* One that ends by itself has lost its target, or its disk is full. */
static void see_recorders(struct flight *f)
{
	if (f->next && f->next->has_ended && !f->has_target_ended) {
		f->has_failed |= !complain_recorder(f, f->next);
		f->next = NULL;
	}
	if (f->recorder->has_ended && !f->has_target_ended) {
		wait_a_moment(f);
		if (f->has_target_ended)
			return;
		f->has_failed |= !complain_recorder(f, f->recorder);
		/* its file still becomes a folder */
		if (f->pending.requests && !f->capture.is_active)
			begin_capture(f);
		if (!f->recorder || f->recorder->has_ended) {
			f->recorder = f->next;
			f->next = NULL;
		}
		if (!f->recorder && !f->has_failed)
			f->recorder = start_recorder(f);
	}
}

static void renew_recorder(struct flight *f)
{
	uint64_t now = clock_ms();

	if (!f->next && now - f->recorder->started_ms > RENEW_MS)
		f->next = start_recorder(f);
	if (!f->next || now - f->recorder->started_ms < RENEW_MS || now - f->next->started_ms < keep_ms(f))
		return;
	child_signal(&f->recorder->child, SIGKILL);
	parts_stop(f->recorder, 1, &f->ring, SHORT_MS, NULL);
	unlinkat(f->ring.fd, f->recorder->file, 0);
	f->recorder = f->next;
	f->next = NULL;
}

/* Whether the ring's contents fit as a folder, with what the target answers, beside another ring. */
static bool has_room(const struct flight *f)
{
	uint64_t max = f->options->max_size;

	return f->space + folder_space(&f->ring) + state_max(max) + max / RING_SHARE <= max;
}

/* Whether the number of folders of --folders is reached. */
static bool is_enough(const struct flight *f)
{
	return f->options->folders && f->folders >= f->options->folders;
}

static bool is_over(struct flight *f)
{
	if (f->has_failed || f->has_target_ended || signals_caught())
		return true;
	if (f->capture.is_active)
		return false;
	if (is_enough(f)) {
		cli_notice(f->options->quiet, "%" PRIu64 " folders: --folders is reached", f->folders);
		return true;
	}
	if (!has_room(f)) {
		cli_notice(f->options->quiet, "%s: --max-size has no room for another folder", f->setup->folder->path);
		return true;
	}
	return false;
}

static bool have_started(const struct flight *f)
{
	for (int i = 0; i < CAPTURE_TEXTS; i++)
		if (part_is_running(&f->texts[i]) && !part_is_recording(&f->texts[i]))
			return false;
	return part_is_recording(f->recorder) || f->recorder->has_ended;
}

static void start_all(struct flight *f)
{
	uint64_t since = clock_ms();

	f->since = clock_wall_ns();
	f->recorder = start_recorder(f);
	for (int i = 0; i < CAPTURE_TEXTS; i++)
		start_text(f, i);
	f->has_failed = !start_watch(f);
	while (!f->has_failed && !signals_caught() && !f->has_target_ended && !have_started(f) &&
	       clock_ms() - since < START_MS)
		wait_a_moment(f);
	if (!f->recorder->has_ended)
		cli_notice(f->options->quiet, "recording %s (%d) into %s when a request takes %g us; Ctrl-C ends it",
			   f->setup->target->name, f->setup->target->pid, f->setup->folder->path,
			   f->options->slow_ns / 1e3);
}

static void record(struct flight *f)
{
	uint64_t until = f->options->duration_ns ? clock_ms() + f->options->duration_ns / NS_A_MS : UINT64_MAX;
	bool reported[CAPTURE_TEXTS] = {};

	while (!is_over(f) && clock_ms() < until) {
		wait_a_moment(f);
		see_texts(f, reported);
		see_watcher(f);
		see_recorders(f);
		if (f->has_failed || f->has_target_ended)
			break;
		if (f->capture.is_active && capture_is_ready(&f->capture))
			end_capture(f);
		if (is_due(f) && has_next(f))
			begin_capture(f);
		else if (!f->capture.is_active && !f->pending.requests)
			renew_recorder(f);
	}
}

static void complete_capture(struct flight *f)
{
	patience_begin(&f->patience, PARTS_FINISH_MS);
	while (f->capture.is_active && !capture_is_ready(&f->capture)) {
		if (patience_is_over(&f->patience, f->capture.trace, 1)) {
			child_signal(&f->capture.trace->child, SIGKILL);
			child_signal(&f->capture.ask.child, SIGKILL);
		}
		wait_a_moment(f);
	}
	if (f->capture.is_active)
		end_capture(f);
}

/* Ends the watcher, which prints what it has, and then the rest. */
static void end(struct flight *f)
{
	const struct part *ended;

	f->patience = (struct patience){.is_again = signals_caught() != 0, .quiet = f->options->quiet};
	patience_begin(&f->patience, WATCHED_MS);
	part_stop(f->dump);
	while (part_is_running(f->dump) || part_is_running(f->spans)) {
		if (patience_is_over(&f->patience, f->dump, WATCHERS))
			parts_stop(f->dump, WATCHERS, &f->ring, 0, NULL);
		wait_a_moment(f);
	}
	watch_read(&f->watch, &f->pending, stuck_ns(f));
	ended = f->dump->why ? f->dump : f->spans;
	close_watcher(f, ended, ended->why);
	complete_capture(f);
	if (f->recorder && !is_enough(f) && (f->pending.requests || f->has_target_ended)) {
		begin_capture(f);
		complete_capture(f);
	}
	/* their files are removed */
	for (int i = 0; i < RECORDERS; i++)
		child_signal(&f->recorders[i].child, SIGKILL);
	parts_stop(f->parts, TOOLS, &f->ring, PARTS_STOP_MS, &f->patience);
	folder_remove(&f->ring, f->setup->folder, ring_name);
}

static void write_summary(const struct flight *f, struct out *out)
{
	out_printf(out, "%" PRIu64 " slow request%s in %" PRIu64 " folder%s", f->requests, f->requests == 1 ? "" : "s",
		   f->folders, f->folders == 1 ? "" : "s");
	if (f->pending.requests)
		out_printf(out, ", and %" PRIu64 " after them", f->pending.requests);
	out_text(out, "; watched ");
	if (f->unwatched)
		out_printf(out, "not all: %s", f->unwatched);
	else
		out_text(out, "all requests");
}

/* The README of all folders. */
static void write_readme(struct flight *f, int fd, bool has_ended)
{
	const struct target_process *t = f->setup->target;
	struct out out = {.fd = OUT_MEMORY};

	out_printf(&out, "recorded-by: trace-record %s\n", VERSION);
	out_printf(&out, "target: %s (process %d), trace %s\n", t->name, t->pid, t->trace ? t->trace : "unknown");
	out_text(&out, "folders of requests of ");
	out_us(&out, f->options->slow_ns);
	out_text(&out, " us or more: 0001-*, and so on\n");
	if (has_ended)
		write_summary(f, &out);
	else
		out_printf(&out, "not ended: it goes on, or trace-record was killed; %s has the latest files",
			   ring_name);
	out_text(&out, f->has_target_ended ? "; the target has ended\n" : "\n");
	if (!has_ended)
		out_text(&out, DESCRIBE_HOLES);
	f->is_bad |= !folder_write(f->setup->folder, RECORDING_README, fd, &out);
}

bool flight_record(const struct flight_setup *setup, const struct flight_options *options)
{
	static struct flight f;
	struct out summary = {.fd = OUT_MEMORY};
	int readme = folder_file(setup->folder, RECORDING_README, 4096);

	if (readme < 0 || !folder_add(&f.ring, setup->folder, ring_name))
		return false;
	f.setup = setup;
	f.options = options;
	prepare(&f);
	write_readme(&f, readme, false);
	start_all(&f);
	record(&f);
	if (f.has_target_ended)
		cli_notice(options->quiet, "process %d has ended", setup->target->pid);
	end(&f);
	write_readme(&f, readme, true);
	close(readme);
	write_summary(&f, &summary);
	cli_notice(options->quiet, "%.*s", (int)summary.len, summary.buf);
	out_close(&summary);
	return !f.is_bad && !f.has_failed && !f.unwatched;
}
