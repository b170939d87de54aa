/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload: makes system calls and allocations of a tool fail.
 *
 *	FAULT_IN     the program
 *	FAULT_CALL   the function, such as read, or one that exists only through syscall(2), such as bpf
 *	             with an @ after it, of the calls from one place, by its stack, only the first, second,
 *	             fourth, eighth and so on count: libbpf allocates a thousand times for the same
 *	             with @@, a call that a library makes is from the place where the program calls the library
 *	FAULT_NTH    which call of it, from 1 on
 *	FAULT        what happens then: a number is its errno; "short" limits that call, and each one after it,
 *	             to a few bytes; "shrink" truncates FAULT_FILE to half its size first; "late" delays every
 *	             call by a thread other than the first by 1 ms, and the return of fork to the parent;
 *	             "skip", of bpf, keeps the kernel from running the BPF programs FAULT_PROGRAM, a name or a
 *	             pattern, and reports that it skipped each FAULT_NTH times
 *	             "privileged", of bpf, lets only a process with CAP_BPF or CAP_SYS_ADMIN make any call of it: EPERM
 *	FAULT_MARK   a file that is created when it has happened; -: standard error says so, where none can be created
 *	FAULT_KERNEL the release of the kernel, as uname(2) returns it
 *	FAULT_FULL   a BPF map of this name has room for one element, which is in use: its bytes are all 1
 *	FAULT_CHILD  if set, it happens in the children of the process, each of which counts its calls
 *
 * Otherwise only in that process: not in its children.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <link.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *wanted, *what;
static long nth, calls;
static pid_t self;
static uintptr_t code, code_end; /* of the program */
static bool *in_child;           /* whether it has happened in a child; NULL: it is to happen in the process */

/* The first object is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			code = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			code_end = code + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static void __attribute__((constructor)) begin(void)
{
	const char *in = getenv("FAULT_IN");

	/* a shell that starts the program */
	if (in && strcmp(in, program_invocation_short_name) != 0)
		return;
	wanted = getenv("FAULT_CALL");
	what = getenv("FAULT");
	/* its first call allocates */
	if (wanted && strchr(wanted, '@'))
		backtrace(&(void *){NULL}, 1);
	dl_iterate_phdr(find_program, NULL);
	nth = wanted && what && getenv("FAULT_NTH") ? atol(getenv("FAULT_NTH")) : 0;
	self = getpid();
	if (getenv("FAULT_CHILD"))
		in_child = (bool *)syscall(SYS_mmap, NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					   0);
	unsetenv("LD_PRELOAD");
	/* the program must end, whatever the fault does to it, and however busy the machine is */
	if (in)
		alarm(300);
}

/* The function that this one overrides. */
#define NEXT(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))

/* The system call itself: the functions here must not call each other, because those may fail. */
#define kernel(...) kernel_call()(__VA_ARGS__)

static long (*kernel_call(void))(long, ...)
{
	static long (*call)(long, ...);

	if (!call)
		call = NEXT(syscall);
	return call;
}

static bool is(const char *text)
{
	return strcmp(what, text) == 0;
}

static void mark(void)
{
	const char *path = getenv("FAULT_MARK");

	if (getpid() != self)
		*in_child = true;
	else if (path && strcmp(path, "-") == 0)
		kernel(SYS_write, STDERR_FILENO, "happened\n", 9);
	else if (path)
		kernel(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

/* A child may not be allowed to open files. */
static void __attribute__((destructor)) end(void)
{
	if (in_child && getpid() == self && *in_child)
		mark();
}

static void shrink(void)
{
	const char *path = getenv("FAULT_FILE");
	struct stat st;

	if (path && kernel(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0)
		kernel(SYS_truncate, path, st.st_size / 2);
}

static bool is_bpf_capable(void)
{
	enum { CAP_OF_BPF = 39 };
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {};

	kernel(SYS_capget, &header, sets);
	return sets[CAP_OF_BPF / 32].effective & CAP_TO_MASK(CAP_OF_BPF) ||
	       sets[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

static bool is_in_program(const void *at)
{
	return (uintptr_t)at >= code && (uintptr_t)at < code_end;
}

/*
 * Whether it is the first, second, fourth or so call from this place; of a library, with of_program, the place is where
 * the program called it. If there are too many places, each call is.
 */
static bool is_new_of_place(bool of_program)
{
	enum { PLACES = 4096, DEPTH = 32 };
	static struct {
		unsigned long place, calls;
	} table[PLACES];
	void *stack[DEPTH];
	unsigned long place = 0, i;
	int depth = backtrace(stack, DEPTH), n = 0;

	while (of_program && n < depth - 1 && !is_in_program(stack[n]))
		n++;
	for (; n < depth; n++)
		place = place * 1000003 + (unsigned long)stack[n];
	for (i = 0; i < PLACES && table[i].place && table[i].place != place; i++)
		;
	if (i == PLACES)
		return true;
	table[i].place = place;
	table[i].calls++;
	return (table[i].calls & (table[i].calls - 1)) == 0;
}

static bool is_wanted(const char *call)
{
	size_t n = strcspn(wanted, "@");

	return strlen(call) == n && memcmp(call, wanted, n) == 0 &&
	       (!wanted[n] || is_new_of_place(wanted[n + 1] == '@'));
}

/* Returns whether this call must fail, and sets errno; otherwise may reduce *n, the number of bytes. */
static bool fails(const char *call, size_t *n)
{
	long number;

	if (!nth || (getpid() != self) != (in_child != NULL) || !is_wanted(call))
		return false;
	if (is("skip"))
		return false;
	if (is("privileged")) {
		if (is_bpf_capable())
			return false;
		mark();
		errno = EPERM;
		return true;
	}
	if (is("late")) {
		if (gettid() != self)
			usleep(1000);
		return false;
	}
	number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (number < nth || (number > nth && !is("short")))
		return false;
	if (number == nth)
		mark();
	if (is("short")) {
		if (n && *n > 7)
			*n = 7;
		return false;
	}
	if (is("shrink")) {
		shrink();
		return false;
	}
	errno = atoi(what);
	return true;
}

ssize_t read(int fd, void *p, size_t n)
{
	return fails("read", &n) ? -1 : kernel(SYS_read, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return fails("pread", &n) ? -1 : kernel(SYS_pread64, fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	return fails("write", &n) ? -1 : kernel(SYS_write, fd, p, n);
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return fails("open", NULL) ? -1 : kernel(SYS_openat, directory, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int close(int fd)
{
	int result = kernel(SYS_close, fd);

	return fails("close", NULL) ? -1 : result;
}

int fstat(int fd, struct stat *st)
{
	return fails("fstat", NULL) ? -1 : kernel(SYS_fstat, fd, st);
}

off_t lseek(int fd, off_t at, int whence)
{
	return fails("lseek", NULL) ? -1 : kernel(SYS_lseek, fd, at, whence);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
	return fails("mmap", NULL) ? MAP_FAILED : NEXT(mmap)(at, n, protection, flags, fd, from);
}

void *mremap(void *old, size_t had, size_t n, int flags, ...)
{
	return fails("mremap", NULL) ? MAP_FAILED : (void *)kernel(SYS_mremap, old, had, n, flags, NULL);
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off_t from) __attribute__((alias("mmap")));

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return fails("poll", NULL) ? -1 : NEXT(poll)(fds, n, timeout);
}

/* counts as a call of poll(2) */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals)
{
	return fails("poll", NULL) ? -1 : NEXT(ppoll)(fds, n, timeout, signals);
}

int epoll_create1(int flags)
{
	return fails("epoll_create1", NULL) ? -1 : kernel(SYS_epoll_create1, flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	return fails("epoll_ctl", NULL) ? -1 : kernel(SYS_epoll_ctl, epoll, operation, fd, event);
}

int fcntl(int fd, int command, ...)
{
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	return fails("fcntl", NULL) ? -1 : kernel(SYS_fcntl, fd, command, argument);
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return fails("ioctl", NULL) ? -1 : kernel(SYS_ioctl, fd, request, argument);
}

int pipe2(int fds[2], int flags)
{
	return fails("pipe2", NULL) ? -1 : kernel(SYS_pipe2, fds, flags);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	return fails("socketpair", NULL) ? -1 : kernel(SYS_socketpair, domain, type, protocol, fds);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	return fails("sendmsg", NULL) ? -1 : kernel(SYS_sendmsg, socket, message, flags);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
	return fails("recvmsg", NULL) ? -1 : kernel(SYS_recvmsg, socket, message, flags);
}

pid_t fork(void)
{
	pid_t child = fails("fork", NULL) ? -1 : NEXT(fork)();

	/* let the child run first */
	if (child > 0 && nth && strcmp(wanted, "fork") == 0 && is("late"))
		usleep(500000);
	return child;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return fails("waitpid", NULL) ? -1 : kernel(SYS_wait4, pid, status, options, NULL);
}

int prctl(int option, ...)
{
	va_list args;
	long a, b, c, d;

	va_start(args, option);
	a = va_arg(args, long);
	b = va_arg(args, long);
	c = va_arg(args, long);
	d = va_arg(args, long);
	va_end(args);
	return fails("prctl", NULL) ? -1 : kernel(SYS_prctl, option, a, b, c, d);
}

ssize_t readlinkat(int directory, const char *path, char *to, size_t n)
{
	return fails("readlinkat", NULL) ? -1 : kernel(SYS_readlinkat, directory, path, to, n);
}

int uname(struct utsname *name)
{
	const char *release = getenv("FAULT_KERNEL");
	int result = kernel(SYS_uname, name);

	if (release && getpid() == self)
		snprintf(name->release, sizeof(name->release), "%s", release);
	return result;
}

static bool is_named(const char *name, const char *variable)
{
	const char *wanted = getenv(variable);

	return wanted && fnmatch(wanted, name, 0) == 0;
}

static bool is_program(int fd)
{
	struct bpf_prog_info info = {};
	union bpf_attr get = {.info = {.bpf_fd = fd, .info_len = sizeof(info), .info = (uintptr_t)&info}};

	return kernel(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &get, sizeof(get)) == 0 && is_named(info.name, "FAULT_PROGRAM");
}

/* bpf(2) with "skip": does not attach the program, and returns another descriptor instead of that of a link. */
static long skip(int command, union bpf_attr *attr, unsigned size)
{
	long result;

	if ((command == BPF_RAW_TRACEPOINT_OPEN && is_program(attr->raw_tracepoint.prog_fd)) ||
	    (command == BPF_LINK_CREATE && is_program(attr->link_create.prog_fd))) {
		mark();
		return kernel(SYS_fcntl, 0, F_DUPFD_CLOEXEC, 0);
	}
	result = kernel(SYS_bpf, command, attr, size);
	if (result == 0 && command == BPF_OBJ_GET_INFO_BY_FD && is_program(attr->info.bpf_fd))
		((struct bpf_prog_info *)attr->info.info)->recursion_misses = nth;
	return result;
}

static long create_full(union bpf_attr *attr, unsigned size)
{
	unsigned char key[64], value[512];
	union bpf_attr add = {.key = (uintptr_t)key, .value = (uintptr_t)value};

	memset(key, 1, sizeof(key));
	memset(value, 1, sizeof(value));
	attr->max_entries = 1;
	add.map_fd = kernel(SYS_bpf, BPF_MAP_CREATE, attr, size);
	kernel(SYS_bpf, BPF_MAP_UPDATE_ELEM, &add, sizeof(add));
	return (int)add.map_fd;
}

long syscall(long number, ...)
{
	static const struct {
		long number;
		const char *name;
	} named[] = {{SYS_bpf, "bpf"},
		     {SYS_perf_event_open, "perf_event_open"},
		     {SYS_pidfd_open, "pidfd_open"},
		     {SYS_openat2, "openat2"},
		     {SYS_capset, "capset"}};
	long arguments[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(args, long);
	va_end(args);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (number == named[i].number && fails(named[i].name, NULL))
			return -1;
	if (number == SYS_bpf && getpid() == self && arguments[0] == BPF_MAP_CREATE &&
	    is_named(((union bpf_attr *)arguments[1])->map_name, "FAULT_FULL"))
		return create_full((void *)arguments[1], arguments[2]);
	if (number == SYS_bpf && nth && is("skip") && getpid() == self)
		return skip(arguments[0], (void *)arguments[1], arguments[2]);
	return kernel(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	return fails("pthread_create", NULL) ? errno : NEXT(pthread_create)(thread, attributes, run, argument);
}

/* All allocations count as calls of "malloc". */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);

void *malloc(size_t n)
{
	return fails("malloc", NULL) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails("malloc", NULL) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
	return fails("malloc", NULL) ? NULL : __libc_realloc(old, n);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

char *strdup(const char *s)
{
	return strndup(s, strlen(s));
}

char *strndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	copy[length] = 0;
	return memcpy(copy, s, length);
}

int vasprintf(char **to, const char *format, va_list args)
{
	return fails("malloc", NULL) ? -1 : NEXT(vasprintf)(to, format, args);
}

/* Their names with FORTIFY_SOURCE. */
int __vasprintf_chk(char **to, int flag, const char *format, va_list args);
int __asprintf_chk(char **to, int flag, const char *format, ...);

int __vasprintf_chk(char **to, int flag, const char *format, va_list args)
{
	(void)flag;
	return vasprintf(to, format, args);
}

int __asprintf_chk(char **to, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = vasprintf(to, format, args);
	va_end(args);
	return n;
}

int asprintf(char **to, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(to, format, args);
	va_end(args);
	return n;
}

FILE *open_memstream(char **text, size_t *n)
{
	return fails("malloc", NULL) ? NULL : NEXT(open_memstream)(text, n);
}
