/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "digits.h"
#include "label.h"

enum { LINE_ROOM = 512 }; /* more than a line takes, without the thread's name */

/* The name of an error, also of those with which the kernel notes that a signal interrupted a call. */
static const char *error_of(int error)
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
	static char other[16];

	if (strerrorname_np(error))
		return strerrorname_np(error);
	for (size_t i = 0; i < sizeof(restarts) / sizeof(*restarts); i++)
		if (restarts[i].number == error)
			return restarts[i].name;
	snprintf(other, sizeof(other), "errno_%d", error);
	return other;
}

static char *put(char *to, const char *text)
{
	return mempcpy(to, text, strlen(text));
}

/* What a call said that moved nothing; NULL: it did not fail. */
static const char *failure_of(const struct event *e)
{
	if (e->unfinished)
		return "unfinished";
	return e->result < 0 ? error_of(-e->result) : NULL;
}

/* A number of which the last three or six digits are decimals: of a unit of 1000 or 1000000. */
static char *put_fixed(char *to, uint64_t value, uint64_t unit)
{
	to = digits_u64(to, value / unit);
	*to++ = '.';
	for (value %= unit; unit > 1; value %= unit) {
		unit /= 10;
		*to++ = '0' + value / unit;
	}
	return to;
}

/* The time since the first call was done, in units of so many ns. Those of several CPUs may come in another order. */
static char *put_since_first(char *to, struct printer *p, const struct event *e, unsigned ns,
			     uint64_t unit)
{
	if (!p->first)
		p->first = e->done;
	if (e->done < p->first)
		*to++ = '-';
	return put_fixed(to, (e->done < p->first ? p->first - e->done : e->done - p->first) / ns,
			 unit);
}

void print_header(struct printer *p)
{
	out_printf(p->out, "%-11s %-14s %-7s %-8s %s %-9s %-7s %-7s %-7s %-7s %s %s\n", "TIME(s)",
		   "COMM", "PID", "CALL", "D", "PIPE", "ASKED", "MOVED", "SLOTS", "QUEUED", "B",
		   "LAT(ms)");
}

/* Ends a column that began there. */
static char *fill(char *to, const char *from, int width)
{
	while (to < from + width)
		*to++ = ' ';
	*to++ = ' ';
	return to;
}

static char *number_column(char *to, bool known, uint64_t value, int width)
{
	char *end = known ? digits_u64(to, value) : put(to, "-");

	return fill(end, to, width);
}

static char *slots_column(char *to, const struct event *e)
{
	char *end;

	if (!e->begun)
		return number_column(to, false, 0, 7);
	end = digits_u64(to, e->used);
	*end++ = '/';
	return fill(digits_u64(end, e->slots), to, 7);
}

static char waited(const struct event *e)
{
	if (!e->begun)
		return '?';
	return e->blocked ? 'B' : '-';
}

void print_text(struct printer *p, const struct event *e)
{
	const char *failure = failure_of(e);
	struct out *out = p->out;
	char *to = out_room(out, LINE_ROOM);

	out_commit(out, fill(put_since_first(to, p, e, 1000, 1000000), to, 11));
	label_column(out, e->comm, sizeof(e->comm), 14);
	to = number_column(out_room(out, LINE_ROOM), true, e->pid, 7);
	to = fill(put(to, call_name(e->call)), to, 8);
	*to++ = e->writes ? 'W' : 'R';
	*to++ = ' ';
	to = number_column(to, true, e->inode, 9);
	to = number_column(to, e->asked != NOT_KNOWN, e->asked, 7);
	to = number_column(to, !failure, e->result, 7);
	to = slots_column(to, e);
	to = number_column(to, e->queued != NOT_KNOWN, e->queued, 7);
	*to++ = waited(e);
	*to++ = ' ';
	to = e->begun ? put_fixed(to, (e->done - e->begun) / 1000, 1000) : put(to, "-");
	if (failure) {
		*to++ = ' ';
		to = put(to, failure);
	}
	*to++ = '\n';
	out_commit(out, to);
}

static char *member(char *to, const char *key, uint64_t value)
{
	return digits_u64(put(to, key), value);
}

void print_json(struct printer *p, const struct event *e)
{
	struct out *out = p->out;
	char *to = out_room(out, LINE_ROOM);

	to = member(to, "{\"tsc\":", e->done);
	to = put_since_first(put(to, ",\"us\":"), p, e, 1, 1000);
	to = member(to, ",\"lcore\":", e->cpu);
	to = put(to, e->writes ? ",\"tpoint\":\"PIPE_WRITE\",\"args\":{"
			       : ",\"tpoint\":\"PIPE_READ\",\"args\":{");
	out_commit(out, to);
	label_member(out, "comm", e->comm, sizeof(e->comm));
	to = member(out_room(out, LINE_ROOM), "\"pid\":", e->pid);
	to = put(put(to, ",\"call\":\""), call_name(e->call));
	to = member(to, "\",\"pipe\":", e->inode);
	if (e->asked != NOT_KNOWN)
		to = member(to, ",\"asked\":", e->asked);
	if (e->result >= 0 && !e->unfinished)
		to = member(to, ",\"moved\":", e->result);
	if (e->begun) {
		to = member(to, ",\"used\":", e->used);
		to = member(to, ",\"slots\":", e->slots);
	}
	if (e->queued != NOT_KNOWN)
		to = member(to, ",\"queued\":", e->queued);
	if (e->begun) {
		to = put(to, e->blocked ? ",\"blocked\":true" : ",\"blocked\":false");
		to = put_fixed(put(to, ",\"latency\":"), e->done - e->begun, 1000);
	}
	if (e->result < 0)
		to = put(put(put(to, ",\"error\":\""), error_of(-e->result)), "\"");
	if (e->unfinished)
		to = put(to, ",\"unfinished\":true");
	out_commit(out, put(to, "}}\n"));
}
