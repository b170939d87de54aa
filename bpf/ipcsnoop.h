/* SPDX-License-Identifier: BSD-3-Clause */
/* What ipcsnoop and its BPF program share: system calls, their counts, and events at channels between processes. */
#pragma once

#include <linux/types.h>

#include "calls.h"

enum { COMM_SIZE = 16 };

#define NOT_KNOWN       (~0ULL)
#define MOVED_NOT_KNOWN (-(1LL << 32)) /* no errno */

/* Kinds of channels between processes. */
enum ipcsnoop_kind {
	CHANNEL_NONE,
	CHANNEL_PIPE,
	CHANNEL_UNIX,
	CHANNEL_TCP,     /* over loopback */
	CHANNEL_MQ,      /* a POSIX message queue */
	CHANNEL_MSG,     /* one of System V */
	CHANNEL_EVENTFD, /* the kernel reuses the numbers of closed ones */
	NUM_CHANNELS,
};

/* How a call may read from a channel or write to one. Arguments are counted from 1; 0: none. */
struct operation {
	__u8 from, to; /* descriptors; if both are the same one, its mode decides */
	__u8 asked;    /* bytes, or, with vectors, their number */
	__u8 vectors;
	__u8 message;     /* a struct msghdr, which has the vectors */
	__u8 messages;    /* an array of struct mmsghdr: the result is their number */
	__u8 is_id;       /* not a descriptor, but the id of a message queue of System V */
	__u8 all_or_none; /* the result is 0 when all bytes are moved */
	__u8 socketcall;  /* 32-bit programs make calls at sockets by it, whose arguments are not followed */
};

/* A pipe when a call starts. */
enum pipe_state {
	PIPE_EOF = 1,          /* nobody has the other end open */
	PIPE_PEER_WAITING = 2, /* a thread waits at the other end, or an epoll instance watches it */
	PIPE_NONBLOCK = 4,     /* the descriptor has O_NONBLOCK */
	PIPE_PACKET = 8,       /* the descriptor has O_DIRECT: each write is a packet */
};

/* Opcodes of io_uring below this are known. An event's call is NUM_CALLS plus the opcode. */
enum { NUM_REQUESTS = 64 };

/* How a request of io_uring may read from a channel or write to one. */
struct request_operation {
	__u8 reads, writes;
	__u8 asked; /* which of the kernel's structs has the bytes */
};

enum { ASKED_NOT_KNOWN, ASKED_RW, ASKED_MESSAGE };

/* Of one kind of call, on one CPU. */
struct count {
	__u64 calls, errors;
	__u64 ns; /* of those that returned */
};

/* The thread at the other end of a channel, or the one that woke the caller. */
struct peer {
	__u32 pid;            /* of its process */
	char comm[COMM_SIZE]; /* empty: it is unknown */
};

/* Sent when a call at a channel returns, and at the end for those still waiting. Times: CLOCK_MONOTONIC. */
struct ipcsnoop_event {
	__u64 start_ns; /* 0: before tracing; `used`, `slots` and `blocked` are then unknown */
	__u64 end_ns;
	__u64 id;      /* inode of a pipe, socket or POSIX queue; else the number that the kernel gave it */
	__u64 peer_id; /* inode of the other socket, for CHANNEL_UNIX; 0: unknown */
	__u64 asked;   /* bytes; or NOT_KNOWN */
	__s64 result;  /* bytes moved, MOVED_NOT_KNOWN, or a negative errno; of an unfinished one: 0 */
	/* the channel when the call started */
	__u64 queued;      /* bytes; or NOT_KNOWN */
	__u32 used, slots; /* buffers or messages in it, and for how many it has room; slots 0: unknown */
	__u32 pid;
	__u32 cpu;
	__u16 call;            /* number; of 32 bits: from NUMBERS on; of io_uring: from NUM_CALLS on */
	__u16 port, peer_port; /* for CHANNEL_TCP */
	__u8 kind;             /* enum ipcsnoop_kind */
	__u8 writes, blocked, unfinished;
	__u8 pipe_state; /* enum pipe_state, for CHANNEL_PIPE */
	__u8 unused;     /* instead of padding, which the verifier refuses to send */
	char comm[COMM_SIZE];
	struct peer peer;  /* the last one that was seen at the other end, else the one of SO_PEERCRED */
	struct peer waker; /* the thread that ended the last sleep */
	__u32 unused_too;
};
