/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-record: writes a probe line for every hit of USDT probes in a running process, in a command that it
 * starts, or in every process that runs a file. Together with a trace that was taken at the same time they
 * tell whose requests these are: qpair-lifetimes(1), trace-join(1).
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "number.h"
#include "out.h"
#include "probespec.h"
#include "target.h"
#include "usdt-record-attach.h"
#include "usdt-record-command.h"
#include "usdt-record-print.h"
#include "usdt-record-privilege.h"

enum {
	EXIT_CANNOT_RUN = 126,
	EXIT_NO_COMMAND = 127,
	BUFFER = 16 << 20,
	/* events between two looks at signals and the clock */
	BATCH = 4096,
	/* milliseconds that a busy probe has to collect events before they are taken out */
	COLLECT = 5,
	/* milliseconds after which an event is seen that came while the wish to be woken was on its way */
	IDLE = 100,
};

static struct {
	struct attach_options attach;
	const char *output;
	char **command; /* NULL: none */
	uint64_t count; /* of events; 0: no end */
	uint64_t seconds;
	bool quiet;
} opt = {.attach.buffer = BUFFER};

/* A recording, and why it ends. */
struct recording {
	struct recorder recorder;
	struct out out;
	uint64_t events, cut, unreadable;
	unsigned batch; /* events of this batch so far */
	bool failed;
	int process;       /* descriptor of the one that is recorded; -1: none, or it has ended */
	pid_t child;       /* 0: none */
	uint64_t deadline; /* milliseconds of the clock; 0: none */
};

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	va_list args;

	if (opt.quiet)
		return;
	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000) + t.tv_nsec / 1000000;
}

static bool is_complete(const struct recording *r)
{
	return opt.count && r->events == opt.count;
}

/* A recorder_event. */
static int on_event(void *context, void *data, size_t size)
{
	struct recording *r = context;
	const struct event *e = data;

	if (is_complete(r))
		return -1;
	if (size < sizeof(*e) || e->site >= r->recorder.num_sites ||
	    print_event(&r->out, r->recorder.sites[e->site].spec, e, size) != 0) {
		warn("an event cannot be printed");
		r->failed = true;
		return -1;
	}
	r->events++;
	r->cut += __builtin_popcount(e->cut);
	r->unreadable += __builtin_popcount(e->unreadable);
	return ++r->batch == BATCH ? -1 : 0;
}

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	if (number != SIGPIPE)
		caught = number;
}

/*
 * The second signal of a kind kills. Those that are ignored stay so, as nohup wants it. A reader that goes
 * away is an error of writing, not a signal: a command has to be waited for. A command gets no handlers.
 */
static void catch_signals(void)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction action = {.sa_handler = on_signal}, old;

		action.sa_flags = signals[i] == SIGPIPE ? 0 : SA_RESETHAND;
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/*
 * Returns whether a signal ends the recording. A command ends it, when it is told to end: a terminal sends
 * SIGINT to the command as well, the others are passed on.
 */
static bool take_signal(struct recording *r)
{
	int number = caught;

	caught = 0;
	if (number && r->child && number != SIGINT)
		kill(r->child, number);
	return number && !r->child;
}

/* Waits until there is something to do. Returns whether the recording ends. */
static bool wait_for_events(struct recording *r, int timeout)
{
	struct pollfd fds[] = {
		{recorder_fd(&r->recorder), POLLIN, 0}, {r->process, POLLIN, 0}, {r->out.fd, 0, 0}};
	uint64_t t = r->deadline ? now() : 0;

	if (r->deadline && t >= r->deadline)
		return true;
	if (r->deadline && r->deadline - t < (uint64_t)timeout)
		timeout = r->deadline - t;
	if (poll(fds, sizeof(fds) / sizeof(*fds), timeout) < 0 && errno != EINTR) {
		warn("poll");
		r->failed = true;
		return true;
	}
	if (fds[1].revents)
		r->process = -1;
	/* its reader has gone: there is nobody to tell, and the status is as if a write had failed */
	if (fds[2].revents)
		r->failed = true;
	/* one that came just before poll(2) waits for its time-out */
	return take_signal(r);
}

static bool is_over(const struct recording *r, bool has_process)
{
	if (r->failed || r->out.error || is_complete(r))
		return true;
	return has_process && r->process < 0 &&
	       (!opt.attach.follow || recorder_followed(&r->recorder) == 0);
}

/*
 * While events come they are taken out a few at a time, which costs the probes no wake-ups; when none came
 * the next one wakes.
 */
static void record(struct recording *r)
{
	bool has_process = r->process >= 0, over = false;

	recorder_wake(&r->recorder, WAKE_NOW);
	while (!over && !is_over(r, has_process)) {
		int timeout = 0;

		r->batch = 0;
		recorder_drain(&r->recorder);
		if (r->batch < BATCH) {
			out_flush(&r->out);
			recorder_wake(&r->recorder, r->batch ? WAKE_WHEN_FILLING : WAKE_NOW);
			timeout = r->batch ? COLLECT : IDLE;
		}
		over = wait_for_events(r, timeout);
	}
	recorder_detach(&r->recorder);
	do {
		r->batch = 0;
		recorder_drain(&r->recorder);
	} while (r->batch == BATCH && !r->failed && !is_complete(r));
	out_flush(&r->out);
}

/* Says what the lines do not. Returns whether nothing was lost. */
static bool report(const struct recording *r)
{
	uint64_t lost = recorder_lost(&r->recorder);
	unsigned not_followed = recorder_not_followed(&r->recorder);

	if (opt.attach.verbose)
		note("%" PRIu64 " events", r->events);
	if (r->cut)
		note("cut %" PRIu64 " strings that are longer than %d bytes", r->cut, MAX_STRING);
	if (r->unreadable)
		note("%" PRIu64
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
	"Usage: usdt-record [OPTION]... -p PID\n"
	"       usdt-record [OPTION]... -x FILE\n"
	"       usdt-record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
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

/* A number of bytes, as 65536, 64K, 4M or 1G. */
static uint32_t parse_size(const char *text)
{
	size_t n = strlen(text);
	const char *units = "KMG", *unit = n && text[n - 1] ? strchr(units, text[n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unit - units + 1) : 0;
	uint64_t size;

	if (!number_decimal((struct slice){text, n - !!unit}, &size) || !size ||
	    size >> (31 - shift))
		cli_usage("-m '%s': a size like 65536, 512K or 16M is expected, below 2G", text);
	return size << shift;
}

static uint64_t parse_number(char option, const char *text)
{
	uint64_t number;

	if (!number_decimal(slice_of(text), &number) || !number || number > INT32_MAX)
		cli_usage("-%c '%s': a whole number above 0 is expected", option, text);
	return number;
}

static void add_spec(struct probespecs *specs, const char *text)
{
	const char *error;

	if (probespecs_add(specs, slice_of(text), &error) != 0)
		cli_usage("-e '%s': %s", text, error);
}

enum { PERF_EVENTS = 256 };

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
			add_spec(specs, optarg);
			break;
		case 'f':
			bad |= probespecs_read(specs, optarg);
			break;
		case 'F':
			opt.attach.follow = true;
			break;
		case 'd':
			opt.seconds = parse_number('d', optarg);
			break;
		case 'n':
			opt.count = parse_number('n', optarg);
			break;
		case 'o':
			opt.output = optarg;
			break;
		case 'm':
			opt.attach.buffer = parse_size(optarg);
			break;
		case PERF_EVENTS:
			opt.attach.one_by_one = true;
			break;
		case 'q':
			opt.quiet = true;
			break;
		case 'v':
			opt.attach.verbose = true;
			break;
		case 'h':
			cli_help(help);
		case 'V':
			cli_version();
		default:
			cli_bad_option();
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
		return by_name ? 0 : command_add_files(command, target);
	return opt.attach.pid && !by_name ? target_add_process(target, opt.attach.pid) : 0;
}

/* A file that others may have put there beforehand, as a link to another one, is not written to as root. */
static int open_output(void)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, fd;

	if (!opt.output || strcmp(opt.output, "-") == 0) {
		if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
			err(EXIT_FAILURE, "<stdout>");
		return STDOUT_FILENO;
	}
	fd = open(opt.output, flags | (geteuid() == 0 ? O_NOFOLLOW : 0), 0666);
	if (fd < 0 && errno == ELOOP)
		errx(EXIT_FAILURE,
		     "%s: a symbolic link, which root does not follow here: name the file itself",
		     opt.output);
	if (fd < 0)
		err(EXIT_FAILURE, "%s", opt.output);
	return fd;
}

/* Exits as a shell does that cannot run the command. */
static _Noreturn void cannot_run(const char *command)
{
	int status = errno == ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN;

	warn("%s", command);
	exit(status);
}

/* Finds what is to be recorded and holds a command back; exits when there is nothing to record. */
static void prepare(struct recording *r, const struct probespecs *specs, struct target *target,
		    struct command *command)
{
	if (geteuid() != getuid() || getegid() != getgid())
		errx(EXIT_FAILURE,
		     "made to run with another user's id, which it does not: give it CAP_BPF and CAP_PERFMON instead");
	if (opt.command && command_find(command, opt.command) != 0)
		cannot_run(opt.command[0]);
	catch_signals();
	if (privilege_check() != 0 || find_files(target, command) != 0 ||
	    target_check(target, specs) != 0)
		exit(EXIT_FAILURE);
	if (out_open(&r->out, open_output()) != 0)
		err(EXIT_FAILURE, NULL);
	if (opt.command) {
		if (command_start(command) != 0)
			err(EXIT_FAILURE, "%s", command->path);
		opt.attach.pid = r->child = command->pid;
	}
	r->process = -1;
	if (opt.attach.pid) {
		r->process = syscall(SYS_pidfd_open, opt.attach.pid, 0);
		if (r->process < 0)
			err(EXIT_FAILURE, "process %d", opt.attach.pid);
	}
}

static void say_recording(const struct probespecs *specs, const struct target *target)
{
	char pid[24] = "";

	if (opt.attach.pid)
		snprintf(pid, sizeof(pid), " (pid %d)", opt.attach.pid);
	note("recording %zu probe%s of %s%s", specs->n, specs->n == 1 ? "" : "s", target->name,
	     pid);
}

static int close_output(struct recording *r, int status)
{
	if (r->out.fd == STDOUT_FILENO)
		return cli_close(&r->out, status);
	if (out_close(&r->out) == 0 && close(r->out.fd) == 0)
		return status;
	warn("%s", opt.output);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct probespecs specs = {};
	struct target target = {};
	struct command command = {};
	struct recording r = {};
	int status = EXIT_SUCCESS;

	parse_options(argc, argv, &specs, &target);
	prepare(&r, &specs, &target, &command);
	if (recorder_open(&r.recorder, &target, &specs, &opt.attach, on_event, &r) != 0)
		exit(EXIT_FAILURE);
	if (privilege_drop() != 0)
		err(EXIT_FAILURE, "capabilities");
	r.deadline = opt.seconds ? now() + opt.seconds * 1000 : 0;
	say_recording(&specs, &target);
	if (opt.command && command_release(&command) != 0)
		cannot_run(command.path);
	record(&r);
	if (!report(&r) || r.failed)
		status = EXIT_FAILURE;
	status = close_output(&r, status);
	recorder_close(&r.recorder);
	target_close(&target);
	probespecs_free(&specs);
	if (opt.command) {
		int end = command_wait(&command);

		status = status ? status : end;
		free(command.path);
	}
	return status;
}
