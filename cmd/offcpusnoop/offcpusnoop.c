/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offcpusnoop: prints a line whenever a thread of a process was off its CPU, or an interrupt took the CPU from it: how
 * long and why. At the end it prints how each thread spent its time. It needs tracepoints only.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroup.h"
#include "cli.h"
#include "clock.h"
#include "count.h"
#include "followers.h"
#include "io.h"
#include "offcpusnoop.skel.h"
#include "print.h"
#include "recorder.h"
#include "symbols.h"
#include "totals.h"

_Static_assert((int)MAX_IDS == (int)RECORDER_PIDS, "as many processes as can be watched");

static struct {
	uint64_t min_ns; /* 1: all but intervals of no length */
	const char *cgroup;
	bool stacks, json;
	struct recorder_options recorder;
} opt = {.min_ns = 1, .recorder.buffer = 4 << 20};

/* The processor's own interrupts. A kernel has both tracepoints, NAME_entry and NAME_exit, or neither. */
static const char *const vectors[] = {
	"local_timer",    "reschedule",       "call_function",       "call_function_single",
	"irq_work",       "x86_platform_ipi", "spurious_apic",       "thermal_apic",
	"threshold_apic", "error_apic",       "deferred_error_apic",
};
enum { NUM_VECTORS = COUNT(vectors) };

struct offcpusnoop {
	struct recorder recorder;
	struct offcpusnoop_bpf *bpf;
	uint64_t cgroup; /* its id; 0: all */
	struct bpf_link *vectors[2 * NUM_VECTORS];
	int end; /* the iterator over threads at the end */
	struct symbols kernel;
	struct offcpusnoop_printer printer;
	struct totals totals;
};

static int open_program(void *context, struct recorder_program *program)
{
	struct offcpusnoop *o = context;
	struct offcpusnoop_bpf *bpf = o->bpf = offcpusnoop_bpf__open();
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 0 || !bpf)
		return recorder_not_opened();
	recorder_stamp(&o->recorder, &o->printer.columns.stamp, opt.json);
	memcpy((void *)bpf->rodata->only_pids, opt.recorder.pids, sizeof(opt.recorder.pids));
	if (opt.recorder.command)
		bpf->rodata->only_pids[0] = o->recorder.pid;
	bpf->rodata->is_command = opt.recorder.command;
	bpf->rodata->only_cgroup = o->cgroup;
	bpf->rodata->min_ns = opt.min_ns;
	bpf->rodata->yield_call = SYS_sched_yield;
	bpf->rodata->with_stacks = opt.stacks;
	bpf_map__set_max_entries(bpf->maps.lost_cpus, cpus);
	bpf_program__set_autoattach(bpf->progs.on_vector, false);
	bpf_program__set_autoattach(bpf->progs.on_vector_end, false);
	bpf_program__set_autoattach(bpf->progs.find_threads, false);
	bpf_program__set_autoattach(bpf->progs.end_threads, false);
	*program = RECORDER_PROGRAM(bpf);
	return 0;
}

/* Attaches to NAME_END. False with errno, ENOENT if the kernel has no such tracepoint. */
static bool attach_vector(struct bpf_link **link, struct bpf_program *program, const char *name, const char *end)
{
	char tracepoint[64];

	snprintf(tracepoint, sizeof(tracepoint), "%s_%s", name, end);
	*link = bpf_program__attach_raw_tracepoint(program, tracepoint);
	return *link;
}

/* Attaches to both tracepoints or to neither: a start without its end would seem to be that of the next interrupt. */
static int attach_vectors(struct offcpusnoop *o)
{
	for (int i = 0; i < NUM_VECTORS; i++) {
		struct bpf_link **links = &o->vectors[2 * i];

		if (attach_vector(&links[0], o->bpf->progs.on_vector, vectors[i], "entry") &&
		    attach_vector(&links[1], o->bpf->progs.on_vector_end, vectors[i], "exit"))
			continue;
		if (errno != ENOENT) {
			warn("cannot attach to the tracepoints of %s", vectors[i]);
			return -1;
		}
		bpf_link__destroy(links[0]);
		links[0] = NULL;
	}
	return 0;
}

/*
 * Two rounds: during the first, a thread that is not followed yet may start another one that the iterator misses.
 * After that, on_new() follows every thread that a followed one starts.
 */
static int find_threads(struct offcpusnoop *o)
{
	for (int i = 0; i < 2; i++)
		if (recorder_run_iterator(recorder_open_iterator(o->bpf->progs.find_threads)) != 0) {
			warn("cannot find the threads");
			return -1;
		}
	if (o->bpf->bss->num_found)
		return 0;
	for (int i = 0; i < MAX_IDS && opt.recorder.pids[i]; i++)
		if (!followers_ended(opt.recorder.pids[i])) {
			warnx("process %d: the kernel shows none of its threads", opt.recorder.pids[i]);
			return -1;
		}
	return 0;
}

static int attach(void *context)
{
	struct offcpusnoop *o = context;

	/* now that the program is loaded, its own functions are among the symbols */
	if (opt.stacks && symbols_read(&o->kernel) != 0)
		warn("/proc/kallsyms: functions of the kernel have no names; sysctl kernel.kptr_restrict, or "
		     "CAP_SYSLOG, may change that");
	if (recorder_attach(&o->recorder) != 0 || attach_vectors(o) != 0)
		return -1;
	o->end = recorder_open_iterator(o->bpf->progs.end_threads);
	if (o->end < 0) {
		warn("cannot list the threads");
		return -1;
	}
	return find_threads(o);
}

static void start(void *context)
{
	struct offcpusnoop *o = context;

	if (!opt.json)
		print_line(&o->printer, NULL);
	if (opt.recorder.command)
		cli_notice(opt.recorder.quiet, "tracing %s, pid %d", io_name(opt.recorder.command[0]), o->recorder.pid);
	else
		recorder_note_start(&o->recorder, "tracing", o->recorder.pid ? NULL : opt.cgroup);
}

static bool print_event(void *context, const void *event, size_t size)
{
	struct offcpusnoop *o = context;
	const struct offcpusnoop_event *e = event;

	if (size >= sizeof(struct offcpusnoop_totals) && e->kind == TOTALS) {
		totals_add(&o->totals, event);
		return true;
	}
	if (size < sizeof(*e) || e->kind >= NUM_KINDS || size != sizeof(*e) + e->depth * sizeof(uint64_t))
		return false;
	print_line(&o->printer, e);
	return true;
}

/* Ends recording. Intervals that have not ended are sent to the ring, which is drained afterwards. */
static int detach(void *context)
{
	struct offcpusnoop *o = context;

	__atomic_store_n(&o->bpf->bss->over_ns, clock_ns(), __ATOMIC_SEQ_CST);
	offcpusnoop_bpf__detach(o->bpf);
	for (int i = 0; i < 2 * NUM_VECTORS; i++)
		bpf_link__destroy(o->vectors[i]);
	if (recorder_run_iterator(o->end) != 0) {
		warn("threads at the end");
		o->recorder.failed = true;
	}
	return 0;
}

/* Prints the totals, and reports what the lines do not show. */
static void finish(void *context)
{
	struct offcpusnoop *o = context;
	struct recorder *r = &o->recorder;
	uint64_t lost_totals = o->bpf->bss->num_lost_totals, lost = o->bpf->bss->lost - lost_totals;
	uint64_t no_storage = o->bpf->bss->num_no_storage, skipped = o->bpf->bss->num_skipped;
	/* a skipped exit does no harm */
	uint64_t missed = recorder_missed(r) - recorder_missed_by(r, o->bpf->progs.on_exit, UINT64_MAX);
	struct out table;

	/* standard output and standard error may be the same file */
	out_flush(&r->out);
	if (!opt.recorder.quiet) {
		out_open(&table, STDERR_FILENO);
		totals_print(&o->totals, &table);
		out_close(&table);
	}
	recorder_loss(r, LOST_EVENTS, lost,
		      "lost %" PRIu64
		      " interval{|s}: the buffer was full; use a larger --buffer, or -m; the table has {it|them}",
		      lost);
	recorder_loss(r, LOST_PARTIAL, lost_totals,
		      "lost %" PRIu64 " thread{|s} of the table: the buffer was full; use a larger --buffer",
		      lost_totals);
	recorder_loss(r, LOST_PARTIAL, no_storage,
		      "%" PRIu64 " thread{ is|s are} not recorded: the kernel had no memory for {it|them}", no_storage);
	recorder_loss(r, LOST_SKIPPED, skipped,
		      "the kernel has skipped %" PRIu64
		      " switch{|es} of these threads: the intervals that started or ended there are missing",
		      skipped);
	recorder_loss(r, LOST_MISSED, missed,
		      "missed %" PRIu64 " {switch, wake-up or interrupt|switches, wake-ups or interrupts}: intervals "
		      "may be missing or too long",
		      missed);
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.15",
	.hooks = "the tracepoints of the scheduler and of interrupts",
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = print_event,
	.detach = detach,
	.finish = finish,
};

static const struct cli_option options[] = {
	{'p', "pid", "PID[,PID]...", "trace the threads of these processes, until the last of them ends or Ctrl-C",
	 .ids = opt.recorder.pids},
	{'c', "cgroup", "DIRECTORY", "trace the threads of this cgroup and those below it", .text = &opt.cgroup},
	{'m', "min-us", "US", "print only what took at least US microseconds, such as 2.5", .us = &opt.min_ns},
	{'k', "kernel-stacks", NULL, "also print in which functions of the kernel a thread was blocked",
	 .flag = &opt.stacks},
	{'j', "json", NULL, "print trace lines, with times in microseconds", .flag = &opt.json},
	RECORDER_LINES(opt.recorder),
	RECORDER_OPTIONS(opt.recorder, "4M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... -p PID | -c DIRECTORY [SECONDS]\n"
	"       %s [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Print a line whenever a thread of a process was off its CPU, or an interrupt took the CPU from it: how many\n"
	"microseconds and why; for SECONDS, until Ctrl-C or until COMMAND has ended. Then print how each thread spent\n"
	"its time.\n",
	"Examples:\n"
	"  offcpusnoop -p \"$(pidof nvmf_tgt)\" 10\n"
	"  offcpusnoop -m 50 -k -p \"$(pidof nvmf_tgt)\"\n"
	"  offcpusnoop -j -p \"$(pidof nvmf_tgt)\" 10 |\n"
	"    jq -r 'select(.args.by).args | [.comm, .by, .duration] | @tsv'\n",
	.options = options,
	.runs_command = true,
	.former = (const struct cli_former[]){{'D', "duration", "is gone: -p PID SECONDS says it"},
					      RECORDER_FORMER,
					      {}},
};

/* A number is the time that a forgotten process was to be traced for. */
static void set_command(int argc, char **argv)
{
	bool is_number = optind == argc - 1 && argv[optind][strspn(argv[optind], "0123456789.")] == '\0';

	if (optind == argc || is_number)
		cli_usage("a process (-p), a cgroup (-c) or a command is expected");
	opt.recorder.command = argv + optind;
}

int main(int argc, char **argv)
{
	static struct offcpusnoop o;
	int status;

	cli_parse(&cli, argc, argv);
	if (opt.recorder.pids[0] && opt.cgroup)
		cli_usage("a process (-p) or a cgroup (-c) is expected, not both");
	if (opt.recorder.pids[0] || opt.cgroup)
		cli_seconds(argc, argv, &opt.recorder.duration_ns);
	else
		set_command(argc, argv);
	if (opt.cgroup && !(o.cgroup = cgroup_id(opt.cgroup)))
		return EXIT_FAILURE;
	o.printer = (struct offcpusnoop_printer){
		.columns = {.out = &o.recorder.out, .json = opt.json}, .kernel = &o.kernel, .text.fd = OUT_MEMORY};
	status = recorder_run(&o.recorder, &tool, &opt.recorder, &o);
	offcpusnoop_bpf__destroy(o.bpf);
	symbols_free(&o.kernel);
	out_close(&o.printer.text);
	totals_free(&o.totals);
	return status;
}
