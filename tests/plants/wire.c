/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire for tests/plants: passes connections to a port of 127.0.0.1 on to another one, each byte later by a time, and
 * towards the host not faster than a rate. What does not fit on the wire stays with its sender.
 */
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "minmax.h"

enum {
	PIECE = 16 << 10,
	PIECES = 256, /* on a wire: 4 MiB */
	THIN = 4,     /* on one with a rate, so that its sender notices */
};

static struct {
	uint64_t port, to, rate, delay;
} opt;

static const struct cli_option options[] = {
	{'p', "port", "N", "take connections of this port", .count = &opt.port},
	{'t', "to", "N", "pass them on to this one", .count = &opt.to},
	{'d', "delay", "US", "each way takes so long", .us = &opt.delay},
	{'r', "rate", "N", "bytes per second towards the host", .count = &opt.rate},
	{},
};

/* One way of a connection. Pieces are a ring. */
struct way {
	int from, to;
	uint64_t rate;
	struct piece {
		uint64_t due;
		size_t n;
		char bytes[PIECE];
	} * pieces;
	unsigned first, n;
	uint64_t free; /* when the rate allows the next piece */
};

static bool has_room(const struct way *w)
{
	return w->n < (w->rate ? THIN : PIECES);
}

/* Returns false when the connection has ended. */
static bool take(struct way *w)
{
	struct piece *p = &w->pieces[(w->first + w->n) % PIECES];
	ssize_t got = read(w->from, p->bytes, PIECE);

	if (got <= 0)
		return false;
	p->n = got;
	p->due = clock_ns() + opt.delay;
	if (w->rate) {
		w->free = max_u64(w->free, p->due) + got * UINT64_C(1000000000) / w->rate;
		p->due = w->free;
	}
	w->n++;
	return true;
}

/* Sends what is due. Returns when the next piece is; UINT64_MAX: there is none. */
static uint64_t pass(struct way *w)
{
	while (w->n && w->pieces[w->first].due <= clock_ns()) {
		struct piece *p = &w->pieces[w->first];

		if (io_write(w->to, p->bytes, p->n) != 0)
			exit(EXIT_SUCCESS);
		w->first = (w->first + 1) % PIECES;
		w->n--;
	}
	return w->n ? w->pieces[w->first].due : UINT64_MAX;
}

static void pass_all(int host, int target)
{
	struct way ways[] = {{.from = host, .to = target}, {.from = target, .to = host, .rate = opt.rate}};

	for (int i = 0; i < 2; i++)
		if (!(ways[i].pieces = calloc(PIECES, sizeof(struct piece))))
			err(EXIT_FAILURE, "memory");
	for (;;) {
		uint64_t next = min_u64(pass(&ways[0]), pass(&ways[1])), t = clock_ns(), ns = next > t ? next - t : 0;
		const struct timespec timeout = {ns / 1000000000, ns % 1000000000};
		struct pollfd p[2];

		for (int i = 0; i < 2; i++)
			p[i] = (struct pollfd){has_room(&ways[i]) ? ways[i].from : -1, POLLIN, 0};
		if (ppoll(p, 2, next < UINT64_MAX ? &timeout : NULL, NULL) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (p[i].revents && !take(&ways[i]))
				exit(EXIT_SUCCESS);
	}
}

static int open_socket(bool is_small)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, small = PIECE;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
	    (is_small && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) != 0))
		err(EXIT_FAILURE, "socket");
	return fd;
}

int main(int argc, char **argv)
{
	const struct cli cli = {"Usage: %s -p PORT -t PORT [OPTION]...\nIs a wire between a host and a target.\n\n", "",
				options, NULL, false};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int all = -1, fd;

	cli_parse(&cli, argc, argv);
	if (optind < argc || !opt.port || !opt.to)
		cli_usage("both ports are expected, and no operands");
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	all = open_socket(false);
	at.sin_port = htons(opt.port);
	if (bind(all, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(all, SOMAXCONN) != 0)
		err(EXIT_FAILURE, "port %u", (unsigned)opt.port);
	at.sin_port = htons(opt.to);
	while ((fd = accept(all, NULL, NULL)) >= 0 || errno == EINTR) {
		if (fd < 0 || fork() != 0) {
			close(fd);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		int target = open_socket(opt.rate);

		if (connect(target, (struct sockaddr *)&at, sizeof(at)) != 0)
			err(EXIT_FAILURE, "port %u", (unsigned)opt.to);
		pass_all(fd, target);
	}
	err(EXIT_FAILURE, "accept");
}
