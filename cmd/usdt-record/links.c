/* SPDX-License-Identifier: BSD-3-Clause */
#include "links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "worker.h"
#include "mem.h"
#include "usdt-record.skel.h"

enum {
	ATTACH_MS = 10000, /* for a link */
	INSTRUCTION = 16,  /* bytes of the longest */
};

int links_create(struct link_create *attr)
{
	attr->attach_type = uprobe_multi;
	return syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
}

/* What the child writes before it makes a link, and after that with the link or an errno. */
struct step {
	uint32_t site; /* the first one; their number: all are attached to */
	int32_t error;
};

/* Sites that have a link together. */
struct group {
	const struct attach_site *sites;
	size_t n;
	pid_t pid;
	char path[32]; /* of a descriptor */
};

static struct group group_at(const struct attach *a, size_t i, pid_t pid)
{
	struct group g = {.sites = &a->sites[i], .n = 1, .pid = pid};

	while (a->multi && i + g.n < a->num_sites && a->sites[i + g.n].file == a->sites[i].file)
		g.n++;
	snprintf(g.path, sizeof(g.path), "/proc/self/fd/%d", g.sites->file->fd);
	return g;
}

/* Brings what the kernel reads into memory. What fails, fails in the kernel as well. */
static void read_pages(const struct group *g)
{
	int fd = open(g->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 0;
	char byte;

	for (size_t i = 0; fd >= 0 && i < g->n; i++) {
		const struct usdt_site *place = g->sites[i].place;

		n |= pread(fd, &byte, 1, place->offset);
		n |= pread(fd, &byte, 1, place->offset + INSTRUCTION - 1);
		n |= place->semaphore ? pread(fd, &byte, 1, place->semaphore) : 0;
	}
	(void)n;
	/* it stays open: to close it may wait for the file system as well */
}

/* One link for all sites in a file: attaching and detaching many takes no longer than one. */
static int attach_file(const struct attach *a, const struct group *g)
{
	uint64_t *offsets = mem_array(g->n, sizeof(*offsets));
	uint64_t *semaphores = mem_array(g->n, sizeof(*semaphores));
	uint64_t *cookies = mem_array(g->n, sizeof(*cookies));
	struct link_create attr = {.prog_fd = bpf_program__fd(a->bpf->progs.on_probe),
				   .path = (uintptr_t)g->path,
				   .offsets = (uintptr_t)offsets,
				   .ref_ctr_offsets = (uintptr_t)semaphores,
				   .cookies = (uintptr_t)cookies,
				   .cnt = g->n,
				   .pid = g->pid};
	int fd;

	for (size_t i = 0; i < g->n; i++) {
		offsets[i] = g->sites[i].place->offset;
		semaphores[i] = g->sites[i].place->semaphore;
		cookies[i] = &g->sites[i] - a->sites;
	}
	fd = links_create(&attr);
	free(offsets);
	free(semaphores);
	free(cookies);
	return fd;
}

/* The perf event stays as long as its link. */
static int attach_site(const struct attach *a, const struct group *g)
{
	const struct usdt_site *place = g->sites->place;
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = place->semaphore, .bpf_cookie = g->sites - a->sites);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(a->bpf->progs.on_probe, g->pid ? g->pid : -1, g->path,
								place->offset, &options);

	return link ? bpf_link__fd(link) : -1;
}

/* The child. It has no output, whose reader would wait for it. */
static _Noreturn void serve(const struct attach *a, pid_t pid, int socket)
{
	int *keep = mem_array(a->num_sites + 1, sizeof(*keep));
	struct step step = {};
	struct group g;

	prctl(PR_SET_NAME, "attach");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	libbpf_set_print(NULL);
	for (size_t i = 0; i < a->num_sites; i++)
		keep[i] = a->sites[i].file->fd;
	keep[a->num_sites] = bpf_program__fd(a->bpf->progs.on_probe);
	worker_close_others(keep, a->num_sites + 1, socket);
	for (; step.site < a->num_sites; step.site += g.n) {
		int fd;

		g = group_at(a, step.site, pid);
		worker_send(socket, &step, sizeof(step), -1);
		read_pages(&g);
		fd = a->multi ? attach_file(a, &g) : attach_site(a, &g);
		step.error = fd < 0 ? errno : 0;
		if (worker_send(socket, &step, sizeof(step), fd) != 0 || fd < 0)
			_exit(EXIT_FAILURE);
		/* if the child gets stuck with the next link, this one must not outlive the tool */
		close(fd);
	}
	worker_send(socket, &step, sizeof(step), -1);
	_exit(EXIT_SUCCESS);
}

/* Prints why the link could not be made. error: an errno. */
static void complain(const struct attach *a, const struct attach_site *s, pid_t pid, int error)
{
	bool denied = error == EACCES || error == EPERM;

	errno = error;
	if (a->multi && error == ESRCH)
		warnx("process %d has ended", pid);
	else if (a->multi)
		warn("%s: cannot attach to its probes", s->file->path);
	else
		warn("%s: cannot attach to probe %.*s%s", s->file->path, (int)s->spec->name.n, s->spec->name.p,
		     denied ? ", for which kernels before 6.6 want CAP_SYS_ADMIN, too" : "");
}

/* Receives a step of the child. Returns 1; 0 at the end; -1 if the child is stuck or has failed. */
static int receive(int socket, struct step *step, int *fd)
{
	struct pollfd ready = {socket, POLLIN, 0};
	ssize_t n;

	*fd = -1;
	while ((n = poll(&ready, 1, ATTACH_MS)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return -1;
	n = worker_receive(socket, step, sizeof(*step), fd);
	/* the link is lost */
	if (n < 0)
		step->error = errno;
	return n < 0 || n == sizeof(*step);
}

int links_make(struct attach *a, pid_t pid)
{
	struct step step = {}, last = {};
	int sockets[2], fd, got = 0;
	bool stuck;
	pid_t child;

	a->links = mem_array(a->num_sites, sizeof(*a->links));
	child = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0 ? fork() : -1;
	if (child == 0)
		serve(a, pid, sockets[1]);
	if (child < 0) {
		warn("cannot start a process to attach to probes");
		return -1;
	}
	close(sockets[1]);
	while (last.site < a->num_sites && (got = receive(sockets[0], &step, &fd)) > 0 && !step.error) {
		last = step;
		if (fd >= 0)
			a->links[a->num_links++] = fd;
	}
	close(sockets[0]);
	stuck = worker_end(child) < 0;
	if (last.site == a->num_sites)
		return 0;
	if (got > 0)
		complain(a, &a->sites[step.site], pid, step.error);
	else if (got < 0 && stuck)
		warnx("%s: cannot attach to its probes: its file system does not answer: process %d waits for it",
		      a->sites[last.site].file->path, child);
	else if (got < 0)
		warnx("%s: cannot attach to its probes: that takes too long", a->sites[last.site].file->path);
	else
		warnx("%s: cannot attach to its probes: the process that does so was killed",
		      a->sites[last.site].file->path);
	return -1;
}
