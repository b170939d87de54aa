/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <stdlib.h>

#include "anchors.h"
#include "digits.h"
#include "entry.h"
#include "json.h"
#include "mem.h"
#include "traceline.h"

enum {
	CHUNK = 32, /* bytes that are copied of any text: a fixed length is fastest */
	ROOM = 512, /* more than a line has besides its texts and arguments */
};

/*
 * Returns a copy of the text, with CHUNK readable bytes after it because put() reads beyond the
 * end. Empties text.
 */
static struct slice finish(struct out *text)
{
	char *p = mem_array(text->len + CHUNK, 1);
	size_t n = text->len;

	memcpy(p, text->buf, n);
	out_close(text);
	return (struct slice){p, n};
}

static char *put(char *to, struct slice s)
{
	memcpy(to, s.p, CHUNK);
	if (s.n > CHUNK)
		memcpy(to + CHUNK, s.p + CHUNK, s.n - CHUNK);
	return to + s.n;
}

/* Literals, without their NUL. */
#define LENGTH(literal)  (sizeof(literal) - 1)
#define PUT(to, literal) (memcpy(to, literal, LENGTH(literal)), (to) + LENGTH(literal))

/* Before the values in texts that are formatted once. */
#define LCORE  ",\"lcore\":"
#define THREAD ",\"thread\":"
#define TPOINT ",\"tpoint\":"
#define ARGS   ",\"args\":{"

static void make_tpoint(struct line_tpoint *made, const struct trace_tpoint *tp)
{
	struct out text = {.fd = OUT_MEMORY};

	made->room = ROOM;
	for (unsigned i = 0; i < tp->num_args; i++) {
		const struct trace_arg *arg = &tp->args[i];

		out_text(&text, i ? "," : ARGS);
		out_json(&text, slice_of(arg->name));
		out_text(&text, arg->type == TRACE_PTR ? ":\"" : ":");
		made->args[i] = finish(&text);
		made->room += made->args[i].n + CHUNK + (arg->type == TRACE_STR ? JSON_QUOTED(arg->size) : DIGITS_ROOM);
	}
	out_text(&text, TPOINT);
	out_json(&text, slice_of(tp->name));
	made->name = finish(&text);
	made->room += made->name.n;
}

static void make_lcore(struct line_lcore *made, const struct trace_lcore *lcore)
{
	struct out text = {.fd = OUT_MEMORY};

	out_text(&text, LCORE);
	out_u64(&text, lcore->id);
	made->id_n = text.len - LENGTH(LCORE);
	if (lcore->thread[0]) {
		out_text(&text, THREAD);
		out_json(&text, slice_of(lcore->thread));
	}
	made->text = finish(&text);
}

void line_open(struct line_writer *w, const struct trace *t, uint64_t rate, struct anchors *anchors, struct out *out)
{
	*w = (struct line_writer){.trace = t, .out = out, .anchors = anchors, .filled.fd = OUT_MEMORY};
	us_init(&w->us, rate);
	w->tpoints = mem_array(t->num_tpoints, sizeof(*w->tpoints));
	w->lcores = mem_array(t->num_lcores, sizeof(*w->lcores));
}

void line_close(struct line_writer *w)
{
	for (unsigned i = 0; i < w->trace->num_tpoints; i++) {
		free((char *)w->tpoints[i].name.p);
		for (unsigned k = 0; k < TRACE_ARGS; k++)
			free((char *)w->tpoints[i].args[k].p);
	}
	for (unsigned i = 0; i < w->trace->num_lcores; i++)
		free((char *)w->lcores[i].text.p);
	free(w->tpoints);
	free(w->lcores);
	out_close(&w->filled);
}

/*
 * The letter of a type, with which object and owner ids start; none when the type is not
 * registered.
 */
static inline char *put_prefix(char *to, char prefix)
{
	if ((prefix >= 'a' && prefix <= 'z') || (prefix >= 'A' && prefix <= 'Z')) {
		*to = prefix;
		return to + 1;
	}
	return prefix ? json_escape(to, (struct slice){&prefix, 1}) : to;
}

static inline char *put_id(char *p, char prefix, uint64_t number)
{
	return digits_u64(put_prefix(p, prefix), number);
}

static inline char *put_poller(char *p, const struct entry *e)
{
	p = put_prefix(p, e->poller_prefix);
	if (e->poller < 10)
		*p++ = '0';
	return digits_u64(p, e->poller);
}

static char *put_object(char *p, const struct us *us, const struct entry *e)
{
	p = PUT(p, ",\"object\":{");
	if (e->object == OBJECT_UNKNOWN) {
		p = PUT(p, "\"id\":\"n/a\",");
	} else if (e->object != OBJECT_UNTYPED) {
		p = PUT(p, "\"id\":\"");
		p = put_id(p, e->object_prefix, e->object_number);
		p = PUT(p, "\",");
	}
	if (e->object == OBJECT_KNOWN) {
		p = PUT(p, "\"us\":");
		p = us_format(us, p, e->object_age);
		p = PUT(p, ",");
	}
	p = PUT(p, "\"value\":\"");
	p = digits_hex(p, e->object_value);
	return PUT(p, "\"}");
}

/* The value of an argument, after its text. */
static inline char *put_value(char *p, const struct entry *e, unsigned i)
{
	switch (e->tpoint->args[i].type) {
	case TRACE_INT:
		return digits_u64(p, e->value[i]);
	case TRACE_PTR:
		p = digits_hex(p, e->value[i]);
		return PUT(p, "\"");
	default:
		return json_quote(p, e->string[i]);
	}
}

static inline const struct line_tpoint *tpoint_text(struct line_writer *w, const struct trace_tpoint *tp)
{
	static const struct line_tpoint undefined = {.room = ROOM};

	if (!tp->name[0])
		return &undefined;
	if (!w->tpoints[tp->id].name.p)
		make_tpoint(&w->tpoints[tp->id], tp);
	return &w->tpoints[tp->id];
}

static inline const struct line_lcore *lcore_text(struct line_writer *w, unsigned lcore)
{
	if (!w->lcores[lcore].text.p)
		make_lcore(&w->lcores[lcore], &w->trace->lcores[lcore]);
	return &w->lcores[lcore];
}

void line_write(struct line_writer *w, const struct entry *e, uint64_t base)
{
	const struct line_tpoint *text = tpoint_text(w, e->tpoint);
	char *p = out_room(w->out, text->room + e->owner.n);

	p = PUT(p, "{\"tsc\":");
	p = digits_u64(p, e->tsc);
	p = PUT(p, ",\"us\":");
	if (e->tsc < base)
		*p++ = '-';
	p = us_format(&w->us, p, e->tsc < base ? base - e->tsc : e->tsc - base);
	if (w->anchors) {
		p = PUT(p, ",\"time\":\"");
		p = wall_write(&w->wall, p, anchors_time(w->anchors, e->tsc, w->us.rate));
		p = PUT(p, "\"");
	}
	p = put(p, lcore_text(w, e->lcore)->text);
	if (text->name.n) {
		p = put(p, text->name);
	} else {
		/* no definition has this id */
		p = PUT(p, ",\"tpoint\":\"#");
		p = digits_u64(p, e->tpoint_id);
		p = PUT(p, "\"");
	}
	if (e->poller_prefix) {
		p = PUT(p, ",\"poller\":\"");
		p = put_poller(p, e);
		p = PUT(p, "\"");
	}
	if (e->owner.n) {
		p = PUT(p, ",\"owner\":");
		memcpy(p, e->owner.p, e->owner.n);
		p += e->owner.n;
	}
	if (e->size) {
		p = PUT(p, ",\"size\":");
		p = digits_u64(p, e->size);
	}
	if (e->object != NO_OBJECT)
		p = put_object(p, &w->us, e);
	if (e->related) {
		p = PUT(p, ",\"related\":\"");
		p = put_id(p, e->related_prefix, e->related_number);
		p = PUT(p, "\"");
	}
	for (unsigned i = 0; i < e->num_args; i++)
		p = put_value(put(p, text->args[i]), e, i);
	if (e->num_args)
		p = PUT(p, "}");
	if (e->torn)
		p = PUT(p, ",\"torn\":true");
	if (e->lost)
		p = PUT(p, ",\"lost\":true");
	p = PUT(p, "}\n");
	out_commit(w->out, p);
}

/* Without its first n bytes and its quotes. */
static struct slice unquoted(struct slice s, size_t n)
{
	return (struct slice){s.p + n + 1, s.n - n - 2};
}

static void fill_lcore(struct traceline *l, const struct line_lcore *text)
{
	const size_t end = LENGTH(LCORE) + text->id_n;

	l->lcore = (struct slice){text->text.p + LENGTH(LCORE), text->id_n};
	if (text->text.n > end)
		l->thread = unquoted(text->text, end + LENGTH(THREAD));
}

/* Writes a time that is no number of nanoseconds. */
static char *fill_us(struct slice *text, char *p, const struct us *us, uint64_t ticks, bool is_before)
{
	const char *start = p;

	if (is_before)
		*p++ = '-';
	p = us_format(us, p, ticks);
	*text = slice_between(start, p);
	/* a number ends, as in a line */
	return PUT(p, ",");
}

static char *fill_object(struct traceline *l, char *p, const struct us *us, const struct entry *e)
{
	const char *start = p;

	l->object_value = e->object_value;
	if (e->object == OBJECT_UNKNOWN) {
		l->object_id = slice_of("n/a");
	} else if (e->object != OBJECT_UNTYPED) {
		p = put_id(p, e->object_prefix, e->object_number);
		l->object_id = slice_between(start, p);
	}
	l->has_age = e->object == OBJECT_KNOWN;
	l->age_ns = l->has_age ? us_ns(us, e->object_age) : 0;
	return l->age_ns == UINT64_MAX ? fill_us(&l->object_us, p, us, e->object_age, false) : p;
}

static void fill_args(struct traceline *l, char *p, const struct line_tpoint *text, const struct entry *e)
{
	for (unsigned i = 0; i < e->num_args; i++) {
		struct traceline_arg *arg = &l->args[i];
		const size_t before = i ? LENGTH(",\"") : LENGTH(ARGS "\"");
		const bool is_quoted = e->tpoint->args[i].type == TRACE_PTR;
		const char *start;

		arg->key = (struct slice){p + before, text->args[i].n - before - LENGTH("\":") - is_quoted};
		p = put(p, text->args[i]);
		start = p - is_quoted;
		p = put_value(p, e, i);
		arg->value = slice_between(start, p);
	}
	l->num_args = e->num_args;
	l->has_args = e->num_args;
	l->args_end = p;
	*p = '}';
}

static char *fill_time(struct traceline *l, char *p, const struct us *us, const struct entry *e, uint64_t base)
{
	const bool is_before = e->tsc < base;

	l->ns = is_before ? UINT64_MAX : us_ns(us, e->tsc - base);
	l->has_ns = l->ns != UINT64_MAX;
	return l->has_ns ? p : fill_us(&l->us, p, us, is_before ? base - e->tsc : e->tsc - base, is_before);
}

void line_fill(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l)
{
	const struct line_tpoint *text = tpoint_text(w, e->tpoint);
	const char *start;
	char *p;

	if (l->cap < TRACE_ARGS) {
		l->args = mem_resize(l->args, TRACE_ARGS, sizeof(*l->args));
		l->cap = TRACE_ARGS;
	}
	*l = (struct traceline){.tsc = e->tsc, .torn = e->torn, .lost = e->lost, .args = l->args, .cap = l->cap};
	w->filled.len = 0;
	p = out_room(&w->filled, text->room);
	p = fill_time(l, p, &w->us, e, base);
	fill_lcore(l, lcore_text(w, e->lcore));
	if (text->name.n) {
		l->tpoint = unquoted(text->name, LENGTH(TPOINT));
	} else {
		start = p;
		*p++ = '#';
		p = digits_u64(p, e->tpoint_id);
		l->tpoint = slice_between(start, p);
	}
	if (e->poller_prefix) {
		start = p;
		p = put_poller(p, e);
		l->poller = slice_between(start, p);
	}
	if (e->owner.n)
		l->owner = unquoted(e->owner, 0);
	if (e->size) {
		start = p;
		p = digits_u64(p, e->size);
		l->size = slice_between(start, p);
	}
	if (e->object != NO_OBJECT)
		p = fill_object(l, p, &w->us, e);
	if (e->related) {
		start = p;
		p = put_id(p, e->related_prefix, e->related_number);
		l->related = slice_between(start, p);
	}
	fill_args(l, p, text, e);
}
