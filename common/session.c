/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "wakeup.h"

enum {
	/* events between two looks at signals and the clock */
	BATCH = 4096,
	/* milliseconds that a busy probe has to collect events before they are taken out */
	COLLECT = 5,
	/* milliseconds after which an event is seen that came while the wish to be woken was on its way */
	IDLE = 100,
};

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	if (number != SIGPIPE)
		caught = number;
}

/*
 * Those that are ignored stay so, as nohup wants it. A reader that goes away is an error of writing, not a
 * signal: a command has to be waited for. A command gets no handlers.
 */
void session_catch_signals(void)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction action = {.sa_handler = on_signal}, old;

		action.sa_flags = signals[i] == SIGPIPE ? 0 : SA_RESETHAND;
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* A file that others may have put there beforehand, as a link to another one, is not written to as root. */
static int open_output(const char *output)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, fd;

	if (!output) {
		if (fcntl(STDOUT_FILENO, F_GETFD) >= 0)
			return STDOUT_FILENO;
		warn("<stdout>");
		return -1;
	}
	fd = open(output, flags | (geteuid() == 0 ? O_NOFOLLOW : 0), 0666);
	if (fd < 0 && errno == ELOOP)
		warnx("%s: a symbolic link, which root does not follow here: name the file itself",
		      output);
	else if (fd < 0)
		warn("%s", output);
	return fd;
}

int session_open(struct session *s, const char *output)
{
	int fd;

	s->output = output && strcmp(output, "-") != 0 ? output : NULL;
	s->process = -1;
	fd = open_output(s->output);
	if (fd < 0)
		return -1;
	out_open(&s->out, fd);
	return 0;
}

int session_watch(struct session *s, pid_t pid)
{
	s->process = syscall(SYS_pidfd_open, pid, 0);
	s->watches = true;
	if (s->process >= 0)
		return 0;
	warn("process %d", pid);
	return -1;
}

bool session_has_ended(const struct session *s)
{
	return s->watches && s->process < 0;
}

void session_end_after(struct session *s, uint64_t seconds)
{
	s->deadline = clock_ms() + seconds * 1000;
}

int session_count(struct session *s)
{
	/* handling an event may take long: a signal is not to wait for those after it */
	return ++s->batch == BATCH || caught ? -1 : 0;
}

/* What goes on after a command can only be ended by a signal to the recorder. */
static void note_end(struct session *s)
{
	s->process = -1;
	s->child = 0;
}

/*
 * Returns whether a signal ends the recording. A command ends it, when it is told to end: a terminal sends
 * SIGINT to the command as well, the others are passed on.
 */
static bool take_signal(const struct session *s)
{
	int number = caught;

	caught = 0;
	if (number && s->child && number != SIGINT)
		kill(s->child, number);
	return number && !s->child;
}

/* Waits until there is something to do. Returns whether the recording ends. */
static bool wait_for_events(struct session *s, int timeout)
{
	struct pollfd fds[] = {{ring_buffer__epoll_fd(s->ring), POLLIN, 0},
			       {s->process, POLLIN, 0},
			       {s->out.fd, 0, 0}};
	uint64_t t = s->deadline ? clock_ms() : 0;

	if (s->deadline && t >= s->deadline)
		return true;
	if (s->deadline && s->deadline - t < (uint64_t)timeout)
		timeout = s->deadline - t;
	if (poll(fds, sizeof(fds) / sizeof(*fds), timeout) < 0 && errno != EINTR) {
		warn("poll");
		s->failed = true;
		return true;
	}
	if (fds[1].revents)
		note_end(s);
	/* its reader has gone: there is nobody to tell, and the status is as if a write had failed */
	if (fds[2].revents)
		s->failed = true;
	/* one that came just before poll(2) waits for its time-out */
	return take_signal(s);
}

static void wake(const struct session *s, enum wakeup when)
{
	__atomic_store_n(s->wakeup, when, __ATOMIC_SEQ_CST);
}

/*
 * While events come they are taken out a few at a time, which costs the probes no wake-ups; when none came
 * the next one wakes.
 */
void session_run(struct session *s, session_is_over *is_over, void *context)
{
	bool over = false;

	wake(s, WAKE_NOW);
	while (!over && !s->failed && !s->out.error && !is_over(context)) {
		int timeout = 0;

		s->batch = 0;
		ring_buffer__consume(s->ring);
		if (s->between)
			s->between(context);
		if (s->batch < BATCH) {
			out_flush(&s->out);
			wake(s, s->batch ? WAKE_AT_WATERMARK : WAKE_NOW);
			timeout = s->batch ? COLLECT : IDLE;
		}
		over = wait_for_events(s, timeout);
	}
}

void session_finish(struct session *s, session_is_over *is_over, void *context)
{
	do {
		/* one more signal ends nothing that is not over */
		take_signal(s);
		s->batch = 0;
		ring_buffer__consume(s->ring);
		if (s->between)
			s->between(context);
	} while (s->batch && !s->failed && !is_over(context));
	out_flush(&s->out);
}

void session_wait(struct session *s)
{
	while (s->process >= 0) {
		struct pollfd process = {s->process, POLLIN, 0};
		int n = poll(&process, 1, IDLE);

		take_signal(s);
		if (n > 0 || (n < 0 && errno != EINTR))
			note_end(s);
	}
}

int session_close(struct session *s, int status)
{
	if (!s->output)
		return cli_close(&s->out, status);
	if (out_close(&s->out) == 0 && close(s->out.fd) == 0)
		return status;
	warn("%s", s->output);
	return EXIT_FAILURE;
}

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	return level != LIBBPF_DEBUG ? vfprintf(stderr, format, args) : 0;
}

void session_libbpf(bool verbose)
{
	libbpf_set_print(verbose ? print_libbpf : NULL);
}

/* Ring buffers have a power of two of pages. */
uint32_t session_ring_size(uint32_t wanted)
{
	uint32_t size = sysconf(_SC_PAGESIZE);

	while (size < wanted && size < 1U << 31)
		size *= 2;
	return size;
}

void session_cannot_load(uint32_t ring_size, const char *option, const char *kernel)
{
	if (errno == ENOMEM)
		warn("a ring buffer of %" PRIu32 " bytes; %s takes a smaller size", ring_size,
		     option);
	else
		warn("the kernel refuses the BPF program: it needs BTF and %s or newer, and is tested from Linux 6.1 on; -v shows what the kernel says",
		     kernel);
}

bool session_has_variables(const void *bss, const void *rodata)
{
	if (bss && rodata)
		return true;
	warnx("the kernel does not let the variables of the BPF program be mapped");
	return false;
}

uint64_t session_missed(const struct bpf_object *object)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			missed += info.recursion_misses;
	}
	return missed;
}

int session_pid_ns(uint32_t *inode)
{
	struct stat ns;

	if (stat("/proc/self/ns/pid", &ns) != 0) {
		warn("/proc/self/ns/pid");
		return -1;
	}
	*inode = ns.st_ino;
	return 0;
}
