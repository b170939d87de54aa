/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "followers.h"
#include "io.h"
#include "output.h"
#include "privilege.h"
#include "proc.h"
#include "signals.h"
#include "utf8.h"
#include "bpf/wakeup.h"

enum {
	BATCH = 4096,   /* events of a round, after which signals and the clock are checked */
	BATCH_MS = 5,   /* for events to collect, while there are any */
	IDLE_MS = 100,  /* bounds the delay of an event that raced with setting *wakeup */
	DRAIN_MS = 500, /* to drain the ring if the program is still attached */
	/* between two sweeps of the followed processes, and when recording ends with the last of them */
	SWEEP_MS = 1000,
	LAST_SWEEP_MS = 20,
	PREEMPTED_SINCE = 7, /* the version of Linux from which on programs at tracepoints may be preempted */
};

/* A terminal sends SIGINT to the command as well. When the command exits, recording ends. */
static void handle_signal(struct recorder *r)
{
	int number = signals_consume();

	if (!number)
		return;
	if (r->command.pid <= 0)
		r->is_over = true;
	else if (number != SIGINT)
		kill(r->command.pid, number);
}

static int watch_processes(struct recorder *r)
{
	r->pid = r->options.pids[0];
	for (; r->num_alive < RECORDER_PIDS && r->options.pids[r->num_alive]; r->num_alive++) {
		pid_t pid = r->options.pids[r->num_alive];
		int fd = syscall(SYS_pidfd_open, pid, 0);

		if (fd < 0 && errno == ESRCH)
			warnx("process %d: does not exist", pid);
		else if (fd < 0 && (errno == EINVAL || errno == ENOENT))
			warnx("process %d: a thread of another process", pid);
		else if (fd < 0)
			warn("process %d", pid);
		if (fd < 0)
			return -1;
		r->processes[r->num_alive] = fd;
	}
	return 0;
}

/* Reads the name of a process, and whether it is a thread of the kernel: proc(5), stat. */
static bool read_process(pid_t pid, char name[64], bool *is_kernels)
{
	enum { PF_KTHREAD = 0x00200000 };
	char line[256], *start, *end;
	const char *flags;

	proc_read(line, sizeof(line), "/proc/%d/stat", pid);
	start = strchr(line, '(');
	end = strrchr(line, ')');
	flags = proc_field(line, 9);
	if (!start || !flags)
		return false;
	*is_kernels = strtoul(flags, NULL, 10) & PF_KTHREAD;
	snprintf(name, 64, "%.*s", (int)(end - start - 1), start + 1);
	return true;
}

/* An id that is missing before a duration makes the duration an id, which often is one of the kernel's threads. */
static int check_processes(const struct recorder *r)
{
	char name[64];
	bool is_kernels;

	for (int i = 0; i < RECORDER_PIDS && r->options.pids[i] && !r->tool->kernel_threads; i++)
		if (read_process(r->options.pids[i], name, &is_kernels) && is_kernels) {
			warnx("process %d (%s): a thread of the kernel: is the id of the process missing?",
			      r->options.pids[i], name);
			return -1;
		}
	return 0;
}

void recorder_note_start(const struct recorder *r, const char *what, const char *name)
{
	const struct recorder_options *options = &r->options;
	unsigned others = r->num_alive > 1 ? r->num_alive - 1 : 0;
	char comm[64], pid[24] = "", and[32] = "", until[64] = " until Ctrl-C", *visible;
	bool is_kernels;

	if (r->pid && !name && read_process(r->pid, comm, &is_kernels))
		name = comm;
	visible = utf8_visible_copy(name ? name : "");
	if (r->pid)
		snprintf(pid, sizeof(pid), " (%d)", r->pid);
	if (others)
		snprintf(and, sizeof(and), " and %u other%s", others, others == 1 ? "" : "s");
	if (options->duration_ns)
		snprintf(until, sizeof(until), " for %g s", options->duration_ns / 1e9);
	else if (r->pid)
		snprintf(until, sizeof(until), " until %s or Ctrl-C", others ? "they end" : "it ends");
	cli_notice(options->quiet, "%s%s%s%s%s%s", what, *visible ? " " : "", visible, pid, and, until);
	free(visible);
}

/* What libbpf warned of, with the kernel's log. It is printed only after a failure: some warnings are of none. */
static struct out warned = {.fd = OUT_MEMORY};

static int keep_warning(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	out_text(&warned, text);
	free(text);
	return 0;
}

/* Prints its end, in which the reason is: a log may have millions of lines. */
static void print_warned(void)
{
	enum { MOST = 4096 };
	struct slice text = out_contents(&warned);

	if (text.n > MOST) {
		text = slice_from(text, text.n - MOST);
		slice_cut_line(&text);
	}
	fwrite(text.p, 1, text.n, stderr);
}

/* A ring buffer has a power of two of pages. */
static uint32_t ring_size(uint32_t wanted)
{
	uint32_t size = sysconf(_SC_PAGESIZE);

	while (size < wanted && size < 1U << 31)
		size *= 2;
	return size;
}

/* Whether that is why libbpf has failed, which often gives another error then; prints a message if so. */
static bool lacks_descriptors(void)
{
	enum { ENOUGH = 64 };
	bool lacks = errno == EMFILE || errno == ENFILE;
	struct rlimit limit = {};
	int error = errno;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < ENOUGH)
		lacks = true;
	if (lacks)
		warnx("too many open files for a BPF program: %ju may be open; raise that with ulimit -n",
		      (uintmax_t)limit.rlim_cur);
	errno = error;
	return lacks;
}

int recorder_not_opened(void)
{
	if (!lacks_descriptors())
		warn("BPF program");
	return -1;
}

static void explain_refusal(const struct recorder *r, uint32_t size)
{
	if (lacks_descriptors())
		return;
	if (errno == ENOMEM) {
		warn("a ring buffer of %" PRIu32 " bytes; use a smaller --buffer", size);
	} else if (access("/sys/kernel", F_OK) != 0) {
		warnx("/sys is not mounted here, in which the kernel describes its types to a BPF program; "
		      "mount -t sysfs sysfs /sys");
	} else {
		warn("the kernel refuses the BPF program: it needs BTF and %s or newer, and is tested from Linux 6.1 "
		     "on",
		     r->tool->kernel);
		print_warned();
	}
}

static bool has_variables(const struct bpf_object_skeleton *s)
{
	for (int i = 0; i < s->map_cnt; i++) {
		/* an older bpftool generates elements that are smaller than the struct */
		const struct bpf_map_skeleton *map = (const void *)((const char *)s->maps + i * s->map_skel_sz);

		if (map->mmaped && !*map->mmaped) {
			warnx("the kernel does not let the variables of the BPF program be mapped");
			return false;
		}
	}
	return true;
}

static int on_event(void *context, void *event, size_t size)
{
	struct recorder *r = context;

	if (r->tool->full && r->tool->full(r->context))
		return -1;
	if (!r->tool->event(r->context, event, size)) {
		warnx("an event is damaged");
		r->failed = true;
		return -1;
	}
	/* handling events may take long: a signal must not wait for all of them */
	return ++r->batch == BATCH || signals_caught() ? -1 : 0;
}

static int load(struct recorder *r)
{
	struct recorder_program *p = &r->program;
	uint32_t size = ring_size(r->options.buffer);
	struct bpf_map *events;
	struct stat ns;

	libbpf_set_print(keep_warning);
	if (stat("/proc/self/ns/pid", &ns) != 0) {
		warn("/proc/self/ns/pid");
		return -1;
	}
	if (r->tool->open(r->context, p) != 0)
		return -1;
	events = bpf_object__find_map_by_name(*p->skeleton->obj, "events");
	*p->pid_ns = ns.st_ino;
	*p->watermark = size / 4;
	bpf_map__set_max_entries(events, size);
	if (bpf_object__load_skeleton(p->skeleton) != 0) {
		explain_refusal(r, size);
		return -1;
	}
	if (!has_variables(p->skeleton))
		return -1;
	r->ring = ring_buffer__new(bpf_map__fd(events), on_event, r, NULL);
	if (r->ring)
		return 0;
	warn("ring buffer");
	return -1;
}

int recorder_attach(struct recorder *r)
{
	if (bpf_object__attach_skeleton(r->program.skeleton) == 0)
		return 0;
	warn("cannot attach to %s", r->tool->hooks);
	print_warned();
	return -1;
}

/* From the capabilities until they are dropped; the command is started, and held. Returns 0, or -1 after a message. */
static int prepare(struct recorder *r)
{
	const struct recorder_tool *tool = r->tool;

	if (privilege_check(tool->needs_ptrace) != 0)
		return -1;
	if (tool->find && tool->find(r->context) != 0)
		return -1;
	/* before a command is started: opening a pipe waits for its reader */
	if (output_open(&r->out, r->options.output, r->options.quiet) != 0)
		return -1;
	if (r->options.command) {
		if (command_start(&r->command) != 0) {
			warn("%s", r->command.path);
			return -1;
		}
		r->options.pids[0] = r->command.pid;
	}
	/* before the program is opened, which gets the first process */
	if (watch_processes(r) != 0 || check_processes(r) != 0)
		return -1;
	if (load(r) != 0)
		return -1;
	if ((tool->attach ? tool->attach(r->context) : recorder_attach(r)) != 0)
		return -1;
	return privilege_drop(r->keep, r->options.command);
}

/* Until signals are caught, one kills the tool, and a held command exits. Returns 0, or the exit status. */
static int start(struct recorder *r)
{
	char **command = r->options.command;

	if (privilege_check_ids(r->tool->needs_ptrace) != 0)
		return EXIT_FAILURE;
	if (command && command_find(&r->command, command) != 0)
		return command_cannot_run(command[0]);
	if (prepare(r) != 0)
		return EXIT_FAILURE;
	/* only now: the command has the user's dispositions, and exits if the tool is killed before */
	signals_catch(NULL);
	/* the tool must still wait for the command; each write handles EPIPE */
	signal(SIGPIPE, SIG_IGN);
	if (r->options.duration_ns)
		r->deadline = clock_ms() + (r->options.duration_ns + 999999) / 1000000;
	/* the command has not run yet, and exits with the tool */
	if (command && signals_caught())
		return 128 + signals_caught();
	if (command && command_release(&r->command) != 0)
		return command_cannot_run(r->command.path);
	if (r->tool->started)
		r->tool->started(r->context);
	return 0;
}

/* From now on a signal ends the recording of what the command left running. */
static void note_end(struct recorder *r)
{
	const struct recorder_options *options = &r->options;

	if (r->command.pid > 0)
		r->command_status = command_wait(&r->command);
	r->command.pid = 0;
	r->next_sweep = 0;
	if (options->command && r->tool->command_ended)
		r->tool->command_ended(r->context);
	if (options->command)
		return;
	if (options->pids[1])
		cli_notice(options->quiet, "the processes have ended");
	else
		cli_notice(options->quiet, "process %d has ended", options->pids[0]);
}

static void note_ended(struct recorder *r, const struct pollfd fds[RECORDER_PIDS])
{
	for (int i = 0; i < RECORDER_PIDS; i++) {
		if (r->processes[i] < 0 || !fds[i].revents)
			continue;
		io_close(&r->processes[i]);
		if (--r->num_alive == 0)
			note_end(r);
	}
}

/* Waits until there is something to do. */
static void wait_for_events(struct recorder *r, int ms)
{
	struct pollfd fds[2 + RECORDER_PIDS] = {{ring_buffer__epoll_fd(r->ring), POLLIN, 0}, {r->out.fd, 0, 0}};
	uint64_t now = r->deadline ? clock_ms() : 0;

	for (int i = 0; i < RECORDER_PIDS; i++)
		fds[2 + i] = (struct pollfd){r->processes[i], POLLIN, 0};
	if (r->deadline && now >= r->deadline) {
		r->is_over = true;
		return;
	}
	if (r->deadline && r->deadline - now < (uint64_t)ms)
		ms = r->deadline - now;
	if (signals_poll(fds, 2 + RECORDER_PIDS, ms) >= 0) {
		note_ended(r, fds + 2);
		/* the reader has gone away: no message, but the exit status of a failed write */
		r->failed |= fds[1].revents != 0;
	} else if (errno != EINTR) {
		warn("poll");
		r->failed = true;
	}
	handle_signal(r);
}

static bool is_full(const struct recorder *r)
{
	return r->failed || r->out.error || (r->tool->full && r->tool->full(r->context));
}

static uint64_t misses(struct recorder *r, const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
		return info.recursion_misses;
	if (!r->misses_unknown)
		warn("it is unknown how often the kernel skipped the BPF program");
	r->misses_unknown = r->failed = true;
	return 0;
}

/* Copy n of a program is called PROGRAM_n. Returns NULL if there is none. */
static struct bpf_program *copy_of(const struct bpf_object *object, const struct bpf_program *program, int n)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%d", bpf_program__name(program), n);
	return bpf_object__find_program_by_name(object, name);
}

uint64_t recorder_missed_by(struct recorder *r, const struct bpf_program *program, uint64_t most)
{
	const struct bpf_program *copy = program;

	if (bpf_program__fd(program) < 0)
		return 0;
	for (int n = 1; copy && bpf_program__fd(copy) >= 0; n++) {
		uint64_t missed = misses(r, copy);

		most = missed < most ? missed : most;
		copy = copy_of(*r->program.skeleton->obj, program, n);
	}
	return most;
}

uint64_t recorder_largest(const __u64 *counts, size_t n)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = counts[i] > largest ? counts[i] : largest;
	return largest;
}

/* Whether processes may have ended unseen. A full sweep needs a reason: it makes the kernel skip perf events. */
static bool needs_full_sweep(struct recorder *r, uint64_t now)
{
	uint64_t skipped = recorder_missed_by(r, r->program.on_exit, UINT64_MAX);
	bool needed = skipped != r->skipped_exits || (r->pid && !r->num_alive && now >= r->next_full);

	r->skipped_exits = skipped;
	if (needed)
		r->next_full = now + SWEEP_MS;
	return needed;
}

static void sweep(struct recorder *r)
{
	uint64_t now = clock_ms();
	int map;

	if (!r->program.followed || now < r->next_sweep)
		return;
	map = bpf_map__fd(r->program.followed);
	r->num_followed = needs_full_sweep(r, now) ? followers_sweep(map) : followers_left(map);
	if (r->num_followed < 0) {
		warn("the followed processes");
		r->failed = true;
	}
	r->next_sweep = now + (r->pid && !r->num_alive ? LAST_SWEEP_MS : SWEEP_MS);
}

static bool has_ended(const struct recorder *r)
{
	return r->pid && !r->num_alive && !r->num_followed;
}

static void wake(const struct recorder *r, enum wakeup when)
{
	__atomic_store_n(r->program.wakeup, when, __ATOMIC_SEQ_CST);
}

static void read_events(struct recorder *r)
{
	r->batch = 0;
	/* the events in the ring are then between two readings */
	if (r->ticks.last.ns)
		ticks_renew(&r->ticks);
	ring_buffer__consume(r->ring);
	if (r->tool->between)
		r->tool->between(r->context);
}

/* Reads in batches while events come, so that probes need not wake the reader. */
static void record(struct recorder *r)
{
	wake(r, WAKE_NOW);
	while (!r->is_over && !is_full(r) && !has_ended(r)) {
		int ms = 0;

		read_events(r);
		if (r->batch < BATCH) {
			out_flush(&r->out);
			wake(r, r->batch ? WAKE_AT_WATERMARK : WAKE_NOW);
			ms = r->batch ? BATCH_MS : IDLE_MS;
		}
		wait_for_events(r, ms);
		sweep(r);
	}
}

/* Detaches, and drains the ring. */
static void stop(struct recorder *r)
{
	uint64_t until = 0;

	if (!r->tool->detach)
		bpf_object__detach_skeleton(r->program.skeleton);
	else if (r->tool->detach(r->context) != 0)
		until = clock_ms() + DRAIN_MS;
	do {
		handle_signal(r);
		read_events(r);
	} while (r->batch && !is_full(r) && (!until || clock_ms() < until));
	r->failed |= until != 0;
}

static void wait_for_command(struct recorder *r)
{
	struct pollfd process = {r->processes[0], POLLIN, 0};

	while (r->command.pid > 0) {
		int ready = signals_poll(&process, 1, IDLE_MS);

		handle_signal(r);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			note_end(r);
	}
}

/* Reports changes of the clocks that make the times of lines wrong. */
static void report_clocks(struct recorder *r)
{
	uint64_t jumps, steps;

	ticks_renew(&r->ticks);
	jumps = r->ticks.jumps;
	steps = r->options.wall ? r->ticks.steps : 0;
	recorder_loss(r, LOST_PARTIAL, jumps,
		      "the processor's counter jumped %" PRIu64
		      " time{|s}, as when the machine sleeps: tsc of lines before is wrong",
		      jumps);
	cli_count(r->options.quiet, steps,
		  "the time of day was set %" PRIu64 " time{|s}, or the machine slept: it may be wrong shortly before",
		  steps);
}

/* The last line. */
static void write_losses(struct recorder *r)
{
	if (r->failed)
		return;
	if (r->tool->prints_probes) {
		lost_probe_line(&r->lost, &r->out);
	} else if (r->stamp) {
		stamp_json(r->stamp, &r->out, clock_ns());
		lost_trace_line(&r->lost, &r->out, program_invocation_short_name);
	}
}

int recorder_run(struct recorder *r, const struct recorder_tool *tool, const struct recorder_options *options,
		 void *context)
{
	int status;

	*r = (struct recorder){.options = *options, .tool = tool, .context = context};
	for (int i = 0; i < RECORDER_PIDS; i++)
		r->processes[i] = -1;
	status = start(r);
	if (status == 0) {
		record(r);
		stop(r);
		if (tool->finish)
			tool->finish(context);
		report_clocks(r);
		write_losses(r);
		status = output_close(&r->out, r->options.output);
		if (r->failed || !lost_none(&r->lost))
			status = EXIT_FAILURE;
		wait_for_command(r);
	}
	free(r->out.buf);
	ring_buffer__free(r->ring);
	free(r->command.path);
	return r->command_status ? r->command_status : status;
}

void recorder_loss(struct recorder *r, enum lost_kind kind, uint64_t n, const char *format, ...)
{
	va_list args;
	char *message;

	if (!n)
		return;
	message = cli_counted(n, format);
	va_start(args, format);
	vwarnx(message, args);
	va_end(args);
	free(message);
	r->lost.n[kind] += n;
}

struct ticks *recorder_ticks(struct recorder *r, const char *instead)
{
	const char *wrong = ticks_start(&r->ticks);

	if (!wrong)
		return &r->ticks;
	if (errno) {
		warn("%s", wrong);
		r->failed = true;
	}
	cli_notice(r->options.quiet, "%s: %s", instead, wrong);
	return NULL;
}

void recorder_stamp(struct recorder *r, struct stamp *s, bool trace_lines)
{
	if (trace_lines) {
		r->stamp = s;
		s->ticks = recorder_ticks(r, "tsc is in nanoseconds of CLOCK_MONOTONIC, not as in traces of SPDK");
	}
	if (r->options.wall)
		s->wall = &r->ticks;
}

bool recorder_is_preempted(void)
{
	struct utsname name;

	return uname(&name) == 0 && atoi(name.release) >= PREEMPTED_SINCE;
}

bool recorder_load_copies(struct bpf_object *object)
{
	struct bpf_program *program, *copy;

	if (!recorder_is_preempted())
		return false;
	bpf_object__for_each_program(program, object) for (int n = 1; (copy = copy_of(object, program, n)); n++)
		bpf_program__set_autoload(copy, bpf_program__autoload(program));
	return true;
}

uint64_t recorder_missed(struct recorder *r)
{
	const struct bpf_object *object = *r->program.skeleton->obj;
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, object) missed += misses(r, program);
	return missed;
}

int recorder_tracepoint(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	int id, arguments = -1;
	char alias[64];

	/* a pointer to a function, whose first argument is the program's own */
	snprintf(alias, sizeof(alias), "btf_trace_%s", name);
	id = btf ? btf__find_by_name_kind(btf, alias, BTF_KIND_TYPEDEF) : -1;
	type = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, id)->type) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (type && btf_is_func_proto(type))
		arguments = btf_vlen(type) - 1;
	btf__free(btf);
	return arguments;
}

static int open_iterator(struct bpf_program *program, const struct bpf_iter_attach_opts *options)
{
	struct bpf_link *link = bpf_program__attach_iter(program, options);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, error = errno;

	bpf_link__destroy(link);
	errno = error;
	return fd < 0 ? -1 : fd;
}

int recorder_open_iterator(struct bpf_program *program)
{
	return open_iterator(program, NULL);
}

int recorder_open_map_iterator(struct bpf_program *program, const struct bpf_map *map)
{
	union bpf_iter_link_info info = {.map.map_fd = bpf_map__fd(map)};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));

	return open_iterator(program, &options);
}

int recorder_run_iterator(int fd)
{
	char nothing;
	ssize_t n;
	int error;

	if (fd < 0)
		return -1;
	n = io_read(fd, &nothing, sizeof(nothing));
	error = errno;
	close(fd);
	errno = error;
	return n < 0 ? -1 : 0;
}

bool recorder_is_before(unsigned major, unsigned minor)
{
	const char *as = secure_getenv("AS_LINUX");
	unsigned a, b;

	return as && sscanf(as, "%u.%u", &a, &b) == 2 && (a < major || (a == major && b < minor));
}
