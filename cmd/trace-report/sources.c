/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "kind.h"
#include "io.h"
#include "mem.h"
#include "number.h"
#include "recording.h"
#include "utf8.h"

enum { /* bytes that are read of a file */
       START = 1 << 20,
       ANSWERS = 80 << 20, /* trace-record ends with less */
};

/* line: 0 if all of the file is meant. */
static void refuse(struct facts *f, const char *path, size_t line, const char *why)
{
	char *shown = utf8_visible_copy(path), *at = line ? mem_printf(":%zu", line) : mem_copy((struct slice){"", 0});

	warnx("%s%s: %s", shown, at, why);
	out_printf(&f->unread, "unreadable: %s%s: %s\n", basename(shown), at, why);
	free(shown);
	free(at);
}

/* Returns a descriptor; -1 if the file does not exist, or after a message. */
static int open_file(struct facts *f, const char *path, struct stat *st)
{
	/* a pipe without a writer must not make the tool wait */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	refuse(f, path, 0, fd >= 0 ? "not a regular file" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The path of a file in a folder; NULL if it does not exist, is empty, or cannot be opened. */
static char *find_file(struct facts *f, const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	struct stat st;
	int fd = open_file(f, path, &st);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && st.st_size)
		return path;
	free(path);
	return NULL;
}

/* The first bytes of a file. Returns false if there is none, or none that can be read. */
static bool read_start(struct facts *f, const char *path, size_t max, struct slice *start)
{
	struct stat st;
	int fd = open_file(f, path, &st);
	ssize_t got = 1;
	size_t n = 0;
	char *text;

	if (fd < 0)
		return false;
	text = mem_resize(NULL, 1, max);
	while (n < max && (got = io_read(fd, text + n, max - n)) > 0)
		n += got;
	if (got < 0)
		refuse(f, path, 0, strerror(errno));
	close(fd);
	if (got < 0)
		free(text);
	else
		*start = (struct slice){text, n};
	return got >= 0;
}

/* Whether each line of a file's contents is a JSON object; else after a message. */
static bool check_objects(struct facts *f, const char *path, struct slice all)
{
	for (size_t number = 1; all.n; number++) {
		struct slice text = slice_cut_line(&all), object;

		if (facts_line(&text, &object))
			continue;
		refuse(f, path, number, "not a JSON object: the file is damaged, or was not written to its end");
		return false;
	}
	return true;
}

/* The object of a part of the recording; empty if there is none. */
static struct slice find_part(const struct facts *f, const char *name)
{
	struct slice parts = f->parts, part;

	while (facts_line(&parts, &part))
		if (slice_is(json_unquoted(facts_text(part, RECORDING_PART)), name))
			return part;
	return (struct slice){"", 0};
}

static void check_parts(struct facts *f, const char *path)
{
	struct slice trigger = find_part(f, RECORDING_TRIGGER), us = facts_text(trigger, RECORDING_MIN_US);
	uint64_t ns;

	/* trace-record writes those of all parts at once, when it ends */
	if (check_objects(f, path, f->parts) && !find_part(f, "trace").n)
		refuse(f, path, 0, "there is no object of the trace: the file was not written to its end");
	if (trigger.n && number_fixed(us, 3, &ns) && ns)
		f->min_us = mem_copy(us);
	else if (trigger.n)
		refuse(f, path, 0, "\"" RECORDING_MIN_US "\" is no time above 0: what was slow is not known");
}

static void read_parts(struct facts *f, const char *folder)
{
	char *path = mem_printf("%s/%s", folder, RECORDING_PARTS);
	size_t before = f->unread.len;

	if (read_start(f, path, START, &f->parts))
		check_parts(f, path);
	if (f->unread.len > before)
		out_text(&f->unread, "what was lost, and what was not recorded, is not known\n");
	free(path);
}

static void read_answers(struct facts *f, const char *folder)
{
	char *path = mem_printf("%s/%s", folder, RECORDING_RPC);

	/* before v24.05, answers have no addresses, and traces have no owners */
	if (!read_start(f, path, ANSWERS, &f->rpc) || !memmem(f->rpc.p, f->rpc.n, "\"peer_address\"", 14)) {
		check_objects(f, path, f->rpc);
		free(path);
		return;
	}
	/* qpair-lifetimes checks them */
	f->answers = path;
}

static void find_recording(struct facts *f, const char *folder)
{
	char *inside = mem_printf("%s/.", folder);
	struct slice start = {};
	struct stat st;
	size_t before;

	if (stat(inside, &st) != 0)
		err(EXIT_FAILURE, "%s", io_name(folder));
	free(inside);
	f->is_folder = true;
	f->trace = find_file(f, folder, RECORDING_TRACE);
	if (!f->trace && !f->unread.len)
		warnx("%s: no %s, as is in a folder of trace-record", io_name(folder), RECORDING_TRACE);
	before = f->unread.len;
	f->usdt = find_file(f, folder, RECORDING_USDT);
	if (f->usdt && read_start(f, f->usdt, START, &start) && kind_of(start, KIND_PROBE_LINES) != KIND_PROBE_LINES)
		refuse(f, f->usdt, 0, "no probe lines, as usdt-record writes them");
	free((char *)start.p);
	f->names_unread = f->unread.len > before;
	if (f->names_unread) {
		free(f->usdt);
		f->usdt = NULL;
	}
	f->offcpu = find_file(f, folder, RECORDING_OFFCPU);
	f->bio = find_file(f, folder, RECORDING_BIO);
	read_parts(f, folder);
	read_answers(f, folder);
}

static char *operand(int argc, char **argv)
{
	if (optind < argc && strcmp(argv[optind], "-") == 0)
		cli_usage("standard input cannot be read twice: name a file");
	return optind < argc ? argv[optind++] : NULL;
}

/* The kind of an operand that is a regular file; KIND_EMPTY also for what cannot be read, of which others complain. */
static enum input_kind operand_kind(const char *path, enum input_kind wanted)
{
	enum input_kind kind = KIND_EMPTY;
	struct stat st;
	ssize_t n;
	char *text;
	int fd;

	/* to open a pipe and close it would end its writer */
	if (stat(path, &st) != 0)
		return kind;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? KIND_DIRECTORY : kind;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return kind;
	text = mem_array(START, 1);
	n = io_read(fd, text, START);
	kind = kind_of((struct slice){text, n > 0 ? n : 0}, wanted);
	free(text);
	close(fd);
	return kind;
}

/* Exits with a message where trace-dump would not know what the user is to type. probes: the next operand, or NULL. */
static void check_trace(const char *path, const char *probes)
{
	enum input_kind is = operand_kind(path, KIND_TRACE_FILE);
	struct out words = {.fd = OUT_MEMORY};

	if (is >= KIND_XZ && is <= KIND_LZ4) {
		kind_refuse(io_name(path), is, KIND_TRACE_FILE, ">trace; trace-report trace");
		exit(EXIT_FAILURE);
	}
	if (is != KIND_PROBE_LINES)
		return;
	out_word(&words, slice_of(probes ? probes : "TRACE"));
	out_char(&words, ' ');
	out_word(&words, slice_of(path));
	errx(EXIT_FAILURE, "%s: probe lines, not a trace; try: trace-report %.*s", io_name(path), (int)words.len,
	     words.buf);
}

/* The same of probe lines. These may come from a pipe. */
static void check_probes(const char *path)
{
	enum input_kind is = operand_kind(path, KIND_PROBE_LINES);

	if (is == KIND_PROBE_LINES || is == KIND_EMPTY)
		return;
	if (is == KIND_UNKNOWN || is == KIND_BINARY)
		errx(EXIT_FAILURE, "%s: no probe lines, as usdt-record writes them; try: trace-report TRACE",
		     io_name(path));
	kind_refuse(io_name(path), is, KIND_PROBE_LINES, ">probes; trace-report TRACE probes");
	exit(EXIT_FAILURE);
}

static void find_probes(struct facts *f, char *path)
{
	struct stat st;
	int fd = -1;

	/* to open a pipe and close it would end its writer */
	if (path && (stat(path, &st) != 0 || (S_ISREG(st.st_mode) && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0))) {
		refuse(f, path, 0, strerror(errno));
		f->names_unread = true;
		return;
	}
	if (fd >= 0)
		close(fd);
	f->usdt = path;
}

void sources_find(struct facts *f, int argc, char **argv)
{
	char *path = f->pid ? NULL : operand(argc, argv), *probes;
	struct stat st;

	if (!f->pid && !path)
		cli_usage("a folder, a trace file, or a process with -p is expected");
	f->name = path ? path : mem_printf("process %d", f->pid);
	if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		find_recording(f, path);
	} else {
		f->trace = path;
		probes = operand(argc, argv);
		if (path)
			check_trace(path, probes);
		if (probes)
			check_probes(probes);
		find_probes(f, probes);
		if (path && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
			errx(EXIT_FAILURE, "%s: not a regular file: a trace is read twice; save it to a file first",
			     io_name(path));
	}
	if (optind < argc)
		cli_usage("'%s': more than a folder, or a trace and what usdt-record recorded with it", argv[optind]);
}

/*
 * Whether the ticks of these lines are the trace's. Tools with BPF programs write nanoseconds where the kernel's clock
 * is not the processor's counter, as in some virtual machines; merged, these would be of another time.
 */
static bool has_rate(struct slice text, double rate)
{
	double tsc = 0, us = 0, ticks = 0, passed = 0;
	struct slice line;
	bool any = false;

	while (facts_line(&text, &line)) {
		if (!any) {
			tsc = facts_number(line, "tsc");
			us = facts_number(line, "us");
		}
		any = true;
		ticks = facts_number(line, "tsc") - tsc;
		passed = facts_number(line, "us") - us;
	}
	/* of less time it is not exact */
	return passed < 1000 || !rate || (ticks / passed * 1e6 > 0.99 * rate && ticks / passed * 1e6 < 1.01 * rate);
}

/* Leaves out a file that cannot be read, or whose times are not the trace's. */
static void check_clock(struct facts *f, char **path, bool *differs)
{
	struct slice start = {};
	bool is_read = *path && read_start(f, *path, START, &start);

	*differs = is_read && !has_rate(start, facts_number(f->info, "tsc_rate"));
	free((char *)start.p);
	if (is_read && !*differs)
		return;
	free(*path);
	*path = NULL;
}

void sources_check_clocks(struct facts *f)
{
	check_clock(f, &f->offcpu, &f->offcpu_differs);
	check_clock(f, &f->bio, &f->bio_differs);
}
