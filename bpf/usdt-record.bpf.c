// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * usdt-record's program for all probes: fetches the arguments that a site's entry in the map
 * describes, and sends them to user space. It sleeps if the kernel allows it, so that memory is
 * faulted in as if the process accessed it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "descendants.bpf.h"
#include "loop.bpf.h"
#include "machine.bpf.h"
#include "ring.bpf.h"
#include "usdt-record.h"

enum {
	/* bytes of an operand: a word, and a string with its NUL and one byte beyond the longest */
	MAX_OPERAND = sizeof(__u64) + MAX_STRING + 8,
	/* the verifier needs room for one more string */
	MAX_EVENT = sizeof(struct usdt_record_event) + MAX_ARGS * sizeof(__u64) + (MAX_STRINGS + 1) * MAX_OPERAND,
	PAGE = 4096, /* pages have this size or a multiple of it */
};

const volatile bool only_followed;
const volatile bool may_sleep; /* false before Linux 6.0: memory that is not resident is then unreadable */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct site);
} sites SEC(".maps");

/* The program may sleep while others run on its CPU, so each task has a buffer of its own. */
struct scratch {
	__u8 regs[REGS_SIZE];
	__u8 event[MAX_EVENT];
};
/* the rest is for the kernel's own header */
_Static_assert(sizeof(struct scratch) <= 8192 - 256, "too large for the storage of a task");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Reads memory of the process, at most 8 bytes. */
static bool read_memory(__u64 *value, __u32 size, __u64 address)
{
	*value = 0;
	/* otherwise the compiler checks one copy and passes another, which verifiers up to 6.1 reject */
	barrier_var(size);
	if (size > sizeof(*value))
		size = sizeof(*value);
	return bpf_probe_read_user(value, size, (void *)address) == 0 ||
	       (may_sleep && bpf_copy_from_user(value, size, (void *)address) == 0);
}

static __u64 read_register(const struct scratch *s, __u16 offset)
{
	if (offset > NO_REGISTER)
		return 0;
	return *(const __u64 *)(s->regs + offset);
}

static bool fetch(const struct scratch *s, const struct operand *o, __u64 *value)
{
	__u32 unused = (64 - 8 * o->size) & 63;

	switch (o->kind) {
	case REGISTER:
		*value = read_register(s, o->base);
		break;
	case MEMORY:
		if (!read_memory(value, o->size,
				 read_register(s, o->base) + (read_register(s, o->index) << (o->scale & 3)) + o->value))
			return false;
		break;
	default:
		*value = o->value;
	}
	*value <<= unused;
	*value = o->is_signed ? (__u64)((__s64)*value >> unused) : *value >> unused;
	return true;
}

/*
 * Reads a string; returns its length with the NUL, or less than 0. Pages that are not resident are
 * faulted in first: the string is on at most two.
 */
static long read_string(void *to, __u64 address)
{
	const __u32 size = MAX_STRING + 2;
	const __u64 pages[] = {address, (address + PAGE) & -(__u64)PAGE};
	long n = bpf_probe_read_user_str(to, size, (void *)address);

	for (__u32 i = 0; may_sleep && i < 2 && n < 0 && address; i++) {
		__u8 byte;

		if (bpf_copy_from_user(&byte, sizeof(byte), (void *)pages[i]) != 0)
			break;
		n = bpf_probe_read_user_str(to, size, (void *)address);
	}
	/* some kernels, such as 6.12, do not count the NUL of an empty string */
	return n == 0 ? 1 : n;
}

/* Appends a string after its word at the offset; returns the offset of the next operand. */
static __u32 add_string(struct scratch *s, __u32 at, __u32 i, __u64 address)
{
	struct usdt_record_event *e = (void *)s->event;
	long n;

	n = read_string(s->event + at + sizeof(__u64), address);
	if (n <= 0) {
		e->unreadable |= 1 << i;
		*(__u64 *)(s->event + at) = address;
		return at + sizeof(__u64);
	}
	/* without the NUL */
	n--;
	if (n > MAX_STRING) {
		e->cut |= 1 << i;
		n = MAX_STRING;
	}
	*(__u64 *)(s->event + at) = n;
	return at + sizeof(__u64) + (((__u32)n + 7) & ~7U);
}

/*
 * Fetches operand i into the event at the offset; returns the next offset. Global, so that the
 * verifier checks it once instead of once per loop iteration.
 */
__attribute__((noinline)) __u32 add_operand(struct scratch *s, const struct operand *o, __u32 at, __u32 i)
{
	__u64 value;
	bool good;

	if (!s || !o || at > MAX_EVENT - MAX_OPERAND)
		return at;
	good = fetch(s, o, &value);
	if (good && o->is_string)
		return add_string(s, at, i, value);
	if (!good)
		((struct usdt_record_event *)s->event)->unreadable |= 1 << i;
	*(__u64 *)(s->event + at) = value;
	return at + sizeof(value);
}

SEC("uprobe.s")
int on_probe(struct pt_regs *ctx)
{
	/* first, because what follows takes time */
	__u64 ns = bpf_ktime_get_ns();
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 index = bpf_get_attach_cookie(ctx), n = sizeof(struct usdt_record_event);
	const struct site *site = bpf_map_lookup_elem(&sites, &index);
	struct scratch *s;

	if (!site || (only_followed && !followed_id()))
		return 0;
	s = bpf_task_storage_get(&scratches, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	bpf_probe_read_kernel(s->regs, SAVED_REGISTERS, ctx);
	*(struct usdt_record_event *)s->event = (struct usdt_record_event){.ns = ns, .site = index};
	for (__u32 i = 0; i < MAX_ARGS && is_below(i, site->num_operands); i++)
		n = add_operand(s, &site->operands[i], n, i);
	if (n > sizeof(s->event))
		n = sizeof(s->event);
	ring_send(s->event, n);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
