/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

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
#include "number.h"
#include "proc.h"
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
	unsigned argument;
	bool is_path;
	const char *names[40]; /* NULL ends them */
} calls[] = {
	{0, false, {"accept",          "accept4",   "close",   "connect",  "epoll_pwait", "epoll_wait", "fallocate",
		    "fcntl",           "fdatasync", "flock",   "fstat",    "fsync",       "ftruncate",  "getdents64",
		    "io_uring_enter",  "ioctl",     "pread64", "preadv",   "preadv2",     "pwrite64",   "pwritev",
		    "pwritev2",        "read",      "readv",   "recvfrom", "recvmsg",     "sendmsg",    "sendto",
		    "sync_file_range", "write",     "writev"}},
	{0,
	 true,
	 {"access", "creat", "execve", "lstat", "open", "readlink", "rename", "stat", "statfs", "truncate", "unlink"}},
	{1, true, {"faccessat", "newfstatat", "openat", "openat2", "readlinkat", "statx", "unlinkat"}},
};

/* Reads a file of a thread, or of its process if tid is 0. Returns an empty string if that is not possible. */
static const char *read_text(char text[TEXT], pid_t pid, pid_t tid, const char *name)
{
	if (tid)
		proc_read(text, TEXT, "/proc/%d/task/%d/%s", pid, tid, name);
	else
		proc_read(text, TEXT, "/proc/%d/%s", pid, name);
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

static void write_stat(struct out *out, pid_t pid, pid_t tid)
{
	char text[TEXT];
	const char *stat = read_text(text, pid, tid, "stat"), *state = proc_field(stat, 3), *cpu = proc_field(stat, 39);

	if (state)
		write_text(out, RECORDING_STATE, slice_of_array(state, 1));
	if (cpu)
		out_printf(out, ",\"cpu\":%" PRIu64, (uint64_t)strtoull(cpu, NULL, 10));
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
	for (size_t i = 0; i < COUNT(calls); i++)
		for (const char *const *known = calls[i].names; *known; known++) {
			if (strcmp(*known, name) != 0)
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
