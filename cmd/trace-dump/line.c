/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "entry.h"
#include "json.h"
#include "out.h"

enum {
	CHUNK = 32, /* texts are copied by so many bytes, needed or not: a fixed length is the fastest */
	ROOM = 512, /* more than a line has besides its texts and arguments */
};

/* Makes a text that can be read for CHUNK bytes more, so that put() may. p is NULL when there is no memory. */
static struct slice __attribute__((format(printf, 1, 2))) make(const char *format, ...)
{
	struct slice s = {};
	va_list args;
	char *p;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	p = calloc(1, n + 1 + CHUNK);
	if (p) {
		va_start(args, format);
		vsnprintf(p, n + 1, format, args);
		va_end(args);
		s = (struct slice){p, n};
	}
	return s;
}

static char *put(char *to, struct slice s)
{
	memcpy(to, s.p, CHUNK);
	if (s.n > CHUNK)
		memcpy(to + CHUNK, s.p + CHUNK, s.n - CHUNK);
	return to + s.n;
}

/* A literal, without its NUL. */
#define PUT(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

static bool make_tpoint(struct line_tpoint *text, const struct trace_tpoint *tp)
{
	char name[JSON_QUOTED(sizeof(tp->name)) + 1];

	text->room = ROOM;
	for (unsigned i = 0; i < tp->num_args; i++) {
		const struct trace_arg *arg = &tp->args[i];

		*json_quote(name, slice_of(arg->name)) = 0;
		text->args[i] = make("%s%s:%s", i ? "," : ",\"args\":{", name,
				     arg->type == TRACE_PTR ? "\"" : "");
		text->room += text->args[i].n + CHUNK +
			      (arg->type == TRACE_STR ? JSON_QUOTED(arg->size) : 24);
		if (!text->args[i].p)
			return false;
	}
	/* last: it tells that all of them are there */
	*json_quote(name, slice_of(tp->name)) = 0;
	text->name = make(",\"tpoint\":%s", name);
	text->room += text->name.n;
	return text->name.p;
}

static struct slice make_lcore(const struct trace_lcore *lcore)
{
	char name[JSON_QUOTED(sizeof(lcore->thread)) + 1];

	if (!lcore->thread[0])
		return make(",\"lcore\":%u", lcore->id);
	*json_quote(name, slice_of(lcore->thread)) = 0;
	return make(",\"lcore\":%u,\"thread\":%s", lcore->id, name);
}

int line_open(struct line_writer *w, const struct trace *t, struct out *out)
{
	*w = (struct line_writer){.trace = t, .out = out};
	us_init(&w->us, t->tsc_rate);
	w->tpoints = calloc(t->num_tpoints + 1, sizeof(*w->tpoints));
	w->lcores = calloc(t->num_lcores + 1, sizeof(*w->lcores));
	return w->tpoints && w->lcores ? 0 : -1;
}

void line_close(struct line_writer *w)
{
	for (unsigned i = 0; w->tpoints && i < w->trace->num_tpoints; i++) {
		free((char *)w->tpoints[i].name.p);
		for (unsigned k = 0; k < TRACE_ARGS; k++)
			free((char *)w->tpoints[i].args[k].p);
	}
	for (unsigned i = 0; w->lcores && i < w->trace->num_lcores; i++)
		free((char *)w->lcores[i].p);
	free(w->tpoints);
	free(w->lcores);
}

/* The character of a type that object and owner ids begin with; none when the type is not registered. */
static char *put_prefix(char *to, char prefix)
{
	char quoted[JSON_QUOTED(1)];
	size_t n;

	if ((prefix >= 'a' && prefix <= 'z') || (prefix >= 'A' && prefix <= 'Z')) {
		*to = prefix;
		return to + 1;
	}
	if (!prefix)
		return to;
	n = json_quote(quoted, (struct slice){&prefix, 1}) - quoted - 2;
	memcpy(to, quoted + 1, n);
	return to + n;
}

static char *put_object(char *p, const struct us *us, const struct entry *e)
{
	p = PUT(p, ",\"object\":{");
	if (e->object == OBJECT_UNKNOWN) {
		p = PUT(p, "\"id\":\"n/a\",");
	} else if (e->object != OBJECT_UNTYPED) {
		p = PUT(p, "\"id\":\"");
		p = put_prefix(p, e->object_prefix);
		p = digits_u64(p, e->object_number);
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

static char *put_args(char *p, const struct line_tpoint *text, const struct entry *e)
{
	for (unsigned i = 0; i < e->num_args; i++) {
		p = put(p, text->args[i]);
		switch (e->tpoint->args[i].type) {
		case TRACE_INT:
			p = digits_u64(p, e->value[i]);
			break;
		case TRACE_PTR:
			p = digits_hex(p, e->value[i]);
			p = PUT(p, "\"");
			break;
		default:
			p = json_quote(p, e->string[i]);
		}
	}
	return e->num_args ? PUT(p, "}") : p;
}

/* NULL when there is no memory. */
static const struct line_tpoint *tpoint_text(struct line_writer *w, const struct trace_tpoint *tp)
{
	static const struct line_tpoint undefined = {.room = ROOM};

	if (!tp->name[0])
		return &undefined;
	if (!w->tpoints[tp->id].name.p && !make_tpoint(&w->tpoints[tp->id], tp))
		return NULL;
	return &w->tpoints[tp->id];
}

void line_write(struct line_writer *w, const struct entry *e)
{
	const struct line_tpoint *text = tpoint_text(w, e->tpoint);
	const struct slice *lcore = &w->lcores[e->lcore];
	char *p = text ? out_room(w->out, text->room + e->owner.n) : NULL;

	if (!lcore->p)
		w->lcores[e->lcore] = make_lcore(&w->trace->lcores[e->lcore]);
	if (!p || !lcore->p) {
		w->out->error = ENOMEM;
		return;
	}
	p = PUT(p, "{\"tsc\":");
	p = digits_u64(p, e->tsc);
	p = PUT(p, ",\"us\":");
	if (e->tsc < w->base)
		*p++ = '-';
	p = us_format(&w->us, p, e->tsc < w->base ? w->base - e->tsc : e->tsc - w->base);
	p = put(p, *lcore);
	if (text->name.n) {
		p = put(p, text->name);
	} else {
		/* no definition has this id */
		p = PUT(p, ",\"tpoint\":\"#");
		p = digits_u64(p, e->tpoint->id);
		p = PUT(p, "\"");
	}
	if (e->poller_prefix) {
		p = PUT(p, ",\"poller\":\"");
		p = put_prefix(p, e->poller_prefix);
		if (e->poller < 10)
			*p++ = '0';
		p = digits_u64(p, e->poller);
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
		p = put_prefix(p, e->related_prefix);
		p = digits_u64(p, e->related_number);
		p = PUT(p, "\"");
	}
	p = put_args(p, text, e);
	if (e->torn)
		p = PUT(p, ",\"torn\":true");
	p = PUT(p, "}\n");
	out_commit(w->out, p);
}
