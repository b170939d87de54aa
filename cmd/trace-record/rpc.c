/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "json.h"
#include "mem.h"
#include "number.h"
#include "proc.h"
#include "recording.h"
#include "utf8.h"
#include "worker.h"

enum {
	REPLY_MS = 2000,    /* until a reply is complete */
	HURRY_MS = 500,     /* the same after one that was late */
	REPLY_MAX = 8 << 20 /* bytes */
};

/* The operand of -r or --rpc-socket in the command line of a process; NULL: none. The caller frees it. */
static char *socket_in_command(pid_t pid)
{
	enum { ROOM = 1 << 16 };
	char *line = mem_array(ROOM, 1), *found = NULL;
	size_t n = proc_read(line, ROOM, "/proc/%d/cmdline", pid);

	for (char *arg = line; arg < line + n && !found; arg += strlen(arg) + 1) {
		char *next = arg + strlen(arg) + 1;

		if ((strcmp(arg, "-r") == 0 || strcmp(arg, "--rpc-socket") == 0) && next < line + n)
			found = mem_copy(slice_of(next));
		else if (strncmp(arg, "--rpc-socket=", 13) == 0)
			found = mem_copy(slice_of(arg + 13));
		else if (strncmp(arg, "-r", 2) == 0 && arg[2])
			found = mem_copy(slice_of(arg + 2));
	}
	free(line);
	return found;
}

/* Returns -1 with errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char link[40];
	int fd, at, result, error;

	/* a descriptor, as a path may be longer than an address */
	at = open(path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	memcpy(address.sun_path, link, strlen(link));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	result = fd >= 0 ? connect(fd, (struct sockaddr *)&address, sizeof(address)) : -1;
	error = errno;
	close(at);
	if (result != 0 && fd >= 0)
		close(fd);
	errno = error;
	return result == 0 ? fd : -1;
}

static bool wait_until(int fd, short events, uint64_t deadline)
{
	for (;;) {
		uint64_t now = clock_ms();
		struct pollfd p = {fd, events, 0};
		int ready = now < deadline ? poll(&p, 1, deadline - now) : 0;

		if (ready > 0)
			return true;
		if (ready == 0 || errno != EINTR)
			return false;
	}
}

/*
 * The same in a child: a path of the target may be on a file system that does not answer. The child is then killed; one
 * that SIGKILL does not end is abandoned. Returns -1 with errno.
 */
static int connect_in_child(const char *path)
{
	int ends[2], fd = -1, error = ETIMEDOUT;
	ssize_t got;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* one that is left behind must not keep a pipe of the tool open */
		worker_close_others(NULL, 0, ends[1]);
		fd = connect_to(path);
		error = errno;
		_exit(worker_send(ends[1], &error, sizeof(error), fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	if (pid < 0)
		error = errno;
	close(ends[1]);
	if (pid > 0 && wait_until(ends[0], POLLIN, clock_ms() + REPLY_MS)) {
		got = worker_receive(ends[0], &error, sizeof(error), &fd);
		if (got != sizeof(error))
			error = got < 0 ? errno : EIO;
	}
	close(ends[0]);
	if (pid > 0)
		worker_end(pid);
	errno = error;
	return fd;
}

char *rpc_connect(struct rpc *rpc, pid_t pid, const char *path)
{
	char *named = path ? mem_copy(slice_of(path)) : socket_in_command(pid), *visible, *full, *why = NULL;
	struct ucred peer = {};
	socklen_t size = sizeof(peer);

	if (!named)
		named = mem_copy(slice_of("/var/tmp/spdk.sock"));
	/* paths of the target are below its root or its working directory, which may be another container's */
	full = path ? mem_copy(slice_of(path))
		    : mem_printf("/proc/%d/%s%s%s", pid, *named == '/' ? "root" : "cwd", *named == '/' ? "" : "/",
				 named);
	visible = utf8_visible_copy(named);
	*rpc = (struct rpc){.fd = connect_in_child(full), .reply = {.fd = OUT_MEMORY}};
	if (rpc->fd < 0) {
		why = mem_printf("%s: %s; --rpc-socket names another one", visible, strerror(errno));
	} else if (!path && (getsockopt(rpc->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid != pid)) {
		/* it may be anybody's */
		why = mem_printf("%s: belongs to process %d; --rpc-socket uses it", visible, peer.pid);
		rpc_close(rpc);
	}
	free(named);
	free(full);
	free(visible);
	return why;
}

static const char *send_all(struct rpc *rpc, struct slice request, uint64_t deadline)
{
	while (request.n) {
		ssize_t n = write(rpc->fd, request.p, request.n);

		if (n > 0)
			request = slice_from(request, n);
		else if (errno != EAGAIN && errno != EINTR)
			return strerror(errno);
		else if (!wait_until(rpc->fd, POLLOUT, deadline))
			return "it took nothing for 2 seconds";
	}
	return NULL;
}

/*
 * Looks for the reply to the latest request in what has come: 1, 0 if more is to come, -1 with rpc->error. Those to
 * requests before it, which took too long, are dropped.
 */
static int find_reply(struct rpc *rpc, struct slice *reply)
{
	struct slice text = slice_from(out_contents(&rpc->reply), rpc->used), number;
	struct json j;
	uint64_t id;

	for (;;) {
		json_init(&j, text.p, text.n);
		if (json_peek(&j) != '{' || !json_skip(&j)) {
			rpc->error = j.cut_off ? NULL : "a reply that is not JSON";
			return rpc->error ? -1 : 0;
		}
		*reply = slice_between(text.p, j.p);
		text = slice_from(text, reply->n);
		rpc->used += reply->n;
		number = json_member(*reply, slice_of("id"));
		if (!number_decimal(number, &id) || !id || id > rpc->id)
			rpc->error = "a reply to another request";
		if (rpc->error || id == rpc->id)
			return rpc->error ? -1 : 1;
	}
}

/* Sets rpc->error unless it is only late. */
static const char *receive(struct rpc *rpc, uint64_t deadline, struct slice *reply)
{
	char block[16384];

	for (int found = 0; !found;) {
		ssize_t n = read(rpc->fd, block, sizeof(block));
		bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);

		if (n == 0)
			return rpc->error = "it closed the connection";
		if (n < 0 && !waits)
			return rpc->error = strerror(errno);
		if (clock_ms() >= deadline || (waits && !wait_until(rpc->fd, POLLIN, deadline))) {
			rpc->is_late = true;
			out_bytes(&rpc->reply, block, n > 0 ? n : 0);
			return rpc->answers ? RECORDING_LATE : (rpc->error = RECORDING_LATE);
		}
		if (waits)
			continue;
		if (rpc->reply.len - rpc->used + n > REPLY_MAX)
			return rpc->error = "a reply of more than 8 MB";
		out_bytes(&rpc->reply, block, n);
		/* what does not end like an object is not checked each time */
		while (n && (block[n - 1] == '\n' || block[n - 1] == ' '))
			n--;
		if (n && block[n - 1] == '}')
			found = find_reply(rpc, reply);
	}
	rpc->answers += !rpc->error;
	return rpc->error;
}

const char *rpc_call(struct rpc *rpc, const char *method, const char *params, struct slice *reply)
{
	uint64_t deadline = clock_ms() + (rpc->is_late ? HURRY_MS : REPLY_MS);
	const char *why = rpc->error;
	char *request;

	if (why)
		return why;
	/* what is left may be the start of a late reply */
	if (rpc->used)
		memmove(rpc->reply.buf, rpc->reply.buf + rpc->used, rpc->reply.len - rpc->used);
	rpc->reply.len -= rpc->used;
	rpc->used = 0;
	request = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\"%s%s}", ++rpc->id, method,
			     params ? ",\"params\":" : "", params ? params : "");
	rpc->error = send_all(rpc, slice_of(request), deadline);
	free(request);
	why = rpc->error ? rpc->error : receive(rpc, deadline, reply);
	if (rpc->error)
		rpc_close(rpc);
	return why;
}

void rpc_close(struct rpc *rpc)
{
	io_close(&rpc->fd);
	out_close(&rpc->reply);
}
