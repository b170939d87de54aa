/* SPDX-License-Identifier: BSD-3-Clause */
#include "channels.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>

#include "count.h"

/* preadv2 and pwritev2 accept a pipe or a socket when they get no offset. */
static const struct {
	const char *name;
	struct operation operation;
} at_channels[] = {
	{"read", {.from = 1, .asked = 3}},
	{"write", {.to = 1, .asked = 3}},
	{"readv", {.from = 1, .vectors = 2, .asked = 3}},
	{"writev", {.to = 1, .vectors = 2, .asked = 3}},
	{"preadv2", {.from = 1, .vectors = 2, .asked = 3}},
	{"pwritev2", {.to = 1, .vectors = 2, .asked = 3}},
	{"splice", {.from = 1, .to = 3, .asked = 5}},
	{"tee", {.from = 1, .to = 2, .asked = 3}},
	{"vmsplice", {.from = 1, .to = 1, .vectors = 2, .asked = 3}},
	{"sendfile", {.from = 2, .to = 1, .asked = 4}},
	{"sendfile64", {.from = 2, .to = 1, .asked = 4}},
	{"recvfrom", {.from = 1, .asked = 3}},
	{"sendto", {.to = 1, .asked = 3}},
	{"recvmsg", {.from = 1, .message = 2, .asked = 2}},
	{"sendmsg", {.to = 1, .message = 2, .asked = 2}},
	{"recvmmsg", {.from = 1, .messages = 2, .asked = 3}},
	{"recvmmsg_time64", {.from = 1, .messages = 2, .asked = 3}},
	{"sendmmsg", {.to = 1, .messages = 2, .asked = 3}},
	{"mq_timedreceive", {.from = 1, .asked = 3}},
	{"mq_timedreceive_time64", {.from = 1, .asked = 3}},
	{"mq_timedsend", {.to = 1, .asked = 3, .all_or_none = 1}},
	{"mq_timedsend_time64", {.to = 1, .asked = 3, .all_or_none = 1}},
	{"msgrcv", {.from = 1, .asked = 3, .is_id = 1}},
	{"msgsnd", {.to = 1, .asked = 3, .is_id = 1, .all_or_none = 1}},
	{"socketcall", {.socketcall = 1}},
};

void channels_operations(struct operation operations[NUM_CALLS])
{
	for (unsigned call = 0; call < NUM_CALLS; call++) {
		const char *name = calls_plain_name(call);

		for (size_t i = 0; name && i < COUNT(at_channels); i++)
			if (strcmp(name, at_channels[i].name) == 0)
				operations[call] = at_channels[i].operation;
	}
}

/* Not splice and tee, which have two descriptors. */
static const struct {
	const char *name;
	struct request_operation operation;
} at_rings[NUM_REQUESTS] = {
	[IORING_OP_READV] = {"readv", {.reads = 1}},
	[IORING_OP_WRITEV] = {"writev", {.writes = 1}},
	[IORING_OP_READ_FIXED] = {"read_fixed", {.reads = 1, .asked = ASKED_RW}},
	[IORING_OP_WRITE_FIXED] = {"write_fixed", {.writes = 1, .asked = ASKED_RW}},
	[IORING_OP_SENDMSG] = {"sendmsg", {.writes = 1}},
	[IORING_OP_RECVMSG] = {"recvmsg", {.reads = 1}},
	[IORING_OP_READ] = {"read", {.reads = 1, .asked = ASKED_RW}},
	[IORING_OP_WRITE] = {"write", {.writes = 1, .asked = ASKED_RW}},
	[IORING_OP_SEND] = {"send", {.writes = 1, .asked = ASKED_MESSAGE}},
	[IORING_OP_RECV] = {"recv", {.reads = 1, .asked = ASKED_MESSAGE}},
	[IORING_OP_SEND_ZC] = {"send_zc", {.writes = 1, .asked = ASKED_MESSAGE}},
	[IORING_OP_SENDMSG_ZC] = {"sendmsg_zc", {.writes = 1}},
	/* not in headers before Linux 6.7 */
	[49] = {"read_multishot", {.reads = 1}},
};

void channels_requests(struct request_operation operations[NUM_REQUESTS])
{
	for (unsigned opcode = 0; opcode < NUM_REQUESTS; opcode++)
		operations[opcode] = at_rings[opcode].operation;
}

const char *channels_call_name(unsigned call, char buffer[CALLS_NAME])
{
	if (call < NUM_CALLS)
		return calls_name(call, buffer);
	snprintf(buffer, CALLS_NAME, "io_uring:%s", at_rings[(call - NUM_CALLS) % NUM_REQUESTS].name);
	return buffer;
}

const struct channels_name channels_names[NUM_CHANNELS] = {
	[CHANNEL_NONE] = {"none", {"NONE_READ", "NONE_WRITE"}},
	[CHANNEL_PIPE] = {"pipe", {"PIPE_READ", "PIPE_WRITE"}},
	[CHANNEL_UNIX] = {"unix", {"UNIX_READ", "UNIX_WRITE"}},
	[CHANNEL_TCP] = {"tcp", {"TCP_READ", "TCP_WRITE"}},
	[CHANNEL_MQ] = {"mq", {"MQ_READ", "MQ_WRITE"}},
	[CHANNEL_MSG] = {"msg", {"MSG_READ", "MSG_WRITE"}},
	[CHANNEL_EVENTFD] = {"eventfd", {"EVENTFD_READ", "EVENTFD_WRITE"}},
};
