/* SPDX-License-Identifier: BSD-3-Clause */
#include "ticks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "clock.h"

enum {
	READINGS = 10, /* of which the narrowest is taken */
	START_MS = 10,
	RENEW_MS = 100,
	SLEW_PPM = 1000, /* the clock is steered by half as much at most */
};

/* The kernel's own clock sources that are the counter, and those of hypervisors, where the counter has to be invariant. */
#if defined(__x86_64__)
static const char *const sources[] = {"tsc"}, *const virtual_sources[] = {"kvm-clock", "hyperv_clocksource_tsc_page"};

static uint64_t counter(void)
{
	uint64_t tsc;

	_mm_lfence();
	tsc = __rdtsc();
	_mm_lfence();
	return tsc;
}

static bool is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1 << 8;
}
#elif defined(__aarch64__)
static const char *const sources[] = {"arch_sys_counter"}, *const virtual_sources[] = {};

static uint64_t counter(void)
{
	uint64_t count;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(count) : : "memory");
	return count;
}

static bool is_invariant(void)
{
	return true;
}
#else
#error "the counter of this processor is not known"
#endif

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A time at which both were read: the counter is read before and after the clock. */
static struct ticks_reading read_both(void)
{
	struct ticks_reading best = {};
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t from = counter(), ns = clock_ns(), to = counter();

		if (to - from >= narrowest)
			continue;
		narrowest = to - from;
		best = (struct ticks_reading){from + narrowest / 2, ns};
	}
	return best;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

const char *ticks_start(struct ticks *t)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[32] = "";

	*t = (struct ticks){};
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
	if (!is_one_of(name, sources, COUNT(sources)) &&
	    !(is_one_of(name, virtual_sources, COUNT(virtual_sources)) && is_invariant()))
		return "the kernel's clock source is not the processor's counter";
	t->before = read_both();
	nanosleep(&(struct timespec){.tv_nsec = START_MS * NS_A_MS}, NULL);
	t->last = read_both();
	t->rate = (double)(t->last.tsc - t->before.tsc) / (t->last.ns - t->before.ns);
	return NULL;
}

static void renew(struct ticks *t)
{
	struct ticks_reading now = read_both();
	uint64_t passed = now.ns - t->last.ns;
	double ratio = (double)(now.tsc - t->last.tsc) / passed / t->rate;

	t->before = t->last;
	t->last = now;
	if (ratio > 1 - SLEW_PPM / 1e6 && ratio < 1 + SLEW_PPM / 1e6)
		return;
	t->jumps++;
	/* it is not known when: what comes now is after it */
	t->before = (struct ticks_reading){now.tsc - (uint64_t)(passed * t->rate), now.ns - passed};
}

uint64_t ticks_at(struct ticks *t, uint64_t ns)
{
	__int128 ticks;

	if (ns > t->last.ns + (uint64_t)RENEW_MS * NS_A_MS)
		renew(t);
	ticks = (__int128)(int64_t)(ns - t->last.ns) * (int64_t)(t->last.tsc - t->before.tsc);
	return t->last.tsc + (int64_t)(ticks / (int64_t)(t->last.ns - t->before.ns));
}
