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

/*
 * What follows is written as text if is_text is set, and is what traceline_parse() would make of that unless l is NULL.
 * Both are constant where it is used. Without text, only what l points to is written.
 */
#define INLINE static inline __attribute__((always_inline))

/* Writes a value that is a member of l, between two literals. */
#define FIELD(member, before, value, after)                            \
	do {                                                           \
		const char *start_ = p = is_text ? PUT(p, before) : p; \
		p = value;                                             \
		if (l)                                                 \
			l->member = slice_between(start_, p);          \
		p = is_text ? PUT(p, after) : p;                       \
	} while (0)

/* Copies a text that has a member of l. Without text, that is in the original. */
INLINE char *put_shared(char *p, struct slice text, bool is_text, const char **start)
{
	*start = is_text ? p : text.p;
	return is_text ? put(p, text) : p;
}

/* Without its first n bytes and its quotes. */
static struct slice unquoted(const char *p, size_t length, size_t n)
{
	return (struct slice){p + n + 1, length - n - 2};
}

static char *put_us(char *p, const struct us *us, uint64_t ticks, bool is_before)
{
	if (is_before)
		*p++ = '-';
	return us_format(us, p, ticks);
}

INLINE char *put_time(const struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l,
		      bool is_text, char *p)
{
	const bool is_before = e->tsc < base;
	const uint64_t ticks = is_before ? base - e->tsc : e->tsc - base;

	if (l) {
		l->ns = is_before ? UINT64_MAX : us_ns(&w->us, ticks);
		l->has_ns = l->ns != UINT64_MAX;
	}
	if (is_text) {
		p = PUT(p, "{\"tsc\":");
		p = digits_u64(p, e->tsc);
	}
	if (is_text || !l->has_ns)
		FIELD(us, ",\"us\":", put_us(p, &w->us, ticks, is_before), "");
	/* a number ends, as in a line */
	return is_text || l->has_ns ? p : PUT(p, ",");
}

INLINE char *put_object(const struct us *us, const struct entry *e, struct traceline *l, bool is_text, char *p)
{
	p = is_text ? PUT(p, ",\"object\":{") : p;
	if (e->object == OBJECT_UNKNOWN)
		FIELD(object_id, "\"id\":\"", PUT(p, "n/a"), "\",");
	else if (e->object != OBJECT_UNTYPED)
		FIELD(object_id, "\"id\":\"", put_id(p, e->object_prefix, e->object_number), "\",");
	if (l) {
		l->object_value = e->object_value;
		l->has_age = e->object == OBJECT_KNOWN;
		l->age_ns = l->has_age ? us_ns(us, e->object_age) : 0;
	}
	if (e->object == OBJECT_KNOWN && (is_text || l->age_ns == UINT64_MAX))
		FIELD(object_us, "\"us\":", us_format(us, p, e->object_age), ",");
	if (!is_text)
		return PUT(p, ",");
	p = PUT(p, "\"value\":\"");
	p = digits_hex(p, e->object_value);
	return PUT(p, "\"}");
}

INLINE char *put_args(const struct line_tpoint *text, const struct entry *e, struct traceline *l, char *p)
{
	for (unsigned i = 0; i < e->num_args; i++) {
		const size_t before = i ? LENGTH(",\"") : LENGTH(ARGS "\"");
		const bool is_quoted = e->tpoint->args[i].type == TRACE_PTR;
		const char *start = p;

		p = put_value(put(p, text->args[i]), e, i);
		if (!l)
			continue;
		l->args[i].key = (struct slice){start + before, text->args[i].n - before - LENGTH("\":") - is_quoted};
		l->args[i].value = slice_between(start + text->args[i].n - is_quoted, p);
	}
	if (l) {
		l->num_args = e->num_args;
		l->has_args = e->num_args;
		l->args_end = p;
	}
	if (e->num_args)
		*p++ = '}';
	return p;
}

INLINE char *put_entry(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l, bool is_text,
		       char *p)
{
	const struct line_tpoint *text = tpoint_text(w, e->tpoint);
	const struct line_lcore *lcore = lcore_text(w, e->lcore);
	const size_t id_end = LENGTH(LCORE) + lcore->id_n;
	const char *start;

	p = put_time(w, e, base, l, is_text, p);
	if (is_text && w->anchors)
		FIELD(time, ",\"time\":\"", wall_write(&w->wall, p, anchors_time(w->anchors, e->tsc, w->us.rate)),
		      "\"");
	p = put_shared(p, lcore->text, is_text, &start);
	if (l) {
		l->lcore = (struct slice){start + LENGTH(LCORE), lcore->id_n};
		if (lcore->text.n > id_end)
			l->thread = unquoted(start, lcore->text.n, id_end + LENGTH(THREAD));
	}
	if (text->name.n) {
		p = put_shared(p, text->name, is_text, &start);
		if (l)
			l->tpoint = unquoted(start, text->name.n, LENGTH(TPOINT));
	} else {
		/* no definition has this id */
		FIELD(tpoint, ",\"tpoint\":\"", digits_u64(PUT(p, "#"), e->tpoint_id), "\"");
	}
	if (e->poller_prefix)
		FIELD(poller, ",\"poller\":\"", put_poller(p, e), "\"");
	if (e->owner.n) {
		start = e->owner.p;
		if (is_text) {
			p = PUT(p, ",\"owner\":");
			start = memcpy(p, e->owner.p, e->owner.n);
			p += e->owner.n;
		}
		if (l)
			l->owner = unquoted(start, e->owner.n, 0);
	}
	if (e->size)
		FIELD(size, ",\"size\":", digits_u64(p, e->size), "");
	if (e->object != NO_OBJECT)
		p = put_object(&w->us, e, l, is_text, p);
	if (e->related)
		FIELD(related, ",\"related\":\"", put_id(p, e->related_prefix, e->related_number), "\"");
	return put_args(text, e, l, p);
}

/* The end of a text. */
INLINE void finish_text(struct line_writer *w, const struct entry *e, char *p)
{
	if (e->torn)
		p = PUT(p, ",\"torn\":true");
	if (e->lost)
		p = PUT(p, ",\"lost\":true");
	p = PUT(p, "}\n");
	out_commit(w->out, p);
}

static void clear(struct traceline *l, const struct entry *e)
{
	if (l->cap < TRACE_ARGS) {
		l->args = mem_resize(l->args, TRACE_ARGS, sizeof(*l->args));
		l->cap = TRACE_ARGS;
	}
	*l = (struct traceline){
		.tsc = e->tsc, .torn = e->torn, .lost = e->lost, .args = l->args, .cap = l->cap, .known = l->known};
}

void line_write(struct line_writer *w, const struct entry *e, uint64_t base)
{
	char *p = out_room(w->out, tpoint_text(w, e->tpoint)->room + e->owner.n);

	finish_text(w, e, put_entry(w, e, base, NULL, true, p));
}

void line_fill(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l)
{
	clear(l, e);
	w->filled.len = 0;
	put_entry(w, e, base, l, false, out_room(&w->filled, tpoint_text(w, e->tpoint)->room));
}

void line_write_filled(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l)
{
	char *p = out_room(w->out, tpoint_text(w, e->tpoint)->room + e->owner.n);

	clear(l, e);
	finish_text(w, e, put_entry(w, e, base, l, true, p));
}
