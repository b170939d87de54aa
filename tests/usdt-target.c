/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with USDT probes, for the tests of usdt-gen and usdt-record. Each argument is an act, as in "usdt-target
 * wait sizes flood=1000". It prints the probe lines that should be recorded if the test cannot know them.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counter.h"
#include "usdt-target.h"

enum { NQN = 223 };

/* Prints "ready" and waits for a line on standard input. */
static void wait_for_line(unsigned n)
{
	char c = 0;

	(void)n;
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static void connect_qpair(uint64_t tsc, uint64_t qpair, uint16_t qid, const char *host)
{
	const char *subsystem = "nqn.2016-06.io.spdk:cnode1";
	uint64_t thread = 2;

	DTRACE_PROBE3(spdk, nvmf_poll_group_add_qpair, tsc, qpair, thread);
	DTRACE_PROBE5(spdk, nvmf_ctrlr_add_qpair, tsc + 1, qpair, qid, subsystem, host);
	DTRACE_PROBE3(spdk, nvmf_poll_group_remove_qpair, tsc + 2, qpair, thread);
}

/* Names that hosts may choose; one has the maximum length of NVMe. */
static void fire_qpairs(unsigned n)
{
	char longest[NQN + 1] = "nqn.2026-11.bench:";

	(void)n;
	memset(longest + strlen(longest), 'x', NQN - strlen(longest));
	connect_qpair(100, 0x1000, 0, "nqn.2026-11.bench:host-a");
	connect_qpair(200, 0x2000, 1, longest);
	connect_qpair(300, 0x3000, 2, "a,b=c', d='e");
	connect_qpair(400, 0x4000, 3, "back\\slash\n\033[31mred\x9b\xff\xc3\xa4");
	connect_qpair(500, 0x5000, 4, "");
}

/* Maps a trace that exists already, like an SPDK application with the shared-memory id n. */
static void map_trace(unsigned n)
{
	char path[64];
	off_t size;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/usdt-target_trace.%u", n);
	fd = open(path, O_RDWR);
	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	if (size < 0 || mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		err(EXIT_FAILURE, "%s", path);
	close(fd);
}

static void fire_sizes(unsigned n)
{
	int8_t s8 = -8;
	uint8_t u8 = 248;
	int16_t s16 = -16;
	uint16_t u16 = 65520;
	int32_t s32 = -32;
	uint32_t u32 = 4294967264;
	int64_t s64 = -64;
	uint64_t u64 = UINT64_MAX - 63;

	(void)n;
	/* in registers and in memory; the others are constants */
	__asm__("" : "+r"(s8), "+m"(u8), "+m"(s16), "+r"(u16), "+m"(s32), "+r"(u32), "+r"(s64), "+m"(u64));
	DTRACE_PROBE12(spdk, sizes, s8, u8, s16, u16, s32, u32, s64, u64, 0, -1, INT64_MIN, "twelfth");
}

static void fire_float(unsigned n)
{
	double load = 0.5 * n;

	DTRACE_PROBE2(spdk, with_float, n, load);
}

static void fire_memory(unsigned n)
{
	fire_in_memory(n);
}

static void fire_library(unsigned n)
{
	(void)n;
	printf("%u listen\n", fire_guarded());
}

static inline __attribute__((always_inline)) void fire_inlined(uint64_t where)
{
	DTRACE_PROBE1(spdk, inlined, where);
}

static void fire_sites(unsigned n)
{
	fire_inlined(1);
	if (n != 1)
		fire_inlined(n + 1);
	fire_inlined(3);
}

/* Strings in pages of a file that this process has not touched; every eighth string crosses into the next page. */
static void fire_cold(unsigned n)
{
	const long page = sysconf(_SC_PAGESIZE);
	FILE *file = tmpfile();
	char *pages, text[64];

	for (unsigned i = 0; file && i < n; i++) {
		snprintf(text, sizeof(text), "cold-%u-%032u", i, i);
		fseek(file, (2 * i + 1) * page - (i % 8 ? page : 20), SEEK_SET);
		fputs(text, file);
		printf("cold: number=0x%x, text='%s'\n", i, text);
	}
	if (!file || fflush(file) != 0 || ftruncate(fileno(file), 2 * (n + 1) * page) != 0)
		err(EXIT_FAILURE, "temporary file");
	pages = mmap(NULL, 2 * (n + 1) * page, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	if (pages == MAP_FAILED || madvise(pages, 2 * (n + 1) * page, MADV_RANDOM) != 0)
		err(EXIT_FAILURE, "mmap");
	for (unsigned i = 0; i < n; i++)
		DTRACE_PROBE2(spdk, cold, i, pages + (2 * i + 1) * page - (i % 8 ? page : 20));
	fclose(file);
}

/* Addresses that are not strings, and strings of n and n + 1 bytes, to test the longest that is recorded. */
static void fire_odd(unsigned n)
{
	char *text = malloc(n + 2);

	if (!text)
		err(EXIT_FAILURE, NULL);
	memset(text, 'y', n + 1);
	text[n + 1] = 0;
	DTRACE_PROBE1(spdk, odd, NULL);
	DTRACE_PROBE1(spdk, odd, (char *)0x10);
	DTRACE_PROBE1(spdk, odd, text + 1);
	DTRACE_PROBE1(spdk, odd, text);
	free(text);
}

/* As many strings as are recorded for one probe, and one more. */
static void fire_strings(unsigned n)
{
	char *text = calloc(n + 1, 1);

	if (!text)
		err(EXIT_FAILURE, NULL);
	memset(text, 'z', n);
	DTRACE_PROBE7(spdk, strings, text, text, text, text, text, text, text);
	free(text);
}

static void fire_flood(unsigned n)
{
	const char *name = "nqn.2026-11.bench:host-a";

	for (unsigned i = 0; i < n; i++)
		DTRACE_PROBE4(spdk, flood, i, name, n, i);
}

/* Passes the processor's counter before each hit, and its value after the previous hit. */
static void fire_stamped(unsigned n)
{
	uint64_t after = 0;

	while (n--) {
		uint64_t before = counter_now();

		DTRACE_PROBE2(spdk, stamped, before, after);
		after = counter_now();
	}
}

static void *fire_in_thread(void *n)
{
	DTRACE_PROBE1(spdk, thread, *(unsigned *)n);
	return NULL;
}

static void fire_threads(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, fire_in_thread, &i) != 0 || pthread_join(thread, NULL) != 0)
			errx(EXIT_FAILURE, "threads");
	}
}

/* Each child has a child of its own. */
static void fire_forks(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();

		if (child < 0)
			err(EXIT_FAILURE, "fork");
		if (child == 0) {
			DTRACE_PROBE1(spdk, forked, i);
			child = fork();
			if (child == 0)
				DTRACE_PROBE1(spdk, forked, 100 + i);
			else
				waitpid(child, NULL, 0);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* Microseconds of CPU that this process has used. */
static void print_cpu(unsigned n)
{
	struct rusage used;

	(void)n;
	getrusage(RUSAGE_SELF, &used);
	printf("cpu %ld\n",
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void end(unsigned n)
{
	fflush(stdout);
	_exit(n);
}

static void kill_self(unsigned n)
{
	fflush(stdout);
	raise(n);
}

static void *fire_absent(void *text)
{
	DTRACE_PROBE1(spdk, absent, text);
	return NULL;
}

/* A string on a page that no one ever fills, by userfaultfd. The thread that fires may wait forever. */
static void fire_stuck(unsigned n)
{
	struct uffdio_api api = {.api = UFFD_API};
	const long page = sysconf(_SC_PAGESIZE);
	struct uffdio_register range = {.range.len = page, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t thread;
	void *absent;

	(void)n;
	absent = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)absent;
	if (absent == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		err(EXIT_FAILURE, "userfaultfd");
	if (pthread_create(&thread, NULL, fire_absent, absent) != 0)
		errx(EXIT_FAILURE, "threads");
	printf("firing\n");
	wait_for_line(0);
	_exit(0);
}

static const struct {
	const char *name;
	void (*act)(unsigned n);
} acts[] = {
	{"wait", wait_for_line},   {"qpairs", fire_qpairs},
	{"sizes", fire_sizes},     {"float", fire_float},
	{"memory", fire_memory},   {"library", fire_library},
	{"sites", fire_sites},     {"cold", fire_cold},
	{"odd", fire_odd},         {"flood", fire_flood},
	{"threads", fire_threads}, {"forks", fire_forks},
	{"cpu", print_cpu},        {"exit", end},
	{"kill", kill_self},       {"strings", fire_strings},
	{"trace", map_trace},      {"stuck", fire_stuck},
	{"stamped", fire_stamped},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length = strcspn(argv[i], "="), a = 0;
		unsigned n = argv[i][length] ? strtoul(argv[i] + length + 1, NULL, 10) : 0;

		while (a < sizeof(acts) / sizeof(*acts) &&
		       (strlen(acts[a].name) != length || strncmp(argv[i], acts[a].name, length)))
			a++;
		if (a == sizeof(acts) / sizeof(*acts))
			errx(2, "%s: nothing to do", argv[i]);
		acts[a].act(n);
	}
	return 0;
}
