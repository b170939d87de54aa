/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of offcpusnoop's tests. Each argument is an act, ACT=NUMBER; the acts run one after the other on the first
 * CPU that it may run on. The program prints the intervals in which it did not run itself, as lines "WHAT BEGIN END" in
 * ticks of the processor's counter.
 *
 * First it prints the cost of a system call in nanoseconds, and the ticks of a millisecond: "entry NS TICKS". Then it
 * prints "ready" and waits for a line, or the end, of its standard input. Finally it prints the nanoseconds since then,
 * those on a CPU, those spent waiting for one, and the ticks from begin to end: "times WALL CPU QUEUED BEGIN END".
 *
 *	preempt=N    N times another process takes the CPU for 2 ms: "taken" is the time that process ran, "preempted"
 *	             the time for which this one did not read the counter for a millisecond
 *	sleep=N      N times clock_nanosleep of 3 ms
 *	epoll=N      N times epoll_pwait of 2 ms
 *	read=N       N times read from a pipe, to which a thread writes after 2 ms
 *	fault=N      N times a page that a thread fills after 2 ms, by userfaultfd
 *	yield=N      N times sched_yield while another process is runnable
 *	spin=MS      gaps of more than a microsecond between two readings of the counter
 *	hold=MS      the same, while no ordinary thread can take the CPU
 *	threads=N    N threads, one after the other, each of which sleeps for 3 ms
 *
 * With "clock" before the acts, a tick is a nanosecond of CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"

enum { MAX_TIMES = 50000 };

static struct interval {
	uint64_t begin, end;
} * intervals; /* shared with the other process */

static bool no_counter;

static uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static uint64_t counter(void)
{
	return no_counter ? clock_of(CLOCK_MONOTONIC) : counter_now();
}

static uint64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void sleep_us(long us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

static void spin_us(uint64_t us)
{
	uint64_t end = now() + us * 1000;

	while (now() < end)
		;
}

static uint64_t ticks_of_us(uint64_t us)
{
	uint64_t ns = now(), start = counter(), ticks;

	spin_us(us);
	ticks = counter() - start;
	/* it takes longer if others use the processor meanwhile */
	return ticks * us * 1000 / (now() - ns);
}

static void print(const char *what, struct interval *all, int n)
{
	for (int i = 0; i < n; i++)
		printf("%s %lu %lu\n", what, (unsigned long)all[i].begin, (unsigned long)all[i].end);
	memset(all, 0, n * sizeof(*all));
}

/* Starts another process, which is killed when this one exits. */
static pid_t start_other(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	return pid;
}

static void set_priority(pid_t pid, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	if (sched_setscheduler(pid, priority ? SCHED_FIFO : SCHED_OTHER, &param) != 0)
		fail("sched_setscheduler");
}

static void preempt(int n)
{
	struct interval *seen = intervals + n;
	uint64_t last, ms, ended;
	pid_t other;
	int i = 0;

	other = start_other("taker");
	if (other == 0) {
		for (i = 0; i < n; i++) {
			sleep_us(5000);
			intervals[i].begin = counter();
			spin_us(2000);
			intervals[i].end = counter();
		}
		/* do not use the other process's CPU time for the exit */
		pause();
	}
	set_priority(other, 2);
	ms = ticks_of_us(1000);
	last = counter();
	do {
		uint64_t tsc;

		ended = __atomic_load_n(&intervals[n - 1].end, __ATOMIC_ACQUIRE);
		tsc = counter();
		if (tsc - last > ms && i < MAX_TIMES)
			seen[i++] = (struct interval){last, tsc};
		last = tsc;
	} while (!ended);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	print("taken", intervals, n);
	print("preempted", seen, i);
}

static void each(const char *what, int n, void (*act)(void))
{
	for (int i = 0; i < n; i++) {
		intervals[i].begin = counter();
		act();
		intervals[i].end = counter();
	}
	print(what, intervals, n);
}

static void sleep_once(void)
{
	sleep_us(3000);
}

static int epoll;

static void epoll_once(void)
{
	struct epoll_event event;

	syscall(SYS_epoll_pwait, epoll, &event, 1, 2, NULL, 0);
}

static int ends[2];

static void *writer(void *argument)
{
	(void)argument;
	sleep_us(2000);
	if (write(ends[1], "", 1) != 1)
		fail("write");
	return NULL;
}

static void read_once(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		fail("read");
}

static void read_from_threads(int n)
{
	if (pipe(ends) != 0)
		fail("pipe");
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, writer, NULL);
		intervals[i].begin = counter();
		read_once();
		intervals[i].end = counter();
		pthread_join(thread, NULL);
	}
	print("read", intervals, n);
}

static int faults;

static void *filler(void *argument)
{
	static char page[4096];
	struct uffd_msg message;
	struct uffdio_copy copy = {.src = (uintptr_t)page, .len = sizeof(page)};

	(void)argument;
	while (read(faults, &message, sizeof(message)) == sizeof(message)) {
		sleep_us(2000);
		copy.dst = message.arg.pagefault.address & -4096UL;
		if (ioctl(faults, UFFDIO_COPY, &copy) != 0)
			fail("UFFDIO_COPY");
	}
	return NULL;
}

static void fault(int n)
{
	volatile char *pages = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {{(uintptr_t)pages, n * 4096}, UFFDIO_REGISTER_MODE_MISSING, 0};
	pthread_t thread;

	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0 || ioctl(faults, UFFDIO_REGISTER, &range) != 0)
		fail("userfaultfd");
	pthread_create(&thread, NULL, filler, NULL);
	for (int i = 0; i < n; i++) {
		intervals[i].begin = counter();
		pages[i * 4096];
		intervals[i].end = counter();
	}
	print("fault", intervals, n);
}

static void yield_once(void)
{
	sched_yield();
}

static void yield(int n)
{
	pid_t other = start_other("rival");

	if (other == 0)
		for (;;)
			sched_yield();
	each("yielded", n, yield_once);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void spin(int ms)
{
	uint64_t us = ticks_of_us(1000) / 1000, end = now() + ms * UINT64_C(1000000), last = counter();
	int n = 0;

	while (now() < end) {
		uint64_t tsc = counter();

		if (tsc - last > us && n < MAX_TIMES)
			intervals[n++] = (struct interval){last, tsc};
		last = tsc;
	}
	print("gap", intervals, n);
}

static void *sleeper(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "sleeper");
	sleep_us(3000);
	return NULL;
}

static void threads(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, sleeper, NULL);
		pthread_join(thread, NULL);
	}
}

static void act(const char *name, int n)
{
	/* whether others must not take the CPU meanwhile */
	bool alone = strncmp(name, "yield", 5) != 0 && strncmp(name, "spin", 4) != 0;

	if (n > MAX_TIMES)
		n = MAX_TIMES;
	set_priority(0, alone);
	if (strncmp(name, "preempt=", 8) == 0)
		preempt(n);
	else if (strncmp(name, "sleep=", 6) == 0)
		each("clock_nanosleep", n, sleep_once);
	else if (strncmp(name, "epoll=", 6) == 0)
		each("epoll_pwait", n, epoll_once);
	else if (strncmp(name, "read=", 5) == 0)
		read_from_threads(n);
	else if (strncmp(name, "fault=", 6) == 0)
		fault(n);
	else if (strncmp(name, "yield=", 6) == 0)
		yield(n);
	else if (strncmp(name, "spin=", 5) == 0 || strncmp(name, "hold=", 5) == 0)
		spin(n);
	else if (strncmp(name, "threads=", 8) == 0)
		threads(n);
	else
		fail(name);
}

static uint64_t queued(void)
{
	char text[64] = "";
	unsigned long ns = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%*s %lu", &ns);
	close(fd);
	return ns;
}

/* How its time was spent so far, at these ticks. */
struct usage {
	uint64_t ticks, wall, used, queued;
};

/* The narrowest of several readings: others may use the processor in the middle of one. */
static struct usage usage_now(void)
{
	enum { READINGS = 5 };
	uint64_t narrowest = UINT64_MAX;
	struct usage best = {0};

	for (int i = 0; i < READINGS; i++) {
		struct usage u = {counter(), now(), clock_of(CLOCK_THREAD_CPUTIME_ID), queued()};
		uint64_t width = now() - u.wall;

		if (width >= narrowest)
			continue;
		narrowest = width;
		best = u;
	}
	return best;
}

/* The cost of a system call in ns, by the fastest of several rounds: others may use the processor during one. */
static uint64_t entry(void)
{
	enum { ROUNDS = 10, CALLS = 100 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = now(), ns;

		for (int j = 0; j < CALLS; j++)
			syscall(SYS_getppid);
		ns = (now() - start) / CALLS;
		if (ns < least)
			least = ns;
	}
	return least;
}

/* Moves to the first CPU that the process may run on. */
static void use_first_cpu(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		fail("sched_getaffinity");
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("sched_setaffinity");
}

int main(int argc, char **argv)
{
	struct usage begin, end;
	size_t size = 2 * MAX_TIMES * sizeof(*intervals);

	if (argc > 1 && strcmp(argv[1], "clock") == 0) {
		no_counter = true;
		argv++;
		argc--;
	}
	intervals = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (intervals == MAP_FAILED)
		fail("mmap");
	use_first_cpu();
	epoll = epoll_create1(EPOLL_CLOEXEC);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	printf("entry %lu %lu\n", (unsigned long)entry(), (unsigned long)(ticks_of_us(100000) / 100));
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		clearerr(stdin);
	begin = usage_now();
	for (int i = 1; i < argc; i++) {
		const char *number = strchr(argv[i], '=');

		act(argv[i], number ? atoi(number + 1) : 0);
	}
	set_priority(0, 0);
	end = usage_now();
	printf("times %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", end.wall - begin.wall,
	       end.used - begin.used, end.queued - begin.queued, begin.ticks, end.ticks);
	return 0;
}
