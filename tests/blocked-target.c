/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is blocked, for offwaketime. Prints for each thread its name, the least and the most microseconds that
 * it can have been blocked in total, how often it was, and the most microseconds of one time. Usage:
 *
 *	blocked-target sleeps=N|waits=N|garbage=N|open=N [MS NAME]
 *
 * MS: milliseconds of one time, 50 by default; NAME: that of the thread that sleeps.
 *
 * It starts after a line, or the end, of its standard input. It is blocked in sleep_here(), wait_here() and
 * garbage_here(), and makes the system calls itself, so that these are the innermost functions.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ms = 50;

static int word;

/* Threads that wait until their word changes. */
static struct opened {
	const char *name;
	int word;
	double since;
	pthread_t thread;
} early = {.name = "early"}, whole = {.name = "whole"}, late = {.name = "late"};

static inline __attribute__((always_inline)) long call(long number, const void *a, long b, long c, const void *d)
{
#ifdef __aarch64__
	register long x8 __asm__("x8") = number, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register const void *x0 __asm__("x0") = a, *x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return (long)x0;
#else
	register const void *r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#endif
}

/* The times of this thread, in microseconds. */
struct times {
	double wall, cpu;
	double queued;        /* waiting for a processor */
	long gave_up, pushed; /* number of voluntary and involuntary context switches */
};

static double clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double queued_us(void)
{
	char text[64] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);
	double queued = 0;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%*s %lf", &queued);
	close(fd);
	return queued / 1e3;
}

/* The clocks are read last before a call, and first after it. */
static struct times before_call(void)
{
	struct rusage used;
	struct times t = {.queued = queued_us()};

	getrusage(RUSAGE_THREAD, &used);
	t.gave_up = used.ru_nvcsw;
	t.pushed = used.ru_nivcsw;
	t.cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);
	t.wall = clock_us(CLOCK_MONOTONIC);
	return t;
}

/* The time that a thread was blocked, in microseconds. */
struct blocked {
	double least, most, longest;
	long times;
};

/*
 * A thread is blocked from giving up the processor until it runs again. Waiting for a processor is part of that after a
 * wake-up, but not after an involuntary switch. If both happened, the shares of the two are unknown.
 */
static void add_call(struct blocked *b, const struct times *before)
{
	double wall = clock_us(CLOCK_MONOTONIC) - before->wall;
	double cpu = clock_us(CLOCK_THREAD_CPUTIME_ID) - before->cpu;
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	b->times += used.ru_nvcsw - before->gave_up;
	b->most += wall;
	b->longest = wall > b->longest ? wall : b->longest;
	b->least += wall - cpu;
	if (used.ru_nivcsw != before->pushed)
		b->least -= queued_us() - before->queued;
}

static __attribute__((noinline)) void sleep_here(struct blocked *b)
{
	const struct timespec t = {0, ms * 1000000};
	struct times before = before_call();

	call(SYS_nanosleep, &t, 0, 0, NULL);
	add_call(b, &before);
}

/* With a frame pointer as in code without frame pointers: it points to arbitrary numbers. */
static __attribute__((noinline)) void garbage_here(struct blocked *b, int number)
{
	const struct timespec t = {0, ms * 1000000};
	const uint64_t frame[2] = {0, 0x1234567ULL * (number + 1)};
	struct times before = before_call();

#ifdef __aarch64__
	register long x8 __asm__("x8") = SYS_nanosleep, x1 __asm__("x1") = 0;
	register const void *x0 __asm__("x0") = &t;

	__asm__ volatile("mov x9, x29\n\tmov x29, %[frame]\n\tsvc 0\n\tmov x29, x9"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), [frame] "r"(frame)
			 : "x9", "memory");
#else
	long result;

	__asm__ volatile("push %%rbp\n\tmov %[frame], %%rbp\n\tsyscall\n\tpop %%rbp"
			 : "=a"(result)
			 : "a"(SYS_nanosleep), "D"(&t), "S"(0), [frame] "r"(frame)
			 : "rcx", "r11", "memory");
#endif
	add_call(b, &before);
}

static __attribute__((noinline)) void wait_here(struct blocked *b, const int *word, int value)
{
	struct times before = before_call();

	call(SYS_futex, word, FUTEX_WAIT, value, NULL);
	add_call(b, &before);
}

static void print(const char *name, const struct blocked *b)
{
	printf("%s %.0f %.0f %ld %.0f\n", name, b->least, b->most, b->times, b->longest);
}

static __attribute__((noinline)) void wake_here(int *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	call(SYS_futex, word, FUTEX_WAKE, 1, NULL);
}

static void *waiter(void *argument)
{
	int n = *(int *)argument;
	struct blocked b = {};

	prctl(PR_SET_NAME, "waiter;one");
	for (int i = 0; i < n; i++)
		while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == i)
			wait_here(&b, &word, i);
	print("waiter,one", &b);
	return NULL;
}

static void *opened(void *argument)
{
	struct opened *o = argument;

	prctl(PR_SET_NAME, o->name);
	o->since = clock_us(CLOCK_MONOTONIC);
	while (!__atomic_load_n(&o->word, __ATOMIC_SEQ_CST))
		wait_here(&(struct blocked){}, &o->word, 0);
	return NULL;
}

static void begin(struct opened *o)
{
	if (pthread_create(&o->thread, NULL, opened, o) != 0)
		exit(1);
}

/* until: the latest time at which recording ended; 0: it continues. */
static void end(struct opened *o, double least, double until)
{
	struct blocked b = {.least = least, .times = 1};

	wake_here(&o->word);
	pthread_join(o->thread, NULL);
	b.most = b.longest = (until ? until : clock_us(CLOCK_MONOTONIC)) - o->since;
	print(o->name, &b);
}

/* Returns the time at which a line came. */
static double wait_for_line(void)
{
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		exit(1);
	return clock_us(CLOCK_MONOTONIC);
}

/*
 * Recording starts before the first line, when two threads already wait, and ends before the second line. In between,
 * one of these is woken, and another thread starts to wait.
 */
static void stay_open(int n)
{
	double started, woke, ended;

	begin(&early);
	begin(&whole);
	started = wait_for_line();
	begin(&late);
	for (int i = 0; i < n; i++)
		sleep_here(&(struct blocked){});
	woke = clock_us(CLOCK_MONOTONIC);
	end(&early, woke - started, 0);
	ended = wait_for_line();
	end(&whole, woke - started, ended);
	end(&late, woke - late.since, ended);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1] + strcspn(argv[1], "0123456789")) : 0;
	const char *name = "sleeper";
	struct blocked b = {};
	pthread_t thread;

	if (argc > 1 && *argv[1] == 'o') {
		prctl(PR_SET_NAME, "sleeper");
		stay_open(n);
		return 0;
	}
	if (argc > 3) {
		ms = atoi(argv[2]);
		name = argv[3];
	}
	/* waiting for the line is not measured */
	getchar();
	prctl(PR_SET_NAME, name);
	if (argc > 1 && *argv[1] == 'w' && pthread_create(&thread, NULL, waiter, &n) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		if (*argv[1] == 'g')
			garbage_here(&b, i);
		else
			sleep_here(&b);
		if (*argv[1] == 'w')
			wake_here(&word);
	}
	print(name, &b);
	if (argc > 1 && *argv[1] == 'w')
		pthread_join(thread, NULL);
	return 0;
}
