/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <stdbool.h>
#include <string.h>

#include "calls.h"
#include "digits.h"

/* Writes an error's name, also of those with which the kernel marks an interrupted call. */
static void write_error(struct out *out, int error)
{
	static const struct {
		int number;
		const char *name;
	} restarts[] = {
		{512, "ERESTARTSYS"},
		{513, "ERESTARTNOINTR"},
		{514, "ERESTARTNOHAND"},
		{516, "ERESTART_RESTARTBLOCK"},
	};
	const char *name = strerrorname_np(error);

	for (size_t i = 0; !name && i < sizeof(restarts) / sizeof(*restarts); i++)
		if (restarts[i].number == error)
			name = restarts[i].name;
	if (name)
		out_text(out, name);
	else
		out_printf(out, "errno_%d", error);
}

void print_header(struct ipcsnoop_printer *p)
{
	stamp_heading(&p->stamp, p->out);
	out_printf(p->out, "%-11s %-14s %-7s %-8s %s %-9s %-7s %-7s %-7s %-7s %s %s\n", "TIME(s)", "COMM", "PID",
		   "CALL", "D", "PIPE", "ASKED", "MOVED", "SLOTS", "QUEUED", "B", "LAT(ms)");
}

/* Room for a column of numbers. */
enum { COLUMN_ROOM = 4 * DIGITS_ROOM };

/* Ends a column that starts at from. */
static void end_column(struct out *out, const char *from, char *to, int width)
{
	while (to < from + width)
		*to++ = ' ';
	*to++ = ' ';
	out_commit(out, to);
}

static void time_column(struct out *out, int64_t ns)
{
	uint64_t us = (ns < 0 ? -ns : ns) / 1000;
	char *from = out_room(out, COLUMN_ROOM), *to = from, decimals[DIGITS_ROOM];

	if (ns < 0)
		*to++ = '-';
	to = digits_u64(to, us / 1000000);
	*to++ = '.';
	digits_8(decimals, us % 1000000);
	end_column(out, from, mempcpy(to, decimals + 2, 6), 11);
}

static void number_column(struct out *out, bool known, uint64_t value, int width)
{
	char *from = out_room(out, COLUMN_ROOM);

	end_column(out, from, known ? digits_u64(from, value) : mempcpy(from, "-", 1), width);
}

static void slots_column(struct out *out, const struct ipcsnoop_event *e)
{
	char *from = out_room(out, COLUMN_ROOM), *to = from;

	if (e->start_ns) {
		to = digits_u64(to, e->used);
		*to++ = '/';
		to = digits_u64(to, e->slots);
	} else {
		*to++ = '-';
	}
	end_column(out, from, to, 7);
}

static struct slice comm_of(const struct ipcsnoop_event *e)
{
	return (struct slice){e->comm, strnlen(e->comm, sizeof(e->comm))};
}

void print_text(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e)
{
	bool failed = e->unfinished || e->result < 0;
	char name[CALLS_NAME];
	struct out *out = p->out;

	stamp_column(&p->stamp, out, e->end_ns);
	time_column(out, stamp_since(&p->stamp, e->end_ns));
	out_column(out, comm_of(e), 14);
	number_column(out, true, e->pid, 7);
	out_column(out, slice_of(calls_name(e->call, name)), 8);
	out_text(out, e->writes ? "W " : "R ");
	number_column(out, true, e->inode, 9);
	number_column(out, e->asked != NOT_KNOWN, e->asked, 7);
	number_column(out, !failed, e->result, 7);
	slots_column(out, e);
	number_column(out, e->queued != NOT_KNOWN, e->queued, 7);
	out_text(out, !e->start_ns ? "? -" : e->blocked ? "B " : "- ");
	if (e->start_ns)
		out_us(out, (e->end_ns - e->start_ns) / 1000);
	if (e->unfinished) {
		out_text(out, " unfinished");
	} else if (failed) {
		out_char(out, ' ');
		write_error(out, -e->result);
	}
	out_char(out, '\n');
}

static void member(struct out *out, const char *key, uint64_t value)
{
	out_text(out, key);
	out_u64(out, value);
}

void print_json(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e)
{
	char name[CALLS_NAME];
	struct out *out = p->out;

	stamp_json(&p->stamp, out, e->end_ns);
	member(out, ",\"lcore\":", e->cpu);
	out_text(out, e->writes ? ",\"tpoint\":\"PIPE_WRITE\",\"args\":{\"comm\":"
				: ",\"tpoint\":\"PIPE_READ\",\"args\":{\"comm\":");
	out_json(out, comm_of(e));
	member(out, ",\"pid\":", e->pid);
	out_text(out, ",\"call\":\"");
	out_text(out, calls_name(e->call, name));
	member(out, "\",\"pipe\":", e->inode);
	if (e->asked != NOT_KNOWN)
		member(out, ",\"asked\":", e->asked);
	if (e->result >= 0 && !e->unfinished)
		member(out, ",\"moved\":", e->result);
	if (e->start_ns) {
		member(out, ",\"used\":", e->used);
		member(out, ",\"slots\":", e->slots);
	}
	if (e->queued != NOT_KNOWN)
		member(out, ",\"queued\":", e->queued);
	if (e->start_ns) {
		out_text(out, e->blocked ? ",\"blocked\":true,\"latency\":" : ",\"blocked\":false,\"latency\":");
		out_us(out, e->end_ns - e->start_ns);
	}
	if (e->result < 0) {
		out_text(out, ",\"error\":\"");
		write_error(out, -e->result);
		out_char(out, '"');
	}
	if (e->unfinished)
		out_text(out, ",\"unfinished\":true");
	out_text(out, "}}\n");
}
