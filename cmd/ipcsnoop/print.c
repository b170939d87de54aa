/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <stdio.h>
#include <string.h>

#include "channels.h"
#include "digits.h"

/* The name of an error, also of those that the kernel uses for interrupted calls: the buffer or a constant. */
static struct slice error_name(int error, char buffer[24])
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
		return slice_of(name);
	snprintf(buffer, 24, "errno_%d", error);
	return slice_of(buffer);
}

enum { TEXT_ROOM = 4 * DIGITS_ROOM };

static struct slice slots_text(const struct ipcsnoop_event *e, char buffer[TEXT_ROOM])
{
	char *to = digits_u64(buffer, e->used);

	*to++ = '/';
	return slice_between(buffer, digits_u64(to, e->slots));
}

/* One number for a pipe; one for each end of a socket. */
static struct slice channel_text(const struct ipcsnoop_event *e, char buffer[TEXT_ROOM])
{
	char *to = buffer;

	if (e->kind != CHANNEL_PIPE) {
		to = stpcpy(to, channels_names[e->kind].name);
		*to++ = ':';
	}
	to = digits_u64(to, e->kind == CHANNEL_TCP ? e->port : e->id);
	if (e->kind == CHANNEL_TCP || e->peer_id) {
		*to++ = '-';
		to = digits_u64(to, e->kind == CHANNEL_TCP ? e->peer_port : e->peer_id);
	}
	return slice_between(buffer, to);
}

static struct column_value number_unless(uint64_t unknown, uint64_t number)
{
	return columns_if(number != unknown, columns_number(number));
}

/* True, or absent. */
static struct column_value flag(bool is)
{
	return columns_if(is, columns_bool(true));
}

void print_line(struct ipcsnoop_printer *p, const struct ipcsnoop_event *event)
{
	static const struct ipcsnoop_event none;
	const struct ipcsnoop_event *e = event ? event : &none;
	const struct channels_name *channel = &channels_names[e->kind];
	bool started = e->start_ns, failed = e->result < 0 && e->result != MOVED_NOT_KNOWN;
	const char *blocked = !started ? "?" : e->blocked ? "B" : "-";
	char call[CALLS_NAME], ends[TEXT_ROOM], slots[TEXT_ROOM], error[24];
	struct livelines *c = &p->columns;
	const struct column columns[] = {
		{"TIME(s)", "us", 11,
		 columns_spare(c->stamp.wall ? 1 : 0, columns_seconds(stamp_since(&c->stamp, e->end_ns)))},
		{"COMM", "comm", 15, columns_text(SLICE_ARRAY(e->comm))},
		{"PID", "pid", 7, columns_number(e->pid)},
		{"CALL", "call", 8, columns_spare(7, columns_word(slice_of(channels_call_name(e->call, call))))},
		{"D", NULL, 1, columns_word(slice_of(e->writes ? "W" : "R"))},
		{"CHANNEL", NULL, 9, columns_word(channel_text(e, ends))},
		{NULL, channel->name, 0, columns_number(e->id)},
		{NULL, "peer", 0, number_unless(0, e->peer_id)},
		{NULL, "port", 0, columns_if(e->kind == CHANNEL_TCP, columns_number(e->port))},
		{NULL, "peer_port", 0, columns_if(e->kind == CHANNEL_TCP, columns_number(e->peer_port))},
		{"ASKED", "asked", 7, columns_spare(3, number_unless(NOT_KNOWN, e->asked))},
		{"MOVED", "moved", 7, columns_if(e->result >= 0 && !e->unfinished, columns_number(e->result))},
		{"SLOTS", NULL, 7, columns_spare(2, columns_if(e->slots, columns_word(slots_text(e, slots))))},
		{NULL, "used", 0, columns_if(e->slots, columns_number(e->used))},
		{NULL, "slots", 0, number_unless(0, e->slots)},
		{NULL, "eof", 0, flag(e->pipe_state & PIPE_EOF)},
		{NULL, "peer_waiting", 0, flag(e->pipe_state & PIPE_PEER_WAITING)},
		{NULL, "nonblock", 0, flag(e->pipe_state & PIPE_NONBLOCK)},
		{NULL, "packet", 0, flag(e->pipe_state & PIPE_PACKET)},
		{"QUEUED", "queued", 7, columns_spare(4, number_unless(NOT_KNOWN, e->queued))},
		{"B", NULL, 1, columns_word(slice_of(blocked))},
		{NULL, "blocked", 0, columns_if(started, columns_bool(e->blocked))},
		{p->peers ? "PEERPID" : NULL, "peer_pid", 7, columns_spare(6, number_unless(0, e->peer.pid))},
		{p->peers ? "PEER" : NULL, "peer_comm", 15, columns_name(SLICE_ARRAY(e->peer.comm))},
		{p->wakers ? "WAKEPID" : NULL, "waker_pid", 7, columns_spare(5, number_unless(0, e->waker.pid))},
		{p->wakers ? "WAKER" : NULL, "waker_comm", 15, columns_name(SLICE_ARRAY(e->waker.comm))},
		{"LAT(ms)", "latency", 0, columns_if(started, columns_ms(e->end_ns - e->start_ns, 3))},
		{"", "error", 0, columns_name(failed ? error_name(-e->result, error) : slice_of(""))},
		{"", "unfinished", 0, columns_if(e->unfinished, columns_flag("unfinished"))},
	};

	if (event)
		livelines_event(c, e->end_ns, e->cpu, channel->tpoint[e->writes], columns, COUNT(columns));
	else
		livelines_heading(c, columns, COUNT(columns));
}
