/* SPDX-License-Identifier: BSD-3-Clause */
#include "ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "clock.h"
#include "count.h"
#include "io.h"

enum {
	READINGS = 10, /* of which the narrowest is used */
	START_MS = 10,
	RENEW_MS = 100,
	JUMP_NS = 10000, /* of the counter: more than a reading or its rate can be wrong by */
	JUMP_PPM = 100,
	NOISE_NS = 100, /* by which the clocks of two processors may differ */
};

/*
 * The kernel's clock sources that are the counter, and those of hypervisors, which require an invariant counter.
 */
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
static const char *const sources[] = {}, *const virtual_sources[] = {};

static uint64_t counter(void)
{
	return 0;
}

static bool is_invariant(void)
{
	return false;
}
#endif

/*
 * Reads a clock between two readings of another one, and uses the narrowest pair of several. *at: the other clock's
 * time in the middle of the pair; *width: the time between the two.
 */
static uint64_t read_between(uint64_t (*clock)(void), uint64_t (*other)(void), uint64_t *at, uint64_t *width)
{
	uint64_t best = 0;

	*at = 0;
	*width = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		uint64_t from = other(), time = clock(), to = other();

		if (to - from >= *width)
			continue;
		*width = to - from;
		*at = from + *width / 2;
		best = time;
	}
	return best;
}

/* How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC: `known`, unless the clock was set. */
static uint64_t read_ahead(uint64_t known)
{
	uint64_t at, width, wall = read_between(clock_wall_ns, clock_ns, &at, &width), ahead = wall - at;

	return ahead + width + NOISE_NS - known <= 2 * (width + NOISE_NS) ? known : ahead;
}

/* Reads a clock; *tsc is the counter at the time of the clock. */
static uint64_t read_clock(uint64_t (*clock)(void), uint64_t *tsc)
{
	uint64_t width;

	return read_between(clock, counter, tsc, &width);
}

/* known: see read_ahead(). */
static struct ticks_reading read_all(uint64_t known)
{
	struct ticks_reading r;

	r.raw = read_clock(clock_raw_ns, &r.raw_tsc);
	r.ns = read_clock(clock_ns, &r.tsc);
	r.wall = r.ns + read_ahead(known);
	return r;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Reads the name of the kernel's clock source; leaves it empty if there is no sysfs. Returns 0, or -1 with errno. */
static int read_source(char *name, size_t size)
{
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC), error;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	n = io_read(fd, name, size - 1);
	error = errno;
	close(fd);
	errno = error;
	if (n < 0)
		return -1;
	name[n] = 0;
	name[strcspn(name, "\n")] = 0;
	return 0;
}

static uint64_t ahead(const struct ticks *t)
{
	return t->last.wall - t->last.ns;
}

const char *ticks_start(struct ticks *t)
{
	char name[32] = "";

	*t = (struct ticks){};
	if (read_source(name, sizeof(name)) != 0)
		return "the kernel's clock source cannot be read";
	errno = 0;
	if (!is_one_of(name, sources, COUNT(sources)) &&
	    !(is_one_of(name, virtual_sources, COUNT(virtual_sources)) && is_invariant()))
		return "the kernel's clock source is not the processor's counter";
	t->before = read_all(0);
	/* a signal may end the sleep early */
	while (clock_ns() - t->before.ns < START_MS * NS_A_MS)
		nanosleep(&(struct timespec){.tv_nsec = START_MS * NS_A_MS}, NULL);
	t->last = read_all(t->before.wall - t->before.ns);
	t->rate = (double)(t->last.raw_tsc - t->before.raw_tsc) / (t->last.raw - t->before.raw);
	return NULL;
}

void ticks_renew(struct ticks *t)
{
	struct ticks_reading now;
	double expected, wrong;

	if (clock_ns() - t->last.ns < NS_A_MS)
		return;
	now = read_all(ahead(t));
	t->steps += t->last.ns && now.wall - now.ns != ahead(t);
	t->before = t->last;
	t->last = now;
	/* chrony may adjust CLOCK_MONOTONIC by 10 %: only CLOCK_MONOTONIC_RAW shows a jump */
	expected = (now.raw - t->before.raw) * t->rate;
	wrong = fabs((int64_t)(now.raw_tsc - t->before.raw_tsc) - expected);
	if (!t->rate || wrong <= JUMP_NS * t->rate + expected * JUMP_PPM / 1e6)
		return;
	t->jumps++;
	/* the time of the jump is unknown: events from now on are after it */
	t->before.tsc = now.tsc - (uint64_t)expected;
}

static void renew_at(struct ticks *t, uint64_t ns)
{
	if (ns > t->last.ns + (uint64_t)RENEW_MS * NS_A_MS)
		ticks_renew(t);
}

/* Converts a difference x of a clock that advanced by `from` for a clock that advanced by `to` meanwhile. */
static int64_t scale(int64_t x, uint64_t to, uint64_t from)
{
	return (__int128)x * (int64_t)to / (int64_t)from;
}

uint64_t ticks_at(struct ticks *t, uint64_t ns)
{
	renew_at(t, ns);
	return t->last.tsc + scale(ns - t->last.ns, t->last.tsc - t->before.tsc, t->last.ns - t->before.ns);
}

uint64_t ticks_ns(struct ticks *t, uint64_t tsc)
{
	/* tsc may be any number, so check the counter; if that is before the last reading, it jumped */
	if (counter() - t->last.tsc > RENEW_MS * NS_A_MS * t->rate)
		ticks_renew(t);
	return t->last.ns + scale(tsc - t->last.tsc, t->last.ns - t->before.ns, t->last.tsc - t->before.tsc);
}

uint64_t ticks_wall(struct ticks *t, uint64_t ns)
{
	renew_at(t, ns);
	return ns + ahead(t);
}

struct ticks_reading ticks_now(void)
{
	return read_all(0);
}
