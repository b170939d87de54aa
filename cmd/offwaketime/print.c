/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static struct slice comm_of(const struct pair_thread *thread)
{
	return *thread->comm ? SLICE_ARRAY(thread->comm) : slice_of("[unknown]");
}

static uint64_t rounded_us(uint64_t ns)
{
	return (ns + 500) / 1000;
}

/* A name in a folded line, where semicolons separate names. */
static void put_name(struct out *out, struct slice name)
{
	const char *end;

	while (name.n && (end = memchr(name.p, ';', name.n))) {
		out_visible(out, slice_between(name.p, end));
		out_char(out, ',');
		name = slice_from(name, end + 1 - name.p);
	}
	out_visible(out, name);
}

/* The last name in a folded line. flamegraph.pl would take a number after a blank for a second count. */
static void put_last_name(struct out *out, struct slice name)
{
	size_t text = name.n;

	while (text && (isdigit((unsigned char)name.p[text - 1]) || name.p[text - 1] == '.'))
		text--;
	if (text && text < name.n && name.p[text - 1] == ' ') {
		put_name(out, slice_cut(&name, text - 1));
		out_char(out, '_');
		name = slice_from(name, 1);
	}
	put_name(out, name);
}

/* Writes each name between two texts. */
static void put_stack(const struct offwaketime_printer *p, const struct pair *pair, int number, bool outermost_first,
		      const char *before, const char *after)
{
	const uint32_t *names = &pair->names[pair_names(pair, number)];
	unsigned n = pair->depth[number];

	for (unsigned i = 0; i < n; i++) {
		out_text(p->out, before);
		put_name(p->out, slice_of(naming_text(p->naming, names[outermost_first ? n - 1 - i : i])));
		out_text(p->out, after);
	}
}

void print_folded(const struct offwaketime_printer *p, const struct pair_total *t)
{
	const struct pair *pair = t->pair;

	put_name(p->out, comm_of(&pair->target));
	out_text(p->out, ";");
	put_stack(p, pair, TARGET_USER, true, "", ";");
	put_stack(p, pair, TARGET_KERNEL, true, "", ";");
	out_text(p->out, "--;");
	put_stack(p, pair, WAKER_KERNEL, false, "", ";");
	put_stack(p, pair, WAKER_USER, false, "", ";");
	put_last_name(p->out, comm_of(&pair->waker));
	out_printf(p->out, " %" PRIu64 "\n", rounded_us(t->ns));
}

static void put_thread(const struct offwaketime_printer *p, const char *what, const struct pair_thread *thread)
{
	out_printf(p->out, "    %-16s ", what);
	put_name(p->out, comm_of(thread));
	out_printf(p->out, " %" PRIu32 "\n", thread->tid);
}

void print_text(const struct offwaketime_printer *p, const struct pair_total *t)
{
	const struct pair *pair = t->pair;

	put_thread(p, "waker:", &pair->waker);
	put_stack(p, pair, WAKER_USER, true, "    ", "\n");
	put_stack(p, pair, WAKER_KERNEL, true, "    ", "\n");
	out_text(p->out, "    --               --\n");
	put_stack(p, pair, TARGET_KERNEL, false, "    ", "\n");
	put_stack(p, pair, TARGET_USER, false, "    ", "\n");
	put_thread(p, "target:", &pair->target);
	out_printf(p->out, "        %" PRIu64 " (count %" PRIu64 ", max %" PRIu64 ")\n\n", rounded_us(t->ns), t->count,
		   rounded_us(t->max_ns));
}

static void put_array(const struct offwaketime_printer *p, const char *key, const struct pair *pair, int number)
{
	const uint32_t *names = &pair->names[pair_names(pair, number)];

	out_printf(p->out, ",\"%s\":[", key);
	for (unsigned i = 0; i < pair->depth[number]; i++) {
		if (i)
			out_text(p->out, ",");
		out_json(p->out, slice_of(naming_text(p->naming, names[i])));
	}
	out_text(p->out, "]");
}

static void put_object(const struct offwaketime_printer *p, const char *key, const struct pair *pair,
		       const struct pair_thread *thread, int user, int kernel)
{
	out_printf(p->out, ",\"%s\":{\"comm\":", key);
	out_json(p->out, comm_of(thread));
	out_printf(p->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, thread->pid, thread->tid);
	put_array(p, "kernel", pair, kernel);
	put_array(p, "user", pair, user);
	out_text(p->out, "}");
}

void print_json(const struct offwaketime_printer *p, const struct pair_total *t)
{
	const struct pair *pair = t->pair;

	out_printf(p->out, "{\"blocked\":%.3f,\"count\":%" PRIu64 ",\"max\":%.3f", t->ns / 1e3, t->count,
		   t->max_ns / 1e3);
	if (t->open)
		out_printf(p->out, ",\"open\":%" PRIu64, t->open);
	out_text(p->out, p->extent);
	put_object(p, "target", pair, &pair->target, TARGET_USER, TARGET_KERNEL);
	if (*pair->waker.comm)
		put_object(p, "waker", pair, &pair->waker, WAKER_USER, WAKER_KERNEL);
	out_text(p->out, "}\n");
}
