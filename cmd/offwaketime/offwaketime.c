/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offwaketime: how long threads were blocked, by the stack in which they were and the stack of who woke them. The
 * name and the options are those of bcc's tool; tracepoints alone are needed.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alive.h"
#include "cli.h"
#include "intern.h"
#include "number.h"
#include "offwaketime.skel.h"
#include "print.h"
#include "privilege.h"
#include "process.h"
#include "session.h"
#include "symbols.h"

enum { BUFFER = 16 << 20, STACKS = 16384 };

static struct {
	uint32_t pids[MAX_IDS], tids[MAX_IDS]; /* up to the first 0; none: all */
	uint32_t states;                       /* see the program */
	uint64_t least, most;                  /* us */
	uint64_t stacks;                       /* that are kept */
	uint64_t seconds;                      /* 0: no end */
	uint32_t buffer;
	bool user_threads, kernel_threads, user_stacks, kernel_stacks;
	bool delimited, folded, json, verbose;
} opt = {.states = ~0U, .least = 1, .most = UINT64_MAX / 1000, .stacks = STACKS, .buffer = BUFFER};

struct recording {
	struct offwaketime_bpf *bpf;
	struct session session;
	struct symbols kernel;
	struct processes processes;
	struct alive named;                 /* the processes of -p */
	struct intern stacks;               /* each a struct stacks with its frames */
	struct total *totals;               /* of the stacks of this number */
	uint64_t num_left_out, ns_left_out; /* when there were too many stacks */
};

/* A session_is_over: nothing more comes of processes that have ended. */
static bool is_over(void *context)
{
	struct recording *r = context;

	if (!alive_none(&r->named))
		return false;
	cli_note("%s", r->named.n == 1 ? "the process has ended" : "the processes have ended");
	return true;
}

/* A session_is_over, when the recording is over. */
static bool is_empty(void *context)
{
	(void)context;
	return false;
}

/* Returns 0, or -1 having said which process or thread is not there. */
static int find_named(struct recording *r)
{
	_Static_assert((int)MAX_IDS <= (int)ALIVE_MAX, "all processes of -p");

	for (size_t i = 0; i < MAX_IDS && opt.pids[i]; i++)
		if (alive_add(&r->named, opt.pids[i]) != 0)
			return -1;
	for (size_t i = 0; i < MAX_IDS && opt.tids[i]; i++)
		if (kill(opt.tids[i], 0) != 0 && errno == ESRCH) {
			warnx("thread %u: there is none", opt.tids[i]);
			return -1;
		}
	return 0;
}

/* Whether the event is as long as it says. */
static bool is_sound(const struct event *e, size_t size)
{
	size_t n = 0;

	if (size < sizeof(*e))
		return false;
	for (int i = 0; i < NUM_STACKS; i++)
		n += e->stacks.depth[i];
	return size == sizeof(*e) + n * sizeof(uint64_t);
}

/* Makes sure that the addresses can be named later. Returns 0, or -1 without memory. */
static int look_at_processes(struct recording *r, struct total *t, const struct stacks *e)
{
	const uint64_t *frames = print_frames(e);
	unsigned before = e->depth[TARGET_USER] + e->depth[TARGET_KERNEL] + e->depth[WAKER_KERNEL];
	int target = processes_look(&r->processes, &e->target, frames, e->depth[TARGET_USER]);
	int waker = processes_look(&r->processes, &e->waker, frames + before, e->depth[WAKER_USER]);

	t->is_looked_up = target > 0 && waker > 0;
	return target < 0 || waker < 0 ? -1 : 0;
}

static int add(struct recording *r, const struct event *e, size_t size)
{
	const size_t before = offsetof(struct event, stacks);
	struct slice key = {(const char *)e + before, size - before};
	uint32_t index = intern_get(&r->stacks, key);
	struct total *t;

	if (index == MAP_NONE && r->stacks.n == opt.stacks) {
		r->num_left_out++;
		r->ns_left_out += e->ns;
		return 0;
	}
	if (index == MAP_NONE)
		index = intern_add(&r->stacks, key);
	if (index == MAP_NONE)
		return -1;
	t = &r->totals[index];
	t->ns += e->ns;
	t->count++;
	return t->is_looked_up ? 0 : look_at_processes(r, t, &e->stacks);
}

/* Takes an event out of the ring. */
static int on_event(void *context, void *data, size_t size)
{
	struct recording *r = context;

	if (!is_sound(data, size)) {
		warnx("an event is damaged");
		r->session.failed = true;
		return -1;
	}
	if (add(r, data, size) != 0) {
		warn(NULL);
		r->session.failed = true;
		return -1;
	}
	return session_count(&r->session);
}

static int load(struct offwaketime_bpf *bpf)
{
	uint32_t size = session_ring_size(opt.buffer);

	if (session_pid_ns(&bpf->rodata->pid_ns) != 0)
		return -1;
	bpf->rodata->watermark = size / 4;
	memcpy((void *)bpf->rodata->only_pids, opt.pids, sizeof(opt.pids));
	memcpy((void *)bpf->rodata->only_tids, opt.tids, sizeof(opt.tids));
	bpf->rodata->states = opt.states;
	bpf->rodata->only_user_threads = opt.user_threads;
	bpf->rodata->only_kernel_threads = opt.kernel_threads;
	bpf->rodata->no_user_stacks = opt.kernel_stacks;
	bpf->rodata->no_kernel_stacks = opt.user_stacks;
	bpf->rodata->least = opt.least * 1000;
	bpf->rodata->most = opt.most * 1000;
	bpf_map__set_max_entries(bpf->maps.events, size);
	if (offwaketime_bpf__load(bpf) != 0)
		session_cannot_load(size, "--buffer", "Linux 5.13");
	else if (session_has_variables(bpf->bss, bpf->rodata))
		return 0;
	return -1;
}

/* Begins to record. Returns 0, or -1 having said what is wrong. */
static int begin(struct recording *r)
{
	r->totals = calloc(opt.stacks, sizeof(*r->totals));
	if (!r->totals) {
		warn("room for %" PRIu64 " stacks", opt.stacks);
		return -1;
	}
	session_libbpf(opt.verbose);
	r->bpf = offwaketime_bpf__open();
	if (!r->bpf) {
		warn("BPF program");
		return -1;
	}
	if (load(r->bpf) != 0)
		return -1;
	/* the program's own functions are known now */
	if (!opt.user_stacks && symbols_read(&r->kernel) != 0)
		warn("/proc/kallsyms: functions of the kernel have no names; sysctl kernel.kptr_restrict, or CAP_SYSLOG, may change that");
	r->session.ring = ring_buffer__new(bpf_map__fd(r->bpf->maps.events), on_event, r, NULL);
	if (!r->session.ring) {
		warn("ring buffer");
		return -1;
	}
	r->session.wakeup = &r->bpf->bss->wakeup;
	if (offwaketime_bpf__attach(r->bpf) == 0)
		return 0;
	warn("cannot attach to the tracepoints of the scheduler; -v shows more");
	return -1;
}

static int by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Prints what was recorded, the least time first. */
static void print(struct recording *r)
{
	struct printer p = {&r->session.out, &r->kernel, &r->processes, opt.delimited};

	for (uint32_t i = 0; i < r->stacks.n; i++)
		r->totals[i].stacks = (const void *)r->stacks.all[i].p;
	qsort(r->totals, r->stacks.n, sizeof(*r->totals), by_time);
	for (uint32_t i = 0; i < r->stacks.n && !r->session.out.error; i++)
		(opt.json ? print_json : opt.folded ? print_folded : print_text)(&p, &r->totals[i]);
}

/* Says what the lines do not. Returns whether nothing was lost. */
static bool report(const struct recording *r)
{
	uint64_t lost = r->bpf->bss->lost, unnoted = r->bpf->bss->num_unnoted;
	uint64_t skipped = r->bpf->bss->num_skipped, missed = session_missed(r->bpf->obj);

	processes_report(&r->processes);
	if (!r->stacks.n && !lost)
		cli_note("no thread was blocked: nothing to print");
	if (lost)
		warnx("lost %" PRIu64
		      " times of %.3f ms in all for which there was no room; --buffer takes a larger size",
		      lost, r->bpf->bss->lost_ns / 1e6);
	if (r->num_left_out)
		warnx("%.3f ms of %" PRIu64
		      " times are not attributed: there were more than %" PRIu64
		      " stacks; --stack-storage-size takes more",
		      r->ns_left_out / 1e6, r->num_left_out, opt.stacks);
	if (unnoted)
		warnx("%" PRIu64
		      " times are not attributed: the kernel had no memory to note their begin",
		      unnoted);
	if (skipped)
		warnx("the kernel has left out %" PRIu64
		      " switches of these threads: the times that began or ended there are missing",
		      skipped);
	if (missed)
		warnx("missed %" PRIu64
		      " switches or wake-ups, in interrupts: times or wakers are missing",
		      missed);
	return !lost && !r->num_left_out && !unnoted && !skipped && !missed;
}

static const char help[] =
	"Usage: %s [OPTION]... [SECONDS]\n"
	"Add up how long threads were blocked, by the stack in which they were and the stack of who woke them; for\n"
	"SECONDS, or until control-C, and print it then.\n"
	"\n"
	"  -p, --pid PID[,PID]... only threads of these processes\n"
	"  -t, --tid TID[,TID]... only these threads\n"
	"  -u, --user-threads     no threads of the kernel\n"
	"  -k, --kernel-threads   only threads of the kernel\n"
	"  -U, --user-stacks      no stacks of the kernel\n"
	"  -K, --kernel-stacks    no stacks of processes\n"
	"  -f, --folded           a line for each, as flamegraph.pl reads it\n"
	"  -d, --delimited        put a mark between stacks of the kernel and of the process\n"
	"  -j, --json             a JSON line for each\n"
	"  -m, --min-block-time US\n"
	"                         only times of so many microseconds or more; 1 without it\n"
	"  -M, --max-block-time US\n"
	"                         only times of so many microseconds or less\n"
	"      --state BITS       only in these states of the kernel: 1 interruptible, 2 not, 3 both; 0: pushed off\n"
	"  -o, --output FILE      write to FILE\n"
	"      --stack-storage-size N\n"
	"                         keep so many different stacks; 16384 without it\n"
	"      --buffer SIZE      room for stacks on their way: bytes, or with K, M or G; 16M without it\n"
	"  -q, --quiet            no notes\n"
	"  -v, --verbose          show what the kernel says of the BPF program\n"
	"  -h, --help             this text\n"
	"  -V, --version          the version\n"
	"\n"
	"Examples:\n"
	"  offwaketime -p $(pidof nvmf_tgt) 10\n"
	"  offwaketime -f 30 | flamegraph.pl --color=chain --countname=us > blocked.svg\n";

/* Numbers with commas between them. */
static void parse_ids(const char *option, char *text, uint32_t ids[MAX_IDS])
{
	size_t n = 0;
	char *id;

	while ((id = strsep(&text, ","))) {
		if (n == MAX_IDS)
			cli_usage("%s: more than %d are too many", option, MAX_IDS);
		ids[n++] = cli_count(option, id);
	}
}

static uint32_t parse_state(const char *text)
{
	uint64_t state;

	if (!number_decimal(slice_of(text), &state) || state > UINT32_MAX)
		cli_usage("--state '%s': a sum of the kernel's task states is expected, such as 2",
			  text);
	return state;
}

/* Options without a letter. */
enum { STACK_STORAGE = 256, BUFFER_SIZE, STATE };

static const struct option options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"tid", required_argument, NULL, 't'},
	{"user-threads", no_argument, NULL, 'u'},
	{"kernel-threads", no_argument, NULL, 'k'},
	{"user-stacks", no_argument, NULL, 'U'},
	{"kernel-stacks", no_argument, NULL, 'K'},
	{"folded", no_argument, NULL, 'f'},
	{"delimited", no_argument, NULL, 'd'},
	{"json", no_argument, NULL, 'j'},
	{"min-block-time", required_argument, NULL, 'm'},
	{"max-block-time", required_argument, NULL, 'M'},
	{"state", required_argument, NULL, STATE},
	{"output", required_argument, NULL, 'o'},
	{"stack-storage-size", required_argument, NULL, STACK_STORAGE},
	{"buffer", required_argument, NULL, BUFFER_SIZE},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{}};

/* What makes no sense together. */
static void check_options(void)
{
	if (opt.user_threads && opt.kernel_threads)
		cli_usage("-u and -k leave no threads");
	if (opt.user_stacks && opt.kernel_stacks)
		cli_usage("-U and -K leave no stacks");
	if (opt.json && opt.folded)
		cli_usage("-j and -f are two forms of output");
	if (opt.most < opt.least)
		cli_usage("-M is less than -m");
}

static void parse_options(int argc, char **argv, const char **output)
{
	int c;

	while ((c = getopt_long(argc, argv, "p:t:ukUKfdjm:M:o:qvhV", options, NULL)) != -1)
		switch (c) {
		case 'p':
			parse_ids("-p", optarg, opt.pids);
			break;
		case 't':
			parse_ids("-t", optarg, opt.tids);
			break;
		case 'u':
			opt.user_threads = true;
			break;
		case 'k':
			opt.kernel_threads = true;
			break;
		case 'U':
			opt.user_stacks = true;
			break;
		case 'K':
			opt.kernel_stacks = true;
			break;
		case 'f':
			opt.folded = true;
			break;
		case 'd':
			opt.delimited = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'm':
			opt.least = cli_count("-m", optarg);
			break;
		case 'M':
			opt.most = cli_count("-M", optarg);
			break;
		case 'o':
			*output = optarg;
			break;
		case STATE:
			opt.states = parse_state(optarg);
			break;
		case STACK_STORAGE:
			opt.stacks = cli_count("--stack-storage-size", optarg);
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
	if (argc - optind > 1)
		cli_usage("a number of seconds is expected, not %d operands", argc - optind);
	if (optind < argc)
		opt.seconds = cli_count("SECONDS", argv[optind]);
	check_options();
}

static void end(struct recording *r)
{
	ring_buffer__free(r->session.ring);
	offwaketime_bpf__destroy(r->bpf);
	processes_free(&r->processes);
	symbols_free(&r->kernel);
	intern_free(&r->stacks);
	free(r->totals);
}

int main(int argc, char **argv)
{
	const char *output = NULL;
	struct recording r = {};
	int status = EXIT_SUCCESS;

	parse_options(argc, argv, &output);
	if (find_named(&r) != 0)
		return EXIT_FAILURE;
	session_catch_signals();
	if (privilege_check_ids() != 0 || privilege_check() != 0 ||
	    session_open(&r.session, output) != 0 || begin(&r) != 0)
		return EXIT_FAILURE;
	if (privilege_drop(true) != 0)
		return EXIT_FAILURE;
	if (opt.seconds)
		session_end_after(&r.session, opt.seconds);
	cli_note("adding up blocked time");
	session_run(&r.session, is_over, &r);
	offwaketime_bpf__detach(r.bpf);
	session_finish(&r.session, is_empty, &r);
	print(&r);
	if (!report(&r) || r.session.failed)
		status = EXIT_FAILURE;
	status = session_close(&r.session, status);
	end(&r);
	return status;
}
