/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Which channel between processes a file is, and which thread was last seen at each end. */
#pragma once

#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "copies.bpf.h"
#include "ipcsnoop.h"
#include "kernel.h"
#include "loop.bpf.h"
#include "machine.bpf.h"
#include "process.bpf.h"
#include "ring.bpf.h"

enum {
	/* of the kernel */
	AF_UNIX = 1,
	AF_INET = 2,
	AF_INET6 = 10,
	IPPROTO_TCP = 6,
	O_NONBLOCK = 04000,
	LOOPBACK_NET = 127, /* the first byte of such an address */
	PIDTYPE_TGID = 1,
	/* default pipe-max-size / PAGE_SIZE: the most buffers of an unprivileged pipe */
	MAX_SUMMED = 256,
};

#define MQUEUE_MAGIC 0x19800202
/* "[eventfd", with which only their names start; an array would be in a section that libbpf does not map */
#define EVENTFD_NAME 0x6466746e6576655bULL

/* One end of a channel. */
struct user_key {
	__u64 id;
	__u32 detail; /* the device or namespace of the id; for TCP: both ports, its own one first */
	__u32 end;    /* 2 * kind, plus 1 for an end that is written to; 0: unknown */
};

__u64 num_no_storage[COPIES]; /* calls and requests for which there was no memory, as each copy counts them */

/* The thread that was last seen at an end. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct user_key);
	__type(value, struct peer);
} users SEC(".maps");

/* A channel as a call finds it. */
struct end {
	__u32 kind; /* enum ipcsnoop_kind; CHANNEL_NONE: the file is no channel */
	__u32 used, slots;
	__u32 pipe_state; /* enum pipe_state */
	__u32 ports;
	__u64 queued;
	__u64 id, peer_id;
	struct user_key other;
	struct peer peer; /* from SO_PEERCRED */
};

/*
 * The bytes in a pipe, whose buffers are at this address. Global, as others are, so that the
 * verifier checks it once instead of once per loop iteration.
 */
__attribute__((noinline)) __u64 sum_buffers(__u64 buffers, __u32 tail, __u32 used, __u32 slots)
{
	__u64 sum = 0;

	if (used > MAX_SUMMED)
		return NOT_KNOWN;
	for (__u32 i = 0; i < MAX_SUMMED && is_below(i, used); i++) {
		struct pipe_buffer *buffer = (void *)buffers + ((tail + i) & (slots - 1)) * bpf_core_type_size(*buffer);

		sum += BPF_CORE_READ(buffer, len);
	}
	return sum;
}

/* There is no memcmp(). b may be a setting, which is volatile. */
static __always_inline bool is_same(const void *a, const volatile void *b, __u32 size)
{
	for (__u32 i = 0; i < size; i++)
		if (((const char *)a)[i] != ((const volatile char *)b)[i])
			return false;
	return true;
}

/* Sets the peer by SO_PEERCRED, unless that is the caller: it may have created both ends, before a fork. */
static __always_inline void set_noted(struct peer *peer, struct pid *pid, __u32 self)
{
	struct hlist_node *node;
	__u32 id = pid ? id_in_namespace(pid) : 0;

	if (!id || id == self)
		return;
	peer->pid = id;
	node = BPF_CORE_READ(pid, tasks[PIDTYPE_TGID].first);
	if (node)
		bpf_probe_read_kernel_str(peer->comm, sizeof(peer->comm),
					  (void *)node - bpf_core_field_offset(struct task_struct, pid_links) -
						  PIDTYPE_TGID * bpf_core_type_size(struct hlist_node) +
						  bpf_core_field_offset(struct task_struct, comm));
}

/* Records the current thread as the one at this end. */
static __always_inline void note_user(const struct user_key *key, __u32 pid)
{
	struct peer self = {.pid = pid}, *before = bpf_map_lookup_elem(&users, key);

	bpf_get_current_comm(self.comm, sizeof(self.comm));
	if (!before || !is_same(before, &self, sizeof(self)))
		bpf_map_update_elem(&users, key, &self, BPF_ANY);
}

/* A channel whose two ends have one id. scope: the device or namespace in which the id is unique. */
static __always_inline void set_ends(struct end *end, __u32 kind, __u64 id, __u32 scope, __u32 pid, bool writes)
{
	struct user_key self = {id, scope, 2 * kind + writes};

	end->kind = kind;
	end->id = id;
	note_user(&self, pid);
	end->other = self;
	end->other.end ^= 1;
}

static __always_inline bool has_waiters(struct wait_queue_head *queue)
{
	struct list_head *head = (void *)queue + bpf_core_field_offset(queue->head);

	return BPF_CORE_READ(head, next) != head;
}

static __always_inline __u32 pipe_state(struct pipe_inode_info *pipe, __u32 flags, bool writes)
{
	__u32 users = writes ? BPF_CORE_READ(pipe, readers) : BPF_CORE_READ(pipe, writers);
	__u32 at = writes ? bpf_core_field_offset(pipe->rd_wait) : bpf_core_field_offset(pipe->wr_wait);

	return (users ? 0 : PIPE_EOF) | (has_waiters((void *)pipe + at) ? PIPE_PEER_WAITING : 0) |
	       (flags & O_NONBLOCK ? PIPE_NONBLOCK : 0) | (flags & O_DIRECT ? PIPE_PACKET : 0);
}

/* Nothing is locked: another process may use the pipe at this moment. */
static __always_inline void read_pipe(struct end *end, struct file *file, struct inode *inode, __u32 pid, bool writes)
{
	struct pipe_inode_info *pipe = BPF_CORE_READ(inode, i_pipe);
	__u32 tail;

	if (!pipe)
		return;
	set_ends(end, CHANNEL_PIPE, BPF_CORE_READ(inode, i_ino), BPF_CORE_READ(inode, i_sb, s_dev), pid, writes);
	tail = BPF_CORE_READ(pipe, tail);
	end->used = BPF_CORE_READ(pipe, head) - tail;
	end->slots = BPF_CORE_READ(pipe, ring_size);
	end->pipe_state = pipe_state(pipe, BPF_CORE_READ(file, f_flags), writes);
	end->queued = sum_buffers((__u64)BPF_CORE_READ(pipe, bufs), tail, end->used, end->slots);
}

static __u64 inode_of(struct socket *socket)
{
	struct socket_alloc *alloc = (void *)socket - bpf_core_field_offset(struct socket_alloc, socket);

	return socket ? BPF_CORE_READ(alloc, vfs_inode.i_ino) : 0;
}

static __always_inline void read_unix(struct end *end, struct sock *sock, __u32 pid)
{
	struct user_key self = {end->id, 0, 2 * CHANNEL_UNIX};
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sock, peer);

	end->kind = CHANNEL_UNIX;
	note_user(&self, pid);
	if (!peer)
		return;
	end->peer_id = inode_of(BPF_CORE_READ(peer, sk_socket));
	set_noted(&end->peer, BPF_CORE_READ(sock, sk_peer_pid), pid);
	if (end->peer_id)
		end->other = (struct user_key){end->peer_id, 0, 2 * CHANNEL_UNIX};
}

/* The IPv4 address in an IPv4-mapped IPv6 address; 0: it is not one. */
static __u32 ipv4_of(const __u32 words[4])
{
	return !words[0] && !words[1] && words[2] == bpf_htonl(0xffff) ? words[3] : 0;
}

static bool is_loopback(const __u32 words[4])
{
	__u32 ipv4 = ipv4_of(words);

	return ipv4 ? (ipv4 & bpf_htonl(0xff000000)) == bpf_htonl(LOOPBACK_NET << 24)
		    : !words[0] && !words[1] && !words[2] && words[3] == bpf_htonl(1);
}

static __always_inline void read_address(__u32 words[4], struct sock *sock, const void *ipv6, __u32 ipv4, bool is_ipv6)
{
	if (is_ipv6) {
		bpf_probe_read_kernel(words, 16, ipv6);
	} else {
		words[2] = bpf_htonl(0xffff);
		words[3] = ipv4;
	}
}

/* A connection goes over loopback when one address is of loopback, or both are the same one. */
static __always_inline void read_tcp(struct end *end, struct sock *sock, __u32 pid, bool is_ipv6)
{
	__u32 own[4] = {}, other[4] = {}, port = BPF_CORE_READ(sock, __sk_common.skc_num);
	__u32 peer_port = bpf_ntohs(BPF_CORE_READ(sock, __sk_common.skc_dport));
	struct user_key self = {};

	if (is_ipv6 && !bpf_core_field_exists(sock->__sk_common.skc_v6_daddr))
		return;
	read_address(own, sock, (void *)sock + bpf_core_field_offset(sock->__sk_common.skc_v6_rcv_saddr),
		     BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr), is_ipv6);
	read_address(other, sock, (void *)sock + bpf_core_field_offset(sock->__sk_common.skc_v6_daddr),
		     BPF_CORE_READ(sock, __sk_common.skc_daddr), is_ipv6);
	if (!peer_port || (!is_loopback(own) && !is_loopback(other) && !is_same(own, other, sizeof(own))))
		return;
	end->kind = CHANNEL_TCP;
	end->ports = port << 16 | peer_port;
	self.end = 2 * CHANNEL_TCP;
	/* the same at both ends */
	self.id = (__u64)BPF_CORE_READ(sock, __sk_common.skc_net.net, ns.inum) << 32 | (own[3] + other[3]);
	self.detail = end->ports;
	note_user(&self, pid);
	end->other = self;
	end->other.detail = peer_port << 16 | port;
}

static __always_inline void read_socket(struct end *end, struct file *file, __u32 pid)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);
	__u16 family;

	if (!sock)
		return;
	family = BPF_CORE_READ(sock, __sk_common.skc_family);
	end->id = inode_of(socket);
	if (family == AF_UNIX)
		read_unix(end, sock, pid);
	else if ((family == AF_INET || family == AF_INET6) && BPF_CORE_READ(sock, sk_protocol) == IPPROTO_TCP)
		read_tcp(end, sock, pid, family == AF_INET6);
}

static __always_inline void read_queue(struct end *end, struct inode *inode, __u32 pid, bool writes)
{
	struct mqueue_inode_info *info = (void *)inode - bpf_core_field_offset(struct mqueue_inode_info, vfs_inode);

	set_ends(end, CHANNEL_MQ, BPF_CORE_READ(inode, i_ino), BPF_CORE_READ(inode, i_sb, s_dev), pid, writes);
	end->used = BPF_CORE_READ(info, attr.mq_curmsgs);
	end->slots = BPF_CORE_READ(info, attr.mq_maxmsg);
	end->queued = BPF_CORE_READ(info, qsize);
}

/* Records no thread: the kernel reuses the number of an eventfd once it is closed. */
static __always_inline void read_eventfd(struct end *end, struct file *file)
{
	struct eventfd_ctx *context = BPF_CORE_READ(file, private_data);
	__u64 name = 0;

	bpf_probe_read_kernel(&name, sizeof(name), BPF_CORE_READ(file, f_path.dentry, d_name.name));
	if (name != EVENTFD_NAME)
		return;
	end->kind = CHANNEL_EVENTFD;
	end->id = BPF_CORE_READ(context, id);
}

/* Global, see sum_buffers(). */
__attribute__((noinline)) int find_end(struct end *end, __u64 address, __u32 pid, bool writes)
{
	struct file *file = (void *)address;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u16 mode = BPF_CORE_READ(inode, i_mode);
	unsigned long magic;

	if (!end || !inode)
		return 0;
	magic = BPF_CORE_READ(inode, i_sb, s_magic);
	if (S_ISFIFO(mode))
		read_pipe(end, file, inode, pid, writes);
	else if (S_ISSOCK(mode))
		read_socket(end, file, pid);
	else if (magic == MQUEUE_MAGIC)
		read_queue(end, inode, pid, writes);
	else if (magic == ANON_INODE_FS_MAGIC)
		read_eventfd(end, file);
	return 0;
}

static struct file *file_of(struct task_struct *task, __u32 descriptor)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (table && descriptor < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + descriptor);
	return file;
}

static __always_inline void clear_end(struct end *end)
{
	__builtin_memset(end, 0, sizeof(*end));
	end->queued = NOT_KNOWN;
}

/* Sends an event of what was done at this end. */
static __always_inline void emit_end(const struct end *end, struct ipcsnoop_event *e, bool writes)
{
	const struct peer *seen = NULL;

	if (!end->kind)
		return;
	if (end->other.end)
		seen = bpf_map_lookup_elem(&users, &end->other);
	e->peer = seen ? *seen : end->peer;
	e->kind = end->kind;
	e->id = end->id;
	e->peer_id = end->peer_id;
	e->port = end->ports >> 16;
	e->peer_port = end->ports;
	e->queued = end->queued;
	e->used = end->used;
	e->slots = end->slots;
	e->pipe_state = end->pipe_state;
	e->writes = writes;
	ring_send(e, sizeof(*e));
}
