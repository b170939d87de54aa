/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the kernel's structures that BPF programs read; CO-RE finds out where they are. */
#ifndef KERNEL_H
#define KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};
struct pid_namespace {
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};
typedef struct {
	int counter;
} atomic_t;
struct signal_struct {
	atomic_t live;
};
struct task_struct {
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
};
struct request_queue {
	struct gendisk *disk; /* from 5.15 on */
};
struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	unsigned long long __sector;
	unsigned long long start_time_ns;
};
struct request___before_5_15 {
	struct gendisk *rq_disk;
};
#pragma clang attribute pop

#endif
