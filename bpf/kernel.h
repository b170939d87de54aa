/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the kernel's structures that BPF programs read; CO-RE finds their offsets. */
#pragma once

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
struct hlist_node {
	struct hlist_node *next;
};
struct hlist_head {
	struct hlist_node *first;
};
struct pid {
	unsigned int level;
	struct hlist_head tasks[4];
	struct upid numbers[1];
};
typedef struct {
	int counter;
} atomic_t;
struct signal_struct {
	atomic_t live;
};
struct pipe_buffer {
	unsigned int len;
};
struct list_head {
	struct list_head *next;
};
struct wait_queue_head {
	struct list_head head;
};
struct pipe_inode_info {
	struct wait_queue_head rd_wait, wr_wait;
	unsigned int head, tail;
	unsigned int ring_size;
	unsigned int readers, writers;
	struct pipe_buffer *bufs;
};
struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
};
struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
	struct pipe_inode_info *i_pipe;
};
struct qstr {
	const unsigned char *name;
};
struct dentry {
	struct qstr d_name;
};
struct path {
	struct dentry *dentry;
};
struct file {
	unsigned int f_mode, f_flags;
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};
struct eventfd_ctx {
	int id;
};
struct mq_attr {
	long mq_maxmsg, mq_curmsgs;
};
struct mqueue_inode_info {
	struct inode vfs_inode;
	struct mq_attr attr;
	unsigned long qsize;
};
struct net {
	struct ns_common ns;
};
struct ipc_namespace {
	struct ns_common ns;
};
struct nsproxy {
	struct ipc_namespace *ipc_ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct in6_addr {
	unsigned int words[4]; /* of the kernel's union */
};
struct sock_common {
	unsigned int skc_daddr, skc_rcv_saddr;
	unsigned short skc_dport, skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};
struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	unsigned short sk_protocol;
	struct pid *sk_peer_pid;
};
struct unix_sock {
	struct sock *peer;
};
struct socket {
	struct sock *sk;
};
struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct thread_info {
	unsigned long flags;
	unsigned int status;
	unsigned int cpu; /* from 5.16 on */
};
struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct file *vm_file;
};
struct mm_struct {
	unsigned long arg_start;
};
struct kernfs_node {
	unsigned long long id;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};
struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};
struct css_set {
	struct cgroup *dfl_cgrp;
};
struct cfs_rq {
	int throttle_count;
};
struct sched_entity {
	struct cfs_rq *cfs_rq;
};
struct task_struct {
	struct thread_info thread_info;
	int pid; /* of the thread, in the first namespace */
	int tgid;
	unsigned int flags;
	unsigned int on_cpu;  /* 8 bits on Linux 7.2: only unsigned numbers are adjusted */
	unsigned int __state; /* from 5.14 on */
	int prio;
	struct sched_entity se;
	bool throttled; /* from 6.18 on */
	struct mm_struct *mm;
	char comm[16];
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct hlist_node pid_links[4];
	unsigned long nvcsw;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct css_set *cgroups;
};
struct task_struct___before_5_14 {
	long state;
};
struct task_struct___before_5_16 {
	unsigned int cpu;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};
struct io_cqe {
	int fd;
};
struct io_kiocb {
	struct file *file;
	unsigned char opcode;
	unsigned int flags; /* the lower half, from 6.7 on */
	struct io_cqe cqe;
};
struct io_rw {
	unsigned int len;
};
struct io_sr_msg {
	int len;
};
struct io_uring_cqe {
	int res;
};
struct irqaction {
	const char *name;
};
struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
	struct request_queue *queue;
};
struct block_device {
	struct gendisk *bd_disk;
};
struct bio {
	unsigned int bi_opf;
	struct block_device *bi_bdev; /* from 5.12 on */
};
struct bio___before_5_12 {
	struct gendisk *bi_disk;
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
	atomic_t ref; /* before 5.16 a refcount_t */
};
struct request___before_5_15 {
	struct gendisk *rq_disk;
};
#pragma clang attribute pop
