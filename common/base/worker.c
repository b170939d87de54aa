/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem.h"

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

bool worker_close_others(const int *keep, size_t num_keep, int own)
{
	int *kept = mem_array(num_keep + 1, sizeof(*kept)), first = 0;
	bool failed = false;

	for (size_t i = 0; i < num_keep; i++)
		kept[i] = keep[i];
	kept[num_keep] = own;
	qsort(kept, num_keep + 1, sizeof(*kept), by_number);
	for (size_t i = 0; i <= num_keep; i++) {
		if (kept[i] > first)
			failed |= syscall(SYS_close_range, first, kept[i] - 1, 0) != 0;
		if (kept[i] >= first)
			first = kept[i] + 1;
	}
	failed |= syscall(SYS_close_range, first, ~0U, 0) != 0;
	free(kept);
	return !failed;
}

/* Room for one descriptor, aligned for the kernel. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int worker_send(int socket, const void *bytes, size_t n, int fd)
{
	union control control = {
		.header = {.cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(void *)bytes, n};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t sent;

	if (fd < 0)
		message.msg_controllen = 0;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	return sent == (ssize_t)n ? 0 : -1;
}

ssize_t worker_receive(int socket, void *bytes, size_t n, int *fd)
{
	union control control = {};
	struct iovec part = {bytes, n};
	/* the kernel closes a second descriptor, for which there is no room */
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(*fd))};
	const struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	if (got < 0 || *fd >= 0 || !(message.msg_flags & MSG_CTRUNC))
		return got;
	errno = EMFILE;
	return -1;
}

int worker_end(pid_t child)
{
	enum { TRIES = 500, PAUSE_US = 200 };
	int status = 0;

	kill(child, SIGKILL);
	for (int i = 0; i < TRIES; i++) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			return status;
		usleep(PAUSE_US);
	}
	return -1;
}
