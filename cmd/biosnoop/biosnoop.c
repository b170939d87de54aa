/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * biosnoop: prints a line for every block I/O, by whom it was issued and how long it took. The name, the columns
 * and -Q are those of bcc's tool; tracepoints alone are needed.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "alive.h"
#include "biosnoop.skel.h"
#include "cli.h"
#include "clock.h"
#include "number.h"
#include "print.h"
#include "privilege.h"
#include "session.h"

enum { BUFFER = 4 << 20 };

static struct {
	const char *disk; /* as the user names it; NULL: all */
	dev_t device;     /* of the disk */
	pid_t pid;        /* 0: all */
	uint64_t least;   /* latency in ns; 0: all */
	uint64_t count;   /* of lines; 0: no end */
	uint64_t seconds; /* 0: no end */
	uint32_t buffer;
	bool queued, json, verbose;
	bool no_start;
} opt = {.buffer = BUFFER};

struct snoop {
	struct biosnoop_bpf *bpf;
	struct session session;
	struct printer printer;
	struct alive process; /* of -p */
};

static bool is_over(void *context)
{
	const struct snoop *s = context;

	return opt.count && s->printer.number == opt.count;
}

/* A session_is_over: nothing more comes of a process that has ended. */
static bool is_done(void *context)
{
	struct snoop *s = context;

	if (is_over(s))
		return true;
	if (!alive_none(&s->process))
		return false;
	cli_note("process %d has ended", opt.pid);
	return true;
}

/* Takes an event out of the ring. */
static int on_event(void *context, void *data, size_t size)
{
	struct snoop *s = context;

	if (is_over(s))
		return -1;
	if (size < sizeof(struct event)) {
		warnx("an event is too short");
		s->session.failed = true;
		return -1;
	}
	(opt.json ? print_json : print_text)(&s->printer, data);
	return session_count(&s->session);
}

/* Whether the kernel has a tracepoint: block_io_start came with Linux 6.5. */
static bool has_tracepoint(const char *name)
{
	return libbpf_find_vmlinux_btf_id(name, BPF_TRACE_RAW_TP) >= 0;
}

static int load(struct biosnoop_bpf *bpf)
{
	uint32_t size = session_ring_size(opt.buffer);

	if (session_pid_ns(&bpf->rodata->pid_ns) != 0)
		return -1;
	bpf->rodata->filling = size / 4;
	bpf->rodata->only_one_disk = opt.disk;
	bpf->rodata->disk_major = major(opt.device);
	bpf->rodata->disk_minor = minor(opt.device);
	bpf->rodata->only_pid = opt.pid;
	bpf->rodata->least_latency = opt.least;
	bpf_map__set_max_entries(bpf->maps.events, size);
	if (opt.no_start || !has_tracepoint("block_io_start"))
		bpf_program__set_autoload(bpf->progs.on_start, false);
	else
		bpf_program__set_autoload(bpf->progs.on_getrq, false);
	if (biosnoop_bpf__load(bpf) != 0)
		session_cannot_load(size, "--buffer", "Linux 5.11");
	else if (session_has_variables(bpf->bss, bpf->rodata))
		return 0;
	return -1;
}

/* Begins to trace. Returns 0, or -1 having said what is wrong. */
static int begin(struct snoop *s)
{
	session_libbpf(opt.verbose);
	s->bpf = biosnoop_bpf__open();
	if (!s->bpf) {
		warn("BPF program");
		return -1;
	}
	if (load(s->bpf) != 0)
		return -1;
	s->session.ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.events), on_event, s, NULL);
	if (!s->session.ring) {
		warn("ring buffer");
		return -1;
	}
	s->session.wakeup = &s->bpf->bss->wakeup;
	if (biosnoop_bpf__attach(s->bpf) != 0) {
		warn("cannot attach to the tracepoints of block I/O; -v shows more");
		return -1;
	}
	__atomic_store_n(&s->bpf->bss->since, clock_ns(), __ATOMIC_SEQ_CST);
	return 0;
}

static void say_tracing(void)
{
	if (opt.disk)
		cli_note("tracing block I/O of %s", opt.disk);
	else
		cli_note("tracing block I/O");
}

/* Says what the lines do not. Returns whether nothing was lost. */
static bool report(const struct snoop *s)
{
	uint64_t lost = s->bpf->bss->lost, untracked = s->bpf->bss->num_untracked;
	uint64_t missed = session_missed(s->bpf->obj);

	if (s->bpf->bss->num_unknown)
		cli_note("%" PRIu64
			 " requests had begun before: nobody knows whether they were to be printed",
			 (uint64_t)s->bpf->bss->num_unknown);
	if (lost)
		warnx("lost %" PRIu64
		      " requests for which there was no room; --buffer takes a larger size",
		      lost);
	if (untracked)
		warnx("%" PRIu64
		      " requests were too many at a time: their process and latency are not known",
		      untracked);
	if (missed)
		warnx("missed %" PRIu64
		      " steps of requests, in interrupts: lines may be missing or have no latency",
		      missed);
	return !lost && !untracked && !missed;
}

static const char help[] =
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Print a line for every block I/O: when it was done, who issued it, on which disk, its type, sector and bytes,\n"
	"and how many milliseconds it took from the driver's hands to its end; for SECONDS, or until control-C.\n"
	"\n"
	"  -d, --disk DISK        only of this disk: a name such as sda, or a path in /dev\n"
	"  -p, --pid PID          only what this process issued\n"
	"  -m, --min-ms MS        only what took longer, in milliseconds; decimals are allowed\n"
	"  -n, --count N          end after N lines\n"
	"  -Q, --queued           print the time before the driver got it, too\n"
	"  -j, --json             print trace lines, with times in microseconds\n"
	"  -o, --output FILE      write to FILE\n"
	"      --buffer SIZE      room for lines that are not yet written: bytes, or with K, M or G; 4M without it\n"
	"      --no-start         find out who issued it as on kernels before 6.5\n"
	"  -q, --quiet            no notes\n"
	"  -v, --verbose          show what the kernel says of the BPF program\n"
	"  -h, --help             this text\n"
	"  -V, --version          the version\n"
	"\n"
	"Examples:\n"
	"  biosnoop\n"
	"  biosnoop -Q -d nvme0n1 10\n"
	"  biosnoop -j -m 10 | jq -r '.args | [.comm, .latency] | @tsv'\n";

/* Exits when the disk, of these numbers, has no requests: a driver that takes I/O itself or hands it on has no queues. */
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
	errx(EXIT_FAILURE,
	     "%s: has no requests, which this tool follows; name the disks below it, which are in %s if there are any, or leave out -d",
	     name, path);
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
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(st.st_rdev),
			 minor(st.st_rdev));
		if (stat(path, &(struct stat){}) == 0)
			errx(EXIT_FAILURE, "%s: a partition: name the disk that it is on", name);
		return check_disk(name, major(st.st_rdev), minor(st.st_rdev));
	}
	/* not every disk has a node, in a container for instance; nor is a path a name there */
	n = snprintf(path, sizeof(path), "/sys/block/%s/dev", name);
	file = strchr(name, '/') || n >= (int)sizeof(path) ? NULL : fopen(path, "re");
	if (!file || fscanf(file, "%u:%u", &major, &minor) != 2)
		errx(EXIT_FAILURE, "%s: no disk; lsblk lists those that are there", name);
	fclose(file);
	return check_disk(name, major, minor);
}

/* Milliseconds, with up to six decimals, as nanoseconds. */
static uint64_t parse_ms(const char *text)
{
	uint64_t ns;

	if (!number_fixed(slice_of(text), 6, &ns) || !ns)
		cli_usage("-m '%s': milliseconds above 0 are expected, such as 10 or 0.5", text);
	return ns;
}

static void parse_options(int argc, char **argv, const char **output)
{
	enum { BUFFER_SIZE = 256, NO_START };
	static const struct option options[] = {{"disk", required_argument, NULL, 'd'},
						{"pid", required_argument, NULL, 'p'},
						{"min-ms", required_argument, NULL, 'm'},
						{"count", required_argument, NULL, 'n'},
						{"queued", no_argument, NULL, 'Q'},
						{"json", no_argument, NULL, 'j'},
						{"output", required_argument, NULL, 'o'},
						{"buffer", required_argument, NULL, BUFFER_SIZE},
						{"no-start", no_argument, NULL, NO_START},
						{"quiet", no_argument, NULL, 'q'},
						{"verbose", no_argument, NULL, 'v'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{}};
	int c;

	while ((c = getopt_long(argc, argv, "d:p:m:n:Qjo:qvhV", options, NULL)) != -1)
		switch (c) {
		case 'd':
			opt.disk = optarg;
			break;
		case 'p':
			opt.pid = cli_pid(optarg);
			break;
		case 'm':
			opt.least = parse_ms(optarg);
			break;
		case 'n':
			opt.count = cli_count("-n", optarg);
			break;
		case 'Q':
			opt.queued = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'o':
			*output = optarg;
			break;
		case BUFFER_SIZE:
			opt.buffer = cli_size("--buffer", optarg);
			break;
		case NO_START:
			opt.no_start = true;
			break;
		case 'v':
			opt.verbose = true;
			break;
		default:
			cli_option(c, help);
		}
	if (argc - optind > 1)
		cli_usage("a number of seconds is expected, not %d operands", argc - optind);
	if (optind < argc)
		opt.seconds = cli_count("SECONDS", argv[optind]);
}

int main(int argc, char **argv)
{
	const char *output = NULL;
	struct snoop s = {};
	int status = EXIT_SUCCESS;

	parse_options(argc, argv, &output);
	if (opt.disk)
		opt.device = find_disk(opt.disk);
	if (opt.pid && alive_add(&s.process, opt.pid) != 0)
		return EXIT_FAILURE;
	session_catch_signals();
	if (privilege_check_ids() != 0 || privilege_check() != 0 ||
	    session_open(&s.session, output) != 0 || begin(&s) != 0)
		return EXIT_FAILURE;
	if (privilege_drop() != 0)
		err(EXIT_FAILURE, "capabilities");
	s.printer = (struct printer){.out = &s.session.out, .queued = opt.queued};
	if (opt.seconds)
		session_end_after(&s.session, opt.seconds);
	if (!opt.json)
		print_header(&s.printer);
	say_tracing();
	session_run(&s.session, is_done, &s);
	biosnoop_bpf__detach(s.bpf);
	session_finish(&s.session, is_over, &s);
	if (!report(&s) || s.session.failed)
		status = EXIT_FAILURE;
	status = session_close(&s.session, status);
	ring_buffer__free(s.session.ring);
	biosnoop_bpf__destroy(s.bpf);
	return status;
}
