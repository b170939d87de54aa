/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "folder.h"
#include "io.h"
#include "json.h"
#include "lost.h"
#include "mem.h"
#include "number.h"
#include "recording.h"
#include "signals.h"
#include "utf8.h"

enum {
	SAID_MAX = 64 << 10,  /* bytes of what a tool says */
	LINE_MAX_SIZE = 1024, /* more than the line of what a tool has lost has */
	WAIT_MS = 100,
	AGAIN_MS = 500,  /* two signals within that time are one */
	SAY_MS = 2000,   /* what ends as it should is mostly done by then */
	HURRY_MS = 1000, /* for what ends as it should when nobody wants to wait */
	SHARES = 16,     /* of the size of all files; what no tool has is for the small ones */
	SHARE_TRACE = 8,
	SHARE_USDT = 1,
	SHARE_OFFCPU = 3,
	SHARE_BIO = 3,
};

void parts_prepare(struct part parts[PARTS], pid_t pid, uint64_t max_size)
{
	char *id = pid ? mem_printf("%d", pid) : NULL;
	char *size = pid ? mem_printf("%" PRIu64, max_size / SHARES * SHARE_TRACE) : NULL;

	parts[PART_TRACE] = (struct part){
		.name = "trace",
		.file = RECORDING_TRACE,
		.about = "the entries of the trace, binary: trace-dump " RECORDING_TRACE,
		.argv = {"trace-dump", "-F", "-p", id, "--record", RECORDING_TRACE, "--max-size", size}};
	parts[PART_USDT] = (struct part){
		.name = "usdt",
		.file = RECORDING_USDT,
		.about = "probes of the connections, owners and clocks: qpair-lifetimes " RECORDING_USDT,
		.argv = {"usdt-record", "-p", id},
		.max_size = max_size / SHARES * SHARE_USDT};
	parts[PART_OFFCPU] = (struct part){
		.name = "offcpu",
		.file = RECORDING_OFFCPU,
		.about = "when its threads did not run, and interrupts, as trace lines: trace-merge",
		.argv = {"offcpusnoop", "-j", "-p", id},
		.max_size = max_size / SHARES * SHARE_OFFCPU};
	parts[PART_BIO] = (struct part){.name = "bio",
					.file = RECORDING_BIO,
					.about = "the kernel's block I/O, of all disks, as trace lines: trace-merge",
					.argv = {"biosnoop", "-j"},
					.max_size = max_size / SHARES * SHARE_BIO};
	parts[PART_DMESG] = (struct part){.name = "dmesg", .file = RECORDING_DMESG, .about = "messages of the kernel"};
	parts[PART_RPC] = (struct part){
		.name = "rpc",
		.file = RECORDING_RPC,
		.about = "what the target says of itself by JSON-RPC, a line for each method: jq"};
	parts[PART_KERNEL] = (struct part){.name = "kernel",
					   .file = RECORDING_KERNEL,
					   .about = "what the kernel says of its threads, connections and CPU quotas, "
						    "at the start and the end: jq"};
	for (int i = 0; i < PARTS; i++)
		part_init(&parts[i]);
}

void part_set_option(struct part *p, const char *name, char *value)
{
	size_t i = 0;

	while (p->argv[i] && strcmp(p->argv[i], name) != 0)
		i++;
	p->argv[i] = (char *)name;
	p->argv[i + 1] = value;
}

void part_init(struct part *p)
{
	p->child = (struct child){.pidfd = -1};
	p->messages = p->result = p->in = p->out = -1;
	p->said = p->printed = (struct out){.fd = OUT_MEMORY};
	p->is_started = p->is_stopped = p->has_ended = p->is_again = false;
	p->since = 0;
	p->status = PART_MISSING;
	p->why = NULL;
	p->lost = 0;
	p->is_counted = false;
}

void part_close(struct part *p)
{
	io_close(&p->messages);
	io_close(&p->result);
	out_close(&p->said);
	out_close(&p->printed);
	free(p->why);
	part_init(p);
}

static void fail(struct part *p, enum part_status status, char *why)
{
	p->status = status;
	p->why = why;
	p->has_ended = true;
}

/* Opens its standard output: a file, or a pipe. Returns a descriptor for the tool; -1 with errno or after a message. */
static int open_output(struct part *p, const struct folder *folder)
{
	int ends[2];

	if (p->out >= 0)
		return fcntl(p->out, F_DUPFD_CLOEXEC, 0);
	/* trace-dump writes its file by name */
	if (p->max_size)
		return folder_file(folder, p->file, 0);
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -1;
	p->result = ends[0];
	return ends[1];
}

void part_start(struct part *p, const struct folder *folder)
{
	struct child_setup setup = {p->in, -1, -1, folder->fd, p->is_window ? 0 : p->max_size};
	char *path = child_tool(p->argv[0]);
	int messages[2] = {-1, -1};

	p->started_ms = clock_ms();
	p->stopped_ms = 0;
	if (!path) {
		fail(p, PART_MISSING,
		     mem_printf("%s is neither in the folder of trace-record nor in $PATH", p->argv[0]));
		return;
	}
	setup.out = open_output(p, folder);
	if (setup.out >= 0 && pipe2(messages, O_CLOEXEC | O_NONBLOCK) == 0) {
		setup.err = messages[1];
		p->messages = messages[0];
		p->is_started = child_start(&p->child, path, p->argv, &setup) == 0;
	}
	if (!p->is_started)
		fail(p, PART_MISSING, mem_printf("%s", strerror(errno)));
	io_close(&messages[1]);
	io_close(&setup.out);
	free(path);
}

/* Reads what is there; more than SAID_MAX is dropped. */
static void listen_to(int fd, struct out *said)
{
	char block[4096];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0)
		if (said->len + n <= SAID_MAX)
			out_bytes(said, block, n);
}

/* The last line of its file; empty if its end is missing. */
static struct slice last_line(const struct part *p, const struct folder *folder, char end[LINE_MAX_SIZE])
{
	struct slice line = {end, folder_end(folder, p->file, end, LINE_MAX_SIZE)};
	const char *before;

	if (!line.n || line.p[--line.n] != '\n')
		return (struct slice){"", 0};
	before = memrchr(line.p, '\n', line.n);
	return before ? slice_from(line, before + 1 - line.p) : line;
}

/* What the tool says at its end: trace-dump prints it, the others have it in their last line. */
static void count_lost(struct part *p, const struct folder *folder)
{
	struct lost lost;
	char end[LINE_MAX_SIZE];

	if (!p->max_size) {
		p->is_counted = number_decimal(json_member(out_contents(&p->printed), slice_of(RECORDING_LOST)),
					       &p->lost);
	} else if (lost_read(&lost, last_line(p, folder, end))) {
		p->is_counted = true;
		p->lost = lost.n[LOST_EVENTS] + lost.n[LOST_MISSED] + lost.n[LOST_SKIPPED];
	}
}

/* Cuts off the name of the tool, which all messages start with. */
static struct slice without_name(const struct part *p, struct slice line)
{
	size_t n = strlen(p->argv[0]);

	return slice_starts(line, p->argv[0]) && line.n > n + 2 ? slice_from(line, n + 2) : line;
}

/* Whether it is the note of a tool that has started to record. */
static bool is_start(struct slice message)
{
	return slice_starts(message, "tracing ") || slice_starts(message, "recording ");
}

/* The last message, which is why a tool failed, without the lines that follow it; else how it ended. */
static char *reason(const struct part *p)
{
	struct slice text = out_contents(&p->said), found = {};
	bool is_message = false;

	while (text.n) {
		struct slice line = slice_cut_line(&text), message = without_name(p, line);
		bool has_name = message.n < line.n;

		/* what is no tool, or has not started, says it without the name */
		if (!is_start(message) && (has_name || !is_message)) {
			found = message;
			is_message |= has_name;
		}
	}
	return WIFSIGNALED(p->child.status) || !found.n ? child_ending(&p->child) : mem_copy(found);
}

static void note_end(struct part *p, const struct folder *folder)
{
	bool good = WIFEXITED(p->child.status) && WEXITSTATUS(p->child.status) == 0;

	listen_to(p->messages, &p->said);
	listen_to(p->result, &p->printed);
	p->has_ended = true;
	count_lost(p, folder);
	p->status = PART_DONE;
	if (good)
		return;
	p->why = reason(p);
	/* after it was stopped, only losses make its exit status 1 */
	if ((p->lost || p->is_stopped) && WIFEXITED(p->child.status) && WEXITSTATUS(p->child.status) == 1)
		return;
	p->status = PART_FAILED;
	if (!p->file || folder_size(folder, p->file))
		return;
	p->status = PART_MISSING;
	unlinkat(folder->fd, p->file, 0);
}

bool part_is_running(const struct part *p)
{
	return p->is_started && !p->has_ended;
}

void parts_wait(struct part *parts, int n, const struct folder *folder, struct pollfd watch[PARTS_WATCH], int ms)
{
	struct pollfd fds[2 * PARTS_MAX + PARTS_WATCH];

	for (int i = 0; i < n; i++) {
		bool running = part_is_running(&parts[i]);

		fds[2 * i] = (struct pollfd){running ? parts[i].messages : -1, POLLIN, 0};
		fds[2 * i + 1] = (struct pollfd){running ? parts[i].child.pidfd : -1, POLLIN, 0};
		/* without a descriptor for its end it is asked for */
		if (running && parts[i].child.pidfd < 0 && ms > WAIT_MS)
			ms = WAIT_MS;
	}
	memcpy(&fds[2 * n], watch, PARTS_WATCH * sizeof(*watch));
	signals_poll(fds, 2 * n + PARTS_WATCH, ms);
	memcpy(watch, &fds[2 * n], PARTS_WATCH * sizeof(*watch));
	for (int i = 0; i < n; i++) {
		struct part *p = &parts[i];

		if (!part_is_running(p))
			continue;
		listen_to(p->messages, &p->said);
		if (!p->since && part_is_recording(p))
			p->since = clock_wall_ns();
		/* a tool that closed it would be woken for without end */
		if (fds[2 * i].revents & POLLHUP && fds[2 * i].fd >= 0) {
			io_close(&p->messages);
		}
		if (child_has_ended(&p->child))
			note_end(p, folder);
	}
}

void part_stop(struct part *p)
{
	p->is_stopped = part_is_running(p);
	if (p->is_stopped)
		child_signal(&p->child, SIGTERM);
}

void patience_begin(struct patience *w, uint64_t ms)
{
	w->since = clock_ms();
	w->until = w->since + (w->is_cut ? HURRY_MS : ms);
	w->is_said = w->is_cut;
}

bool patience_is_over(struct patience *w, const struct part *parts, int n)
{
	uint64_t now = clock_ms(), age = now - w->since;

	if (w->is_cut || age < (w->is_again ? AGAIN_MS : SAY_MS)) {
		signals_forget();
	} else if (signals_caught()) {
		w->is_cut = true;
		w->until = now;
	}
	for (int i = 0; i < n && !w->is_said && age >= SAY_MS; i++) {
		const struct part *p = &parts[i];

		if (part_is_running(p) && child_is_stopped(&p->child))
			warnx("waits for %s, process %d, which is stopped; Ctrl-C ends without it", p->argv[0],
			      p->child.pid);
		else if (part_is_running(p))
			cli_notice(w->quiet, "waits for %s, process %d, to end; Ctrl-C ends without it", p->argv[0],
				   p->child.pid);
	}
	w->is_said |= age >= SAY_MS;
	return now >= w->until;
}

void parts_stop(struct part *parts, int n, const struct folder *folder, uint64_t ms, struct patience *w)
{
	uint64_t deadline = clock_ms() + ms;
	bool any = true;

	if (w)
		patience_begin(w, ms);
	for (int i = 0; i < n; i++)
		part_stop(&parts[i]);
	while (any) {
		struct pollfd none[PARTS_WATCH] = {{-1, 0, 0}, {-1, 0, 0}};
		bool is_over = w ? patience_is_over(w, parts, n) : clock_ms() >= deadline;

		any = false;
		for (int i = 0; i < n; i++) {
			any |= part_is_running(&parts[i]);
			if (part_is_running(&parts[i]) && is_over)
				child_signal(&parts[i].child, SIGKILL);
		}
		if (any)
			parts_wait(parts, n, folder, none, WAIT_MS);
	}
}

struct part part_so_far(const struct part *p)
{
	struct part now = *p;

	if (part_is_running(p))
		now.status = PART_DONE;
	/* its tool may say more, or be started again */
	now.said = now.printed = (struct out){.fd = OUT_MEMORY};
	out_slice(&now.said, out_contents(&p->said));
	now.why = p->why ? mem_copy(slice_of(p->why)) : NULL;
	return now;
}

bool part_is_recording(const struct part *p)
{
	struct slice text = out_contents(&p->said);

	while (text.n)
		if (is_start(without_name(p, slice_cut_line(&text))))
			return true;
	return false;
}

bool parts_record(const struct part parts[PARTS])
{
	for (int i = 0; i < PART_TOOLS; i++)
		if (part_is_running(&parts[i]) && !part_is_recording(&parts[i]))
			return false;
	return true;
}

bool part_write(struct part *p, const struct folder *folder, struct out *text, const char *why)
{
	bool good = true;
	int fd;

	p->has_ended = true;
	p->why = why ? mem_copy(slice_of(why)) : NULL;
	p->is_counted = !why;
	p->status = !why ? PART_DONE : text->len ? PART_FAILED : PART_MISSING;
	if (p->status != PART_MISSING) {
		fd = folder_file(folder, p->file, 0);
		good = folder_write(folder, p->file, fd, text);
		io_close(&fd);
	}
	out_close(text);
	return good;
}

void part_report(const struct part *p)
{
	char *why = p->why ? utf8_visible_copy(p->why) : NULL;

	if (p->status == PART_MISSING)
		warnx("%s: not recorded: %s", p->name, why);
	else if (p->status == PART_FAILED)
		warnx("%s: ended early: %s; %s has what came before", p->name, why, p->file);
	else if (why || p->lost)
		warnx("%s: %s", p->name, why ? why : "not everything was recorded");
	free(why);
}
