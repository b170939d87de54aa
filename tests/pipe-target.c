/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for ipcsnoop to watch: each argument is an act, ACT or ACT=NUMBER, done one after the other. What a
 * test must know prints to standard output: the inodes of pipes.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counter.h"

static char data[1 << 20];

static ssize_t must(ssize_t result)
{
	if (result < 0)
		err(EXIT_FAILURE, "a call that should work");
	return result;
}

/* Makes a pipe and prints its inode. */
static void make_pipe(int ends[2], int flags)
{
	struct stat st;

	must(pipe2(ends, flags));
	must(fstat(ends[0], &st));
	printf("%ju\n", (uintmax_t)st.st_ino);
	must(fflush(stdout));
}

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void call(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void *call_in_thread(void *n)
{
	call((long)n);
	return NULL;
}

/* Calls in three threads and in a child of one child. */
static void call_everywhere(long n)
{
	pthread_t threads[3];
	pid_t child;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, call_in_thread, (void *)n);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	child = must(fork());
	if (child == 0) {
		pid_t grandchild = must(fork());

		if (grandchild == 0)
			call(n);
		else
			waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

#ifdef __x86_64__
/* A call of the i386 kind; arguments must lie below 4G. */
static long call_32(long number, long a, void *b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

enum { GETPID_32 = 20, READ_32 = 3, WRITE_32 = 4, READV_32 = 145 };

static void call_in_32_bits(long n)
{
	while (n--)
		if (call_32(GETPID_32, 0, NULL, 0) != getpid())
			errx(EXIT_FAILURE, "no system calls of 32 bits");
}

static void pipe_in_32_bits(long n)
{
	char *low = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *vectors = (uint32_t *)(low + 32768);
	int ends[2];

	make_pipe(ends, 0);
	must(call_32(WRITE_32, ends[1], low, n));
	must(call_32(READ_32, ends[0], low, 3));
	vectors[0] = vectors[2] = (uintptr_t)low;
	vectors[1] = 7;
	vectors[3] = n;
	must(call_32(READV_32, ends[0], vectors, 2));
	close_pipe(ends);
}

#else
static void call_in_32_bits(long n)
{
	(void)n;
	errx(EXIT_FAILURE, "a process makes calls of 32 bits on x86-64 only");
}

static void pipe_in_32_bits(long n)
{
	call_in_32_bits(n);
}
#endif

/* Numbers that are not, or not yet, those of a system call. */
static void call_strange(long n)
{
	while (n--) {
		syscall(900);
		syscall(5000);
		syscall(100000);
	}
}

static void plain(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	for (long i = 1; i <= n; i++)
		must(write(ends[1], data, i));
	for (long i = 1; i <= n; i++)
		must(read(ends[0], data, i));
	close_pipe(ends);
}

static void vectors(long n)
{
	struct iovec v[3] = {{data, n}, {data, 2 * n}, {data, 3 * n}};
	int ends[2];

	make_pipe(ends, 0);
	must(writev(ends[1], v, 3));
	must(readv(ends[0], v, 2));
	must(pwritev2(ends[1], v, 1, -1, 0));
	must(preadv2(ends[0], v, 3, -1, 0));
	close_pipe(ends);
}

static void splices(long n)
{
	struct iovec v[2] = {{data, n}, {data, 5}};
	int a[2], b[2], file = must(open("spliced", O_RDWR | O_CREAT | O_TRUNC, 0600));

	make_pipe(a, 0);
	make_pipe(b, 0);
	must(write(a[1], data, n));
	must(tee(a[0], b[1], 2 * n, 0));
	must(splice(a[0], NULL, b[1], NULL, n - 1, 0));
	must(splice(b[0], NULL, file, NULL, n, 0));
	must(vmsplice(a[1], v, 2, 0));
	must(vmsplice(b[0], v, 1, 0));
	must(sendfile(b[1], file, &(off_t){0}, n));
	close_pipe(a);
	close_pipe(b);
	close(file);
}

/* Writes until there is no more room, then once more. */
static void fill(long n)
{
	int ends[2];

	make_pipe(ends, O_NONBLOCK);
	while (write(ends[1], data, n) > 0)
		;
	close_pipe(ends);
}

/* A pipe with more buffers, filled at the place where they begin again. */
static void resize(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	must(fcntl(ends[1], F_SETPIPE_SZ, 4 * n));
	must(write(ends[1], data, 3 * n));
	must(read(ends[0], data, 3 * n));
	must(write(ends[1], data, 2 * n));
	must(read(ends[0], data, 1));
	close_pipe(ends);
}

/* Writes where nobody reads, and reads at a bad address. */
static void fail(long n)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	make_pipe(ends, 0);
	must(write(ends[1], data, n));
	read(ends[0], (void *)8, n);
	close(ends[0]);
	write(ends[1], data, n);
	close(ends[1]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Waits in vain until a signal comes. */
static void interrupt(long ms)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int ends[2];

	make_pipe(ends, 0);
	sigaction(SIGALRM, &action, NULL);
	ualarm(1000 * ms, 0);
	read(ends[0], data, 1);
	close_pipe(ends);
}

/* Writes n times, 5 ms apart, and prints the processor's counter before and after each. */
static void stamp(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	while (n--) {
		uint64_t before = counter_now();

		must(write(ends[1], data, 1));
		printf("%ju %ju\n", (uintmax_t)before, (uintmax_t)counter_now());
		usleep(5000);
	}
	must(fflush(stdout));
	close_pipe(ends);
}

/* Reads nothing, from a pipe and from a device, under a name that is a forged line. */
static void disguise(long n)
{
	int ends[2], zero = must(open("/dev/zero", O_RDONLY));

	make_pipe(ends, 0);
	prctl(PR_SET_NAME, "\033[31m\n\"x\\\xff", 0, 0, 0);
	while (n--) {
		must(write(ends[1], data, 1));
		must(read(ends[0], data, 1));
		must(read(zero, data, 1));
	}
	close_pipe(ends);
	close(zero);
}

static void kill_itself(long n)
{
	raise(n);
}

static void leave(long n)
{
	exit(n);
}

/* Waits for a line from standard input. */
static void wait_for_line(long n)
{
	(void)n;
	printf("ready\n");
	must(fflush(stdout));
	must(read(STDIN_FILENO, data, 100));
}

static const struct {
	const char *name;
	void (*act)(long n);
} acts[] = {
	{"call", call},
	{"everywhere", call_everywhere},
	{"call32", call_in_32_bits},
	{"pipe32", pipe_in_32_bits},
	{"strange", call_strange},
	{"plain", plain},
	{"vectors", vectors},
	{"splices", splices},
	{"fill", fill},
	{"resize", resize},
	{"fail", fail},
	{"interrupt", interrupt},
	{"stamp", stamp},
	{"disguise", disguise},
	{"kill", kill_itself},
	{"exit", leave},
	{"wait", wait_for_line},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length = strcspn(argv[i], "="), j = 0;

		while (j < sizeof(acts) / sizeof(*acts) &&
		       (strlen(acts[j].name) != length || strncmp(acts[j].name, argv[i], length)))
			j++;
		if (j == sizeof(acts) / sizeof(*acts))
			errx(EXIT_FAILURE, "%s: no such act", argv[i]);
		acts[j].act(argv[i][length] ? atol(argv[i] + length + 1) : 0);
	}
	return 0;
}
