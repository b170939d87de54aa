/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Reads and writes that processes submit to io_uring, which makes no system call for them. A request has no id: its
 * address identifies it until it is complete.
 */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "channels.bpf.h"
#include "copies.bpf.h"
#include "descendants.bpf.h"
#include "ipcsnoop.h"
#include "kernel.h"

enum {
	/* bits of io_kiocb.flags, which includes the flags of a submission */
	REQ_F_FIXED_FILE = 1 << 0,
	REQ_F_CQE_SKIP = 1 << 6,
};

const volatile struct request_operation request_operations[NUM_REQUESTS]; /* all zero: no events */

__u64 num_silent[COPIES]; /* requests that ask for no completion, as each copy counts them */
__u64 num_unseen;         /* requests whose completion was not seen */
__u64 num_incomplete;     /* at the end */

struct ring_request {
	__u64 start_ns;
	__u64 asked;
	__u32 pid;
	__u8 opcode;
	__u8 left; /* see is_first_copy() */
	bool waited;
	char comm[COMM_SIZE]; /* of the thread that submitted it */
	struct end end;
};

/* By address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct ring_request);
} requests SEC(".maps");

static __u64 asked_of(struct io_kiocb *request, __u32 asked)
{
	if (asked == ASKED_RW && bpf_core_field_exists(struct io_rw, len))
		return BPF_CORE_READ((struct io_rw *)request, len);
	if (asked == ASKED_MESSAGE && bpf_core_field_exists(struct io_sr_msg, len))
		return (__u32)BPF_CORE_READ((struct io_sr_msg *)request, len);
	return NOT_KNOWN;
}

/* Whether a copy before has added the request; if not, forgets an older one, whose completion was not seen. */
static bool is_added(__u64 key, __u32 copy)
{
	struct ring_request *r = bpf_map_lookup_elem(&requests, &key);

	if (!r)
		return false;
	if (!is_first_copy(&r->left, copy))
		return true;
	if (bpf_map_delete_elem(&requests, &key) == 0)
		__sync_fetch_and_add(&num_unseen, 1);
	return false;
}

static __always_inline int run_on_submit(__u64 *ctx, __u32 copy)
{
	struct io_kiocb *request = (void *)ctx[0];
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 pid = followed_id(), flags, opcode;
	const volatile struct request_operation *o;
	__u64 key = (__u64)request;
	struct ring_request r = {.left = LAST_COPY - copy};

	if (!pid)
		return 0;
	opcode = BPF_CORE_READ(request, opcode);
	if (opcode >= NUM_REQUESTS)
		return 0;
	o = &request_operations[opcode];
	if (!o->reads && !o->writes)
		return 0;
	flags = BPF_CORE_READ(request, flags);
	clear_end(&r.end);
	/* a registered file has no descriptor: find_registered() finds it */
	if (!(flags & REQ_F_FIXED_FILE)) {
		find_end(&r.end, (__u64)file_of(task, BPF_CORE_READ(request, cqe.fd)), pid, o->writes);
		if (!r.end.kind)
			return 0;
	}
	if (flags & REQ_F_CQE_SKIP) {
		__sync_fetch_and_add(&num_silent[copy], 1);
		return 0;
	}
	if (is_added(key, copy))
		return 0;
	r.pid = pid;
	r.opcode = opcode;
	r.asked = asked_of(request, o->asked);
	bpf_get_current_comm(r.comm, sizeof(r.comm));
	r.start_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&requests, &key, &r, BPF_ANY) != 0)
		__sync_fetch_and_add(&num_no_storage[copy], 1);
	return 0;
}

/* From Linux 6.4 on; before, user space attaches it to io_uring_submit_sqe. */
PROGRAM_WITH_COPIES("tp_btf/io_uring_submit_req", on_submit)

/* A second time does no harm. */
static int note_wait(__u64 key)
{
	struct ring_request *r = bpf_map_lookup_elem(&requests, &key);

	if (r)
		r->waited = true;
	return 0;
}

static __always_inline int run_on_poll_arm(__u64 *ctx, __u32 copy)
{
	return note_wait(ctx[0]);
}

PROGRAM_WITH_COPIES("tp_btf/io_uring_poll_arm", on_poll_arm)

static __always_inline int run_on_queue_async_work(__u64 *ctx, __u32 copy)
{
	return note_wait(ctx[0]);
}

PROGRAM_WITH_COPIES("tp_btf/io_uring_queue_async_work", on_queue_async_work)

static bool writes(const struct ring_request *r)
{
	return request_operations[r->opcode & (NUM_REQUESTS - 1)].writes;
}

/* Finds the file of a request without a descriptor. How full the channel was at its submission is unknown. */
static __always_inline void find_registered(struct ring_request *r, struct io_kiocb *request)
{
	if (r->end.kind)
		return;
	find_end(&r->end, (__u64)BPF_CORE_READ(request, file), r->pid, writes(r));
	r->end.queued = NOT_KNOWN;
	r->end.slots = 0;
}

static __always_inline void emit_request(struct ring_request *r, struct io_kiocb *request, struct ipcsnoop_event *e)
{
	find_registered(r, request);
	e->start_ns = r->start_ns;
	e->end_ns = bpf_ktime_get_ns();
	e->pid = r->pid;
	e->cpu = bpf_get_smp_processor_id();
	e->call = NUM_CALLS + r->opcode;
	e->asked = r->asked;
	e->blocked = r->waited;
	__builtin_memcpy(e->comm, r->comm, sizeof(e->comm));
	emit_end(&r->end, e, writes(r));
}

/* The first copy that runs forgets the request. */
static int on_completed(struct io_kiocb *request, int result)
{
	__u64 key = (__u64)request;
	struct ring_request *r = bpf_map_lookup_elem(&requests, &key);
	struct ipcsnoop_event e = {.result = result};

	if (!r)
		return 0;
	emit_request(r, request, &e);
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

static __always_inline int run_on_complete(__u64 *ctx, __u32 copy)
{
	struct io_uring_cqe *completion = (void *)ctx[2];

	return on_completed((void *)ctx[1], BPF_CORE_READ(completion, res));
}

/* With three arguments. */
PROGRAM_WITH_COPIES("tp_btf/io_uring_complete", on_complete)

/* With seven, as in Linux 6.1. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_complete_parts, void *ring, struct io_kiocb *request, __u64 user_data, int result)
{
	return on_completed(request, result);
}

/* Called with every request when tracing ends. Copies it: on Linux 6.1, helpers accept no part of value as a key. */
SEC("iter/bpf_map_elem")
int find_incomplete(struct bpf_iter__bpf_map_elem *ctx)
{
	struct ring_request *value = ctx->value, r;
	struct ipcsnoop_event e = {.unfinished = true};
	__u64 *key = ctx->key;

	if (!key || !value)
		return 0;
	num_incomplete++;
	r = *value;
	emit_request(&r, (struct io_kiocb *)*key, &e);
	return 0;
}
