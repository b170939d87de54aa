/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-record: writes a probe line for every hit of USDT probes in a running process, in a command that it
 * starts, or in every process that runs a file. Together with a trace that was taken at the same time they
 * tell whose requests these are: qpair-lifetimes(1), trace-join(1).
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach.h"
#include "cli.h"
#include "clock.h"
#include "command.h"
#include "libraries.h"
#include "out.h"
#include "owners.h"
#include "print.h"
#include "privilege.h"
#include "probespec.h"
#include "session.h"
#include "target.h"

enum {
	BUFFER = 16 << 20,
	DRAIN_MS = 500, /* for what is in the buffer, when probes cannot be detached */
};

static struct {
	struct attach_options attach;
	const char *output;
	char **command; /* NULL: none */
	uint64_t count; /* of events; 0: no end */
	uint64_t seconds;
	bool no_owners;
} opt = {.attach.buffer = BUFFER};

struct recording {
	struct recorder recorder;
	struct session session;
	struct owners owners;
	uint64_t events, cut, unreadable;
	uint64_t stuck_until; /* ms of the clock; 0: the probes are detached */
};

static bool is_complete(const struct recording *r)
{
	return opt.count && r->events == opt.count;
}

/* A recorder_event. */
static int on_event(void *context, void *data, size_t size)
{
	struct recording *r = context;
	const struct event *e = data;
	const struct probespec *spec = NULL;

	if (is_complete(r))
		return -1;
	if (size >= sizeof(*e) && e->site < r->recorder.num_sites)
		spec = r->recorder.sites[e->site].spec;
	if (spec)
		owners_event(&r->owners, spec);
	if (!spec || print_event(&r->session.out, spec, e, size) != 0) {
		warn("an event cannot be printed");
		r->session.failed = true;
		return -1;
	}
	r->events++;
	r->cut += __builtin_popcount(e->cut);
	r->unreadable += __builtin_popcount(e->unreadable);
	return session_count(&r->session);
}

static void between_events(void *context)
{
	struct recording *r = context;

	owners_look(&r->owners);
}

/* A session_is_over. */
static bool is_over(void *context)
{
	const struct recording *r = context;

	return is_complete(r) || (session_has_ended(&r->session) &&
				  (!opt.attach.follow || recorder_followed(&r->recorder) == 0));
}

/* A session_is_over, when there will be no more events, or should be none. */
static bool is_full(void *context)
{
	const struct recording *r = context;

	return (r->stuck_until && clock_ms() > r->stuck_until) || is_complete(r);
}

/* Says what the lines do not. Returns whether nothing was lost. */
static bool report(const struct recording *r)
{
	uint64_t lost = recorder_lost(&r->recorder);
	unsigned not_followed = recorder_not_followed(&r->recorder);

	if (opt.attach.verbose)
		cli_note("%" PRIu64 " events", r->events);
	else if (!r->events && !r->session.failed)
		cli_note("no events: none of the probes was hit");
	if (r->cut)
		cli_note("cut %" PRIu64 " strings that are longer than %d bytes", r->cut,
			 MAX_STRING);
	if (r->unreadable)
		cli_note(
			"%" PRIu64
			" arguments could not be read: an address, or a question mark, is in their place",
			r->unreadable);
	if (lost)
		warnx("lost %" PRIu64
		      " events for which there was no room; -m takes a larger buffer",
		      lost);
	if (not_followed)
		warnx("%u processes were too many to follow", not_followed);
	return !lost && !not_followed;
}

static const char help[] =
	"Usage: %s [OPTION]... -p PID\n"
	"       %s [OPTION]... -x FILE\n"
	"       %s [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Print a probe line for every hit of USDT probes: those of the SPECs, or the ones that tell of the qpairs of\n"
	"SPDK's NVMe-oF target.\n"
	"\n"
	"  -p, --pid PID          record a process, until it ends or control-C\n"
	"  -x, --executable FILE  record every process that runs this file or library; with a command or -p: look for\n"
	"                         probes in this file only; repeatable\n"
	"  -e, --spec SPEC        a probe and its arguments: [PROVIDER:]NAME(ARG[:int|str], ...); _ skips one;\n"
	"                         repeatable\n"
	"  -f, --file FILE        read specs from FILE (-: standard input), one a line, # begins a comment\n"
	"  -F, --follow-forks     record the processes that the process begins, too\n"
	"  -d, --duration SEC     end after this many seconds\n"
	"  -n, --count N          end after N events\n"
	"  -o, --output FILE      write to FILE\n"
	"  -m, --buffer SIZE      room for events that are not yet written: bytes, or with K, M or G; 16M without it\n"
	"      --no-owners        no owner lines, which name the connections in traces of SPDK v24.05 and later\n"
	"      --perf-events      attach as on kernels before 6.6, which takes longer\n"
	"  -q, --quiet            no notes: neither that it records nor what it could not read\n"
	"  -v, --verbose          show where the probes are and what the kernel says of the BPF program\n"
	"  -h, --help             this text\n"
	"  -V, --version          the version\n"
	"\n"
	"Examples:\n"
	"  usdt-record -p $(pidof nvmf_tgt) > usdt.txt\n"
	"  usdt-record -o usdt.txt -- build/bin/nvmf_tgt -m 0x3 -e nvmf_tcp\n"
	"  usdt-record -p $(pidof nvmf_tgt) -e 'nvmf_subsystem_add_host(_, subnqn:str, hostnqn:str)'\n";

enum { NO_OWNERS = 256, PERF_EVENTS };

/* Reads the specs, and the probes of -x. */
static void parse_options(int argc, char **argv, struct probespecs *specs, struct target *target)
{
	static const struct option options[] = {{"pid", required_argument, NULL, 'p'},
						{"executable", required_argument, NULL, 'x'},
						{"spec", required_argument, NULL, 'e'},
						{"file", required_argument, NULL, 'f'},
						{"follow-forks", no_argument, NULL, 'F'},
						{"duration", required_argument, NULL, 'd'},
						{"count", required_argument, NULL, 'n'},
						{"output", required_argument, NULL, 'o'},
						{"buffer", required_argument, NULL, 'm'},
						{"no-owners", no_argument, NULL, NO_OWNERS},
						{"perf-events", no_argument, NULL, PERF_EVENTS},
						{"quiet", no_argument, NULL, 'q'},
						{"verbose", no_argument, NULL, 'v'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{}};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "+p:x:e:f:Fd:n:o:m:qvhV", options, NULL)) != -1)
		switch (c) {
		case 'p':
			opt.attach.pid = cli_pid(optarg);
			break;
		case 'x':
			bad |= target_add_file(target, optarg);
			break;
		case 'e':
			probespecs_option(specs, optarg);
			break;
		case 'f':
			bad |= probespecs_read(specs, optarg);
			break;
		case 'F':
			opt.attach.follow = true;
			break;
		case 'd':
			opt.seconds = cli_count("-d", optarg);
			break;
		case 'n':
			opt.count = cli_count("-n", optarg);
			break;
		case 'o':
			opt.output = optarg;
			break;
		case 'm':
			opt.attach.buffer = cli_size("-m", optarg);
			break;
		case NO_OWNERS:
			opt.no_owners = true;
			break;
		case PERF_EVENTS:
			opt.attach.one_by_one = true;
			break;
		case 'v':
			opt.attach.verbose = true;
			break;
		default:
			cli_option(c, help);
		}
	opt.command = optind < argc ? argv + optind : NULL;
	if (opt.command && opt.attach.pid)
		cli_usage("'%s': a process and a command are two things to record: one is expected",
			  opt.command[0]);
	if (bad)
		exit(EXIT_FAILURE);
	if (!opt.command && !opt.attach.pid && !target->n)
		cli_usage("a process (-p), a file (-x) or a command is expected");
	if (opt.attach.follow && !opt.command && !opt.attach.pid)
		cli_usage("-F follows the forks of a process: -p or a command is expected");
	if (!specs->n)
		probespecs_add_default(specs);
}

/* Finds the files in which the probes are. */
static int find_files(struct target *target, const struct command *command)
{
	bool by_name = target->n > 0;

	if (opt.command)
		return by_name ? 0 : libraries_add(command, target);
	return opt.attach.pid && !by_name ? target_add_process(target, opt.attach.pid) : 0;
}

/* Finds what is to be recorded and holds a command back; exits when there is nothing to record. */
static void prepare(struct recording *r, const struct probespecs *specs, struct target *target,
		    struct command *command)
{
	if (privilege_check_ids() != 0)
		exit(EXIT_FAILURE);
	if (opt.command && command_find(command, opt.command) != 0)
		exit(command_cannot_run(opt.command[0]));
	session_catch_signals();
	if (privilege_check() != 0 || find_files(target, command) != 0 ||
	    target_check(target, specs) != 0 || session_open(&r->session, opt.output) != 0)
		exit(EXIT_FAILURE);
	if (opt.command) {
		if (command_start(command) != 0)
			err(EXIT_FAILURE, "%s", command->path);
		opt.attach.pid = r->session.child = command->pid;
	}
	if (opt.attach.pid && session_watch(&r->session, opt.attach.pid) != 0)
		exit(EXIT_FAILURE);
}

/* Owners are those of one process's trace: the one that is named, or one that it begins. */
static void start_owners(struct recording *r, const struct probespecs *specs)
{
	if (opt.no_owners || !owners_wanted(specs))
		return;
	if (!opt.attach.pid) {
		cli_note(
			"owners are not followed, since -x names no process: -p does, or a command");
		return;
	}
	owners_start(&r->owners, &r->recorder, &r->session.out, opt.command != NULL);
	r->session.between = between_events;
}

static void say_recording(const struct probespecs *specs, const struct target *target)
{
	char pid[24] = "";

	if (opt.attach.pid)
		snprintf(pid, sizeof(pid), " (pid %d)", opt.attach.pid);
	cli_note("recording %zu probe%s of %s%s", specs->n, specs->n == 1 ? "" : "s", target->name,
		 pid);
}

int main(int argc, char **argv)
{
	struct probespecs specs = {};
	struct target target = {};
	struct command command = {};
	struct recording r = {};
	int status = EXIT_SUCCESS;
	bool whole;

	parse_options(argc, argv, &specs, &target);
	prepare(&r, &specs, &target, &command);
	if (recorder_open(&r.recorder, &target, &specs, &opt.attach, on_event, &r) != 0)
		exit(EXIT_FAILURE);
	start_owners(&r, &specs);
	if (privilege_drop(r.owners.state == OWNERS_SEARCHING) != 0)
		return EXIT_FAILURE;
	r.session.ring = r.recorder.ring;
	r.session.wakeup = r.recorder.wakeup;
	if (opt.seconds)
		session_end_after(&r.session, opt.seconds);
	say_recording(&specs, &target);
	if (opt.command && command_release(&command) != 0)
		exit(command_cannot_run(command.path));
	session_run(&r.session, is_over, &r);
	if (recorder_detach(&r.recorder) != 0)
		r.stuck_until = clock_ms() + DRAIN_MS;
	session_finish(&r.session, is_full, &r);
	whole = owners_finish(&r.owners);
	if (!report(&r) || !whole || r.stuck_until || r.session.failed || target.incomplete)
		status = EXIT_FAILURE;
	status = session_close(&r.session, status);
	recorder_close(&r.recorder);
	target_close(&target);
	probespecs_free(&specs);
	if (opt.command) {
		int end;

		session_wait(&r.session);
		end = command_wait(&command);

		status = status ? status : end;
		free(command.path);
	}
	return status;
}
