/* SPDX-License-Identifier: BSD-3-Clause */
#include "naming.h"

#include <ctype.h>
#include <string.h>

#include "count.h"

/* A stack of the event, innermost first, and where its names go. */
struct stack {
	const uint64_t *frames;
	unsigned n;
	uint32_t *names;
};

static uint32_t number_of(struct naming *n, const char *name)
{
	return intern_add(&n->names, slice_of(name ? name : "[unknown]"));
}

const char *naming_text(const struct naming *n, uint32_t number)
{
	return n->names.all[number].p;
}

/* A return address is after the call, perhaps in the next function. */
static uint64_t address_of(const struct stack *s, unsigned i)
{
	return s->frames[i] - (i > 0);
}

static uint32_t kernel_number(struct naming *n, uint64_t address)
{
	uint32_t *number = map_put(&n->kernel_names, address);

	if (*number == MAP_NONE)
		*number = number_of(n, symbols_find(&n->kernel, address));
	return *number;
}

/* Names the functions, except those that led to the BPF program. Returns their number. */
static unsigned name_kernel(struct naming *n, struct stack *s)
{
	for (; s->n && symbols_is_own(naming_text(n, kernel_number(n, s->frames[0]))); s->n--)
		s->frames++;
	for (unsigned i = 0; i < s->n; i++)
		s->names[i] = kernel_number(n, address_of(s, i));
	return s->n;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Whether it is the kernel's entry of an interrupt: on x86-64, with or without FRED, or on arm64 (el1h_64_irq). */
static bool is_interrupt(const char *name)
{
	static const char *const entries[] = {"asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
					      "asm_exc_xen_hypervisor_callback", "fred_extint"};

	for (size_t i = 0; i < COUNT(entries); i++)
		if (slice_starts(slice_of(name), entries[i]))
			return true;
	return slice_starts(slice_of(name), "el") && isdigit((unsigned char)name[2]) &&
	       (ends_with(name, "_irq") || ends_with(name, "_fiq"));
}

/* The number of functions up to and including the interrupt's entry; 0: the stack has no interrupt. */
static unsigned interrupt_depth(const struct naming *n, const struct stack *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (is_interrupt(naming_text(n, s->names[i])))
			return i + 1;
	return 0;
}

static unsigned name_user(struct naming *n, struct stack *s, const struct party *party, uint64_t *until)
{
	const struct process *process = processes_get(&n->processes, party, s->frames, s->n, until);

	s->n = processes_depth(process, s->frames, s->n);
	for (unsigned i = 0; i < s->n; i++)
		s->names[i] = number_of(n, processes_name(&n->processes, process, address_of(s, i)));
	return s->n;
}

static struct pair_thread thread_of(const struct naming *n, const struct party *party)
{
	struct pair_thread thread = {.pid = n->no_ids ? 0 : party->pid, .tid = n->no_ids ? 0 : party->tid};

	/* the rest of comm is 0, so equal names have equal bytes */
	memcpy(thread.comm, party->comm, strnlen(party->comm, COMM_SIZE));
	return thread;
}

/* Sets s to a stack of the event. The names of the stacks before it are in the pair already. */
static void next_stack(struct stack *s, const struct stacks *e, struct pair *pair, int stack)
{
	s->frames = (const uint64_t *)(e + 1);
	s->names = &pair->names[pair_names(pair, stack)];
	s->n = e->depth[stack];
	for (int i = 0; i < stack; i++)
		s->frames += e->depth[i];
}

uint64_t naming_pair(struct naming *n, const struct stacks *e, struct pair *pair)
{
	uint64_t until = UINT64_MAX;
	unsigned depth;
	struct stack s;

	pair->target = thread_of(n, &e->target);
	pair->waker = thread_of(n, &e->waker);
	next_stack(&s, e, pair, TARGET_USER);
	pair->depth[TARGET_USER] = name_user(n, &s, &e->target, &until);
	next_stack(&s, e, pair, TARGET_KERNEL);
	pair->depth[TARGET_KERNEL] = name_kernel(n, &s);
	next_stack(&s, e, pair, WAKER_KERNEL);
	pair->depth[WAKER_KERNEL] = name_kernel(n, &s);
	depth = interrupt_depth(n, &s);
	if (depth) {
		pair->waker = (struct pair_thread){.comm = "[irq]"};
		pair->depth[WAKER_KERNEL] = depth;
	}
	if (n->no_kernel_stacks)
		pair->depth[WAKER_KERNEL] = 0;
	next_stack(&s, e, pair, WAKER_USER);
	pair->depth[WAKER_USER] = depth ? 0 : name_user(n, &s, &e->waker, &until);
	return until;
}

void naming_free(struct naming *n)
{
	symbols_free(&n->kernel);
	processes_free(&n->processes);
	intern_free(&n->names);
	map_free(&n->kernel_names);
}
