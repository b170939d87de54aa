/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-record: writes a probe line for every hit of USDT probes in a running process, in a command
 * that it starts, or in every process that runs a file. With a trace of the same time, they show which
 * connection each request belongs to: see qpair-lifetimes(1) and trace-join(1).
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach.h"
#include "cli.h"
#include "libraries.h"
#include "mem.h"
#include "owners.h"
#include "print.h"
#include "probecheck.h"
#include "probespec.h"
#include "recorder.h"
#include "target.h"
#include "usdt-record.skel.h"

static void report(const char *message)
{
	warnx("%s", message);
}

static struct {
	bool follow;
	struct probespecs specs;
	struct target target; /* the files of -x */
	uint64_t count;       /* of events; 0: no end */
	bool bad;             /* an option named a file that cannot be read, after a message */
	struct recorder_options recorder;
} opt = {.target = {.report = report, .keeps_open = true}, .recorder.buffer = 16 << 20};

struct usdt_record {
	struct recorder recorder;
	struct attach attach;
	struct owners_follower owners;
	struct ticks *ticks; /* NULL: the counter is not known */
	uint64_t events, cut, unreadable;
};

static int find_probes(void *context)
{
	struct usdt_record *u = context;
	int result = 0;

	/* in the files of -x, or in all of the command or the process */
	if (!opt.target.n && opt.recorder.command)
		result = libraries_add(&u->recorder.command, &opt.target);
	else if (!opt.target.n)
		result = target_add_process(&opt.target, opt.recorder.pids[0]);
	if (result != 0 || probecheck(&opt.target, &opt.specs) != 0)
		return -1;
	return attach_find_sites(&u->attach, &opt.target, &opt.specs);
}

static int open_program(void *context, struct recorder_program *program)
{
	struct usdt_record *u = context;

	u->ticks = recorder_ticks(&u->recorder, "no clock lines, and no tsc in lines of probes that do not pass one");
	return attach_open(&u->attach, &u->recorder, opt.follow, program);
}

/* Owners are read from one trace: that of the process, or of one that it starts. */
static void start_owners(struct usdt_record *u)
{
	if (!owners_wanted(&opt.specs))
		return;
	if (!u->recorder.pid) {
		cli_notice(opt.recorder.quiet, "owners are not followed: -x names no process; use -p or a command");
		return;
	}
	u->owners = (struct owners_follower){.attach = &u->attach,
					     .out = &u->recorder.out,
					     .quiet = opt.recorder.quiet,
					     .starting = opt.recorder.command};
	owners_start(&u->owners);
}

static void write_clock(struct usdt_record *u)
{
	struct ticks_reading now = ticks_now();

	if (u->ticks)
		print_clock(&u->recorder.out, &now);
}

static int attach(void *context)
{
	struct usdt_record *u = context;

	if (attach_probes(&u->attach) != 0)
		return -1;
	write_clock(u);
	start_owners(u);
	u->recorder.keep = u->owners.state == OWNERS_SEARCHING ? PRIVILEGE_LOOK : PRIVILEGE_NONE;
	return 0;
}

static void start(void *context)
{
	const struct usdt_record *u = context;
	size_t n = opt.specs.n;
	char *what = mem_printf("recording %zu probe%s of", n, n == 1 ? "" : "s");

	recorder_note_start(&u->recorder, what, opt.target.name);
	free(what);
}

static bool print(void *context, const void *event, size_t size)
{
	struct usdt_record *u = context;
	const struct usdt_record_event *e = event;
	const struct probespec *spec;

	if (size < sizeof(*e) || e->site >= u->attach.num_sites)
		return false;
	spec = u->attach.sites[e->site].spec;
	owners_event(&u->owners, spec);
	if (!print_event(&u->recorder.out, spec, u->ticks, e, size))
		return false;
	u->events++;
	u->cut += __builtin_popcount(e->cut);
	u->unreadable += __builtin_popcount(e->unreadable);
	return true;
}

static void check_owners(void *context)
{
	struct usdt_record *u = context;

	owners_check(&u->owners);
}

static bool is_full(void *context)
{
	const struct usdt_record *u = context;

	return opt.count && u->events == opt.count;
}

static int detach(void *context)
{
	struct usdt_record *u = context;

	return attach_detach(&u->attach);
}

/* Writes the last owners and the time, and reports what the lines do not show. */
static void finish(void *context)
{
	struct usdt_record *u = context;
	struct recorder *r = &u->recorder;
	uint64_t lost = u->attach.bpf->bss->lost;
	uint64_t missed = recorder_missed_by(r, u->attach.bpf->progs.on_fork, UINT64_MAX);
	uint32_t not_followed = u->attach.bpf->bss->num_not_followed;
	bool quiet = opt.recorder.quiet;

	if (!owners_finish(&u->owners))
		r->failed = true;
	write_clock(u);
	if (!u->events && !r->failed)
		cli_notice(quiet, "no events: none of the probes was hit");
	cli_count(quiet, u->cut, "cut %" PRIu64 " string{ that is|s that are} longer than %d bytes", u->cut,
		  MAX_STRING);
	cli_count(quiet, u->unreadable,
		  "%" PRIu64 " argument{|s} could not be read: an address, or a question mark, is in {its|their} place",
		  u->unreadable);
	recorder_loss(r, LOST_EVENTS, lost, "lost %" PRIu64 " event{|s}: the buffer was full; use a larger --buffer",
		      lost);
	recorder_loss(r, LOST_PARTIAL, not_followed, "%" PRIu32 " process{ was|es were} too many to follow",
		      not_followed);
	recorder_loss(r, LOST_MISSED, missed, "missed %" PRIu64 " fork{|s}: events of new processes may be lost",
		      missed);
	r->failed |= opt.target.incomplete;
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.15",
	.hooks = "the tracepoints of forks",
	.needs_ptrace = true,
	.prints_probes = true,
	.find = find_probes,
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = print,
	.between = check_owners,
	.full = is_full,
	.detach = detach,
	.finish = finish,
};

static void add_file(const char *path)
{
	opt.bad |= target_add_file(&opt.target, path) != 0;
}

static void add_spec(const char *text)
{
	const char *error = probespec_add(&opt.specs, slice_of(text));

	if (error)
		cli_usage("-e '%s': %s", text, error);
}

static const struct cli_option options[] = {
	{'p', "pid", "PID", "record a process, until it ends or Ctrl-C", .pid = &opt.recorder.pids[0]},
	{'x', "executable", "FILE",
	 "record every process that runs this file or library; with a command or -p:\n"
	 "search for probes in this file only; may be given more than once",
	 .call = add_file},
	PROBESPEC_OPTION(add_spec),
	{'F', "follow-forks", NULL, "also record the processes that the process starts", .flag = &opt.follow},
	{'n', "count", "N", "end after N events", .count = &opt.count},
	RECORDER_DURATION(opt.recorder),
	RECORDER_OPTIONS(opt.recorder, "16M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... -p PID\n"
	"       %s [OPTION]... -x FILE\n"
	"       %s [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Print a probe line for every hit of USDT probes: those of the SPECs, or by default those that report the\n"
	"qpairs of SPDK's NVMe-oF target.\n",
	"Examples:\n"
	"  usdt-record -p \"$(pidof nvmf_tgt)\" > usdt.txt\n"
	"  usdt-record -o usdt.txt -- build/bin/nvmf_tgt -m 0x3 -e nvmf_tcp\n"
	"  usdt-record -p \"$(pidof nvmf_tgt)\" -e 'nvmf_subsystem_add_host(_, subnqn:str, hostnqn:str)'\n",
	.options = options,
	.runs_command = true,
	.former = (const struct cli_former[]){{'d', NULL, "is now -D"},
					      {'m', NULL, "is now --buffer"},
					      {0, "no-owners", "is gone; grep -v '^owner: ' leaves these lines out"},
					      {0, "perf-events", "is gone"},
					      PROBESPEC_FORMER,
					      RECORDER_FORMER,
					      {}},
};

static void parse_options(int argc, char **argv)
{
	pid_t pid;

	cli_parse(&cli, argc, argv);
	opt.recorder.command = optind < argc ? argv + optind : NULL;
	pid = opt.recorder.pids[0];
	if (opt.recorder.command && pid)
		cli_usage("'%s': give -p or a command, not both", opt.recorder.command[0]);
	if (opt.bad)
		exit(EXIT_FAILURE);
	if (!opt.recorder.command && !pid && !opt.target.n)
		cli_usage("a process (-p), a file (-x) or a command is expected");
	if (opt.follow && !opt.recorder.command && !pid)
		cli_usage("-F follows the forks of a process: -p or a command is expected");
	if (!opt.specs.n)
		probespec_add_default(&opt.specs);
}

int main(int argc, char **argv)
{
	static struct usdt_record u;
	int status;

	parse_options(argc, argv);
	status = recorder_run(&u.recorder, &tool, &opt.recorder, &u);
	attach_close(&u.attach);
	target_close(&opt.target);
	probespec_free(&opt.specs);
	return status;
}
