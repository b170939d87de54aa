/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipcsnoop: runs a command, or watches a process, and prints a line for every read from a pipe and write to one,
 * of it and of its children, and at the end how often each system call was made. Tracepoints alone are needed.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "calls.h"
#include "cli.h"
#include "command.h"
#include "counts.h"
#include "ipcsnoop.skel.h"
#include "iterator.h"
#include "print.h"
#include "privilege.h"
#include "session.h"

enum { BUFFER = 16 << 20 };

static struct {
	const char *output;
	char **command;   /* NULL: none */
	pid_t pid;        /* 0: that of the command */
	uint64_t seconds; /* 0: no end */
	uint32_t buffer;
	bool counts_only, events_only, json, verbose;
} opt = {.buffer = BUFFER};

struct snoop {
	struct ipcsnoop_bpf *bpf;
	struct session session;
	struct printer printer;
	struct command command;
	int cpus;
	const struct count *counts; /* NUM_CALLS for each CPU */
	int unfinished;             /* the iterator over calls that have not returned */
};

/* Takes an event out of the ring. */
static int on_event(void *context, void *data, size_t size)
{
	struct snoop *s = context;

	if (size < sizeof(struct event)) {
		warnx("an event is too short");
		s->session.failed = true;
		return -1;
	}
	(opt.json ? print_json : print_text)(&s->printer, data);
	return session_count(&s->session);
}

/* These are a session_is_over each. */

static bool has_ended(void *context)
{
	const struct snoop *s = context;

	return session_has_ended(&s->session);
}

static bool have_all_ended(void *context)
{
	const struct snoop *s = context;

	return has_ended(context) &&
	       __atomic_load_n(&s->bpf->bss->num_followed, __ATOMIC_SEQ_CST) == 0;
}

static bool is_never_over(void *context)
{
	(void)context;
	return false;
}

static int load(struct snoop *s)
{
	struct ipcsnoop_bpf *bpf = s->bpf;
	uint32_t size = session_ring_size(opt.buffer);

	if (session_pid_ns(&bpf->rodata->pid_ns) != 0)
		return -1;
	bpf->rodata->watermark = size / 4;
	bpf->rodata->first_process = opt.pid;
	bpf->rodata->with_counts = !opt.events_only;
	/* that of a command is the one that holds it back */
	bpf->rodata->with_late_calls = !opt.command && !opt.counts_only;
	if (!opt.counts_only)
		calls_at_pipes((struct operation *)bpf->rodata->operations);
	bpf_map__set_max_entries(bpf->maps.events, size);
	bpf_map__set_max_entries(bpf->maps.counts, s->cpus * NUM_CALLS);
	bpf_program__set_autoattach(bpf->progs.find_first, false);
	bpf_program__set_autoattach(bpf->progs.find_unfinished, false);
	if (ipcsnoop_bpf__load(bpf) != 0)
		session_cannot_load(size, "--buffer", "Linux 5.12");
	else if (session_has_variables(bpf->bss, bpf->rodata))
		return 0;
	return -1;
}

/* Begins to trace the process. Returns 0, or -1 having said what is wrong. */
static int begin(struct snoop *s)
{
	session_libbpf(opt.verbose);
	s->cpus = libbpf_num_possible_cpus();
	s->bpf = ipcsnoop_bpf__open();
	if (s->cpus < 0 || !s->bpf) {
		warn("BPF program");
		return -1;
	}
	if (load(s) != 0)
		return -1;
	s->counts = mmap(NULL, s->cpus * NUM_CALLS * sizeof(*s->counts), PROT_READ, MAP_SHARED,
			 bpf_map__fd(s->bpf->maps.counts), 0);
	s->session.ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.events), on_event, s, NULL);
	if (s->counts == MAP_FAILED || !s->session.ring) {
		warn("BPF maps");
		return -1;
	}
	s->session.wakeup = &s->bpf->bss->wakeup;
	if (ipcsnoop_bpf__attach(s->bpf) != 0) {
		warn("cannot attach to the tracepoints of system calls; -v shows more");
		return -1;
	}
	s->unfinished = iterator_open(s->bpf->progs.find_unfinished);
	if (s->unfinished >= 0 && iterator_run(iterator_open(s->bpf->progs.find_first)) == 0)
		return 0;
	warn("cannot find the process");
	return -1;
}

/* Lets the command run. Exits when it cannot. */
static void start(struct snoop *s)
{
	if (opt.command && command_release(&s->command) != 0)
		exit(command_cannot_run(s->command.path));
	if (opt.command)
		cli_note("started %s, pid %d", opt.command[0], opt.pid);
	else
		cli_note("tracing process %d", opt.pid);
}

static void say_end(const struct snoop *s)
{
	int status = s->command.status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (!opt.command)
		cli_note("process %d has ended", opt.pid);
	else if (!number)
		cli_note("%s ended with status %d", opt.command[0], WEXITSTATUS(status));
	else if (sigabbrev_np(number))
		cli_note("%s was killed by SIG%s", opt.command[0], sigabbrev_np(number));
	else
		cli_note("%s was killed by signal %d", opt.command[0], number);
}

static void print_counts(struct snoop *s)
{
	static struct count sums[NUM_CALLS];

	counts_sum(sums, s->counts, s->cpus);
	if (opt.json) {
		counts_json(&s->session.out, sums);
		return;
	}
	if (!opt.counts_only)
		out_text(&s->session.out, "\n");
	counts_text(&s->session.out, sums);
}

/* Says what the lines do not. Returns whether nothing was lost. */
static bool report(const struct snoop *s)
{
	uint64_t lost = s->bpf->bss->lost, untracked = s->bpf->bss->num_untracked;
	uint64_t missed = session_missed(s->bpf->obj);
	unsigned not_followed = s->bpf->bss->num_not_followed;

	if (lost)
		warnx("lost %" PRIu64
		      " reads and writes for which there was no room; --buffer takes a larger size",
		      lost);
	if (untracked)
		warnx("%" PRIu64
		      " system calls found no memory: they have no line, and no time in the sums",
		      untracked);
	if (missed)
		warnx("missed %" PRIu64
		      " steps of system calls: lines may be missing, and counts too low",
		      missed);
	if (not_followed)
		warnx("%u processes were too many to follow", not_followed);
	return !lost && !untracked && !missed && !not_followed;
}

static const char help[] =
	"Usage: %s [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"       %s [OPTION]... -p PID\n"
	"Run a command, and print a line for every read from a pipe and write to a pipe, of it and its children: by\n"
	"whom, how many bytes, how full the pipe was and whether the call had to wait. At the end, print how often they\n"
	"made each system call, and the time that these took.\n"
	"\n"
	"  -p, --pid PID          watch a process, and the children that it begins from now on, until it ends or\n"
	"                         control-C\n"
	"  -s, --syscalls         count system calls only\n"
	"  -e, --events           print reads and writes only\n"
	"  -j, --json             print trace lines, and the counts as JSON, with times in microseconds\n"
	"  -d, --duration SEC     end after this many seconds\n"
	"  -o, --output FILE      write to FILE\n"
	"      --buffer SIZE      room for lines that are not yet written: bytes, or with K, M or G; 16M without it\n"
	"  -q, --quiet            no notes: neither what was started nor how it ended\n"
	"  -v, --verbose          show what the kernel says of the BPF program\n"
	"  -h, --help             this text\n"
	"  -V, --version          the version\n"
	"\n"
	"Examples:\n"
	"  ipcsnoop -o ipc.txt -- sh -c 'dd if=/dev/zero bs=4k count=100 | gzip >zeros.gz'\n"
	"  ipcsnoop -s -d 10 -p $(pidof nvmf_tgt)\n"
	"  ipcsnoop -j -o ipc.json -- make; jq 'select(.args.blocked)' ipc.json\n";

static void parse_options(int argc, char **argv)
{
	enum { BUFFER_SIZE = 256 };
	static const struct option options[] = {{"pid", required_argument, NULL, 'p'},
						{"syscalls", no_argument, NULL, 's'},
						{"events", no_argument, NULL, 'e'},
						{"json", no_argument, NULL, 'j'},
						{"duration", required_argument, NULL, 'd'},
						{"output", required_argument, NULL, 'o'},
						{"buffer", required_argument, NULL, BUFFER_SIZE},
						{"quiet", no_argument, NULL, 'q'},
						{"verbose", no_argument, NULL, 'v'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{}};
	int c;

	while ((c = getopt_long(argc, argv, "+p:sejd:o:qvhV", options, NULL)) != -1)
		switch (c) {
		case 'p':
			opt.pid = cli_pid(optarg);
			break;
		case 's':
			opt.counts_only = true;
			break;
		case 'e':
			opt.events_only = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'd':
			opt.seconds = cli_count("-d", optarg);
			break;
		case 'o':
			opt.output = optarg;
			break;
		case BUFFER_SIZE:
			opt.buffer = cli_size("--buffer", optarg);
			break;
		case 'v':
			opt.verbose = true;
			break;
		default:
			cli_option(c, help);
		}
	opt.command = optind < argc ? argv + optind : NULL;
	if (!opt.command == !opt.pid)
		cli_usage("a command or a process (-p) is expected%s",
			  opt.command ? ", not both" : "");
	if (opt.counts_only && opt.events_only)
		cli_usage("-s prints counts only, -e events only: one of them is expected");
}

/* Checks what can be checked, and holds a command back. Exits when something is wrong. */
static void prepare(struct snoop *s)
{
	if (privilege_check_ids() != 0)
		exit(EXIT_FAILURE);
	if (opt.command && command_find(&s->command, opt.command) != 0)
		exit(command_cannot_run(opt.command[0]));
	session_catch_signals();
	if (privilege_check() != 0 || session_open(&s->session, opt.output) != 0)
		exit(EXIT_FAILURE);
	if (opt.command) {
		if (command_start(&s->command) != 0)
			err(EXIT_FAILURE, "%s", s->command.path);
		opt.pid = s->session.child = s->command.pid;
	}
	if (session_watch(&s->session, opt.pid) != 0)
		exit(EXIT_FAILURE);
}

/* Traces until a signal, or everything has ended. Returns the command's exit status; 0 when there is none. */
static int run(struct snoop *s)
{
	int end = EXIT_SUCCESS;
	bool ended;

	session_run(&s->session, has_ended, s);
	ended = session_has_ended(&s->session);
	if (ended) {
		if (opt.command)
			end = command_wait(&s->command);
		say_end(s);
		session_run(&s->session, have_all_ended, s);
	}
	ipcsnoop_bpf__detach(s->bpf);
	if (iterator_run(s->unfinished) != 0) {
		warn("calls that have not returned");
		s->session.failed = true;
	}
	session_finish(&s->session, is_never_over, s);
	if (!opt.events_only)
		print_counts(s);
	out_flush(&s->session.out);
	if (!ended && opt.command) {
		session_wait(&s->session);
		end = command_wait(&s->command);
		say_end(s);
	}
	return end;
}

int main(int argc, char **argv)
{
	struct snoop s = {};
	int status = EXIT_SUCCESS, end;

	parse_options(argc, argv);
	prepare(&s);
	if (begin(&s) != 0)
		return EXIT_FAILURE;
	if (privilege_drop(false) != 0)
		return EXIT_FAILURE;
	s.printer.out = &s.session.out;
	if (opt.seconds)
		session_end_after(&s.session, opt.seconds);
	if (!opt.json && !opt.counts_only)
		print_header(&s.printer);
	start(&s);
	end = run(&s);
	if (!report(&s) || s.session.failed)
		status = EXIT_FAILURE;
	status = session_close(&s.session, status);
	munmap((void *)s.counts, s.cpus * NUM_CALLS * sizeof(*s.counts));
	ring_buffer__free(s.session.ring);
	ipcsnoop_bpf__destroy(s.bpf);
	free(s.command.path);
	return end ? end : status;
}
