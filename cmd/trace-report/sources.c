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
#include "process.h"
#include "recording.h"
#include "utf8.h"

enum { /* bytes that are read of a file */
       START = 1 << 20,
       KERNEL = 4 << 20,   /* trace-record ends with less */
       LAST = 1 << 16,     /* of offcpu.jsonl, which says at its end what did not end */
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

/* Opens a file in a folder, of at least this size. *path: NULL if there is none, or it cannot be opened. */
static void find_file(struct facts *f, const char *folder, const char *name, off_t least, char **path, int *fd)
{
	struct stat st;

	*path = mem_printf("%s/%s", folder, name);
	*fd = open_file(f, *path, &st);
	if (*fd >= 0 && st.st_size >= least)
		return;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	free(*path);
	*path = NULL;
}

/* The first bytes of a file that is open, which the caller frees. Returns false after a message. */
static bool read_start(struct facts *f, const char *path, int fd, size_t max, struct slice *start)
{
	char *text = mem_resize(NULL, 1, max);
	ssize_t got = 1;
	size_t n = 0;

	while (n < max && (got = pread(fd, text + n, max - n, n)) > 0)
		n += got;
	*start = (struct slice){text, n};
	if (got >= 0)
		return true;
	refuse(f, path, 0, strerror(errno));
	free(text);
	*start = (struct slice){};
	return false;
}

/* Whether each line of a file's contents is a JSON object; else after a message. */
static bool check_objects(struct facts *f, const char *path, struct slice all)
{
	for (size_t number = 1; all.n; number++) {
		struct slice text = slice_cut_line(&all), object;

		if (json_line(&text, &object))
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

	while (json_line(&parts, &part))
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

/* Says what follows, if something of this file was refused since then. */
static void note_parts(struct facts *f, size_t before)
{
	if (f->unread.len > before)
		out_text(&f->unread, "what was lost, and what was not recorded, is not known\n");
}

static void read_parts(struct facts *f)
{
	size_t before = f->unread.len;

	if (!f->parts_file)
		return;
	if (read_start(f, f->parts_file, f->parts_fd, START, &f->parts))
		check_parts(f, f->parts_file);
	close(f->parts_fd);
	note_parts(f, before);
}

static void read_answers(struct facts *f)
{
	if (!f->answers)
		return;
	read_start(f, f->answers, f->rpc_fd, ANSWERS, &f->rpc);
	close(f->rpc_fd);
	/* before v24.05, answers have no addresses, and traces have no owners */
	if (memmem(f->rpc.p, f->rpc.n, "\"peer_address\"", 14))
		return;
	check_objects(f, f->answers, f->rpc);
	free(f->answers);
	f->answers = NULL;
}

/* What the kernel said of the target; the texts are valid until the tool ends. */
static void read_kernel(struct facts *f)
{
	struct slice why = json_unquoted(facts_text(find_part(f, "rpc"), RECORDING_WHY));
	struct stat st;
	char *last;
	ssize_t n;

	f->still.unanswered = slice_ends(why, RECORDING_LATE) ? why : (struct slice){"", 0};
	if (f->kernel_file) {
		if (read_start(f, f->kernel_file, f->kernel_fd, KERNEL, &f->kernel))
			check_objects(f, f->kernel_file, f->kernel);
		close(f->kernel_fd);
		still_threads(&f->still, f->kernel);
	}
	if (!f->offcpu || fstat(f->offcpu_fd, &st) != 0)
		return;
	last = mem_array(LAST, 1);
	n = pread(f->offcpu_fd, last, LAST, st.st_size > LAST ? st.st_size - LAST : 0);
	if (n < 0)
		refuse(f, f->offcpu, 0, strerror(errno));
	f->last_offcpu = (struct slice){last, n > 0 ? n : 0};
	still_off_cpu(&f->still, f->last_offcpu);
}

static void find_recording(struct facts *f, const char *folder)
{
	size_t before;

	find_file(f, folder, RECORDING_TRACE, 1, &f->trace, &f->trace_fd);
	if (!f->trace && !f->unread.len)
		warnx("%s: no %s, as is in a folder of trace-record", io_name(folder), RECORDING_TRACE);
	before = f->unread.len;
	find_file(f, folder, RECORDING_USDT, 1, &f->usdt, &f->usdt_fd);
	f->names_unread = f->unread.len > before;
	find_file(f, folder, RECORDING_OFFCPU, 1, &f->offcpu, &f->offcpu_fd);
	find_file(f, folder, RECORDING_BIO, 1, &f->bio, &f->bio_fd);
	before = f->unread.len;
	find_file(f, folder, RECORDING_PARTS, 0, &f->parts_file, &f->parts_fd);
	note_parts(f, before);
	find_file(f, folder, RECORDING_RPC, 0, &f->answers, &f->rpc_fd);
	find_file(f, folder, RECORDING_KERNEL, 1, &f->kernel_file, &f->kernel_fd);
}

/* NULL: there is none. */
static char *operand(int argc, char **argv)
{
	return optind < argc ? mem_copy(slice_of(argv[optind++])) : NULL;
}

/* The kind of a regular file that is open; KIND_EMPTY also for what cannot be read, of which others complain. */
static enum input_kind kind_of_file(int fd, enum input_kind wanted)
{
	char *text = mem_array(START, 1);
	ssize_t n = pread(fd, text, START, 0);
	enum input_kind kind = kind_of((struct slice){text, n > 0 ? n : 0}, wanted);

	if (n < 0 && errno == EISDIR)
		kind = KIND_DIRECTORY;
	free(text);
	return kind;
}

/* Exits with a message where the user is to type something else. */
static void check_trace(const struct facts *f)
{
	const char *path = f->trace;
	enum input_kind is = kind_of_file(f->trace_fd, KIND_TRACE_FILE);
	struct out words = {.fd = OUT_MEMORY};

	if (is >= KIND_XZ && is <= KIND_LZ4) {
		kind_refuse(io_name(path), is, KIND_TRACE_FILE, ">trace; trace-report trace");
		exit(EXIT_FAILURE);
	}
	if (is != KIND_PROBE_LINES)
		return;
	out_word(&words, slice_of(f->usdt ? f->usdt : "TRACE"));
	out_char(&words, ' ');
	out_word(&words, slice_of(path));
	errx(EXIT_FAILURE, "%s: probe lines, not a trace; try: trace-report %.*s", io_name(path), (int)words.len,
	     words.buf);
}

/* The same of probe lines. These may come from a pipe. */
static void check_probes(const struct facts *f)
{
	enum input_kind is = kind_of_file(f->usdt_fd, KIND_PROBE_LINES);

	if (is == KIND_PROBE_LINES || is == KIND_EMPTY)
		return;
	if (is == KIND_UNKNOWN || is == KIND_BINARY)
		errx(EXIT_FAILURE, "%s: no probe lines, as usdt-record writes them; try: trace-report TRACE",
		     io_name(f->usdt));
	kind_refuse(io_name(f->usdt), is, KIND_PROBE_LINES, ">probes; trace-report TRACE probes");
	exit(EXIT_FAILURE);
}

/* The trace of an operand or a process, and the probe lines of the next operand. */
static void find_trace(struct facts *f, int argc, char **argv)
{
	struct stat st;
	char *error;

	if (f->pid) {
		f->trace = process_open_trace(f->pid, &f->trace_fd, &error);
		if (!f->trace)
			errx(EXIT_FAILURE, "%s", error);
	} else if (strcmp(f->name, "-") == 0) {
		f->trace = (char *)f->name;
		f->name = "standard input";
		f->trace_fd = unpack_file(&f->unpack, STDIN_FILENO);
	} else {
		f->trace = mem_copy(slice_of(f->name));
		/* a pipe without a writer must not make the tool wait */
		f->trace_fd = open(f->trace, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (f->trace_fd < 0 || fstat(f->trace_fd, &st) != 0)
			err(EXIT_FAILURE, "%s", io_name(f->trace));
		if (!S_ISREG(st.st_mode))
			errx(EXIT_FAILURE,
			     "%s: not a regular file: the commands on the page read it again; save it to a file first, "
			     "or "
			     "try: trace-report - <FILE",
			     io_name(f->trace));
		f->trace_fd = unpack_file(&f->unpack, f->trace_fd);
	}
	f->usdt = operand(argc, argv);
	if (f->usdt && strcmp(f->usdt, "-") == 0)
		cli_usage("standard input is no probe lines: name a file");
	f->usdt_fd = f->usdt ? open(f->usdt, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
	if (!f->usdt || f->usdt_fd >= 0)
		return;
	refuse(f, f->usdt, 0, strerror(errno));
	f->names_unread = true;
	free(f->usdt);
	f->usdt = NULL;
}

void sources_find(struct facts *f, int argc, char **argv)
{
	struct stat st;

	f->name = f->pid ? mem_printf("process %d", f->pid) : operand(argc, argv);
	if (!f->name)
		cli_usage("a folder, a trace file, trace lines, or a process with -p is expected");
	f->is_folder = !f->pid && strcmp(f->name, "-") != 0 && stat(f->name, &st) == 0 && S_ISDIR(st.st_mode);
	if (optind + !f->is_folder < argc)
		cli_usage("'%s': more than a folder, or a trace and what usdt-record recorded with it",
			  argv[optind + !f->is_folder]);
	if (f->is_folder)
		find_recording(f, f->name);
	else
		find_trace(f, argc, argv);
}

/* Leaves out probe lines of a folder that cannot be read. */
static void check_usdt(struct facts *f)
{
	struct slice start = {};
	bool is_read = f->usdt && read_start(f, f->usdt, f->usdt_fd, START, &start);

	if (is_read && kind_of(start, KIND_PROBE_LINES) != KIND_PROBE_LINES) {
		refuse(f, f->usdt, 0, "no probe lines, as usdt-record writes them");
		is_read = false;
	}
	free((char *)start.p);
	if (!f->usdt || is_read)
		return;
	f->names_unread = true;
	close(f->usdt_fd);
	free(f->usdt);
	f->usdt = NULL;
}

/* Lines of other tools are merged by the ticks of a trace, of which lines do not say how many a second has. */
static void refuse_lines(struct facts *f)
{
	if (!f->trace || kind_of_file(f->trace_fd, KIND_TRACE_FILE) != KIND_TRACE_LINES)
		return;
	refuse(f, f->trace, 0, "trace lines, not an SPDK trace file");
	close(f->trace_fd);
	free(f->trace);
	f->trace = NULL;
}

void sources_read(struct facts *f)
{
	if (f->is_folder) {
		refuse_lines(f);
		check_usdt(f);
		read_parts(f);
		read_answers(f);
		read_kernel(f);
		return;
	}
	check_trace(f);
	if (f->usdt)
		check_probes(f);
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

	while (json_line(&text, &line)) {
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
static void check_clock(struct facts *f, char **path, int fd, bool *differs, double rate)
{
	struct slice start = {};
	bool is_read = *path && read_start(f, *path, fd, START, &start);

	*differs = is_read && !has_rate(start, rate);
	free((char *)start.p);
	if (!*path || (is_read && !*differs))
		return;
	close(fd);
	free(*path);
	*path = NULL;
}

void sources_check_clocks(struct facts *f, double rate)
{
	check_clock(f, &f->offcpu, f->offcpu_fd, &f->offcpu_differs, rate);
	check_clock(f, &f->bio, f->bio_fd, &f->bio_differs, rate);
}
