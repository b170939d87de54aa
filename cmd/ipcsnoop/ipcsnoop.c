/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipcsnoop: runs a command, or watches processes. It prints a line for every read from or write to a
 * channel between processes, such as a pipe, by them and their children. At the end, it prints how
 * often each system call was made. It needs only tracepoints.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "channels.h"
#include "cli.h"
#include "count.h"
#include "counts.h"
#include "followers.h"
#include "io.h"
#include "ipcsnoop.skel.h"
#include "print.h"
#include "recorder.h"

static struct {
	const char *name; /* of the processes; NULL: a command, or a process by its id */
	bool counts_only, events_only, json;
	bool peers, wakers;
	struct recorder_options recorder;
} opt = {.recorder.buffer = 16 << 20};

struct ipcsnoop {
	struct recorder recorder;
	struct ipcsnoop_bpf *bpf;
	struct ipcsnoop_printer printer;
	int cpus;
	const struct count *counts; /* NUM_CALLS for each CPU */
	int unfinished;             /* the iterator over calls that have not returned */
	int incomplete;             /* the one over requests of io_uring; -1: they are not seen */
};

/* The tracepoints' names and arguments differ by kernel; before Linux 6.0 they lack the request. */
static void choose_request_programs(struct ipcsnoop_bpf *bpf)
{
	bool is_new = recorder_tracepoint("io_uring_submit_req") >= 0;
	int arguments = recorder_tracepoint("io_uring_complete");
	bool wanted = !opt.counts_only && (is_new || recorder_tracepoint("io_uring_submit_sqe") == 2);

	if (wanted && !is_new)
		bpf_program__set_attach_target(bpf->progs.on_submit, 0, "io_uring_submit_sqe");
	bpf_program__set_autoload(bpf->progs.on_submit, wanted);
	bpf_program__set_autoload(bpf->progs.on_poll_arm, wanted);
	bpf_program__set_autoload(bpf->progs.on_queue_async_work, wanted);
	bpf_program__set_autoload(bpf->progs.on_complete, wanted && arguments == 3);
	bpf_program__set_autoload(bpf->progs.on_complete_parts, wanted && arguments != 3);
	bpf_program__set_autoload(bpf->progs.find_incomplete, wanted);
	bpf_program__set_autoattach(bpf->progs.find_incomplete, false);
	if (!wanted)
		bpf_map__set_max_entries(bpf->maps.requests, 1);
}

/*
 * Whether there can be perf events of raw_syscalls. That takes access to tracefs and, where kernel.perf_event_paranoid
 * is 3 as in Debian, CAP_SYS_ADMIN.
 */
static bool has_call_events(void)
{
	const char *debugfs = "/sys/kernel/debug/tracing";
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	char path[128];
	FILE *file;
	long fd;

	snprintf(path, sizeof(path), "%s/events/raw_syscalls/sys_enter/id",
		 access(debugfs, F_OK) == 0 ? debugfs : "/sys/kernel/tracing");
	file = fopen(path, "re");
	if (!file)
		return false;
	fd = fscanf(file, "%llu", &attr.config) == 1
		     ? syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)
		     : -1;
	fclose(file);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void choose_call_programs(struct ipcsnoop_bpf *bpf)
{
	bool by_events = recorder_is_preempted() && has_call_events();

	bpf_program__set_autoload(bpf->progs.on_call, !by_events);
	bpf_program__set_autoload(bpf->progs.on_return, !by_events);
	bpf_program__set_autoload(bpf->progs.on_call_event, by_events);
	bpf_program__set_autoload(bpf->progs.on_return_event, by_events);
}

static int open_program(void *context, struct recorder_program *program)
{
	struct ipcsnoop *s = context;
	struct ipcsnoop_bpf *bpf = s->bpf = ipcsnoop_bpf__open();

	s->cpus = libbpf_num_possible_cpus();
	if (s->cpus < 0 || !bpf)
		return recorder_not_opened();
	recorder_stamp(&s->recorder, &s->printer.columns.stamp, opt.json);
	bpf->rodata->first_process = s->recorder.pid;
	bpf->rodata->with_counts = !opt.events_only;
	/* a command that the tool starts is inside read() of its gate: that is no event */
	bpf->rodata->with_late_calls = !opt.recorder.command && !opt.counts_only;
	if (!opt.counts_only) {
		channels_operations((struct operation *)bpf->rodata->operations);
		channels_requests((struct request_operation *)bpf->rodata->request_operations);
	}
	choose_call_programs(bpf);
	choose_request_programs(bpf);
	if (opt.name)
		strncpy((char *)bpf->rodata->only_name, opt.name, COMM_SIZE - 1);
	bpf_program__set_autoload(bpf->progs.find_first, !opt.name);
	bpf_program__set_autoload(bpf->progs.find_named, opt.name);
	bpf_program__set_autoload(bpf->progs.on_exec, opt.name);
	bpf_program__set_autoload(bpf->progs.on_waking, opt.wakers);
	bpf_map__set_max_entries(bpf->maps.counts, s->cpus * NUM_CALLS);
	bpf_program__set_autoattach(bpf->progs.find_first, false);
	bpf_program__set_autoattach(bpf->progs.find_named, false);
	bpf_program__set_autoattach(bpf->progs.find_unfinished, false);
	recorder_load_copies(bpf->obj);
	*program = RECORDER_PROGRAM(bpf);
	program->followed = bpf->maps.followed;
	program->on_exit = bpf->progs.on_exit;
	return 0;
}

static int attach(void *context)
{
	struct ipcsnoop *s = context;
	struct bpf_program *find = opt.name ? s->bpf->progs.find_named : s->bpf->progs.find_first;

	s->counts = mmap(NULL, s->cpus * NUM_CALLS * sizeof(*s->counts), PROT_READ, MAP_SHARED,
			 bpf_map__fd(s->bpf->maps.counts), 0);
	if (s->counts == MAP_FAILED) {
		warn("BPF maps");
		return -1;
	}
	if (recorder_attach(&s->recorder) != 0)
		return -1;
	s->unfinished = recorder_open_iterator(s->bpf->progs.find_unfinished);
	s->incomplete = -1;
	if (bpf_program__autoload(s->bpf->progs.find_incomplete)) {
		s->incomplete = recorder_open_map_iterator(s->bpf->progs.find_incomplete, s->bpf->maps.requests);
		if (s->incomplete < 0) {
			warn("cannot list the requests of io_uring");
			return -1;
		}
	}
	if (s->unfinished >= 0 && recorder_run_iterator(recorder_open_iterator(find)) == 0)
		return 0;
	warn("cannot find the processes");
	return -1;
}

static void start(void *context)
{
	struct ipcsnoop *s = context;

	if (!opt.json && !opt.counts_only)
		print_line(&s->printer, NULL);
	if (opt.recorder.command)
		cli_notice(opt.recorder.quiet, "started %s, pid %d", io_name(opt.recorder.command[0]), s->recorder.pid);
	else if (opt.name)
		cli_notice(opt.recorder.quiet, "tracing processes named %s: %d, and those that start later", opt.name,
			   followers_sweep(bpf_map__fd(s->bpf->maps.followed)));
	else
		recorder_note_start(&s->recorder, "tracing", NULL);
}

static bool print_event(void *context, const void *event, size_t size)
{
	struct ipcsnoop *s = context;

	if (size < sizeof(struct ipcsnoop_event))
		return false;
	print_line(&s->printer, event);
	return true;
}

/* What an exit status means by sysexits.h, or for a shell; empty: nothing that all programs agree on. */
static const char *meaning_of(int status)
{
	static const char *const meanings[] = {
		[EX_USAGE] = " (wrong usage)",
		[EX_DATAERR] = " (wrong input data)",
		[EX_NOINPUT] = " (cannot open the input)",
		[EX_NOUSER] = " (unknown user)",
		[EX_NOHOST] = " (unknown host)",
		[EX_UNAVAILABLE] = " (service unavailable)",
		[EX_SOFTWARE] = " (internal error)",
		[EX_OSERR] = " (error of the system)",
		[EX_OSFILE] = " (a system file is missing)",
		[EX_CANTCREAT] = " (cannot create the output)",
		[EX_IOERR] = " (input or output error)",
		[EX_TEMPFAIL] = " (temporary failure)",
		[EX_PROTOCOL] = " (protocol error)",
		[EX_NOPERM] = " (permission denied)",
		[EX_CONFIG] = " (wrong configuration)",
		[126] = " (cannot be run)",
		[127] = " (command not found)",
	};

	return (size_t)status < COUNT(meanings) && meanings[status] ? meanings[status] : "";
}

static void note_status(void *context)
{
	const struct ipcsnoop *s = context;
	int status = s->recorder.command.status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	bool quiet = opt.recorder.quiet;
	const char *name = io_name(opt.recorder.command[0]);

	if (!number)
		cli_notice(quiet, "%s ended with status %d%s", name, WEXITSTATUS(status),
			   meaning_of(WEXITSTATUS(status)));
	else if (sigabbrev_np(number))
		cli_notice(quiet, "%s was killed by SIG%s", name, sigabbrev_np(number));
	else
		cli_notice(quiet, "%s was killed by signal %d", name, number);
}

/* Sends calls that have not returned to the ring, which is drained afterwards. */
static int detach(void *context)
{
	struct ipcsnoop *s = context;

	ipcsnoop_bpf__detach(s->bpf);
	if (recorder_run_iterator(s->unfinished) != 0 ||
	    (s->incomplete >= 0 && recorder_run_iterator(s->incomplete) != 0)) {
		warn("calls that have not returned");
		s->recorder.failed = true;
	}
	return 0;
}

/* Prints the counts of calls. */
static void print_counts(struct ipcsnoop *s)
{
	struct count sums[NUM_CALLS] = {};

	counts_sum(sums, s->counts, s->cpus);
	if (opt.json) {
		counts_json(&s->recorder.out, sums);
		return;
	}
	if (!opt.counts_only)
		out_text(&s->recorder.out, "\n");
	counts_text(&s->recorder.out, sums);
}

/*
 * How many steps the lines and counts lack. A call may also start unseen because a filter of the process denies it, and
 * a skipped exit does no harm.
 */
static uint64_t missed_steps(struct ipcsnoop *s)
{
	struct recorder *r = &s->recorder;
	uint64_t no_start = s->bpf->bss->num_no_start, no_return = s->bpf->bss->num_no_return;
	const struct bpf_program *others[] = {s->bpf->progs.on_fork,     s->bpf->progs.on_exec,
					      s->bpf->progs.on_waking,   s->bpf->progs.on_submit,
					      s->bpf->progs.on_poll_arm, s->bpf->progs.on_queue_async_work};
	uint64_t incomplete = s->bpf->bss->num_incomplete;
	/* perf events are skipped only while a process that uses a map of BPF is preempted */
	uint64_t missed = recorder_missed_by(r, s->bpf->progs.on_call, no_start) +
			  recorder_missed_by(r, s->bpf->progs.on_return, no_return) +
			  recorder_missed_by(r, s->bpf->progs.on_complete, incomplete) +
			  recorder_missed_by(r, s->bpf->progs.on_complete_parts, incomplete) +
			  recorder_missed_by(r, s->bpf->progs.on_call_event, UINT64_MAX) +
			  recorder_missed_by(r, s->bpf->progs.on_return_event, UINT64_MAX);

	for (size_t i = 0; i < COUNT(others); i++)
		missed += recorder_missed_by(r, others[i], UINT64_MAX);
	return missed;
}

/* Prints the counts, and reports what the lines do not show. */
static void finish(void *context)
{
	struct ipcsnoop *s = context;
	struct recorder *r = &s->recorder;
	uint64_t lost = s->bpf->bss->lost, unseen = s->bpf->bss->num_unseen;
	uint64_t no_storage = recorder_largest(s->bpf->bss->num_no_storage, COUNT(s->bpf->bss->num_no_storage));
	uint64_t silent = recorder_largest(s->bpf->bss->num_silent, COUNT(s->bpf->bss->num_silent));
	uint64_t missed = missed_steps(s), socketcalls = s->bpf->bss->num_socketcalls;
	uint32_t not_followed = s->bpf->bss->num_not_followed;

	if (!opt.events_only)
		print_counts(s);
	cli_count(opt.recorder.quiet, socketcalls,
		  "%" PRIu64 " {read or write by socketcall has|reads and writes by socketcall have} no line: a 32-bit "
		  "program made {it|them}",
		  socketcalls);
	recorder_loss(r, LOST_EVENTS, lost,
		      "lost %" PRIu64 " {read or write|reads and writes}: the buffer was full; use a larger --buffer",
		      lost);
	recorder_loss(r, LOST_EVENTS, no_storage,
		      "%" PRIu64 " {call or request|calls and requests} found no memory: {it is|they are} in no line, "
		      "and in no count",
		      no_storage);
	recorder_loss(r, LOST_PARTIAL, silent,
		      "%" PRIu64 " request{|s} of io_uring asked for no completion: lines may be missing", silent);
	recorder_loss(r, LOST_PARTIAL, unseen, "%" PRIu64 " request{|s} of io_uring ended unseen: lines may be missing",
		      unseen);
	recorder_loss(r, LOST_MISSED, missed,
		      "missed %" PRIu64 " step{|s} of system calls: lines may be missing, and counts too low", missed);
	recorder_loss(r, LOST_PARTIAL, not_followed, "%" PRIu32 " process{ was|es were} too many to follow",
		      not_followed);
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.12",
	.hooks = "the tracepoints of system calls",
	.needs_ptrace = true,
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = print_event,
	.command_ended = note_status,
	.detach = detach,
	.finish = finish,
};

static const struct cli_option options[] = {
	{'p', "pid", "PID", "trace a process, and the children that it starts from now on, until it ends or Ctrl-C",
	 .pid = &opt.recorder.pids[0]},
	{0, "name", "NAME", "trace all processes of this name, also those that start later, until Ctrl-C",
	 .text = &opt.name},
	{'P', "peers", NULL, "also print the process at the other end", .flag = &opt.peers},
	{'w', "wakers", NULL, "also print which thread woke the waiting one", .flag = &opt.wakers},
	{'s', "syscalls", NULL, "count system calls only", .flag = &opt.counts_only},
	{'e', "events", NULL, "print reads and writes only", .flag = &opt.events_only},
	{'j', "json", NULL, "print trace lines, and the counts as JSON, with times in microseconds", .flag = &opt.json},
	RECORDER_LINES(opt.recorder),
	RECORDER_DURATION(opt.recorder),
	RECORDER_OPTIONS(opt.recorder, "16M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"       %s [OPTION]... -p PID | --name NAME\n"
	"Run a command, and print a line for every read from a pipe, UNIX socket, TCP connection over loopback,\n"
	"message queue or eventfd, and for every write to one, of it and its children: which thread, how many bytes,\n"
	"how full the channel was and whether the call had to wait. At the end, print how often each system call was\n"
	"made, and how long these calls took.\n",
	"Examples:\n"
	"  ipcsnoop -o ipc.txt -- sh -c 'dd if=/dev/zero bs=4k count=100 | gzip >zeros.gz'\n"
	"  ipcsnoop -s -D 10 -p \"$(pidof nvmf_tgt)\"\n"
	"  ipcsnoop -j -o ipc.json -- make; jq 'select(.args.blocked)' ipc.json\n",
	.options = options,
	.runs_command = true,
	.former = (const struct cli_former[]){{'d', NULL, "is now -D"},
					      {'i', "interval", "is gone: -j has each read and write"},
					      {'n', NULL, "is now --name"},
					      RECORDER_FORMER,
					      {}},
};

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	opt.recorder.command = optind < argc ? argv + optind : NULL;
	if (!!opt.recorder.command + !!opt.recorder.pids[0] + !!opt.name != 1)
		cli_usage("a command or a process (-p, --name) is expected%s",
			  opt.recorder.command || opt.name ? ", not both" : "");
	if (opt.name && strlen(opt.name) >= COMM_SIZE)
		cli_usage("--name '%s': the kernel keeps %d bytes of a name", opt.name, COMM_SIZE - 1);
	if (opt.counts_only && (opt.peers || opt.wakers))
		cli_usage("-P and -w are about reads and writes, which -s does not print");
	if (opt.counts_only && opt.events_only)
		cli_usage("-s prints counts only, -e events only: one of them is expected");
}

int main(int argc, char **argv)
{
	static struct ipcsnoop s;
	int status;

	parse_options(argc, argv);
	s.printer = (struct ipcsnoop_printer){
		.columns = {.out = &s.recorder.out, .json = opt.json}, .peers = opt.peers, .wakers = opt.wakers};
	status = recorder_run(&s.recorder, &tool, &opt.recorder, &s);
	ipcsnoop_bpf__destroy(s.bpf);
	return status;
}
