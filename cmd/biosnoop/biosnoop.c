/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * biosnoop: prints a line for every block I/O, with the process that issued it and its latency, or a
 * summary. The name, the columns, -P and -Q are those of bcc's tool; this one needs only tracepoints.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "biosnoop.skel.h"
#include "cgroup.h"
#include "cli.h"
#include "clock.h"
#include "count.h"
#include "mem.h"
#include "print.h"
#include "recorder.h"
#include "summary.h"

static struct {
	const char *disk; /* as the user names it; NULL: all */
	dev_t device;     /* of the disk */
	uint64_t min_ns;
	uint64_t count; /* of requests; 0: no end */
	const char *cgroup;
	bool queued, pattern, json, summary;
	struct recorder_options recorder;
} opt = {.recorder.buffer = 4 << 20};

struct biosnoop {
	struct recorder recorder;
	struct biosnoop_bpf *bpf;
	uint64_t cgroup; /* its id; 0: all */
	struct biosnoop_printer printer;
	uint64_t requests; /* printed, or added to the summary */
	struct summary summary;
	int unseen; /* the iterator over requests that are still tracked at the end */
};

static int open_program(void *context, struct recorder_program *program)
{
	struct biosnoop *b = context;
	struct biosnoop_bpf *bpf = b->bpf = biosnoop_bpf__open();

	if (!bpf)
		return recorder_not_opened();
	recorder_stamp(&b->recorder, &b->printer.columns.stamp, opt.json);
	bpf->rodata->only_one_disk = opt.disk;
	bpf->rodata->disk_major = major(opt.device);
	bpf->rodata->disk_minor = minor(opt.device);
	bpf->rodata->only_pid = opt.recorder.pids[0];
	bpf->rodata->only_cgroup = b->cgroup;
	bpf->rodata->with_pattern = opt.pattern;
	bpf->rodata->min_ns = opt.min_ns;
	/* from Linux 6.5 on */
	if (recorder_is_before(6, 5) || recorder_tracepoint("block_io_start") < 0)
		bpf_program__set_autoload(bpf->progs.on_start, false);
	else
		bpf_program__set_autoload(bpf->progs.on_getrq, false);
	bpf_program__set_autoattach(bpf->progs.find_unseen, false);
	bpf->rodata->has_copies = recorder_load_copies(bpf->obj);
	*program = RECORDER_PROGRAM(bpf);
	return 0;
}

static int attach(void *context)
{
	struct biosnoop *b = context;

	if (recorder_attach(&b->recorder) != 0)
		return -1;
	b->unseen = recorder_open_map_iterator(b->bpf->progs.find_unseen, b->bpf->maps.requests);
	if (b->unseen < 0) {
		warn("cannot list the requests in flight");
		return -1;
	}
	__atomic_store_n(&b->bpf->bss->since, clock_ns(), __ATOMIC_SEQ_CST);
	return 0;
}

static void start(void *context)
{
	struct biosnoop *b = context;
	char *what;

	if (!opt.json && !opt.summary)
		print_line(&b->printer, NULL);
	what = mem_printf("tracing block I/O%s%s%s", opt.disk ? " of " : "", opt.disk ? opt.disk : "",
			  b->recorder.pid ? " by" : "");
	recorder_note_start(&b->recorder, what, NULL);
	free(what);
}

static bool print_event(void *context, const void *event, size_t size)
{
	struct biosnoop *b = context;

	if (size < sizeof(struct biosnoop_event))
		return false;
	if (opt.summary)
		summary_add(&b->summary, event);
	else
		print_line(&b->printer, event);
	b->requests++;
	return true;
}

static bool is_full(void *context)
{
	const struct biosnoop *b = context;

	return opt.count && b->requests == opt.count;
}

/* Counts missed completions before detaching: a completion after that would count as missed. */
static int detach(void *context)
{
	struct biosnoop *b = context;

	__atomic_store_n(&b->bpf->bss->is_over, true, __ATOMIC_SEQ_CST);
	if (recorder_run_iterator(b->unseen) != 0) {
		warn("requests in flight");
		b->recorder.failed = true;
	}
	biosnoop_bpf__detach(b->bpf);
	return 0;
}

static void print_summary(struct biosnoop *b)
{
	struct livelines columns = {.out = &b->recorder.out, .json = opt.json};

	summary_print(&columns, &b->summary);
	cli_count(opt.recorder.quiet, b->summary.no_latency,
		  "%" PRIu64
		  " {request has no latency: it|requests have no latency: they} started before tracing; the times are "
		  "those of the others",
		  b->summary.no_latency);
	recorder_loss(&b->recorder, LOST_EVENTS, b->summary.beyond,
		      "%" PRIu64 " {request is not in the summary: it is|requests are not in the summary: they are} of "
		      "too many processes; use -d, -p or -c",
		      b->summary.beyond);
}

/*
 * The kernel counts the runs that a program has missed, for all disks together. No more of them can have been for
 * wanted requests than there are such requests without what the program records. Missed completions are counted apart.
 */
static uint64_t missed_steps(struct biosnoop *b)
{
	struct recorder *r = &b->recorder;
	const struct biosnoop_bpf__bss *counts = b->bpf->bss;
	/* a request whose start was seen needs no insertion */
	bool has_starts = bpf_program__autoload(b->bpf->progs.on_start);

	/* the issuer of a flush by the kernel is that of the flush request that it has started for */
	return recorder_missed_by(r, b->bpf->progs.on_start, counts->num_no_start + counts->num_flushes) +
	       recorder_missed_by(r, b->bpf->progs.on_getrq, counts->num_flushes) +
	       recorder_missed_by(r, b->bpf->progs.on_insert, has_starts ? 0 : counts->num_no_insert) +
	       recorder_missed_by(r, b->bpf->progs.on_issue, counts->num_no_issue) +
	       recorder_missed_by(r, b->bpf->progs.on_requeue, UINT64_MAX) +
	       recorder_missed_by(r, b->bpf->progs.on_merge, UINT64_MAX);
}

/* Prints the summary, and reports what the output does not show. */
static void finish(void *context)
{
	struct biosnoop *b = context;
	struct recorder *r = &b->recorder;
	uint64_t unknown = b->bpf->bss->num_unknown, lost = b->bpf->bss->lost;
	uint64_t no_storage = recorder_largest(b->bpf->bss->num_no_storage[0],
					       NUM_HOOKS * COUNT(b->bpf->bss->num_no_storage[0]));
	uint64_t missed = missed_steps(b);
	uint64_t unseen = b->bpf->bss->num_unseen, in_flight = b->bpf->bss->num_in_flight;

	if (opt.summary)
		print_summary(b);
	cli_count(opt.recorder.quiet, unknown,
		  "%" PRIu64
		  " request{|s} started before tracing: whether {it matches|they match} the filter is unknown",
		  unknown);
	cli_count(opt.recorder.quiet, in_flight,
		  "%" PRIu64
		  " {request was in flight at the end: it has|requests were in flight at the end: they have} no line",
		  in_flight);
	recorder_loss(r, LOST_EVENTS, unseen,
		      "lost %" PRIu64 " request{|s}: the kernel did not run the BPF program when {it|they} completed",
		      unseen);
	recorder_loss(r, LOST_EVENTS, lost, "lost %" PRIu64 " request{|s}: the buffer was full; use a larger --buffer",
		      lost);
	recorder_loss(r, LOST_PARTIAL, no_storage,
		      "%" PRIu64 " request{ has|s have} no process and latency: too many were in flight", no_storage);
	recorder_loss(r, LOST_MISSED, missed,
		      "missed %" PRIu64 " step{|s} of requests, in interrupts: lines may be missing or have no latency",
		      missed);
}

static const struct recorder_tool tool = {
	.kernel = "Linux 5.11",
	.hooks = "the tracepoints of block I/O",
	.kernel_threads = true,
	.open = open_program,
	.attach = attach,
	.started = start,
	.event = print_event,
	.full = is_full,
	.detach = detach,
	.finish = finish,
};

/* Exits if this disk has no requests: its driver does the I/O itself or passes it on. */
static dev_t check_disk(const char *name, unsigned major, unsigned minor)
{
	char path[64];
	struct stat st;
	int n = snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);

	if (stat(path, &st) != 0)
		return makedev(major, minor);
	strcpy(path + n, "/mq");
	if (stat(path, &st) == 0)
		return makedev(major, minor);
	strcpy(path + n, "/slaves");
	errx(EXIT_FAILURE, "%s: a disk without requests; name the disks below it, if any are in %s, or omit -d", name,
	     path);
}

/* Finds the device number of the disk. */
static dev_t find_disk(const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = strchr(name, '/') ? snprintf(path, sizeof(path), "%s", name)
				  : snprintf(path, sizeof(path), "/dev/%s", name);
	unsigned major, minor;
	FILE *file;

	if (n < 0 || (size_t)n >= sizeof(path))
		cli_usage("-d '%s': the name is too long", name);
	if (stat(path, &st) == 0 && S_ISBLK(st.st_mode)) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(st.st_rdev), minor(st.st_rdev));
		if (stat(path, &(struct stat){}) == 0)
			errx(EXIT_FAILURE, "%s: a partition: name the disk that it is on", name);
		return check_disk(name, major(st.st_rdev), minor(st.st_rdev));
	}
	/* in a container, for instance, a disk may have no node; a path is no name in sysfs */
	n = snprintf(path, sizeof(path), "/sys/block/%s/dev", name);
	file = strchr(name, '/') || n >= (int)sizeof(path) ? NULL : fopen(path, "re");
	if (!file || fscanf(file, "%u:%u", &major, &minor) != 2)
		errx(EXIT_FAILURE, "%s: not a disk; lsblk lists the disks", name);
	fclose(file);
	return check_disk(name, major, minor);
}

static const struct cli_option options[] = {
	{'d', "disk", "DISK", "only this disk: a name such as sda, or a path in /dev", .text = &opt.disk},
	{'p', "pid", "PID", "only requests that this process issued", .pid = &opt.recorder.pids[0]},
	{'c', "cgroup", "DIRECTORY", "only requests issued in this cgroup and those below it", .text = &opt.cgroup},
	{0, "min-ms", "MS", "only requests that took at least MS milliseconds, such as 0.5", .ms = &opt.min_ns},
	{'n', "count", "N", "end after N requests", .count = &opt.count},
	{'Q', "queued", NULL, "also print the time queued before the driver accepted the request", .flag = &opt.queued},
	{'P', "pattern", NULL, "also print whether the request is sequential or random on its disk",
	 .flag = &opt.pattern},
	{'s', "summary", NULL, "instead of lines, print sums and latencies by disk, process and type at the end",
	 .flag = &opt.summary},
	{'j', "json", NULL, "print trace lines, with times in microseconds", .flag = &opt.json},
	RECORDER_LINES(opt.recorder),
	RECORDER_OPTIONS(opt.recorder, "4M"),
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Print a line for every block I/O: when it was done, which process issued it, on which disk, its type, sector\n"
	"and bytes, and how many milliseconds the driver took; for SECONDS, or until Ctrl-C.\n",
	"Examples:\n"
	"  biosnoop\n"
	"  biosnoop -Q -d nvme0n1 10\n"
	"  biosnoop -s -c /sys/fs/cgroup/system.slice 60\n"
	"  biosnoop -j --min-ms 10 | jq -r '.args | select(.disk) | [.comm, .latency] | @tsv'\n",
	.options = options,
	.former = (const struct cli_former[]){{'D', "duration", "is gone: the operand SECONDS says it"},
					      {'m', NULL, "is now --min-ms"},
					      {0, "no-start", "is gone"},
					      {'e', "encode", "is gone: -j has each request's latency, -s -j the sums"},
					      RECORDER_FORMER,
					      {}},
};

int main(int argc, char **argv)
{
	static struct biosnoop b;
	int status;

	cli_parse(&cli, argc, argv);
	if (opt.summary && (opt.pattern || opt.queued || opt.recorder.wall))
		cli_usage("-P, -Q and --wall are for lines, which -s does not print");
	cli_seconds(argc, argv, &opt.recorder.duration_ns);
	if (opt.disk)
		opt.device = find_disk(opt.disk);
	if (opt.cgroup && !(b.cgroup = cgroup_id(opt.cgroup)))
		return EXIT_FAILURE;
	b.printer = (struct biosnoop_printer){
		.columns = {.out = &b.recorder.out, .json = opt.json}, .queued = opt.queued, .pattern = opt.pattern};
	status = recorder_run(&b.recorder, &tool, &opt.recorder, &b);
	summary_free(&b.summary);
	biosnoop_bpf__destroy(b.bpf);
	return status;
}
