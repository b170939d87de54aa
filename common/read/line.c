/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <stdlib.h>

#include "anchors.h"
#include "digits.h"
#include "entry.h"
#include "json.h"
#include "mem.h"
#include "out.h"

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

/* A literal, without its NUL. */
#define PUT(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

static void make_tpoint(struct line_tpoint *made, const struct trace_tpoint *tp)
{
	struct out text = {.fd = OUT_MEMORY};

	made->room = ROOM;
	for (unsigned i = 0; i < tp->num_args; i++) {
		const struct trace_arg *arg = &tp->args[i];

		out_text(&text, i ? "," : ",\"args\":{");
		out_json(&text, slice_of(arg->name));
		out_text(&text, arg->type == TRACE_PTR ? ":\"" : ":");
		made->args[i] = finish(&text);
		made->room += made->args[i].n + CHUNK + (arg->type == TRACE_STR ? JSON_QUOTED(arg->size) : DIGITS_ROOM);
	}
	out_text(&text, ",\"tpoint\":");
	out_json(&text, slice_of(tp->name));
	made->name = finish(&text);
	made->room += made->name.n;
}

static struct slice make_lcore(const struct trace_lcore *lcore)
{
	struct out text = {.fd = OUT_MEMORY};

	out_text(&text, ",\"lcore\":");
	out_u64(&text, lcore->id);
	if (lcore->thread[0]) {
		out_text(&text, ",\"thread\":");
		out_json(&text, slice_of(lcore->thread));
	}
	return finish(&text);
}

void line_open(struct line_writer *w, const struct trace *t, uint64_t rate, struct anchors *anchors, struct out *out)
{
	*w = (struct line_writer){.trace = t, .out = out, .anchors = anchors};
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
		free((char *)w->lcores[i].p);
	free(w->tpoints);
	free(w->lcores);
}

/*
 * The letter of a type, with which object and owner ids start; none when the type is not
 * registered.
 */
static char *put_prefix(char *to, char prefix)
{
	if ((prefix >= 'a' && prefix <= 'z') || (prefix >= 'A' && prefix <= 'Z')) {
		*to = prefix;
		return to + 1;
	}
	return prefix ? json_escape(to, (struct slice){&prefix, 1}) : to;
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

static const struct line_tpoint *tpoint_text(struct line_writer *w, const struct trace_tpoint *tp)
{
	static const struct line_tpoint undefined = {.room = ROOM};

	if (!tp->name[0])
		return &undefined;
	if (!w->tpoints[tp->id].name.p)
		make_tpoint(&w->tpoints[tp->id], tp);
	return &w->tpoints[tp->id];
}

static struct slice lcore_text(struct line_writer *w, unsigned lcore)
{
	if (!w->lcores[lcore].p)
		w->lcores[lcore] = make_lcore(&w->trace->lcores[lcore]);
	return w->lcores[lcore];
}

static char *put_poller(char *p, const struct entry *e)
{
	p = PUT(p, ",\"poller\":\"");
	p = put_prefix(p, e->poller_prefix);
	if (e->poller < 10)
		*p++ = '0';
	p = digits_u64(p, e->poller);
	return PUT(p, "\"");
}

static char *put_related(char *p, const struct entry *e)
{
	p = PUT(p, ",\"related\":\"");
	p = put_prefix(p, e->related_prefix);
	p = digits_u64(p, e->related_number);
	return PUT(p, "\"");
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
	p = put(p, lcore_text(w, e->lcore));
	if (text->name.n) {
		p = put(p, text->name);
	} else {
		/* no definition has this id */
		p = PUT(p, ",\"tpoint\":\"#");
		p = digits_u64(p, e->tpoint_id);
		p = PUT(p, "\"");
	}
	if (e->poller_prefix)
		p = put_poller(p, e);
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
	if (e->related)
		p = put_related(p, e);
	p = put_args(p, text, e);
	if (e->torn)
		p = PUT(p, ",\"torn\":true");
	if (e->lost)
		p = PUT(p, ",\"lost\":true");
	p = PUT(p, "}\n");
	out_commit(w->out, p);
}
