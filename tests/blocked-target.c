/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is blocked, for offwaketime: prints the name of each thread and the microseconds for which it was,
 * in sleep_here() and wait_here(). Usage: blocked-target sleeps=N|waits=N. It begins with a line, or the end, of its
 * standard input. System calls are made here, so that the innermost function is known.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

enum { MS = 50 };

static int word;

static inline __attribute__((always_inline)) long call(long number, const void *a, long b, long c,
						       const void *d)
{
	register const void *r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* Returns how long it took. */
static __attribute__((noinline)) double sleep_here(void)
{
	const struct timespec t = {0, MS * 1000000};
	double begin = now();

	call(SYS_nanosleep, &t, 0, 0, NULL);
	return now() - begin;
}

static __attribute__((noinline)) double wait_here(int value)
{
	double begin = now();

	call(SYS_futex, &word, FUTEX_WAIT, value, NULL);
	return now() - begin;
}

static __attribute__((noinline)) void wake_here(void)
{
	__atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST);
	call(SYS_futex, &word, FUTEX_WAKE, 1, NULL);
}

static void *waiter(void *argument)
{
	int n = *(int *)argument;
	double sum = 0;

	prctl(PR_SET_NAME, "waiter;one");
	for (int i = 0; i < n; i++)
		while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == i)
			sum += wait_here(i);
	printf("waiter,one %.0f\n", sum);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1] + strcspn(argv[1], "0123456789")) : 0;
	pthread_t thread;
	double sum = 0;

	prctl(PR_SET_NAME, "sleeper");
	getchar();
	if (argc > 1 && *argv[1] == 'w' && pthread_create(&thread, NULL, waiter, &n) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		sum += sleep_here();
		if (*argv[1] == 'w')
			wake_here();
	}
	printf("sleeper %.0f\n", sum);
	if (argc > 1 && *argv[1] == 'w')
		pthread_join(thread, NULL);
	return 0;
}
