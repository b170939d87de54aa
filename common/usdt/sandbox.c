/* SPDX-License-Identifier: BSD-3-Clause */
#include "sandbox.h"

/* musl-gcc has no headers of the kernel: some of the tools that it can build call these */
#if !__has_include(<linux/audit.h>)

static const char missing[] = "seccomp(2), without which it was built,";

const char *sandbox_enter(void)
{
	return missing;
}

const char *sandbox_remain(void)
{
	return missing;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"
#include "clock.h"
#include "count.h"
#include "io.h"
#include "mem.h"
#include "proc.h"
#include "stranger.h"
#include "utf8.h"

/* The numbers of the system calls are those of this processor's own programs: it may run others as well. */
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__powerpc64__)
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
/* no process can be confined: the name of this processor, of linux/audit.h, is missing here */
#define ARCHITECTURE 0
#endif
/* C libraries of 32 bits call others, and __NR_mmap may take its arguments in memory there. */
#if __SIZEOF_LONG__ == 4
#define CALL_MMAP     __NR_mmap2
#define CALLS_OF_POLL __NR_poll, __NR_ppoll, __NR_ppoll_time64
#define CALL_FCNTL    __NR_fcntl64
#define CALLS_OF_LIBRARY                                                                             \
	__NR__llseek, __NR_fstat64, __NR_fstatat64, __NR_ftruncate64, __NR_statx, __NR_futex_time64, \
		__NR_clock_gettime64
#else
#define CALL_MMAP        __NR_mmap
#define CALL_FCNTL       __NR_fcntl
#define CALLS_OF_LIBRARY __NR_newfstatat
#endif

#ifndef CALLS_OF_POLL
#ifdef __NR_poll
#define CALLS_OF_POLL __NR_poll, __NR_ppoll
#else
#define CALLS_OF_POLL __NR_ppoll
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
/* AddressSanitizer reserves terabytes */
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

bool sandbox_is_off;

/*
 * What reading needs: memory, files in memory, and open descriptors. Other calls fail with EPERM: a C library goes on
 * without them.
 */
static const uint16_t calls[] = {
	__NR_read,      __NR_pread64, __NR_readv,         __NR_write,          __NR_pwrite64,     __NR_writev,
	__NR_lseek,     __NR_fstat,   __NR_ftruncate,     __NR_close,          __NR_brk,          __NR_munmap,
	__NR_mremap,    __NR_madvise, __NR_clock_gettime, __NR_futex,          __NR_sched_yield,  __NR_getpid,
	__NR_gettid,    __NR_sysinfo, __NR_rt_sigaction,  __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack,
	__NR_getrandom, __NR_exit,    __NR_exit_group,    CALLS_OF_POLL,       CALLS_OF_LIBRARY,
};

/* What a tool needs besides. It has become a user who can send signals to itself alone. */
static const uint16_t more_calls[] = {
	__NR_fallocate, CALL_FCNTL, __NR_pidfd_open, __NR_kill, __NR_tgkill, __NR_wait4,
};

#define LOAD(field)              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what)             BPF_STMT(BPF_RET | BPF_K, what)
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

/* For mmap and mprotect: their third argument must not ask for memory that can be executed. */
static const struct sock_filter no_code[] = {
	LOAD(args[2]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
	RETURN(SECCOMP_RET_ERRNO | EPERM),
	RETURN(SECCOMP_RET_ALLOW),
};

static const struct sock_filter beginning[] = {
	LOAD(arch), IF_EQUAL(ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),   IF_EQUAL(CALL_MMAP, 1, 0),    IF_EQUAL(__NR_mprotect, 0, COUNT(no_code)),
};

static int filter_calls(bool more)
{
	struct sock_filter filter[COUNT(beginning) + COUNT(no_code) + 2 * (COUNT(calls) + COUNT(more_calls)) + 1];
	struct sock_fprog program = {.len = COUNT(beginning) + COUNT(no_code), .filter = filter};

	if (!ARCHITECTURE) {
		errno = ENOSYS;
		return -1;
	}
	memcpy(filter, beginning, sizeof(beginning));
	memcpy(filter + COUNT(beginning), no_code, sizeof(no_code));
	for (size_t i = 0; i < COUNT(calls) + (more ? COUNT(more_calls) : 0); i++) {
		uint16_t call = i < COUNT(calls) ? calls[i] : more_calls[i - COUNT(calls)];

		filter[program.len++] = (struct sock_filter)IF_EQUAL(call, 0, 1);
		filter[program.len++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	filter[program.len++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Never raises one. */
static int limit(int resource, rlim_t n)
{
	struct rlimit now, lower;

	if (getrlimit(resource, &now) != 0)
		return -1;
	lower.rlim_max = n < now.rlim_max ? n : now.rlim_max;
	lower.rlim_cur = lower.rlim_max < now.rlim_cur ? lower.rlim_max : now.rlim_cur;
	return setrlimit(resource, &lower);
}

/* The address space of this process, in bytes. */
static uint64_t memory_used(void)
{
	char pages[64];

	proc_read(pages, sizeof(pages), "/proc/self/statm");
	return strtoull(pages, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none);
}

bool sandbox_is_own(int fd)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2];
	struct stat st;

	return geteuid() == getuid() && getuid() && fstat(fd, &st) == 0 && (st.st_uid == getuid() || !st.st_uid) &&
	       syscall(SYS_capget, &header, sets) == 0 && !sets[0].permitted && !sets[1].permitted;
}

/* What confines a process, in this order; the first is of worker_close_others(). */
enum step { CLOSING, DROPPING, LIMITING, HIDING, FILTERING, CONFINED };
static const char *const steps[] = {"close_range(2)",
				    "capset(2) or PR_SET_NO_NEW_PRIVS",
				    "setrlimit(2) or /proc/self",
				    "PR_SET_DUMPABLE",
				    "seccomp(2)",
				    NULL};

/* Returns the step that failed. */
static enum step confine(void)
{
	uint64_t used = memory_used();

	/* whether or not root can become another, what follows confines the process */
	stranger_become();
	if (drop_capabilities() != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return DROPPING;
	if (!HAS_SANITIZER && (!used || limit(RLIMIT_AS, used + SANDBOX_MEMORY) != 0))
		return LIMITING;
	/* files in memory are no part of the address space */
	if (limit(RLIMIT_CPU, SANDBOX_CPU) != 0 || limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_FSIZE, SANDBOX_HELD) != 0)
		return LIMITING;
	/* last: a change of user or capabilities resets these; processes of the same user must not trace this one */
	if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return HIDING;
	return filter_calls(false) == 0 ? CONFINED : FILTERING;
}

const char *sandbox_enter(void)
{
	return steps[confine()];
}

const char *sandbox_remain(void)
{
	if (geteuid() != 0 || sandbox_is_off)
		return NULL;
	stranger_become();
	if (drop_capabilities() != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return steps[DROPPING];
	/* a checker of leaks traces the process when it ends */
	if (prctl(PR_SET_DUMPABLE, HAS_SANITIZER) != 0)
		return steps[HIDING];
	return HAS_SANITIZER || filter_calls(true) == 0 ? NULL : steps[FILTERING];
}

/*
 * What the child writes before a file is opened, with its descriptor if that is handed over, before it is read, and
 * after that: the bytes of the result follow.
 */
struct frame {
	enum frame_kind { OPENING, OPENED, READING, RESULT } kind;
	uint32_t i;
	uint64_t size;
};

/* Some of the job's files. */
struct run {
	struct sandbox *sandbox;
	const struct sandbox_job *job;
	size_t first, n; /* by their index in the job */
	bool done[SANDBOX_FILES];
	size_t from, to;  /* of the n, those for this child that are not done */
	bool is_confined; /* it has started to read */
	/* in ms of the clock: */
	uint64_t started;  /* the child */
	uint64_t deadline; /* for all of them; 0: none yet */
};

enum { NOT_CONFINED = 3 }; /* the exit status of a child, and more by the step that failed */

static void send_frame(int pipe, enum frame_kind kind, size_t i, struct slice bytes)
{
	const struct frame frame = {kind, i, bytes.n};

	if (io_write(pipe, &frame, sizeof(frame)) != 0 || io_write(pipe, bytes.p, bytes.n) != 0)
		_exit(EXIT_FAILURE);
}

/* The child. */
static _Noreturn void serve(const struct run *r, int pipe)
{
	const struct sandbox_job *job = r->job;
	enum step step;
	sigset_t all;

	/* Ctrl-C is for the tool */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "read-files");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the tool's keep its BPF programs attached, and its output open */
	if (!worker_close_others(job->keep, job->num_keep, pipe) && !job->own)
		_exit(NOT_CONFINED + CLOSING);
	for (size_t i = r->from; i < r->to; i++)
		if (!r->done[i] && job->open) {
			const struct frame frame = {OPENED, i, 0};
			int fd;

			send_frame(pipe, OPENING, i, (struct slice){"", 0});
			fd = job->open(job->context, r->first + i);
			if (fd >= 0 && worker_send(pipe, &frame, sizeof(frame), fd) != 0)
				_exit(EXIT_FAILURE);
			io_close(&fd);
		}
	step = confine();
	if (step != CONFINED && !job->own)
		_exit(NOT_CONFINED + step);
	for (size_t i = r->from; i < r->to; i++)
		if (!r->done[i]) {
			struct out out = {.fd = OUT_MEMORY};

			send_frame(pipe, READING, i, (struct slice){"", 0});
			job->read(job->context, r->first + i, &out);
			send_frame(pipe, RESULT, i, out_contents(&out));
			out_close(&out);
		}
	_exit(EXIT_SUCCESS);
}

/*
 * Reads n bytes, each part of which must come in time. *fd: a descriptor that came with them, or -1; NULL: none is
 * wanted. Returns n; less at the end; -1 with errno: ETIMEDOUT.
 */
static ssize_t receive(const struct run *r, int pipe, void *to, size_t n, int *fd)
{
	uint64_t end = 0;
	size_t got = 0;

	if (fd)
		*fd = -1;
	while (got < n) {
		struct pollfd ready = {pipe, POLLIN, 0};
		uint64_t now = clock_ms();
		ssize_t part;
		int num;

		if (!end)
			end = now + SANDBOX_MS < r->deadline ? now + SANDBOX_MS : r->deadline;
		num = now < end ? poll(&ready, 1, end - now) : 0;
		if (num < 0 && errno == EINTR)
			continue;
		errno = num == 0 ? ETIMEDOUT : errno;
		if (num <= 0)
			return -1;
		if (fd && *fd < 0)
			part = worker_receive(pipe, (char *)to + got, n - got, fd);
		else
			part = read(pipe, (char *)to + got, n - got);
		if (part < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (part < 0)
			return -1;
		if (part == 0)
			break;
		got += part;
		end = 0;
	}
	return got;
}

static void fail(struct run *r, size_t i, const char *why)
{
	r->done[i] = true;
	r->job->failed(r->job->context, r->first + i, why);
}

/* Returns false with errno if the bytes do not come, or are no result. */
static bool receive_result(struct run *r, int pipe, const struct frame *frame)
{
	uint64_t *held = &r->sandbox->held;
	char *bytes;
	ssize_t n;

	if (*held > SANDBOX_HELD || frame->size > SANDBOX_HELD - *held) {
		errno = EFBIG;
		return false;
	}
	bytes = mem_array(frame->size + 1, 1);
	n = receive(r, pipe, bytes, frame->size, NULL);
	if (n >= 0) {
		r->done[frame->i] = (size_t)n == frame->size &&
				    r->job->result(r->job->context, r->first + frame->i, (struct slice){bytes, n});
		errno = EPROTO;
	}
	free(bytes);
	*held += r->done[frame->i] ? frame->size : 0;
	return r->done[frame->i];
}

/*
 * Takes a frame of this child, and the descriptor with it, which is only wanted from one that has read nothing so far.
 * Returns false with errno if it is damaged.
 */
static bool receive_frame(struct run *r, int pipe, const struct frame *frame, int fd)
{
	const struct sandbox_job *job = r->job;

	r->is_confined |= frame->kind == READING || frame->kind == RESULT;
	if (frame->kind == OPENED && fd >= 0 && job->opened && !r->is_confined) {
		job->opened(job->context, r->first + frame->i, fd);
		return true;
	}
	io_close(&fd);
	errno = EPROTO;
	if (frame->kind == OPENED || (frame->kind != RESULT && frame->size))
		return false;
	return frame->kind != RESULT || receive_result(r, pipe, frame);
}

/* Receives what the child writes, until it has done all it can. Returns the file at which it stopped, with errno. */
static size_t receive_all(struct run *r, int pipe)
{
	size_t current = r->n;
	struct frame frame;
	ssize_t n;
	int fd;

	while ((n = receive(r, pipe, &frame, sizeof(frame), &fd)) == sizeof(frame)) {
		bool is_known = frame.i >= r->from && frame.i < r->to && !r->done[frame.i];

		if (!is_known && fd >= 0)
			close(fd);
		errno = EPROTO;
		if (!is_known)
			return current;
		current = frame.i;
		if (!receive_frame(r, pipe, &frame, fd))
			return current;
	}
	io_close(&fd);
	errno = n < 0 ? errno : 0;
	return current;
}

/* What kept a file from being read. error: of receive_all(); status: of worker_end(). */
static char *explain(int error, int status, pid_t child)
{
	if (error == ETIMEDOUT && status < 0)
		return mem_printf("its file system does not answer: process %d waits for it", child);
	if (error == ETIMEDOUT)
		return mem_printf("reading it takes too long");
	if (error == EFBIG)
		return mem_printf(SANDBOX_FULL);
	if (error == EMFILE)
		return mem_printf("%s", strerror(error));
	if (error)
		return mem_printf("the process that reads it returned a damaged result");
	if (WIFSIGNALED(status))
		return mem_printf("the process that reads it was killed by signal %d", WTERMSIG(status));
	return mem_printf("the process that reads it has failed, maybe for lack of memory");
}

static uint64_t device_of(const struct run *r, size_t i)
{
	return r->job->device ? r->job->device(r->job->context, r->first + i) : 0;
}

/* The file at which a child stopped is not read, nor others of its device if it got stuck. why is freed. */
static void blame(struct run *r, size_t i, int error, char *why)
{
	struct sandbox *s = r->sandbox;
	char *last = NULL;

	if (error == ETIMEDOUT || error == EFBIG)
		s->stuck[s->num_stuck++] = error == ETIMEDOUT ? device_of(r, i) : 0;
	if (error == ETIMEDOUT)
		s->waited += clock_ms() - r->started;
	if (s->num_stuck == SANDBOX_STUCK)
		last = mem_printf("%s; no other files are read any more", why);
	fail(r, i, last ? last : why);
	r->deadline = 0;
	free(last);
	free(why);
}

/* The step that failed in a child that could not be confined; CONFINED: it ended otherwise. */
static enum step failed_step(int status)
{
	int step = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) - NOT_CONFINED : CONFINED;

	return step < 0 || step > CONFINED ? CONFINED : (enum step)step;
}

static void fail_all(struct run *r, const char *why)
{
	for (size_t i = r->from; i < r->to; i++)
		if (!r->done[i])
			fail(r, i, why);
}

/* Lets a child read its files: all, or up to one that fails. */
static void run_child(struct run *r)
{
	int pipe[2] = {-1, -1}, status, error;
	pid_t child = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe) == 0 ? fork() : -1;
	size_t current;
	char *why;

	if (child == 0)
		serve(r, pipe[1]);
	error = errno;
	io_close(&pipe[1]);
	if (child < 0) {
		io_close(&pipe[0]);
		fail_all(r, strerror(error));
		return;
	}
	r->started = clock_ms();
	r->is_confined = false;
	if (!r->deadline)
		r->deadline = r->started + SANDBOX_ALL_MS;
	current = receive_all(r, pipe[0]);
	error = errno;
	io_close(&pipe[0]);
	status = worker_end(child);
	if (!error && failed_step(status) != CONFINED) {
		why = mem_printf("the process that would read it cannot be confined: %s failed",
				 steps[failed_step(status)]);
		fail_all(r, why);
		free(why);
	} else if (current < r->n && !r->done[current]) {
		blame(r, current, error, explain(error, status, child));
	} else if (current < r->n && error == ETIMEDOUT) {
		r->deadline = 0; /* between two files: the next child reads the others */
	} else {
		fail_all(r, "the process that would read it has failed");
	}
}

/* Whether it is on a device on which a child got stuck, or too many have. */
static bool would_get_stuck(const struct run *r, size_t i)
{
	const struct sandbox *s = r->sandbox;
	uint64_t device = device_of(r, i);

	if (s->num_stuck == SANDBOX_STUCK)
		return true;
	for (unsigned k = 0; device && k < s->num_stuck; k++)
		if (s->stuck[k] == device)
			return true;
	return false;
}

/* Chooses what the next child reads. Returns false if nothing is left. */
static bool goes_on(struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->done[i] && would_get_stuck(r, i))
			fail(r, i, NULL);
	for (r->from = 0; r->from < r->n && r->done[r->from];)
		r->from++;
	r->to = r->job->alone ? r->from + 1 : r->n;
	return r->from < r->n;
}

static void run_here(struct run *r)
{
	const struct sandbox_job *job = r->job;

	for (size_t i = r->first; i < r->first + r->n; i++) {
		struct out out = {.fd = OUT_MEMORY};

		int fd = job->open ? job->open(job->context, i) : -1;

		if (fd >= 0)
			job->opened(job->context, i, fd);
		job->read(job->context, i, &out);
		if (!job->result(job->context, i, out_contents(&out)))
			abort();
		out_close(&out);
	}
}

void sandbox_run(struct sandbox *s, const struct sandbox_job *job)
{
	for (size_t first = 0; first < job->n; first += SANDBOX_FILES) {
		struct run r = {.sandbox = s, .job = job, .first = first};

		r.n = job->n - first < SANDBOX_FILES ? job->n - first : SANDBOX_FILES;
		if (sandbox_is_off)
			run_here(&r);
		else
			while (goes_on(&r))
				run_child(&r);
	}
}

char *sandbox_error(struct slice text)
{
	char *raw, *visible;

	if (text.n > SANDBOX_ERROR)
		return NULL;
	raw = mem_copy(text);
	visible = utf8_visible_copy(raw);
	free(raw);
	return visible;
}

#endif
