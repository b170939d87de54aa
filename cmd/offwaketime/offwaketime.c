/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offwaketime: how long threads were blocked, by the stack in which they were and the stack of the
 * thread that woke them. The name and the options are those of bcc's tool; this one needs
 * tracepoints only.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "intern.h"
#include "mem.h"
#include "number.h"
#include "offwaketime.skel.h"
#include "print.h"
#include "processes.h"
#include "recorder.h"
#include "symbols.h"

_Static_assert((int)MAX_IDS == (int)RECORDER_PIDS, "as many processes as can be watched");

static struct {
	pid_t tids[MAX_IDS]; /* up to the first 0; none: all */
	uint32_t states;     /* see the program */
	uint64_t min_ns, max_ns;
	uint64_t stacks; /* that are kept */
	bool user_threads, kernel_threads, user_stacks, kernel_stacks;
	bool delimited, folded, json;
	struct recorder_options recorder;
} opt = {.states = ~0U, .min_ns = 1000, .max_ns = UINT64_MAX, .stacks = 16384, .recorder.buffer = 16 << 20};

struct offwaketime {
	struct recorder recorder;
	struct offwaketime_bpf *bpf;
	struct symbols kernel;
	struct processes processes;
	struct intern stacks;         /* each a struct stacks with its frames */
	struct blocked_total *totals; /* of the stacks of this number */
	size_t cap;
	uint64_t num_left_out, ns_left_out; /* when there were too many stacks */
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

static int open_program(void *context, struct recorder_program *program)
{
	struct offwaketime *o = context;
	struct offwaketime_bpf *bpf = o->bpf = offwaketime_bpf__open();

	if (!bpf) {
		warn("BPF program");
		return -1;
	}
	memcpy((void *)bpf->rodata->only_pids, opt.recorder.pids, sizeof(opt.recorder.pids));
	memcpy((void *)bpf->rodata->only_tids, opt.tids, sizeof(opt.tids));
	bpf->rodata->states = opt.states;
	bpf->rodata->only_user_threads = opt.user_threads;
	bpf->rodata->only_kernel_threads = opt.kernel_threads;
	bpf->rodata->no_user_stacks = opt.kernel_stacks;
	bpf->rodata->no_kernel_stacks = opt.user_stacks;
	bpf->rodata->min_ns = opt.min_ns;
	bpf->rodata->max_ns = opt.max_ns;
	*program = RECORDER_PROGRAM(bpf);
	return 0;
}

static int attach(void *context)
{
	struct offwaketime *o = context;

	/* now that the program is loaded, its own functions are among the symbols */
	if (!opt.user_stacks && symbols_read(&o->kernel) != 0)
		warn("/proc/kallsyms: functions of the kernel have no names; sysctl kernel.kptr_restrict, or "
		     "CAP_SYSLOG, may change that");
	/* files and processes come up as long as it records */
	o->recorder.keeps_reading = true;
	return recorder_attach(&o->recorder);
}

static void start(void *context)
{
	(void)context;
	cli_notice(opt.recorder.quiet, "adding up blocked time");
}

/* Whether the event is as long as it says. */
static bool is_sound(const struct offwaketime_event *e, size_t size)
{
	size_t n = 0;

	if (size < sizeof(*e))
		return false;
	for (int i = 0; i < NUM_STACKS; i++)
		n += e->stacks.depth[i];
	return size == sizeof(*e) + n * sizeof(uint64_t);
}

/* Makes sure that the addresses can be named later. */
static bool load_processes(struct offwaketime *o, const struct stacks *e)
{
	const uint64_t *frames = print_frames(e);
	unsigned before = e->depth[TARGET_USER] + e->depth[TARGET_KERNEL] + e->depth[WAKER_KERNEL];
	bool target = processes_load(&o->processes, &e->target, frames, e->depth[TARGET_USER]);
	bool waker = processes_load(&o->processes, &e->waker, frames + before, e->depth[WAKER_USER]);

	return target && waker;
}

static struct blocked_total *total_of(struct offwaketime *o, struct slice key)
{
	uint32_t index = intern_get(&o->stacks, key);

	if (index == MAP_NONE) {
		if (o->stacks.n == opt.stacks)
			return NULL;
		index = intern_add(&o->stacks, key);
		o->totals = mem_room(o->totals, index, &o->cap);
		o->totals[index] = (struct blocked_total){};
	}
	return &o->totals[index];
}

static bool add_event(void *context, const void *event, size_t size)
{
	const size_t before = offsetof(struct offwaketime_event, stacks);
	struct offwaketime *o = context;
	const struct offwaketime_event *e = event;
	struct blocked_total *t;

	if (!is_sound(e, size))
		return false;
	t = total_of(o, (struct slice){(const char *)e + before, size - before});
	if (!t) {
		o->num_left_out++;
		o->ns_left_out += e->ns;
		return true;
	}
	t->ns += e->ns;
	t->count++;
	if (!t->is_loaded)
		t->is_loaded = load_processes(o, &e->stacks);
	return true;
}

static void note_end(void *context)
{
	(void)context;
	cli_notice(opt.recorder.quiet, "%s",
		   opt.recorder.pids[1] ? "the processes have ended" : "the process has ended");
}

static int by_time(const void *a, const void *b)
{
	const struct blocked_total *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Prints what was recorded, the shortest time first. */
static void print(struct offwaketime *o)
{
	struct offwaketime_printer p = {&o->recorder.out, &o->kernel, &o->processes, opt.delimited};
	uint32_t n = o->stacks.n;

	for (uint32_t i = 0; i < n; i++)
		o->totals[i].stacks = (const void *)o->stacks.all[i].p;
	if (n)
		qsort(o->totals, n, sizeof(*o->totals), by_time);
	for (uint32_t i = 0; i < n && !o->recorder.out.error; i++)
		(opt.json ? print_json : opt.folded ? print_folded : print_text)(&p, &o->totals[i]);
}

/* Reports what the lines do not show. */
static void report(struct offwaketime *o)
{
	struct recorder *r = &o->recorder;
	uint64_t lost = o->bpf->bss->lost, no_storage = o->bpf->bss->num_no_storage;
	uint64_t skipped = o->bpf->bss->num_skipped, missed = recorder_missed(r);

	processes_report(&o->processes);
	if (!o->stacks.n && !lost)
		cli_notice(opt.recorder.quiet, "no thread was blocked: nothing to print");
	recorder_loss(r, lost, "lost %" PRIu64 " times of %.3f ms in all: the buffer was full; use a larger --buffer",
		      lost, o->bpf->bss->lost_ns / 1e6);
	recorder_loss(r, o->num_left_out,
		      "%.3f ms of %" PRIu64 " times are not attributed: there were more than %" PRIu64
		      " stacks; use a larger --stack-storage-size",
		      o->ns_left_out / 1e6, o->num_left_out, opt.stacks);
	recorder_loss(r, no_storage,
		      "%" PRIu64 " times are not attributed: the kernel had no memory to record their start",
		      no_storage);
	recorder_loss(r, skipped,
		      "the kernel has skipped %" PRIu64
		      " switches of these threads: the times that started or ended there are missing",
		      skipped);
	recorder_loss(r, missed, "missed %" PRIu64 " switches or wake-ups, in interrupts: times or wakers are missing",
		      missed);
}

static void finish(void *context)
{
	print(context);
	report(context);
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.13",
	.hooks = "the tracepoints of the scheduler",
	.buffer_option = "--buffer",
	.find = find_threads,
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = add_event,
	.ended = note_end,
	.finish = finish,
};

static void parse_pids(const char *text)
{
	cli_ids("-p", text, opt.recorder.pids, MAX_IDS);
}

static void parse_tids(const char *text)
{
	cli_ids("-t", text, opt.tids, MAX_IDS);
}

static void parse_state(const char *text)
{
	uint64_t state;

	if (!number_decimal(slice_of(text), &state) || state > UINT32_MAX)
		cli_usage("--state '%s': a sum of the kernel's task states is expected, such as 2", text);
	opt.states = state;
}

static const struct cli_option options[] = {
	{'p', "pid", "PID[,PID]...", "only threads of these processes", .call = parse_pids},
	{'t', "tid", "TID[,TID]...", "only these threads", .call = parse_tids},
	{'u', "user-threads-only", NULL, "no threads of the kernel", .flag = &opt.user_threads},
	{'k', "kernel-threads-only", NULL, "only threads of the kernel", .flag = &opt.kernel_threads},
	{'U', "user-stacks-only", NULL, "no stacks of the kernel", .flag = &opt.user_stacks},
	{'K', "kernel-stacks-only", NULL, "no stacks of processes", .flag = &opt.kernel_stacks},
	{'f', "folded", NULL, "a line for each, as flamegraph.pl reads it", .flag = &opt.folded},
	{'d', "delimited", NULL, "put a mark between stacks of the kernel and of the process", .flag = &opt.delimited},
	{'j', "json", NULL, "a JSON line for each", .flag = &opt.json},
	{'m', "min-block-time", "US", "only times of US microseconds or more; default 1", .us = &opt.min_ns},
	{'M', "max-block-time", "US", "only times of US microseconds or less", .us = &opt.max_ns},
	{0, "state", "BITS", "only in these states of the kernel: 1 interruptible, 2 not, 3 both; 0: preempted",
	 .call = parse_state},
	{0, "stack-storage-size", "N", "keep up to N different pairs of stacks; default 16384", .count = &opt.stacks},
	RECORDER_OPTIONS(opt.recorder, 0, "16M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Add up how long threads were blocked, by the stack in which they were and the stack of the thread that woke\n"
	"them; for SECONDS, or until Ctrl-C, and print it then.\n",
	"Examples:\n"
	"  offwaketime -p $(pidof nvmf_tgt) 10\n"
	"  offwaketime -f 30 | flamegraph.pl --color=chain --countname=us > blocked.svg\n",
	options,
};

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	if (argc - optind > 1)
		cli_usage("a number of seconds is expected, not %d operands", argc - optind);
	if (optind < argc)
		opt.recorder.seconds = cli_count("SECONDS", argv[optind]);
	if (opt.user_threads && opt.kernel_threads)
		cli_usage("-u and -k leave no threads");
	if (opt.user_stacks && opt.kernel_stacks)
		cli_usage("-U and -K leave no stacks");
	if (opt.json && opt.folded)
		cli_usage("-j and -f are two forms of output");
	if (opt.max_ns < opt.min_ns)
		cli_usage("-M is less than -m");
}

int main(int argc, char **argv)
{
	static struct offwaketime o;
	int status;

	parse_options(argc, argv);
	o.processes.quiet = opt.recorder.quiet;
	status = recorder_run(&o.recorder, &tool, &opt.recorder, &o);
	offwaketime_bpf__destroy(o.bpf);
	processes_free(&o.processes);
	symbols_free(&o.kernel);
	intern_free(&o.stacks);
	free(o.totals);
	return status;
}
