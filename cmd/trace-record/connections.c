/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "io.h"
#include "map.h"
#include "ticks.h"

/* musl's compiler comes without the kernel's headers */
#if __has_include(<linux/inet_diag.h>)
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

enum {
	ESTABLISHED = 1, /* of the kernel's TCP_... states */
	ANSWER = 65536,
	PATH = 64,
};

struct connections {
	struct out *out;
	const char *when;
	struct map inodes; /* of the process' sockets */
	unsigned n;
};

/* Notes the sockets among the descriptors of a process. False if they cannot be listed. */
static bool find_sockets(struct map *inodes, pid_t pid)
{
	char path[PATH], target[PATH];
	struct dirent *entry;
	unsigned long inode;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = 0;
		if (sscanf(target, "socket:[%lu]", &inode) == 1)
			*map_put(inodes, inode) = 0;
	}
	closedir(dir);
	return true;
}

static void write_address(struct out *out, const char *key, int family, const void *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	out_printf(out, ",\"%s\":\"%s:%u\"", key, inet_ntop(family, address, text, sizeof(text)), ntohs(port));
}

/* Times are microseconds, and those of struct tcp_info since the connection exists. */
static void write_line(struct connections *c, const struct inet_diag_msg *m, const struct tcp_info *tcp)
{
	struct out *out = c->out;

	out_printf(out, "{\"when\":\"%s\",\"tsc\":%" PRIu64, c->when, ticks_now().tsc);
	write_address(out, "connection", m->idiag_family, m->id.idiag_dst, m->id.idiag_dport);
	write_address(out, "local", m->idiag_family, m->id.idiag_src, m->id.idiag_sport);
	out_printf(out, ",\"rtt\":%u,\"min_rtt\":%u,\"retransmitted\":%u", tcp->tcpi_rtt, tcp->tcpi_min_rtt,
		   tcp->tcpi_total_retrans);
	out_printf(out, ",\"sending\":%" PRIu64 ",\"window_full\":%" PRIu64 ",\"buffer_full\":%" PRIu64,
		   (uint64_t)tcp->tcpi_busy_time, (uint64_t)tcp->tcpi_rwnd_limited, (uint64_t)tcp->tcpi_sndbuf_limited);
	out_printf(out, ",\"acknowledged\":%" PRIu64 ",\"received\":%" PRIu64, (uint64_t)tcp->tcpi_bytes_acked,
		   (uint64_t)tcp->tcpi_bytes_received);
	out_printf(out, ",\"unsent\":%u,\"unread\":%u}\n", tcp->tcpi_notsent_bytes, m->idiag_rqueue);
}

static void read_socket(struct connections *c, const struct nlmsghdr *message)
{
	const struct inet_diag_msg *m = NLMSG_DATA(message);
	int left = message->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
	struct tcp_info tcp = {};

	if (left < 0 || map_get(&c->inodes, m->idiag_inode) == MAP_NONE || c->n == CONNECTIONS_MAX)
		return;
	for (const struct rtattr *a = (const void *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == INET_DIAG_INFO) {
			/* a kernel has as much of it as it knows */
			size_t n = RTA_PAYLOAD(a) < sizeof(tcp) ? RTA_PAYLOAD(a) : sizeof(tcp);

			memcpy(&tcp, RTA_DATA(a), n);
			write_line(c, m, &tcp);
			c->n++;
		}
}

/* Reads one family. Returns whether the kernel has listed it. */
static bool read_family(struct connections *c, int fd, int family)
{
	const struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} ask = {
		{.nlmsg_len = sizeof(ask),
		 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		{.sdiag_family = family,
		 .sdiag_protocol = IPPROTO_TCP,
		 .idiag_ext = 1 << (INET_DIAG_INFO - 1),
		 .idiag_states = 1 << ESTABLISHED},
	};
	_Alignas(struct nlmsghdr) static char answer[ANSWER];
	ssize_t n;

	if (send(fd, &ask, sizeof(ask), 0) != sizeof(ask))
		return false;
	while ((n = recv(fd, answer, sizeof(answer), 0)) > 0) {
		int left = n;

		for (const struct nlmsghdr *h = (const void *)answer; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return true;
			if (h->nlmsg_type == NLMSG_ERROR)
				return false;
			if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY)
				read_socket(c, h);
		}
	}
	return false;
}

/* Enters the network namespace of a process, unless it is this one's: that takes a privilege. */
static bool enter(pid_t pid)
{
	struct stat own, other;
	char path[PATH];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	done = fd >= 0 && fstat(fd, &other) == 0 && stat("/proc/self/ns/net", &own) == 0 &&
	       ((own.st_dev == other.st_dev && own.st_ino == other.st_ino) || setns(fd, CLONE_NEWNET) == 0);
	io_close(&fd);
	return done;
}

const char *connections_write(struct out *out, pid_t pid, const char *when)
{
	const struct timeval patience = {.tv_sec = 1};
	struct connections c = {.out = out, .when = when};
	const char *why = NULL;
	int fd;

	if (!find_sockets(&c.inodes, pid) || !enter(pid))
		return "the target's sockets: not allowed";
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return "the kernel has no socket diagnosis";
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* a kernel without IPv6 refuses it, and has no such connections */
	if (!read_family(&c, fd, AF_INET))
		why = "the kernel lists no TCP connections: modprobe tcp_diag";
	else
		read_family(&c, fd, AF_INET6);
	close(fd);
	map_free(&c.inodes);
	return why;
}
#else
const char *connections_write(struct out *out, pid_t pid, const char *when)
{
	(void)out, (void)pid, (void)when;
	return "TCP connections: this program was built without the kernel's headers";
}
#endif
