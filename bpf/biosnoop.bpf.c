// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * biosnoop's program: follows each request from the block layer through the driver to its
 * completion.
 *
 *	block_io_start      still in the process that issues it
 *	block_getrq         before 6.5: in that process, too, but the request is not known yet
 *	block_rq_insert     passed to an I/O scheduler, often by a kernel worker
 *	block_rq_issue      passed to the driver; again after a requeue
 *	block_rq_complete   a part of it is done, or all of it
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "biosnoop.h"
#include "cgroup.bpf.h"
#include "copies.bpf.h"
#include "kernel.h"
#include "process.bpf.h"
#include "ring.bpf.h"

const volatile bool only_one_disk;
const volatile int disk_major, disk_minor;
const volatile __u32 only_pid; /* 0: all */
const volatile bool with_pattern;
const volatile bool has_copies; /* copies of programs are loaded */
const volatile __u64 min_ns;    /* latency, at least; 0: all */

__u64 since; /* when everything was attached; 0: not yet */
/* requests for which there was no room in the map, as each copy of each of these programs counts them */
__u64 num_no_storage[NUM_HOOKS][COPIES];
__u64 num_unknown;   /* dropped, because it is unknown whether they match the filter */
__u64 num_unseen;    /* requests that have ended, but whose completion was not seen */
__u64 num_no_start;  /* requests whose start was not seen, though it was after `since` */
__u64 num_no_insert; /* those of them that were not seen in an I/O scheduler either */
__u64 num_flushes;   /* whose process is that of another request */
__u64 num_no_issue;  /* the same of the moment when they were passed to the driver */
__u64 num_in_flight; /* at the end */
bool is_over;        /* requests that start later are ignored */

/* A request in flight. */
struct tracked {
	__u64 request_ns; /* its start_time_ns, which shows if the struct was reused; 0: not set yet */
	__u64 start_ns, issued_ns;
	__u32 bytes; /* when it was issued */
	__s32 error;
	bool is_done; /* kept for the copies of on_complete that are still to come */
	__u32 pid;
	char comm[COMM_SIZE];
	__u64 in_cgroup; /* its issuer was, with only_cgroup */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address of the struct request */
	__type(value, struct tracked);
} requests SEC(".maps");

/* Requests that are not tracked, until all copies of on_complete have seen that they are done: their start_time_ns. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the struct request */
	__type(value, __u64);
} printed SEC(".maps");

/* The last process that wanted a flush of the disk's cache: the kernel flushes by a request of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the struct request_queue */
	__type(value, struct tracked);
} flushers SEC(".maps");

/* The sector after the last completed request, with with_pattern. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* address of the struct gendisk */
	__type(value, __u64);
} last_ends SEC(".maps");

static struct gendisk *disk_of(struct request *rq)
{
	if (bpf_core_field_exists(rq->q->disk))
		return BPF_CORE_READ(rq, q, disk);
	return BPF_CORE_READ((struct request___before_5_15 *)rq, rq_disk);
}

static bool is_wanted(struct request *rq)
{
	struct gendisk *disk;

	if (!only_one_disk)
		return true;
	disk = disk_of(rq);
	return disk && BPF_CORE_READ(disk, major) == disk_major && BPF_CORE_READ(disk, first_minor) == disk_minor;
}

/* The current task is the issuer. */
static __always_inline void set_process(struct tracked *t)
{
	t->pid = process_id((void *)bpf_get_current_task_btf());
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	t->in_cgroup = only_cgroup && is_in_cgroup((void *)bpf_get_current_task_btf());
}

static bool is_wanted_issuer(const struct tracked *t)
{
	return (!only_pid || t->pid == only_pid) && (!only_cgroup || t->in_cgroup);
}

/* An unknown issuer may be a wanted one. */
static bool may_be_printed(const struct tracked *t)
{
	return is_wanted_issuer(t) || !t->comm[0];
}

/* Forgets a request that has ended, but whose completion was not seen. */
static __always_inline void drop_unseen(__u64 key, const struct tracked *t)
{
	bool is_loss = !t->is_done && may_be_printed(t);

	if (bpf_map_delete_elem(&requests, &key) == 0 && is_loss)
		__sync_fetch_and_add(&num_unseen, 1);
}

/*
 * Whether this is the request that is tracked, by its start_time_ns. A reused struct has a later time, but a request
 * into which an earlier one was merged gets the time of that.
 */
static bool is_of(const struct tracked *t, __u64 request_ns)
{
	return t->request_ns == request_ns || (request_ns && request_ns < t->request_ns);
}

static struct tracked *tracked(struct request *rq)
{
	__u64 key = (__u64)rq;
	struct tracked *t = bpf_map_lookup_elem(&requests, &key);

	if (!t || t->is_done)
		return NULL;
	/* newer kernels set it just after block_io_start */
	if (!t->request_ns)
		t->request_ns = rq->start_time_ns;
	if (is_of(t, rq->start_time_ns))
		return t;
	drop_unseen(key, t);
	return NULL;
}

/* Returns whether there was room. */
static __always_inline bool track(struct request *rq, const struct tracked *t, enum hook hook, __u32 copy)
{
	__u64 key = (__u64)rq;

	if (!since || is_over)
		return true;
	if (bpf_map_update_elem(&requests, &key, t, BPF_ANY) == 0)
		return true;
	__sync_fetch_and_add(&num_no_storage[hook][copy], 1);
	return false;
}

static __always_inline void note_flusher(struct request_queue *queue, __u32 flags, const struct tracked *t)
{
	__u64 key = (__u64)queue;

	if (flags & (FLAG_PREFLUSH | FLAG_FUA))
		bpf_map_update_elem(&flushers, &key, t, BPF_ANY);
}

/*
 * A write that needs flushes is done in steps: the flushes are requests of their own, and the
 * request itself is completed once more, empty, after all of them. One without data is never
 * issued.
 */
static bool is_end_of_steps(struct request *rq)
{
	return (rq->cmd_flags & OP_MASK) <= OP_WRITE && rq->__data_len == 0;
}

static __always_inline int run_on_start(__u64 *ctx, __u32 copy)
{
	struct request *rq = (void *)ctx[0];
	__u64 key = (__u64)rq;
	struct tracked t = {}, *before;

	if (!is_wanted(rq))
		return 0;
	before = bpf_map_lookup_elem(&requests, &key);
	/* it was added just now, by another copy */
	if (copy && before && !before->is_done && !before->request_ns)
		return 0;
	if (before)
		drop_unseen(key, before);
	t.start_ns = bpf_ktime_get_ns();
	set_process(&t);
	if (!is_end_of_steps(rq))
		track(rq, &t, ON_START, copy);
	note_flusher(rq->q, rq->cmd_flags, &t);
	return 0;
}

/* Since 6.5, for disks that keep statistics. */
PROGRAM_WITH_COPIES("tp_btf/block_io_start", on_start)

static __always_inline int run_on_getrq(__u64 *ctx, __u32 copy)
{
	struct bio *bio = (void *)ctx[0];
	struct gendisk *disk;
	struct tracked t = {};

	if (!(bio->bi_opf & (FLAG_PREFLUSH | FLAG_FUA)))
		return 0;
	disk = bpf_core_field_exists(bio->bi_bdev) ? BPF_CORE_READ(bio, bi_bdev, bd_disk)
						   : BPF_CORE_READ((struct bio___before_5_12 *)bio, bi_disk);
	set_process(&t);
	note_flusher(BPF_CORE_READ(disk, queue), bio->bi_opf, &t);
	return 0;
}

/* Before 6.5, instead. */
PROGRAM_WITH_COPIES("tp_btf/block_getrq", on_getrq)

/* Tracks a request whose start was not seen. */
static __always_inline void track_late(struct request *rq, enum hook hook, __u32 copy)
{
	bool is_flush = (rq->cmd_flags & OP_MASK) == OP_FLUSH, is_late = false;
	struct tracked t = {};

	t.request_ns = rq->start_time_ns;
	t.start_ns = t.request_ns ? t.request_ns : bpf_ktime_get_ns();
	if (t.start_ns < since) {
		/* the issuer is unknown: any task may be passing it on */
		t.start_ns = 0;
	} else if (is_flush) {
		__u64 queue = (__u64)rq->q;
		struct tracked *flusher = bpf_map_lookup_elem(&flushers, &queue);

		if (flusher) {
			t.pid = flusher->pid;
			__builtin_memcpy(t.comm, flusher->comm, sizeof(t.comm));
			t.in_cgroup = flusher->in_cgroup;
		}
	} else {
		set_process(&t);
		is_late = true;
	}
	if (!track(rq, &t, hook, copy))
		return;
	if (is_late)
		__sync_fetch_and_add(&num_no_start, 1);
	if (is_late && hook == ON_ISSUE)
		__sync_fetch_and_add(&num_no_insert, 1);
	if (is_flush)
		__sync_fetch_and_add(&num_flushes, 1);
}

static struct tracked *track_if_new(struct request *rq, enum hook hook, __u32 copy)
{
	struct tracked *t = tracked(rq);

	if (t)
		return t;
	track_late(rq, hook, copy);
	return tracked(rq);
}

static __always_inline int run_on_insert(__u64 *ctx, __u32 copy)
{
	struct request *rq = (void *)ctx[0];

	if (is_wanted(rq))
		track_if_new(rq, ON_INSERT, copy);
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/block_rq_insert", on_insert)

static __always_inline int run_on_issue(__u64 *ctx, __u32 copy)
{
	struct request *rq = (void *)ctx[0];
	struct tracked *t;

	if (!is_wanted(rq))
		return 0;
	t = track_if_new(rq, ON_ISSUE, copy);
	if (!t)
		return 0;
	if (!copy || !t->issued_ns)
		t->issued_ns = bpf_ktime_get_ns();
	/* after a requeue it may have less, as parts of it are done, or more, as others are merged into it */
	if (t->bytes < rq->__data_len)
		t->bytes = rq->__data_len;
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/block_rq_issue", on_issue)

static __always_inline int run_on_requeue(__u64 *ctx, __u32 copy)
{
	struct tracked *t = tracked((void *)ctx[0]);

	if (t)
		t->issued_ns = 0;
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/block_rq_requeue", on_requeue)

/* The request was merged into another one. */
static __always_inline int run_on_merge(__u64 *ctx, __u32 copy)
{
	__u64 key = ctx[0];

	bpf_map_delete_elem(&requests, &key);
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/block_rq_merge", on_merge)

/* For a request on the wanted disk. */
static bool passes_filter(const struct biosnoop_event *e, const struct tracked *t)
{
	if ((only_pid || only_cgroup) && !(t && is_wanted_issuer(t))) {
		if (!e->comm[0])
			__sync_fetch_and_add(&num_unknown, 1);
		return false;
	}
	if (!min_ns)
		return true;
	if (!e->issued_ns)
		__sync_fetch_and_add(&num_unknown, 1);
	return e->issued_ns && e->end_ns - e->issued_ns >= min_ns;
}

/* Requests that the filter leaves out count as well: the disk has done them. */
static enum biosnoop_pattern pattern_of(struct request *rq, struct gendisk *disk, const struct biosnoop_event *e)
{
	__u64 key = (__u64)disk, end = e->sector + e->bytes / SECTOR, *last;

	if (!disk || !e->bytes || rq->__sector == -1ULL)
		return PATTERN_UNKNOWN;
	last = bpf_map_lookup_elem(&last_ends, &key);
	if (last)
		return __sync_lock_test_and_set(last, end) == e->sector ? PATTERN_SEQUENTIAL : PATTERN_RANDOM;
	bpf_map_update_elem(&last_ends, &key, &end, BPF_ANY);
	return PATTERN_UNKNOWN;
}

static __always_inline void emit(struct request *rq, const struct tracked *t, int error)
{
	struct gendisk *disk = disk_of(rq);
	struct biosnoop_event e = {};

	e.end_ns = bpf_ktime_get_ns();
	/* a flush has none */
	e.sector = rq->__sector == -1ULL ? 0 : rq->__sector;
	e.bytes = rq->__data_len;
	e.flags = rq->cmd_flags;
	e.error = error;
	e.cpu = bpf_get_smp_processor_id();
	if (t) {
		e.start_ns = t->start_ns;
		e.issued_ns = t->issued_ns;
		/* what was done in parts is no longer in the request */
		if (t->bytes > e.bytes) {
			e.sector -= (t->bytes - e.bytes) / SECTOR;
			e.bytes = t->bytes;
		}
		e.error = t->error;
		e.pid = t->pid;
		__builtin_memcpy(e.comm, t->comm, sizeof(e.comm));
	}
	if (with_pattern)
		e.pattern = pattern_of(rq, disk, &e);
	if (!passes_filter(&e, t))
		return;
	if (disk)
		BPF_CORE_READ_STR_INTO(&e.disk, disk, disk_name);
	ring_send(&e, sizeof(e));
}

/* Whether a copy before has printed a request that is not tracked. */
static bool is_printed(struct request *rq, __u32 copy)
{
	__u64 key = (__u64)rq, request_ns = rq->start_time_ns, *before = bpf_map_lookup_elem(&printed, &key);
	bool is = copy && before && *before == request_ns;

	if (copy == LAST_COPY)
		bpf_map_delete_elem(&printed, &key);
	else
		bpf_map_update_elem(&printed, &key, &request_ns, BPF_ANY);
	return is;
}

static __always_inline int run_on_complete(__u64 *ctx, __u32 copy)
{
	struct request *rq = (void *)ctx[0];
	__u32 bytes = ctx[2];
	__u64 key = (__u64)rq;
	int error = ctx[1];
	struct tracked *t;

	/* a driver tries it again: the error is not that of the request */
	if (!is_wanted(rq) || (!bytes && rq->__data_len))
		return 0;
	t = has_copies ? bpf_map_lookup_elem(&requests, &key) : NULL;
	if (t && t->is_done && is_of(t, rq->start_time_ns)) {
		if (copy == LAST_COPY)
			bpf_map_delete_elem(&requests, &key);
		return 0;
	}
	t = tracked(rq);
	/* it started after tracing was over */
	if (!t && is_over)
		return 0;
	if (t && !t->error)
		t->error = error;
	/* only a part of it is done */
	if (bytes < rq->__data_len)
		return 0;
	if (is_end_of_steps(rq)) {
		bpf_map_delete_elem(&requests, &key);
		return 0;
	}
	if (t && t->start_ns && !t->issued_ns)
		__sync_fetch_and_add(&num_no_issue, 1);
	if (!t && has_copies && is_printed(rq, copy))
		return 0;
	emit(rq, t, error);
	/* other copies are to find that it is done */
	if (t && has_copies && copy != LAST_COPY)
		t->is_done = true;
	else
		bpf_map_delete_elem(&requests, &key);
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/block_rq_complete", on_complete)

/*
 * Called with every tracked request when tracing is over. Completions are still handled, so a request
 * that has ended is first read, then looked up: if it is still tracked, its completion was not seen.
 */
SEC("iter/bpf_map_elem")
int find_unseen(struct bpf_iter__bpf_map_elem *ctx)
{
	__u64 *found = ctx->key, key;
	const struct tracked *t;
	struct request *rq;
	int references = 0;

	if (!found)
		return 0;
	key = *found;
	rq = (struct request *)key;
	bpf_core_read(&references, sizeof(references), &rq->ref);
	t = bpf_map_lookup_elem(&requests, &key);
	if (!t || t->is_done)
		return 0;
	if (!references || (t->request_ns && !is_of(t, BPF_CORE_READ(rq, start_time_ns))))
		drop_unseen(key, t);
	else if (may_be_printed(t))
		num_in_flight++;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
