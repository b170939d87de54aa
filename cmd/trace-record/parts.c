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

#include "clock.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "recording.h"
#include "signals.h"
#include "utf8.h"

enum {
	SAID_MAX = 64 << 10, /* bytes of what a tool says */
	STOP_MS = 60000,     /* for a tool to end, which mostly takes it milliseconds */
	FINISH_MS = 600000,  /* for trace-dump, which completes its file */
	WAIT_MS = 100,
	SHARES = 16, /* of the size of all files; what no tool has is for the small ones */
	SHARE_TRACE = 8,
	SHARE_USDT = 1,
	SHARE_OFFCPU = 3,
	SHARE_BIO = 3,
};

void parts_prepare(struct part parts[PARTS], pid_t pid, uint64_t max_size)
{
	char *id = mem_printf("%d", pid), *size = mem_printf("%" PRIu64, max_size / SHARES * SHARE_TRACE);

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
	for (int i = 0; i < PARTS; i++) {
		parts[i].child.pidfd = parts[i].messages = parts[i].result = -1;
		parts[i].said.fd = parts[i].printed.fd = OUT_MEMORY;
	}
}

static void fail(struct part *p, enum part_status status, char *why)
{
	p->status = status;
	p->why = why;
	p->has_ended = true;
}

void part_start(struct part *p, const struct folder *folder)
{
	struct child_setup setup = {-1, -1, -1, folder->fd, p->max_size};
	char *path = child_tool(p->argv[0]);
	int messages[2] = {-1, -1}, result[2] = {-1, -1}, started = -1;

	if (!path) {
		fail(p, PART_MISSING,
		     mem_printf("%s is neither in the folder of trace-record nor in $PATH", p->argv[0]));
		return;
	}
	/* trace-dump writes its file by name */
	setup.out = p->max_size ? folder_file(folder, p->file, 0) : -1;
	if ((p->max_size && setup.out < 0) || pipe2(messages, O_CLOEXEC | O_NONBLOCK) != 0 ||
	    (!p->max_size && pipe2(result, O_CLOEXEC | O_NONBLOCK) != 0)) {
		fail(p, PART_MISSING, mem_printf("%s", strerror(errno)));
	} else {
		setup.err = messages[1];
		setup.out = p->max_size ? setup.out : result[1];
		started = child_start(&p->child, path, p->argv, &setup);
		if (started != 0)
			fail(p, PART_MISSING, mem_printf("%s", strerror(errno)));
	}
	p->is_started = started == 0;
	p->messages = messages[0];
	p->result = result[0];
	if (messages[1] >= 0)
		close(messages[1]);
	if (setup.out >= 0)
		close(setup.out);
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

/* The number after a word in a message; 0 if it has none. */
static uint64_t number_after(struct slice line, const char *word)
{
	char *text = mem_copy(line), *at = strstr(text, word);
	uint64_t n = at ? strtoull(at + strlen(word), NULL, 10) : 0;

	free(text);
	return n;
}

/* Counts what the messages of a tool say that was lost: "usdt-record: lost 3 events: ...". */
static void count_lost(struct part *p)
{
	struct slice text = out_contents(&p->said), number;
	struct json j;

	while (text.n) {
		struct slice line = slice_cut_line(&text);

		p->lost += number_after(line, ": lost ") + number_after(line, ": missed ") +
			   number_after(line, ": the kernel has skipped ");
	}
	/* trace-dump prints the number */
	number = json_member(out_contents(&p->printed), slice_of(RECORDING_LOST));
	json_init(&j, number.p, number.n);
	if (number.n)
		json_u64(&j, &p->lost);
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

/* The last message, which is why a tool failed; else how it ended. */
static char *reason(const struct part *p)
{
	struct slice text = out_contents(&p->said), found = {};

	while (text.n) {
		struct slice line = without_name(p, slice_cut_line(&text));

		if (!is_start(line))
			found = line;
	}
	return WIFSIGNALED(p->child.status) || !found.n ? child_ending(&p->child) : mem_copy(found);
}

static void note_end(struct part *p, const struct folder *folder)
{
	bool good = WIFEXITED(p->child.status) && WEXITSTATUS(p->child.status) == 0;

	listen_to(p->messages, &p->said);
	listen_to(p->result, &p->printed);
	p->has_ended = true;
	count_lost(p);
	p->status = PART_DONE;
	if (good)
		return;
	p->why = reason(p);
	/* after it was stopped, only losses make its exit status 1 */
	if ((p->lost || p->is_stopped) && WIFEXITED(p->child.status) && WEXITSTATUS(p->child.status) == 1)
		return;
	p->status = PART_FAILED;
	if (folder_size(folder, p->file))
		return;
	p->status = PART_MISSING;
	unlinkat(folder->fd, p->file, 0);
}

static bool is_running(const struct part *p)
{
	return p->is_started && !p->has_ended;
}

void parts_wait(struct part parts[PARTS], const struct folder *folder, struct pollfd *watch, int ms)
{
	struct pollfd fds[2 * PART_TOOLS + 1];

	for (int i = 0; i < PART_TOOLS; i++) {
		bool running = is_running(&parts[i]);

		fds[2 * i] = (struct pollfd){running ? parts[i].messages : -1, POLLIN, 0};
		fds[2 * i + 1] = (struct pollfd){running ? parts[i].child.pidfd : -1, POLLIN, 0};
		/* without a descriptor for its end it is asked for */
		if (running && parts[i].child.pidfd < 0 && ms > WAIT_MS)
			ms = WAIT_MS;
	}
	fds[2 * PART_TOOLS] = *watch;
	signals_poll(fds, 2 * PART_TOOLS + 1, ms);
	*watch = fds[2 * PART_TOOLS];
	for (int i = 0; i < PART_TOOLS; i++) {
		struct part *p = &parts[i];

		if (!is_running(p))
			continue;
		listen_to(p->messages, &p->said);
		/* a tool that closed it would be woken for without end */
		if (fds[2 * i].revents & POLLHUP && fds[2 * i].fd >= 0) {
			close(p->messages);
			p->messages = -1;
		}
		if (child_has_ended(&p->child))
			note_end(p, folder);
	}
}

void parts_stop(struct part parts[PARTS], const struct folder *folder, int from, int to)
{
	uint64_t now = clock_ms(), deadline = now + (from <= PART_TRACE ? FINISH_MS : STOP_MS);
	struct pollfd none = {-1, 0, 0};
	bool any = true;

	for (int i = from; i < to; i++) {
		parts[i].is_stopped = is_running(&parts[i]);
		if (parts[i].is_stopped)
			child_signal(&parts[i].child, SIGTERM);
	}
	while (any) {
		any = false;
		for (int i = from; i < to; i++) {
			any |= is_running(&parts[i]);
			if (is_running(&parts[i]) && clock_ms() >= deadline)
				child_signal(&parts[i].child, SIGKILL);
		}
		if (any)
			parts_wait(parts, folder, &none, WAIT_MS);
	}
}

static bool is_recording(const struct part *p)
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
		if (is_running(&parts[i]) && !is_recording(&parts[i]))
			return false;
	return true;
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
