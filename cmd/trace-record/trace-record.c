/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-record: records everything available of a running SPDK target at once, into a folder: its trace, the probes of
 * its connections, when its threads did not run, block I/O, messages of the kernel, and what it says of itself. The
 * tools of this toolkit record, side by side; what one of them cannot record is said, and the others go on.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "cli.h"
#include "clock.h"
#include "describe.h"
#include "flight.h"
#include "folder.h"
#include "kmsg.h"
#include "mem.h"
#include "out.h"
#include "parts.h"
#include "recording.h"
#include "signals.h"
#include "state.h"
#include "targets.h"

enum {
	DEFAULT_SECONDS = 10,
	DEFAULT_KEEP = 5, /* seconds */
	MIN_KEEP = 2,
	MAX_KEEP = 600,
	MIN_SIZE = 8 << 20, /* a trace has half of it, and its definitions alone take up to 2.4 MB */
	START_MS = 20000,   /* for all parts to start */
	WAIT_MS = 1000,
	ASK_MS = 50,
};

static struct {
	pid_t pids[CLI_IDS];
	const char *directory, *rpc_socket;
	uint64_t duration_ns, max_size;
	uint64_t slow_ns, keep_ns, folders; /* of the flight recorder; 0: not given */
	bool quiet;
} opt = {.max_size = UINT64_C(8) << 30};

struct recording {
	struct target_process target;
	struct folder folder;
	struct part parts[PARTS];
	struct out state, kernel; /* lines so far */
	struct description description;
	int kmsg; /* a file */
	bool is_one_of_several;
	bool bad; /* files of the folder could not be written */
};

/* Waits until it has answered. The rest as of ask_end(). */
static char *wait_for(struct ask *a, struct out *lines, char **off)
{
	while (!ask_is_over(a))
		poll(&(struct pollfd){a->child.pidfd, POLLIN, 0}, 1, ASK_MS);
	return ask_end(a, lines, off);
}

/* Asks the kernel about the target. Returns why not all is known, which the caller frees. */
static char *look_at_kernel(struct recording *r, const char *when)
{
	struct ask a;

	ask_kernel(&a, r->target.pid, when);
	return wait_for(&a, &r->kernel, NULL);
}

/* Asks the target. Nothing is enabled. Returns why not all is known, which the caller frees. */
static char *ask_target(struct recording *r, bool at_start)
{
	char *why, *off;
	struct ask a;

	ask_start(&a, r->target.pid, opt.rpc_socket, at_start, state_max(opt.max_size) - r->state.len);
	why = wait_for(&a, &r->state, &off);
	if (*off)
		cli_notice(opt.quiet,
			   "tracepoint groups that are off: %s; rpc.py trace_enable_tpoint_group NAME enables one",
			   off);
	free(off);
	return why;
}

static void write_rpc(struct recording *r, const char *why)
{
	r->bad |= !part_write(&r->parts[PART_RPC], &r->folder, &r->state, why);
	part_report(&r->parts[PART_RPC]);
}

static void write_kernel(struct recording *r)
{
	char *why = r->description.has_target_ended ? mem_copy(slice_of("the target has ended"))
						    : look_at_kernel(r, RECORDING_END);

	r->bad |= !part_write(&r->parts[PART_KERNEL], &r->folder, &r->kernel, why);
	part_report(&r->parts[PART_KERNEL]);
	free(why);
}

/* At the end, while the trace is still recorded: the owners in it are newer than the answers that they explain. */
static void ask_again(struct recording *r)
{
	char *why;

	if (r->parts[PART_RPC].has_ended)
		return;
	if (r->description.has_target_ended)
		why = mem_copy(slice_of("the target has ended"));
	else
		why = ask_target(r, false);
	write_rpc(r, why);
	free(why);
}

static void report_new(struct recording *r, bool reported[PART_TOOLS])
{
	for (int i = 0; i < PART_TOOLS; i++)
		if (r->parts[i].has_ended && !reported[i]) {
			reported[i] = true;
			part_report(&r->parts[i]);
		}
}

/* Until the time is over, the target ends or a signal comes. The time starts when all parts record. */
static void record(struct recording *r)
{
	uint64_t started_by = clock_ms() + START_MS, deadline = 0;
	struct patience w = {.quiet = opt.quiet};
	bool reported[PART_TOOLS] = {};

	r->description.started = clock_wall_ns();
	for (int i = 0; i < PART_TOOLS; i++)
		part_start(&r->parts[i], &r->folder);
	while (!signals_caught() && !r->description.has_target_ended) {
		struct pollfd watch[PARTS_WATCH] = {{r->target.pidfd, POLLIN, 0}, {-1, 0, 0}};
		uint64_t now = clock_ms(), next;

		report_new(r, reported);
		if (!deadline && (now >= started_by || parts_record(r->parts))) {
			deadline = now + opt.duration_ns / NS_A_MS;
			cli_notice(opt.quiet, "recording %s (%d) for %g s into %s; Ctrl-C ends it", r->target.name,
				   r->target.pid, opt.duration_ns / 1e9, r->folder.path);
		}
		next = deadline ? deadline : started_by;
		if (now >= next)
			break;
		parts_wait(r->parts, PART_TOOLS, &r->folder, watch, next - now < WAIT_MS ? next - now : WAIT_MS);
		r->description.has_target_ended = watch[0].revents != 0;
	}
	if (r->description.has_target_ended)
		cli_notice(opt.quiet, "process %d has ended", r->target.pid);
	write_kernel(r);
	ask_again(r);
	r->description.ended = clock_wall_ns();
	w.is_again = signals_caught() != 0;
	/* the others cover all of the trace's end */
	parts_stop(&r->parts[PART_TRACE], 1, &r->folder, PARTS_FINISH_MS, &w);
	parts_stop(&r->parts[PART_TRACE + 1], PART_TOOLS - 1, &r->folder, PARTS_STOP_MS, &w);
	report_new(r, reported);
}

/* Whether what could be started was recorded to the end, without losses. */
static bool is_complete(const struct recording *r)
{
	bool good = r->parts[PART_TRACE].status == PART_DONE && !r->bad;

	for (int i = 0; i < PART_TOOLS; i++)
		good &= r->parts[i].status == PART_MISSING || (r->parts[i].status == PART_DONE && !r->parts[i].why);
	return good;
}

/* target: empty if it is for several. */
static char *default_folder(const char *target)
{
	time_t now = time(NULL);
	char date[32];
	struct tm utc;

	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
	return mem_printf("trace-record.%s%s", target, date);
}

static const struct cli_option options[] = {
	{'o', "output", "FILE", "the folder to make; default trace-record.PID.DATE-TIME", .text = &opt.directory},
	{'p', "pid", "PID",
	 "record this process; default: the only one with an SPDK trace; may be given more than once", .ids = opt.pids},
	{'q', "quiet", NULL, "no notes", .flag = &opt.quiet},
	{0, "folders", "N", "with --trigger-us: end after N folders", .count = &opt.folders},
	{0, "keep", "SEC", "with --trigger-us: seconds in a folder, and from one to the next; default 5",
	 .seconds = &opt.keep_ns},
	{0, "max-size", "SIZE", "of all files: bytes, or with K, M or G; default 8G", .bytes = &opt.max_size},
	{0, "rpc-socket", "FILE", "the target's JSON-RPC socket; default: that of its -r, or /var/tmp/spdk.sock",
	 .text = &opt.rpc_socket},
	{0, "trigger-us", "US", "record all the time, but keep only what is around requests of US microseconds or more",
	 .us = &opt.slow_ns},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Record a running SPDK target for SECONDS (default 10) into a folder: its trace, the probes of its "
	"connections,\n"
	"when its threads did not run, block I/O, messages of the kernel, and what it says of itself by JSON-RPC.\n"
	"The folder's name is printed.\n",
	"Examples:\n"
	"  trace-record\n"
	"  trace-record -p \"$(pidof nvmf_tgt)\" -o slow-monday 30\n"
	"  trace-record --trigger-us 5000\n",
	.options = options,
	.former = (const struct cli_former[]){{'D', "duration", "is gone: the operand SECONDS says it"}, {}},
};

static void parse_options(int argc, char **argv)
{
	static const uint64_t second = 1000000000;

	cli_parse(&cli, argc, argv);
	cli_seconds(argc, argv, &opt.duration_ns);
	if (opt.slow_ns && opt.pids[1])
		cli_usage("--trigger-us is for one process: each of several would have other requests");
	if (!opt.slow_ns && (opt.keep_ns || opt.folders))
		cli_usage("%s is for --trigger-us", opt.keep_ns ? "--keep" : "--folders");
	if (!opt.slow_ns && !opt.duration_ns)
		opt.duration_ns = DEFAULT_SECONDS * second;
	if (!opt.keep_ns)
		opt.keep_ns = DEFAULT_KEEP * second;
	if (opt.keep_ns < MIN_KEEP * second || opt.keep_ns > MAX_KEEP * second)
		cli_usage("--keep: %d to %d seconds are expected", MIN_KEEP, MAX_KEEP);
	if (opt.max_size < MIN_SIZE)
		cli_usage("--max-size: at least 8M is expected: the trace has half of it");
	if (opt.slow_ns > opt.keep_ns / 2)
		cli_usage("--trigger-us: at most half of --keep is expected");
}

/* Returns whether all went well. */
static bool fly(struct recording *r)
{
	const struct flight_options options = {opt.slow_ns, opt.keep_ns,    opt.duration_ns, opt.max_size,
					       opt.folders, opt.rpc_socket, opt.quiet};
	char *unknown = look_at_kernel(r, RECORDING_START), *why = ask_target(r, true);
	struct flight_setup setup = {&r->target, &r->folder, out_contents(&r->state), out_contents(&r->kernel),
				     why,        r->kmsg};
	bool good;

	if (why)
		warnx("rpc: not recorded: %s", why);
	good = flight_record(&setup, &options);
	free(unknown);
	free(why);
	return good;
}

/* Returns whether all was recorded. */
static bool record_once(struct recording *r)
{
	struct out out;
	char *why;

	parts_prepare(r->parts, r->target.pid, opt.max_size);
	r->description = (struct description){.folder = &r->folder, .target = &r->target, .parts = r->parts};
	r->bad = !describe_open(&r->description) || !describe_readme(&r->description);
	free(look_at_kernel(r, RECORDING_START));
	why = ask_target(r, true);
	if (why)
		write_rpc(r, why);
	free(why);
	record(r);
	r->bad |= !kmsg_write(r->kmsg, &r->parts[PART_DMESG], &r->folder);
	part_report(&r->parts[PART_DMESG]);
	r->bad |= !describe_index(&r->description);
	r->bad |= !describe_readme(&r->description);
	if (!folder_has_name(&r->folder))
		return false;
	out_open(&out, STDOUT_FILENO);
	if (!r->is_one_of_several)
		out_printf(&out, "%s\n", r->folder.path);
	return cli_close(&out, is_complete(r) ? EXIT_SUCCESS : EXIT_FAILURE) == EXIT_SUCCESS;
}

/* Returns whether all went well. */
static bool run(struct recording *r)
{
	folder_create(&r->folder, opt.directory);
	signals_catch(NULL);
	signal(SIGPIPE, SIG_IGN);
	/* if it is ignored, as whoever started the tool may have it, waitpid() fails */
	signal(SIGCHLD, SIG_DFL);
	r->state.fd = r->kernel.fd = OUT_MEMORY;
	r->kmsg = kmsg_open();
	return opt.slow_ns ? fly(r) : record_once(r);
}

/* Records a process into a folder of its own in this one. Returns the id of the process that does it. */
static pid_t start_one(struct recording *r, const struct folder *all)
{
	pid_t child = fork();

	if (child < 0)
		err(EXIT_FAILURE, "fork");
	if (child)
		return child;
	/* a signal from the terminal comes once, from the parent */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_forget();
	r->is_one_of_several = true;
	opt.directory = mem_printf("%s/%s.%d", all->name, r->target.name, r->target.pid);
	_exit(run(r) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Returns whether all went well. */
static bool run_all(struct recording *all, size_t n)
{
	struct folder folder;
	pid_t children[CLI_IDS];
	bool good = true;
	struct out out;

	opt.max_size /= n;
	folder_create(&folder, opt.directory);
	signals_catch(NULL);
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < n; i++)
		children[i] = start_one(&all[i], &folder);
	for (size_t i = 0; i < n; i++) {
		int status = 0;

		while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
			for (size_t k = i; k < n && signals_caught(); k++)
				kill(children[k], SIGTERM);
		good &= !status;
	}
	if (folder_has_name(&folder)) {
		out_open(&out, STDOUT_FILENO);
		out_printf(&out, "%s\n", folder.path);
		good = cli_close(&out, good ? EXIT_SUCCESS : EXIT_FAILURE) == EXIT_SUCCESS;
	} else {
		good = false;
	}
	folder_close(&folder);
	return good;
}

int main(int argc, char **argv)
{
	static struct recording all[CLI_IDS];
	char target[16], *made = NULL;
	size_t n = 0;
	bool good;

	parse_options(argc, argv);
	do {
		target_find(&all[n].target, opt.pids[n]);
		target_leave_cpus(all[n].target.pid);
		n++;
	} while (n < CLI_IDS && opt.pids[n]);
	snprintf(target, sizeof(target), "%d.", all[0].target.pid);
	if (!opt.directory)
		opt.directory = made = default_folder(n > 1 ? "" : target);
	good = n > 1 ? run_all(all, n) : run(all);
	free(made);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
