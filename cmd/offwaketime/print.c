/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <string.h>

/* A stack, and how to name what is in it. */
struct stack {
	const uint64_t *frames; /* the innermost first */
	unsigned n;
	const struct party *party; /* NULL: a stack of the kernel */
};

const uint64_t *print_frames(const struct stacks *e)
{
	return (const uint64_t *)(e + 1);
}

/* The name of frame i. A caller's address is after the call, perhaps in the next function. */
static const char *name_of(const struct offwaketime_printer *p, const struct stack *s, unsigned i)
{
	uint64_t address = s->frames[i] - (i > 0);
	const struct function *function;
	const char *name;

	if (s->party) {
		function = processes_find(p->processes, s->party, address);
		name = function ? function->name : NULL;
	} else {
		name = symbols_find(p->kernel, address);
	}
	return name ? name : "[unknown]";
}

static struct stack stack_of(const struct offwaketime_printer *p, const struct stacks *e, int number)
{
	struct stack s = {.frames = print_frames(e), .n = e->depth[number]};

	for (int i = 0; i < number; i++)
		s.frames += e->depth[i];
	if (number == TARGET_USER)
		s.party = &e->target;
	else if (number == WAKER_USER)
		s.party = &e->waker;
	else
		for (; s.n && symbols_is_own(name_of(p, &s, 0)); s.n--)
			s.frames++;
	return s;
}

static struct slice comm_of(const struct party *party)
{
	return *party->comm ? (struct slice){party->comm, strnlen(party->comm, COMM_SIZE)} : slice_of("[unknown]");
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

/* Writes each name between two texts. */
static void put_stack(const struct offwaketime_printer *p, const struct stacks *e, int number, bool outermost_first,
		      const char *before, const char *after)
{
	struct stack s = stack_of(p, e, number);

	for (unsigned i = 0; i < s.n; i++) {
		out_text(p->out, before);
		put_name(p->out, slice_of(name_of(p, &s, outermost_first ? s.n - 1 - i : i)));
		out_text(p->out, after);
	}
}

static void put_mark(const struct offwaketime_printer *p, const struct stacks *e, int user, int kernel,
		     const char *mark)
{
	if (p->delimited && e->depth[user] && e->depth[kernel])
		out_text(p->out, mark);
}

void print_folded(const struct offwaketime_printer *p, const struct blocked_total *t)
{
	const struct stacks *e = t->stacks;

	put_name(p->out, comm_of(&e->target));
	out_text(p->out, ";");
	put_stack(p, e, TARGET_USER, true, "", ";");
	put_mark(p, e, TARGET_USER, TARGET_KERNEL, "-;");
	put_stack(p, e, TARGET_KERNEL, true, "", ";");
	out_text(p->out, "--;");
	put_stack(p, e, WAKER_KERNEL, false, "", ";");
	put_mark(p, e, WAKER_USER, WAKER_KERNEL, "-;");
	put_stack(p, e, WAKER_USER, false, "", ";");
	put_name(p->out, comm_of(&e->waker));
	out_printf(p->out, " %" PRIu64 "\n", (t->ns + 500) / 1000);
}

static void put_thread(const struct offwaketime_printer *p, const char *what, const struct party *party)
{
	out_printf(p->out, "    %-16s ", what);
	put_name(p->out, comm_of(party));
	out_printf(p->out, " %" PRIu32 "\n", party->tid);
}

void print_text(const struct offwaketime_printer *p, const struct blocked_total *t)
{
	const struct stacks *e = t->stacks;

	put_thread(p, "waker:", &e->waker);
	put_stack(p, e, WAKER_USER, true, "    ", "\n");
	put_mark(p, e, WAKER_USER, WAKER_KERNEL, "    -\n");
	put_stack(p, e, WAKER_KERNEL, true, "    ", "\n");
	out_text(p->out, "    --               --\n");
	put_stack(p, e, TARGET_KERNEL, false, "    ", "\n");
	put_mark(p, e, TARGET_USER, TARGET_KERNEL, "    -\n");
	put_stack(p, e, TARGET_USER, false, "    ", "\n");
	put_thread(p, "target:", &e->target);
	out_printf(p->out, "        %" PRIu64 "\n\n", (t->ns + 500) / 1000);
}

static void put_array(const struct offwaketime_printer *p, const char *key, const struct stacks *e, int number)
{
	struct stack s = stack_of(p, e, number);

	out_printf(p->out, ",\"%s\":[", key);
	for (unsigned i = 0; i < s.n; i++) {
		if (i)
			out_text(p->out, ",");
		out_json(p->out, slice_of(name_of(p, &s, i)));
	}
	out_text(p->out, "]");
}

static void put_object(const struct offwaketime_printer *p, const char *key, const struct stacks *e,
		       const struct party *party, int user, int kernel)
{
	out_printf(p->out, ",\"%s\":{\"comm\":", key);
	out_json(p->out, comm_of(party));
	out_printf(p->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, party->pid, party->tid);
	put_array(p, "kernel", e, kernel);
	put_array(p, "user", e, user);
	out_text(p->out, "}");
}

void print_json(const struct offwaketime_printer *p, const struct blocked_total *t)
{
	const struct stacks *e = t->stacks;

	out_printf(p->out, "{\"blocked\":%.3f,\"count\":%" PRIu64, t->ns / 1e3, t->count);
	put_object(p, "target", e, &e->target, TARGET_USER, TARGET_KERNEL);
	if (*e->waker.comm)
		put_object(p, "waker", e, &e->waker, WAKER_USER, WAKER_KERNEL);
	out_text(p->out, "}\n");
}
