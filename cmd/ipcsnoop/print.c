/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <string.h>

#include "channels.h"
#include "count.h"
#include "digits.h"

/* Writes the name of an error, also of those that the kernel uses for interrupted calls. */
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

	for (size_t i = 0; !name && i < COUNT(restarts); i++)
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
	out_printf(p->out, "%-11s %-14s %-7s %-8s %s %-9s %-7s %-7s %-7s %-7s %s ", "TIME(s)", "COMM", "PID", "CALL",
		   "D", "CHANNEL", "ASKED", "MOVED", "SLOTS", "QUEUED", "B");
	if (p->peers)
		out_printf(p->out, "%-7s %-14s ", "PEERPID", "PEER");
	if (p->wakers)
		out_printf(p->out, "%-7s %-14s ", "WAKEPID", "WAKER");
	out_text(p->out, "LAT(ms)\n");
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

	if (e->slots) {
		to = digits_u64(to, e->used);
		*to++ = '/';
		to = digits_u64(to, e->slots);
	} else {
		*to++ = '-';
	}
	end_column(out, from, to, 7);
}

/* One number for a pipe; one for each end of a socket. */
static void channel_column(struct out *out, const struct ipcsnoop_event *e)
{
	char *from = out_room(out, COLUMN_ROOM), *to = from;

	if (e->kind != CHANNEL_PIPE) {
		to = stpcpy(to, channels_names[e->kind].name);
		*to++ = ':';
	}
	to = digits_u64(to, e->kind == CHANNEL_TCP ? e->port : e->id);
	if (e->kind == CHANNEL_TCP || e->peer_id) {
		*to++ = '-';
		to = digits_u64(to, e->kind == CHANNEL_TCP ? e->peer_port : e->peer_id);
	}
	end_column(out, from, to, 9);
}

static void peer_columns(struct out *out, const struct peer *peer)
{
	number_column(out, peer->pid, peer->pid, 7);
	out_column(out, SLICE_ARRAY(peer->comm), 14);
}

void print_text(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e)
{
	bool failed = e->unfinished || e->result < 0;
	char name[CALLS_NAME];
	struct out *out = p->out;

	stamp_column(&p->stamp, out, e->end_ns);
	time_column(out, stamp_since(&p->stamp, e->end_ns));
	out_column(out, SLICE_ARRAY(e->comm), 14);
	number_column(out, true, e->pid, 7);
	out_column(out, slice_of(channels_call_name(e->call, name)), 8);
	out_text(out, e->writes ? "W " : "R ");
	channel_column(out, e);
	number_column(out, e->asked != NOT_KNOWN, e->asked, 7);
	number_column(out, !failed, e->result, 7);
	slots_column(out, e);
	number_column(out, e->queued != NOT_KNOWN, e->queued, 7);
	out_text(out, !e->start_ns ? "? " : e->blocked ? "B " : "- ");
	if (p->peers)
		peer_columns(out, &e->peer);
	if (p->wakers)
		peer_columns(out, &e->waker);
	if (e->start_ns)
		out_us(out, (e->end_ns - e->start_ns) / 1000);
	else
		out_char(out, '-');
	if (e->unfinished) {
		out_text(out, " unfinished");
	} else if (failed && e->result != MOVED_NOT_KNOWN) {
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

static void peer_members(struct out *out, const char *pid, const char *comm, const struct peer *peer)
{
	if (peer->pid)
		member(out, pid, peer->pid);
	if (*peer->comm) {
		out_text(out, comm);
		out_json(out, SLICE_ARRAY(peer->comm));
	}
}

void print_json(struct ipcsnoop_printer *p, const struct ipcsnoop_event *e)
{
	char name[CALLS_NAME];
	struct out *out = p->out;

	stamp_json(&p->stamp, out, e->end_ns);
	member(out, ",\"lcore\":", e->cpu);
	out_text(out, ",\"tpoint\":\"");
	out_text(out, channels_names[e->kind].tpoint[e->writes]);
	out_text(out, "\",\"args\":{\"comm\":");
	out_json(out, SLICE_ARRAY(e->comm));
	member(out, ",\"pid\":", e->pid);
	out_text(out, ",\"call\":\"");
	out_text(out, channels_call_name(e->call, name));
	out_text(out, "\",\"");
	out_text(out, channels_names[e->kind].name);
	member(out, "\":", e->id);
	if (e->peer_id)
		member(out, ",\"peer\":", e->peer_id);
	if (e->kind == CHANNEL_TCP) {
		member(out, ",\"port\":", e->port);
		member(out, ",\"peer_port\":", e->peer_port);
	}
	if (e->asked != NOT_KNOWN)
		member(out, ",\"asked\":", e->asked);
	if (e->result >= 0 && !e->unfinished)
		member(out, ",\"moved\":", e->result);
	if (e->slots) {
		member(out, ",\"used\":", e->used);
		member(out, ",\"slots\":", e->slots);
	}
	if (e->queued != NOT_KNOWN)
		member(out, ",\"queued\":", e->queued);
	if (e->start_ns) {
		out_text(out, e->blocked ? ",\"blocked\":true,\"latency\":" : ",\"blocked\":false,\"latency\":");
		out_us(out, e->end_ns - e->start_ns);
	}
	peer_members(out, ",\"peer_pid\":", ",\"peer_comm\":", &e->peer);
	peer_members(out, ",\"waker_pid\":", ",\"waker_comm\":", &e->waker);
	if (e->result < 0 && e->result != MOVED_NOT_KNOWN) {
		out_text(out, ",\"error\":\"");
		write_error(out, -e->result);
		out_char(out, '"');
	}
	if (e->unfinished)
		out_text(out, ",\"unfinished\":true");
	out_text(out, "}}\n");
}
