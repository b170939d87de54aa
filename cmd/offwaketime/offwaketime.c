/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offwaketime: adds up how long threads were blocked, by the stack in which they blocked and the stack
 * of the thread that woke them. The name and the options are those of bcc's tool; this one needs only
 * tracepoints.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "cli.h"
#include "clock.h"
#include "intern.h"
#include "mem.h"
#include "naming.h"
#include "offwaketime.skel.h"
#include "pairs.h"
#include "print.h"
#include "recorder.h"

_Static_assert((int)MAX_IDS == (int)RECORDER_PIDS, "as many processes as can be watched");

enum { MAX_NAMED = 2048 };

static struct {
	pid_t tids[MAX_IDS]; /* up to the first 0; none: all */
	uint64_t min_ns, max_ns;
	uint64_t stacks; /* most pairs of stacks */
	const char *cgroup;
	bool user_threads, user_stacks;
	uint64_t interval; /* ns; 0: sums at the end only */
	bool folded, json, no_open;
	struct recorder_options recorder;
} opt = {.min_ns = 1000, .max_ns = UINT64_MAX, .stacks = 16384, .recorder.buffer = 8 << 20};

/* The pair that stacks belong to, valid until this time, in ms of the clock. */
struct named {
	uint32_t pair;
	uint64_t until;
};

struct offwaketime {
	struct recorder recorder;
	struct offwaketime_bpf *bpf;
	uint64_t cgroup;        /* its id; 0: all */
	int end;                /* the iterator over threads at the end */
	struct stamp stamp;     /* of the last line */
	uint64_t started, from; /* ns: the start of recording, and of this interval */
	struct naming naming;
	struct pairs pairs;
	struct intern stacks;               /* each a struct stacks with its frames: most are repeated */
	struct named named[MAX_NAMED];      /* by number in stacks */
	unsigned num_merges;                /* pairs.num_merges for which the numbers in named are valid */
	uint64_t num_left_out, ns_left_out; /* events left out, because there were too many pairs */
};

static int find_threads(void *context)
{
	(void)context;
	for (size_t i = 0; i < MAX_IDS && opt.tids[i]; i++)
		if (kill(opt.tids[i], 0) != 0 && errno == ESRCH) {
			warnx("thread %d: does not exist", opt.tids[i]);
			return -1;
		}
	return 0;
}

/* The programs for threads that are blocked already when recording starts, or still when it ends. */
static void open_iterators(struct offwaketime_bpf *bpf)
{
	int helper = libbpf_find_vmlinux_btf_id("bpf_copy_from_user_task", BPF_TRACE_FENTRY);
	bool reads_other_tasks = helper >= 0;

	bpf_program__set_autoattach(bpf->progs.find_blocked, false);
	bpf_program__set_autoattach(bpf->progs.end_blocked, false);
	bpf_program__set_autoload(bpf->progs.find_blocked, !opt.no_open);
	bpf_program__set_autoload(bpf->progs.end_blocked, !opt.no_open);
	bpf->rodata->reads_other_tasks = reads_other_tasks;
	if (reads_other_tasks)
		bpf_program__set_flags(bpf->progs.find_blocked, BPF_F_SLEEPABLE);
	else if (helper == -ENOENT && !opt.no_open)
		cli_notice(opt.recorder.quiet,
			   "before Linux 5.18, threads that are blocked already have no stacks of their processes");
}

static int open_program(void *context, struct recorder_program *program)
{
	struct offwaketime *o = context;
	struct offwaketime_bpf *bpf = o->bpf = offwaketime_bpf__open();

	if (!bpf)
		return recorder_not_opened();
	recorder_stamp(&o->recorder, &o->stamp, opt.json);
	memcpy((void *)bpf->rodata->only_pids, opt.recorder.pids, sizeof(opt.recorder.pids));
	memcpy((void *)bpf->rodata->only_tids, opt.tids, sizeof(opt.tids));
	bpf->rodata->only_user_threads = opt.user_threads;
	bpf->rodata->no_kernel_stacks = opt.user_stacks;
	bpf->rodata->min_ns = opt.min_ns;
	bpf->rodata->max_ns = opt.max_ns;
	bpf->rodata->only_cgroup = o->cgroup;
	open_iterators(bpf);
	*program = RECORDER_PROGRAM(bpf);
	return 0;
}

/* The second round finds threads that were woken during the first one, and are blocked again. */
static int find_blocked(struct offwaketime *o)
{
	for (int i = 0; i < 2; i++)
		if (recorder_run_iterator(recorder_open_iterator(o->bpf->progs.find_blocked)) != 0) {
			warn("cannot find the threads that are blocked; use --no-open");
			return -1;
		}
	o->end = recorder_open_iterator(o->bpf->progs.end_blocked);
	if (o->end >= 0)
		return 0;
	warn("cannot list the threads; use --no-open");
	return -1;
}

static int attach(void *context)
{
	struct offwaketime *o = context;

	/* now that the program is loaded, its own functions are among the symbols */
	if (symbols_read(&o->naming.kernel) != 0)
		warn("/proc/kallsyms: functions of the kernel have no names; sysctl kernel.kptr_restrict, or "
		     "CAP_SYSLOG, may change that");
	/* new files and processes can appear as long as it records */
	o->recorder.keep = PRIVILEGE_LOOK;
	if (recorder_attach(&o->recorder) != 0)
		return -1;
	return opt.no_open ? 0 : find_blocked(o);
}

static void start(void *context)
{
	struct offwaketime *o = context;

	o->started = o->from = clock_ns();
	recorder_note_start(&o->recorder, o->recorder.pid ? "adding up blocked time of" : "adding up blocked time",
			    NULL);
}

/* Whether the event has the size that its depths say. */
static bool is_sound(const struct offwaketime_event *e, size_t size)
{
	size_t n = 0;

	if (size < sizeof(*e))
		return false;
	for (int i = 0; i < NUM_STACKS; i++)
		n += e->stacks.depth[i];
	return size == sizeof(*e) + n * sizeof(uint64_t);
}

/*
 * Names the stacks, and caches the number of their pair. index: of the stacks, or MAP_NONE. Returns the number;
 * MAP_NONE: there are too many pairs.
 */
static uint32_t add_pair(struct offwaketime *o, struct slice stacks, uint32_t index)
{
	_Alignas(struct pair) char room[sizeof(struct pair) + NUM_STACKS * MAX_DEPTH * sizeof(uint32_t)];
	struct pair *pair = (void *)room;
	uint64_t until = naming_pair(&o->naming, (const void *)stacks.p, pair);
	uint32_t number = pairs_add(&o->pairs, pair);

	if (o->pairs.num_merges != o->num_merges || (index == MAP_NONE && o->stacks.n == MAX_NAMED)) {
		intern_free(&o->stacks);
		o->num_merges = o->pairs.num_merges;
		index = MAP_NONE;
	}
	if (number == MAP_NONE)
		return MAP_NONE;
	if (index == MAP_NONE)
		index = intern_add(&o->stacks, stacks);
	o->named[index] = (struct named){number, until};
	return number;
}

static bool add_event(void *context, const void *event, size_t size)
{
	const size_t before = offsetof(struct offwaketime_event, stacks);
	struct offwaketime *o = context;
	const struct offwaketime_event *e = event;
	struct slice stacks = {(const char *)e + before, size - before};
	uint32_t index, number;
	struct pair_total *t;

	if (!is_sound(e, size))
		return false;
	index = intern_get(&o->stacks, stacks);
	if (index != MAP_NONE && (o->named[index].until == UINT64_MAX || clock_ms() < o->named[index].until))
		number = o->named[index].pair;
	else
		number = add_pair(o, stacks, index);
	if (number == MAP_NONE) {
		o->num_left_out++;
		o->ns_left_out += e->ns;
		return true;
	}
	t = &o->pairs.totals[number];
	t->ns += e->ns;
	t->count++;
	t->max_ns = e->ns > t->max_ns ? e->ns : t->max_ns;
	t->open += e->is_open;
	return true;
}

/* Sends threads that are still blocked to the ring, which is drained afterwards. */
static int detach(void *context)
{
	struct offwaketime *o = context;

	__atomic_store_n(&o->bpf->bss->over_ns, clock_ns(), __ATOMIC_SEQ_CST);
	offwaketime_bpf__detach(o->bpf);
	processes_end(&o->naming.processes);
	if (!opt.no_open && recorder_run_iterator(o->end) != 0) {
		warn("threads that are still blocked");
		o->recorder.failed = true;
	}
	return 0;
}

/* Reports what the lines do not show. */
static void report(struct offwaketime *o)
{
	struct recorder *r = &o->recorder;
	uint64_t lost = o->bpf->bss->lost, no_storage = o->bpf->bss->num_no_storage;
	uint64_t skipped = o->bpf->bss->num_skipped, missed = recorder_missed(r);

	processes_report(&o->naming.processes);
	if (!o->pairs.keys.n && !lost)
		cli_notice(opt.recorder.quiet, "no thread was blocked: nothing to print");
	recorder_loss(r, LOST_EVENTS, lost,
		      "lost %" PRIu64 " time{|s} of %.3f ms in all: the buffer was full; use a larger --buffer", lost,
		      o->bpf->bss->lost_ns / 1e6);
	recorder_loss(r, LOST_EVENTS, o->num_left_out,
		      "%.3f ms of %" PRIu64 " time{ is|s are} not attributed: there were more than %" PRIu64
		      " stacks; use a larger --stack-storage-size",
		      o->ns_left_out / 1e6, o->num_left_out, opt.stacks);
	recorder_loss(r, LOST_EVENTS, no_storage,
		      "%" PRIu64
		      " time{ is|s are} not attributed: the kernel had no memory to record {its|their} start",
		      no_storage);
	recorder_loss(r, LOST_SKIPPED, skipped,
		      "the kernel has skipped %" PRIu64
		      " switch{|es} of these threads: the times that started or ended there are missing",
		      skipped);
	recorder_loss(r, LOST_MISSED, missed,
		      "missed %" PRIu64
		      " {switch or wake-up|switches or wake-ups}, in interrupts: times or wakers are missing",
		      missed);
}

/* Prints the sums, the shortest first. extent: see struct offwaketime_printer. */
static void print_sums(struct offwaketime *o, const char *extent)
{
	struct offwaketime_printer p = {&o->recorder.out, &o->naming, extent};
	const struct pair_total **sorted;
	size_t n;

	sorted = pairs_sorted(&o->pairs, &n);
	for (size_t i = 0; i < n && !o->recorder.out.error; i++)
		(opt.json ? print_json : opt.folded ? print_folded : print_text)(&p, sorted[i]);
	free(sorted);
}

/* Prints what ended in this interval, and starts the next one. */
static void print_interval(struct offwaketime *o, uint64_t to)
{
	struct out extent = {.fd = OUT_MEMORY};

	if (opt.json) {
		out_text(&extent, ",\"begin\":");
		out_us(&extent, o->from - o->started);
		out_text(&extent, ",\"end\":");
		out_us(&extent, to - o->started);
	} else {
		out_printf(&o->recorder.out, "%.3f s to %.3f s\n\n", (o->from - o->started) / 1e9,
			   (to - o->started) / 1e9);
	}
	out_char(&extent, 0);
	print_sums(o, out_contents(&extent).p);
	out_close(&extent);
	pairs_reset(&o->pairs);
	o->from = to;
}

/* An interval ends after its events are read, so it may be a little longer than opt.interval. */
static void end_interval(void *context)
{
	struct offwaketime *o = context;
	uint64_t now = opt.interval ? clock_ns() : 0;

	if (opt.interval && now - o->from >= opt.interval)
		print_interval(o, now);
}

/* Prints the sums, and reports. */
static void finish(void *context)
{
	struct offwaketime *o = context;

	if (opt.interval)
		print_interval(o, clock_ns());
	else
		print_sums(o, "");
	report(o);
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.13",
	.hooks = "the tracepoints of the scheduler",
	.kernel_threads = true,
	.find = find_threads,
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = add_event,
	.between = end_interval,
	.detach = detach,
	.finish = finish,
};

static const struct cli_option options[] = {
	{'p', "pid", "PID[,PID]...", "only threads of these processes", .ids = opt.recorder.pids},
	{'t', "tid", "TID[,TID]...", "only these threads", .ids = opt.tids},
	{'c', "cgroup", "DIRECTORY", "only threads in this cgroup and those below it", .text = &opt.cgroup},
	{'u', "user-threads-only", NULL, "no threads of the kernel", .flag = &opt.user_threads},
	{'U', "user-stacks-only", NULL, "no stacks of the kernel", .flag = &opt.user_stacks},
	{'f', "folded", NULL, "a line for each, as flamegraph.pl reads it", .flag = &opt.folded},
	{'j', "json", NULL, "a JSON line for each", .flag = &opt.json},
	{'i', "interval", "SEC", "print the sums of every SEC seconds", .seconds = &opt.interval},
	{'m', "min-block-time", "US", "only times of at least US microseconds; default 1", .us = &opt.min_ns},
	{'M', "max-block-time", "US", "only times of at most US microseconds", .us = &opt.max_ns},
	{0, "no-open", NULL, "leave out times that started before recording or do not end with it",
	 .flag = &opt.no_open},
	{0, "stack-storage-size", "N", "keep up to N different pairs of stacks; default 16384", .count = &opt.stacks},
	RECORDER_OPTIONS(opt.recorder, "8M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Record how long threads are blocked, for SECONDS or until Ctrl-C. Then print the sums by two stacks: the\n"
	"waiting thread's and its waker's.\n",
	"Examples:\n"
	"  offwaketime -p \"$(pidof nvmf_tgt)\" 10\n"
	"  offwaketime -f 30 | flamegraph.pl --color=chain --countname=us > blocked.svg\n",
	.options = options,
	.former = (const struct cli_former[]){{'D', "duration", "is gone: the operand SECONDS says it"},
					      {'d', "delimited",
					       "is gone: -j has the stacks of kernel and process apart"},
					      {'K', "kernel-stacks-only",
					       "is gone: -j has the stacks of kernel and process apart"},
					      {'k', "kernel-threads-only",
					       "is gone: -t chooses threads of the kernel by their ids"},
					      {0, "no-demangle", "is gone"},
					      {0, "state", "is gone; offcpusnoop prints which threads were preempted"},
					      RECORDER_FORMER,
					      {}},
};

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	cli_seconds(argc, argv, &opt.recorder.duration_ns);
	if (opt.json && opt.folded)
		cli_usage("-j and -f are two forms of output");
	if (opt.folded && opt.interval)
		cli_usage("-f is for one picture, -i prints several: use -j");
	if (opt.max_ns < opt.min_ns)
		cli_usage("-M is less than -m");
}

int main(int argc, char **argv)
{
	static struct offwaketime o;
	int status;

	parse_options(argc, argv);
	if (opt.cgroup && !(o.cgroup = cgroup_id(opt.cgroup)))
		return EXIT_FAILURE;
	o.pairs.max = opt.stacks;
	o.naming.no_ids = opt.folded;
	o.naming.no_kernel_stacks = opt.user_stacks;
	o.naming.processes.quiet = opt.recorder.quiet;
	status = recorder_run(&o.recorder, &tool, &opt.recorder, &o);
	offwaketime_bpf__destroy(o.bpf);
	naming_free(&o.naming);
	pairs_free(&o.pairs);
	intern_free(&o.stacks);
	return status;
}
