/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include "digits.h"
#include "probeline.h"
#include "wall.h"

static char *put(char *to, struct slice s)
{
	return mempcpy(to, s.p, s.n);
}

/* The rest of an event, not read yet. */
struct words {
	const char *p, *end;
};

static bool next_word(struct words *w, uint64_t *value)
{
	if (w->end - w->p < (ptrdiff_t)sizeof(*value))
		return false;
	memcpy(value, w->p, sizeof(*value));
	w->p += sizeof(*value);
	return true;
}

static bool next_bytes(struct words *w, uint64_t n, struct slice *s)
{
	uint64_t filled = (n + 7) & ~UINT64_C(7);

	if (n > MAX_STRING || filled > (uint64_t)(w->end - w->p))
		return false;
	*s = (struct slice){w->p, n};
	w->p += filled;
	return true;
}

/* Writes an argument's value; NULL when the event ends before it. */
static char *put_value(char *to, struct words *w, bool is_string, bool readable)
{
	uint64_t value;
	struct slice s;

	if (!next_word(w, &value))
		return NULL;
	if (is_string && readable) {
		if (!next_bytes(w, value, &s))
			return NULL;
		*to++ = '\'';
		to = probeline_escape(to, s);
		*to++ = '\'';
		return to;
	}
	if (!is_string && !readable) {
		*to++ = '?';
		return to;
	}
	return digits_hex(to, value);
}

static size_t line_room(const struct probespec *spec)
{
	size_t room = spec->name.n + 16 + DIGITS_ROOM;

	for (unsigned i = 0; i < spec->num_args; i++)
		room += spec->args[i].name.n + 16 + DIGITS_ROOM +
			(spec->args[i].is_string ? PROBELINE_ESCAPED(MAX_STRING) : 0);
	return room;
}

bool print_event(struct out *out, const struct probespec *spec, struct ticks *ticks, const struct usdt_record_event *e,
		 size_t size)
{
	struct words words = {(const char *)(e + 1), (const char *)e + size};
	char *to = out_room(out, line_room(spec));
	const char *comma = "";
	unsigned operand = 0;

	to = put(to, spec->name);
	to = put(to, slice_of(": "));
	if (ticks && !spec->has_tsc) {
		to = digits_hex(put(to, slice_of("tsc=")), ticks_at(ticks, e->ns));
		comma = ", ";
	}
	for (unsigned i = 0; i < spec->num_args; i++) {
		if (!spec->args[i].name.n)
			continue;
		to = put(to, slice_of(comma));
		to = put(to, spec->args[i].name);
		*to++ = '=';
		to = put_value(to, &words, spec->args[i].is_string, !(e->unreadable >> operand & 1));
		if (!to)
			return false;
		comma = ", ";
		operand++;
	}
	*to++ = '\n';
	out_commit(out, to);
	return true;
}

void print_clock(struct out *out, const struct ticks_reading *now)
{
	char time[WALL_ROOM], *end = wall_write(&(struct wall){}, time, now->wall);

	out_text(out, "clock: tsc=");
	out_hex(out, now->tsc);
	out_text(out, ", ns=");
	out_hex(out, now->ns);
	out_text(out, ", time='");
	out_slice(out, slice_between(time, end));
	out_text(out, "'\n");
}
