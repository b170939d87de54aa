/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeds any bytes to one reader of a tool, again and again in one process: the target of libFuzzer and AFL++.
 * Without them, with REPLAY, it has its own main, which runs the given files.
 *
 * The tool itself runs, from main on, with the bytes as its standard input. The Makefile renames the few
 * functions that exit, print messages, allocate or write to those below. They let main end and start again, with
 * all variables as at the first time, and check what holds for any input: exit status 0 or 1, no control
 * characters written, bounded memory.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	VARIANTS = 4,
	ARGS = 7,
	FILE_MAX = 8 << 20,     /* bytes of a trace file */
	MEMORY_MAX = 256 << 20, /* bytes that a tool may allocate for an input below a mebibyte */
	SECONDS = 2,            /* of CPU time that an input may take, all of its variants together */
	HANGS = 600,            /* seconds after which a run counts as hung, however busy the machine is */
};

/* Files that a reader needs in addition to the one with the bytes. */
static const char lifetimes[] = "qpair: begin=1, end=900, owner=t288, ptr=0x7, qid=1, hostnqn='a\\x1b\\'b'\n"
				"qpair: begin=400, ptr=0x7, hostnqn='b'\nctx: begin=0, ptr=0x8, name='c'\n";
static const char traces[] =
	"{\"tsc\":500,\"us\":1.000,\"lcore\":0,\"tpoint\":\"A\",\"poller\":\"t288\",\"args\":{\"qpair\":\"0x7\","
	"\"ctx\":8}}\n"
	"{\"tsc\":1000,\"us\":2.000,\"lcore\":0,\"tpoint\":\"B\",\"poller\":\"t16\",\"args\":{\"qpair\":\"0x7\"}}\n";
static const char probes[] = "owner: tsc=5a, id=12c, poller='t300', description='10.0.0.1:1'\n"
			     "nvmf_poll_group_add_qpair: tsc=64, qpair=7, thread=1\n"
			     "nvmf_ctrlr_add_qpair: tsc=6e, qpair=7, qid=1, subnqn='s', hostnqn='h'\n"
			     "nvmf_poll_group_remove_qpair: tsc=c8, qpair=7, thread=1\n"
			     "nvmf_poll_group_add_qpair: tsc=12c, qpair=8, thread=1\n";
static const char owners[] =
	"{\"id\":300,\"poller\":\"t300\",\"tsc\":90,\"end\":150,\"lcores\":[1],\"description\":\"10.0.0.1:1 s\"}\n"
	"{\"id\":301,\"poller\":\"t301\",\"tsc\":250,\"description\":\"10.0.0.1:2 s 10.0.0.2:4420 qid:1\"}\n";
static const char document[] = "{\"tsc_rate\":1000000,\"tpoints\":[{\"name\":\"A\",\"id\":1,\"args\":[]}],\"entries\":["
			       "{\"lcore\":0,\"tpoint\":1,\"tsc\":500000},{\"lcore\":0,\"tpoint\":1,\"tsc\":3000000}]}";
static const char histograms[] =
	"{\"object\":\"r\",\"life\":true}\t{\"unit\":\"ns\",\"count\":1,\"sum\":7,\"max\":7,\"counts\":[[7,1]]}\n";

/*
 * The readers: a tool and its arguments, for several ways to run it. Trace files are packed, see unpack().
 * Output for a terminal has no control characters; JSON lines that are passed on retain those that JSON allows;
 * and trace-join -j passes on unreadable lines unchanged. BYTES is the file with the bytes, for readers that
 * need a name.
 */
#define BYTES "/proc/self/fd/0"

/* The program, the name, and how many times 200 inputs are one round: make and tests/fuzz read all three here. */
#define READER(PROGRAM, NAME, TIMES) NAME

enum kind { TEXT, TRACE, JSON, ANYTHING };

static const struct reader {
	const char *name;
	const char *file; /* contents of FILE in the arguments */
	enum kind kind;
	const char *variants[VARIANTS][ARGS];
} readers[] = {
	{READER("trace-dump", "trace-file", 5), NULL, TRACE, {{"-a"}, {"-idO"}, {"-i"}, {"-t", "*", "--until", "9"}}},
	{READER("trace-dump", "spdk-json", 8), NULL, TEXT, {{"-t", "*"}, {"-idO"}, {"-i"}}},
	{READER("trace-dump", "clock-lines", 10),
	 document,
	 TEXT,
	 {{"--wall", "--clock", "-", "FILE"}, {"-i", "--clock", "-", "FILE"}}},
	{READER("trace-join", "trace-lines", 30),
	 lifetimes,
	 TEXT,
	 {{"-l", "FILE"}, {"-ql", "FILE"}, {"-s", "-l", "FILE"}}},
	{READER("trace-join", "trace-lines-json", 90), lifetimes, ANYTHING, {{"-j", "-l", "FILE"}}},
	{READER("trace-latency", "trace-lines-latency", 30),
	 NULL,
	 TEXT,
	 {{"-rg", "args.qpair.hostnqn"}, {"-rHi", "1", "-g", "type"}, {"--layers", "-i", "1", "-g", "bdev"}}},
	{READER("trace-latency", "trace-lines-encode", 50),
	 NULL,
	 JSON,
	 {{"-erg", "args"}, {"-erg", "status", "-g", "args"}}},
	{READER("trace-perfetto", "trace-lines-perfetto", 45), NULL, ANYTHING, {{"-"}, {"-q", "-e"}}},
	{READER("trace-merge", "trace-lines-merge", 130), traces, ANYTHING, {{"FILE", "-"}, {"-r", "7", "b=FILE"}}},
	{READER("trace-match", "trace-lines-match", 40), NULL, ANYTHING, {{BYTES}, {"-q", "--same-clock", "a=" BYTES}}},
	{READER("trace-spans", "trace-lines-spans", 40),
	 NULL,
	 TEXT,
	 {{"-as"}, {"--open", "-n", "3", "-k", "owner=*1*"}, {"--stuck", "1", "-s"}}},
	{READER("trace-spans", "trace-lines-spans-json", 50),
	 NULL,
	 JSON,
	 {{"-aj"}, {"-jn", "3", "-k", "type=r*"}, {"-jn", "2", "--admin"}}},
	{READER("trace-causes", "span-lines", 30),
	 NULL,
	 TEXT,
	 {{"-"}, {"--open", "-k", "type=r*", "-m", "1"}, {"-m", "50"}}},
	{READER("trace-causes", "span-lines-json", 30),
	 NULL,
	 JSON,
	 {{"-j"}, {"-j", "--open", "-m", "1"}, {"-j", "--ledger"}}},
	{READER("trace-join", "lifetime-lines", 130),
	 traces,
	 TEXT,
	 {{"-l", "-", "FILE"}, {"-j", "-l", "-", "FILE"}, {"-sF", "-l", "-", "FILE"}}},
	{READER("qpair-lifetimes", "probe-lines", 120), owners, TEXT, {{"-"}, {"-O", "FILE"}}},
	{READER("qpair-lifetimes", "owner-lines", 400), probes, TEXT, {{"-O", "-", "FILE"}}},
	{READER("qpair-lifetimes", "rpc-lines", 400), owners, TEXT, {{"--rpc", "-", "-O", "FILE"}}},
	{READER("trace-latency", "histogram-lines", 100),
	 histograms,
	 TEXT,
	 {{"--merge", "-H"}, {"--merge", "--against", "-", "FILE"}, {"--merge", "--openmetrics"}}},
	{READER("usdt-gen", "elf-notes", 120), NULL, TEXT, {{"-lx", BYTES}, {"-x", BYTES, "-e", "p(a,b:str)"}}},
	{READER("operands", "elf-operands", 300), NULL, TEXT, {{BYTES}}},
	{READER("elf", "elf-functions", 90), NULL, TEXT, {{BYTES, BYTES}}},
};

enum { NUM_READERS = sizeof(readers) / sizeof(readers[0]) };

static const struct reader *reader;
static int bytes;      /* the file of the bytes */
static char *mapped;   /* its mapping */
static int other = -1; /* the reader's other file */

static _Noreturn void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
	abort();
}

/* The tool. */
int tool_main(int argc, char **argv);

static jmp_buf end;
static int status;

_Noreturn void fuzz_exit(int s);
void fuzz_vwarnx(const char *format, va_list args);
_Noreturn void fuzz_err(int s, const char *format, ...);
_Noreturn void fuzz_errx(int s, const char *format, ...) __attribute__((alias("fuzz_err")));
void fuzz_warn(const char *format, ...);
void fuzz_warnx(const char *format, ...) __attribute__((alias("fuzz_warn")));
ssize_t fuzz_write(int fd, const void *p, size_t n);
void *fuzz_malloc(size_t n);
void *fuzz_calloc(size_t n, size_t size);
void *fuzz_realloc(void *old, size_t n);
void *fuzz_reallocarray(void *old, size_t n, size_t size);
char *fuzz_strdup(const char *s);
char *fuzz_strndup(const char *s, size_t n);
void fuzz_free(void *p);

void fuzz_exit(int s)
{
	status = s;
	longjmp(end, 1);
}

/* Formats the message, so that all its arguments are read. */
void fuzz_vwarnx(const char *format, va_list args)
{
	static char message[1 << 12];

	if (format)
		vsnprintf(message, sizeof(message), format, args);
}

void fuzz_err(int s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fuzz_vwarnx(format, args);
	va_end(args);
	fuzz_exit(s);
}

void fuzz_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fuzz_vwarnx(format, args);
	va_end(args);
}

ssize_t fuzz_write(int fd, const void *p, size_t n)
{
	const unsigned char *s = p;

	(void)fd;
	for (size_t i = 0; i < n && reader->kind != ANYTHING; i++) {
		bool c0 = s[i] < 0x20 && s[i] != '\n' && s[i] != '\t' && s[i] != '\r';
		bool c1 = s[i] == 0xc2 && i + 1 < n && s[i + 1] >= 0x80 && s[i + 1] < 0xa0;

		if (c0 || (reader->kind != JSON && (c1 || s[i] == '\r' || s[i] == 0x7f)))
			fail("a control character is written: %#x", s[i]);
	}
	return n;
}

/* The tool's allocations: after its exit they must be freed here. */
static void **blocks;
static size_t num_blocks, cap_blocks, allocated;

static void *own(void *p)
{
	if (!p)
		fail("out of memory");
	if (num_blocks == cap_blocks) {
		cap_blocks = cap_blocks ? 2 * cap_blocks : 1024;
		blocks = reallocarray(blocks, cap_blocks, sizeof(*blocks));
		if (!blocks)
			fail("out of memory");
	}
	blocks[num_blocks++] = p;
	allocated += malloc_usable_size(p);
	if (allocated > MEMORY_MAX)
		fail("more than %d bytes are allocated", MEMORY_MAX);
	return p;
}

static void disown(void *p)
{
	size_t i = num_blocks;

	while (i && blocks[i - 1] != p)
		i--;
	/* libc has allocated it, as asprintf() does */
	if (!i)
		return;
	allocated -= malloc_usable_size(p);
	blocks[i - 1] = blocks[--num_blocks];
}

void *fuzz_malloc(size_t n)
{
	return own(malloc(n));
}

void *fuzz_calloc(size_t n, size_t size)
{
	return own(calloc(n, size));
}

void *fuzz_reallocarray(void *old, size_t n, size_t size)
{
	if (old)
		disown(old);
	return own(reallocarray(old, n, size));
}

void *fuzz_realloc(void *old, size_t n)
{
	return fuzz_reallocarray(old, n, 1);
}

char *fuzz_strdup(const char *s)
{
	return own(strdup(s));
}

char *fuzz_strndup(const char *s, size_t n)
{
	return own(strndup(s, n));
}

void fuzz_free(void *p)
{
	if (!p)
		return;
	disown(p);
	free(p);
}

/* The variables of the tool, which the Makefile has put into these two sections; a tool may have no such variables. */
extern char __start_tool_data[] __attribute__((weak)), __stop_tool_data[] __attribute__((weak));
extern char __start_tool_bss[] __attribute__((weak)), __stop_tool_bss[] __attribute__((weak));

/* Copies n bytes, or zeros; also bytes between variables, which a sanitizer does not let memcpy() touch. */
static void copy(char *to, const char *from, size_t n)
{
	/* volatile keeps the compiler from turning it into a call of memcpy(), which is checked */
	volatile uint64_t *words = (uint64_t *)to;
	const uint64_t *first = (const uint64_t *)from;
	size_t i;

	for (i = 0; i < n / 8; i++)
		words[i] = first ? first[i] : 0;
	for (i *= 8; i < n; i++)
		((volatile char *)to)[i] = from ? from[i] : 0;
}

/* Gives all variables of the tool their initial values. */
static void reset(void)
{
	static char *first;
	size_t n = __stop_tool_data - __start_tool_data;

	if (!first) {
		first = malloc(n + 1);
		if (!first)
			fail("out of memory");
		copy(first, __start_tool_data, n);
	}
	copy(__start_tool_data, first, n);
	copy(__start_tool_bss, NULL, __stop_tool_bss - __start_tool_bss);
	optind = 0;
}

/* Of common/usdt/sandbox.h, in tools that have it: they read files in a child process, in which no fault is seen. */
extern bool sandbox_is_off __attribute__((weak));

static void run(const char *const *variant)
{
	static char name[] = "fuzz", path[32];
	char *argv[ARGS + 2] = {name};
	volatile int argc = 1;

	for (unsigned i = 0; i < ARGS && variant[i]; i++)
		argv[argc++] = strcmp(variant[i], "FILE") ? (char *)variant[i] : path;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", other);
	reset();
	if (&sandbox_is_off)
		sandbox_is_off = true;
	lseek(STDIN_FILENO, 0, SEEK_SET);
	if (setjmp(end) == 0)
		status = tool_main(argc, argv);
	while (num_blocks)
		fuzz_free(blocks[num_blocks - 1]);
	if (status != EXIT_SUCCESS && status != EXIT_FAILURE)
		fail("the exit status is %d", status);
}

/*
 * A packed file is a list of pieces: the number of zeros (4 bytes, little-endian), the number of bytes that
 * follow (2), and those bytes. Trace files are mostly zeros, and a fuzzer does best with a few hundred bytes.
 */
static size_t unpack(char *to, const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (n && at < FILE_MAX) {
		uint32_t zeros = 0;
		uint16_t size = 0;

		memcpy(&zeros, p, n < 4 ? n : 4);
		if (n > 4)
			memcpy(&size, p + 4, n < 6 ? n - 4 : 2);
		p += n < 6 ? n : 6;
		n -= n < 6 ? n : 6;
		at += zeros < FILE_MAX - at ? zeros : FILE_MAX - at;
		if (size > n)
			size = n;
		if (size > FILE_MAX - at)
			size = FILE_MAX - at;
		if (to)
			memcpy(to + at, p, size);
		at += size;
		p += size;
		n -= size;
	}
	return at;
}

static int memory_file(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		err(EXIT_FAILURE, "memfd_create");
	return fd;
}

static void takes_too_long(int signal)
{
	static const char message[] = "more of the processor than an input may take\n";

	(void)signal;
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(EXIT_FAILURE);
	abort();
}

static void set_up(void)
{
	const char *name = strstr(program_invocation_short_name, "fuzz-");

	signal(SIGPROF, takes_too_long);
	/* no xz and gzip for bytes that look packed: processes would take most of the time */
	setenv("PATH", "/nonexistent", 1);
	for (unsigned i = 0; name && i < NUM_READERS; i++)
		if (strcmp(name + 5, readers[i].name) == 0)
			reader = &readers[i];
	if (!reader)
		errx(EXIT_FAILURE, "the name of the program, fuzz-READER, tells no reader");
	bytes = memory_file();
	if (ftruncate(bytes, FILE_MAX) != 0 || dup2(bytes, STDIN_FILENO) < 0)
		err(EXIT_FAILURE, "the file for the bytes");
	mapped = mmap(NULL, FILE_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, bytes, 0);
	if (mapped == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");
	if (!reader->file)
		return;
	other = memory_file();
	if (write(other, reader->file, strlen(reader->file)) < 0)
		err(EXIT_FAILURE, "the other file");
}

static void run_all(void)
{
	struct itimerval limit = {.it_value.tv_sec = SECONDS}, none = {.it_value.tv_sec = 0};

	setitimer(ITIMER_PROF, &limit, NULL);
	for (unsigned i = 0; i < VARIANTS && reader->variants[i][0]; i++)
		run(reader->variants[i]);
	setitimer(ITIMER_PROF, &none, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	size_t size;

	if (!reader)
		set_up();
	size = reader->kind == TRACE ? unpack(NULL, p, n) : n < FILE_MAX ? n : FILE_MAX;
	/* bytes that are truncated are zeros when the file grows again */
	if ((reader->kind == TRACE && ftruncate(bytes, 0) != 0) || ftruncate(bytes, size) != 0)
		err(EXIT_FAILURE, "ftruncate");
	if (reader->kind == TRACE)
		unpack(mapped, p, n);
	else
		memcpy(mapped, p, size);
	run_all();
	return 0;
}

#ifdef REPLAY
static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *p = malloc(FILE_MAX);

	if (!f || !p)
		err(EXIT_FAILURE, "%s", path);
	*n = fread(p, 1, FILE_MAX, f);
	if (ferror(f) || fclose(f) != 0)
		err(EXIT_FAILURE, "%s", path);
	return p;
}

/* Writes the file packed to standard output. */
static void pack(const char *p, size_t n)
{
	enum { GAP = 16 }; /* zeros that are worth a new piece */

	for (size_t at = 0; at < n;) {
		size_t begin = at, stop;
		uint32_t zeros;
		uint16_t size;

		while (begin < n && !p[begin])
			begin++;
		zeros = begin - at;
		at = begin;
		for (stop = begin; stop < n && stop - at < GAP && stop - begin < UINT16_MAX; stop++)
			if (p[stop])
				at = stop + 1;
		size = at - begin;
		fwrite(&zeros, sizeof(zeros), 1, stdout);
		fwrite(&size, sizeof(size), 1, stdout);
		fwrite(p + begin, 1, size, stdout);
	}
}

enum { NEAR = 8, SEEN = 1 << 20 };

/*
 * Whether a byte, or one near it, is not zero: a trace file is mostly zeros. Of places with the same bytes around them
 * only the first one matters, whose offset is in seen: lcores without entries have the same history.
 */
static bool matters(const char *p, size_t n, size_t at, size_t seen[SEEN])
{
	uint64_t around[2 * NEAR / sizeof(uint64_t)];
	size_t *same;

	if (at < NEAR || n - at < NEAR)
		return true;
	memcpy(around, p + at - NEAR, sizeof(around));
	if (!around[0] && !around[1])
		return false;
	/* Knuth's MMIX */
	same = &seen[(around[0] * 6364136223846793005 + around[1]) * 1442695040888963407 >> 44];
	if (*same && *same != at && memcmp(p + *same - NEAR, around, sizeof(around)) == 0)
		return false;
	*same = at;
	return true;
}

static unsigned random_below(unsigned n)
{
	static uint64_t state = 1;

	/* Knuth's MMIX */
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % n;
}

/* Runs the current bytes. */
static void try(void)
{
	alarm(HANGS);
	run_all();
}

/* Copies these bytes to the file, with a hole for each page of zeros: holes cost a run nothing. */
static void load(const char *p, size_t n)
{
	enum { PAGE = 4096 };
	static const char zeros[PAGE];

	if (ftruncate(bytes, 0) != 0 || ftruncate(bytes, n) != 0)
		err(EXIT_FAILURE, "ftruncate");
	for (size_t i = 0, size; i < n; i += size) {
		size = n - i < PAGE ? n - i : PAGE;
		if (memcmp(p + i, zeros, size) != 0)
			memcpy(mapped + i, p + i, size);
	}
}

/*
 * Runs the file with single bits flipped and with blocks of random bytes, one in `step` of these; then truncated at
 * the lengths that can matter, one in CUT of them unless `step` is less, and at some lengths within zeros.
 */
static void damage(const char *p, size_t n, unsigned step)
{
	/* CUT: once within each 16 bytes */
	enum { ZEROS = 16381, BLOCK = 64, BLOCKS = 6400, CUT = 13 };
	size_t *seen = calloc(SEEN, sizeof(*seen)), bits = 0, size, at;

	if (!seen)
		err(EXIT_FAILURE, "calloc");
	set_up();
	load(p, n);
	for (size_t i = 0; i < 8 * n; i++) {
		if (!matters(p, n, i / 8, seen) || bits++ % step)
			continue;
		mapped[i / 8] ^= 1 << i % 8;
		try();
		mapped[i / 8] = p[i / 8];
	}
	for (unsigned i = 0; i < BLOCKS / step; i++) {
		do {
			size = 1 + random_below(BLOCK);
			at = random_below(n - size);
		} while (!matters(p, n, at, seen));
		for (size_t j = 0; j < size; j++)
			mapped[at + j] = random_below(256);
		try();
		memcpy(mapped + at, p + at, size);
	}
	for (size_t i = n; i-- > 0;) {
		if ((!matters(p, n, i, seen) || i % (step < CUT ? step : CUT)) && i % ZEROS)
			continue;
		if (ftruncate(bytes, i) != 0)
			err(EXIT_FAILURE, "ftruncate");
		try();
	}
	free(seen);
}

/*
 * fuzz-READER FILE... runs files; -p FILE packs one; -d STEP FILE runs a file damaged in all ways, or in one
 * of STEP.
 */
int main(int argc, char **argv)
{
	bool packs = argc > 1 && strcmp(argv[1], "-p") == 0;
	bool damages = argc > 2 && strcmp(argv[1], "-d") == 0;

	for (int i = 1 + packs + 2 * damages; i < argc; i++) {
		size_t n;
		char *p = read_file(argv[i], &n);

		alarm(HANGS);
		if (packs)
			pack(p, n);
		else if (damages)
			damage(p, n, atoi(argv[2]));
		else
			LLVMFuzzerTestOneInput((const uint8_t *)p, n);
		free(p);
	}
	if (fflush(stdout) != 0)
		err(EXIT_FAILURE, "<stdout>");
	free(blocks);
	return EXIT_SUCCESS;
}
#endif
