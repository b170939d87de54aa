/* SPDX-License-Identifier: BSD-3-Clause */
#include "threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "clock.h"
#include "count.h"
#include "io.h"
#include "number.h"
#include "recording.h"
#include "ticks.h"
#include "wall.h"

enum {
	TEXT = 8192, /* bytes of a file in /proc; they are shorter */
	NAME = 128,
	ARGUMENTS = 6,
	FRAMES = 16, /* of a kernel stack */
	PATH = 4096,
	PAGE = 4096,
};

/* System calls with a file: the number of the argument that is its path or its descriptor. */
static const struct {
	const char *name;
	unsigned argument;
	bool is_path;
} calls[] = {
	{"accept", 0, false},
	{"accept4", 0, false},
	{"access", 0, true},
	{"close", 0, false},
	{"connect", 0, false},
	{"creat", 0, true},
	{"epoll_pwait", 0, false},
	{"epoll_wait", 0, false},
	{"execve", 0, true},
	{"faccessat", 1, true},
	{"fallocate", 0, false},
	{"fcntl", 0, false},
	{"fdatasync", 0, false},
	{"flock", 0, false},
	{"fstat", 0, false},
	{"fsync", 0, false},
	{"ftruncate", 0, false},
	{"getdents64", 0, false},
	{"io_uring_enter", 0, false},
	{"ioctl", 0, false},
	{"lstat", 0, true},
	{"newfstatat", 1, true},
	{"open", 0, true},
	{"openat", 1, true},
	{"openat2", 1, true},
	{"pread64", 0, false},
	{"preadv", 0, false},
	{"preadv2", 0, false},
	{"pwrite64", 0, false},
	{"pwritev", 0, false},
	{"pwritev2", 0, false},
	{"read", 0, false},
	{"readlink", 0, true},
	{"readlinkat", 1, true},
	{"readv", 0, false},
	{"recvfrom", 0, false},
	{"recvmsg", 0, false},
	{"rename", 0, true},
	{"sendmsg", 0, false},
	{"sendto", 0, false},
	{"stat", 0, true},
	{"statfs", 0, true},
	{"statx", 1, true},
	{"sync_file_range", 0, false},
	{"truncate", 0, true},
	{"unlink", 0, true},
	{"unlinkat", 1, true},
	{"write", 0, false},
	{"writev", 0, false},
};

/* Reads a file of a thread, or of its process if tid is 0. Returns an empty string if that is not possible. */
static const char *read_text(char text[TEXT], pid_t pid, pid_t tid, const char *name)
{
	char path[NAME];
	ssize_t n;
	int fd;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? io_read(fd, text, TEXT - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static void write_text(struct out *out, const char *key, struct slice text)
{
	if (!text.n)
		return;
	out_printf(out, ",\"%s\":", key);
	out_json(out, text);
}

static void write_number(struct out *out, const char *key, const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (at)
		out_printf(out, ",\"%s\":%" PRIu64, key, (uint64_t)strtoull(at + strlen(name), NULL, 10));
}

/* A name ends with the line. */
static void write_name(struct out *out, const char *key, pid_t pid, pid_t tid)
{
	char text[TEXT];
	struct slice name = slice_of(read_text(text, pid, tid, "comm"));

	write_text(out, key, slice_cut_line(&name));
}

/* Field 3 of its stat is the state, field 39 the CPU; proc(5). A name may have blanks and parentheses. */
static void write_stat(struct out *out, pid_t pid, pid_t tid)
{
	char text[TEXT];
	const char *at = strrchr(read_text(text, pid, tid, "stat"), ')');

	if (!at || !at[1] || !at[2])
		return;
	write_text(out, RECORDING_STATE, (struct slice){at + 2, 1});
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	if (at)
		out_printf(out, ",\"cpu\":%" PRIu64, (uint64_t)strtoull(at, NULL, 10));
}

static void write_path(struct out *out, pid_t pid, uint64_t address)
{
	char name[NAME], path[PATH];
	size_t room = PAGE - address % PAGE;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* the page after it may not be there */
	n = pread(fd, path, room, address);
	if (n == (ssize_t)room && !memchr(path, 0, n) && room < PATH) {
		ssize_t more = pread(fd, path + n, PATH - n, address + n);

		n += more > 0 ? more : 0;
	}
	close(fd);
	if (n > 0 && memchr(path, 0, n))
		write_text(out, RECORDING_FILE, slice_of(path));
}

static void write_descriptor(struct out *out, pid_t pid, int fd)
{
	char name[NAME], path[PATH];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/fd/%d", pid, fd);
	n = readlink(name, path, sizeof(path));
	write_text(out, RECORDING_FILE, (struct slice){path, n > 0 ? n : 0});
}

/* The call that it is in, and the file that this is about. */
static void write_call(struct out *out, pid_t pid, pid_t tid)
{
	uint64_t arguments[ARGUMENTS];
	char text[TEXT], *at;
	const char *name;
	long call;

	if (!*read_text(text, pid, tid, "syscall"))
		return;
	call = strtol(text, &at, 10);
	/* "running", or -1 where it is in none */
	name = at > text && call >= 0 ? calls_plain_name(call) : NULL;
	if (!name)
		return;
	for (unsigned i = 0; i < ARGUMENTS; i++)
		arguments[i] = strtoull(at, &at, 16);
	write_text(out, RECORDING_SYSCALL, slice_of(name));
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		if (calls[i].is_path)
			write_path(out, pid, arguments[calls[i].argument]);
		else
			write_descriptor(out, pid, (int)arguments[calls[i].argument]);
	}
}

/* The functions of its kernel stack, the innermost first: "[<0>] wait_for_partner+0x7e/0xd0". */
static void write_stack(struct out *out, pid_t pid, pid_t tid)
{
	char text[TEXT];
	struct slice lines = slice_of(read_text(text, pid, tid, "stack"));
	const char *comma = ",\"stack\":[";

	for (unsigned i = 0; lines.n && i < FRAMES; i++) {
		struct slice line = slice_cut_line(&lines);
		const char *name = memchr(line.p, ' ', line.n), *end = memchr(line.p, '+', line.n);

		if (!name || !end || end <= name)
			continue;
		out_text(out, comma);
		out_json(out, slice_between(name + 1, end));
		comma = ",";
	}
	if (comma[1] == 0)
		out_char(out, ']');
}

static void write_status(struct out *out, pid_t pid, pid_t tid)
{
	char text[TEXT];
	const char *status = read_text(text, pid, tid, "status"), *at = strstr(status, "\nTracerPid:");
	pid_t tracer = at ? atoi(at + strlen("\nTracerPid:")) : 0;

	write_number(out, "voluntary", status, "\nvoluntary_ctxt_switches:");
	write_number(out, "involuntary", status, "\nnonvoluntary_ctxt_switches:");
	if (tracer) {
		out_printf(out, ",\"" RECORDING_TRACER "\":%d", tracer);
		write_name(out, RECORDING_TRACER_NAME, tracer, 0);
	}
}

/* ns on a CPU, ns of waiting for one, and how often it was on one. */
static void write_schedstat(struct out *out, pid_t pid, pid_t tid)
{
	uint64_t ran, queued, times;
	char text[TEXT];

	if (sscanf(read_text(text, pid, tid, "schedstat"), "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &queued, &times) !=
	    3)
		return;
	out_text(out, ",\"" RECORDING_RAN "\":");
	out_us(out, ran);
	out_text(out, ",\"queued\":");
	out_us(out, queued);
	out_printf(out, ",\"times\":%" PRIu64, times);
}

static void write_thread(struct out *out, pid_t pid, pid_t tid, const char *when)
{
	char wchan[TEXT], time[WALL_ROOM];
	struct wall wall = {};

	*wall_write(&wall, time, clock_wall_ns()) = 0;
	out_printf(out, "{\"" RECORDING_WHEN "\":\"%s\",\"tsc\":%" PRIu64 ",\"time\":\"%s\",\"pid\":%d,\"tid\":%d",
		   when, ticks_now().tsc, time, pid, tid);
	write_name(out, RECORDING_NAME, pid, tid);
	write_stat(out, pid, tid);
	/* 0: it is in none */
	if (strcmp(read_text(wchan, pid, tid, "wchan"), "0") != 0)
		write_text(out, "wchan", slice_of(wchan));
	write_call(out, pid, tid);
	write_stack(out, pid, tid);
	write_status(out, pid, tid);
	write_schedstat(out, pid, tid);
	out_text(out, "}\n");
}

void threads_write(struct out *out, pid_t pid, const char *when)
{
	struct dirent *entry;
	char path[NAME];
	uint64_t tid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) && out->len < THREADS_MAX_SIZE / 2)
		if (number_decimal(slice_of(entry->d_name), &tid))
			write_thread(out, pid, tid, when);
	if (tasks)
		closedir(tasks);
}
