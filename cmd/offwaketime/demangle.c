/* SPDX-License-Identifier: BSD-3-Clause */
#include "demangle.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Debian installs it in a folder, Fedora does not */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "cli.h"
#include "mem.h"

/* A name's result, in the child. */
struct result {
	size_t n;
	jmp_buf too_long;
	char text[DEMANGLE_RESULT];
};

static void add(const char *text, size_t n, void *context)
{
	struct result *r = context;

	if (n > sizeof(r->text) - r->n)
		longjmp(r->too_long, 1);
	memcpy(r->text + r->n, text, n);
	r->n += n;
}

static bool demangle(struct result *r, const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	r->n = 0;
	if (setjmp(r->too_long))
		return false;
	if (!rust_demangle_callback(name, options, add, r)) {
		/* it may have written a part */
		r->n = 0;
		if (!cplus_demangle_v3_callback(name, options, add, r))
			return false;
	}
	return r->n;
}

/* Answers each name with its result, or with itself. */
static void serve(int socket)
{
	static struct result result;
	char name[DEMANGLE_NAME + 1];
	ssize_t n;

	while ((n = read(socket, name, DEMANGLE_NAME)) > 0) {
		struct slice answer = {name, n};

		name[n] = 0;
		if (demangle(&result, name))
			answer = (struct slice){result.text, result.n};
		if (write(socket, answer.p, answer.n) < 0)
			break;
	}
}

/* The child, which is killed when the tool ends. */
static _Noreturn void run(int socket)
{
	enum { PUNYCODE = 1 << 16 }; /* memory for names that are not ASCII: strict mode has no brk(2) to get more */
	sigset_t all;

	/* Ctrl-C is for the tool, which demangles names after it */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "demangle");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	free(malloc(PUNYCODE));
	/* descriptors of the tool would keep its BPF program attached, and its output open */
	if (dup2(socket, STDIN_FILENO) == STDIN_FILENO && syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
		serve(STDIN_FILENO);
	/* strict mode has no exit_group(2), which is what _exit() calls */
	for (;;)
		syscall(SYS_exit, EXIT_FAILURE);
}

static bool start(struct demangler *d)
{
	const struct timeval limit = {DEMANGLE_MS / 1000, DEMANGLE_MS % 1000 * 1000};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	d->socket = ends[0];
	d->child = setsockopt(d->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 ? fork() : -1;
	if (d->child == 0)
		run(ends[1]);
	close(ends[1]);
	if (d->child > 0)
		return true;
	close(d->socket);
	d->child = 0;
	return false;
}

static void stop(struct demangler *d)
{
	if (!d->child)
		return;
	kill(d->child, SIGKILL);
	while (waitpid(d->child, NULL, 0) < 0 && errno == EINTR)
		;
	close(d->socket);
	d->child = 0;
}

static void give_up(struct demangler *d, const char *why)
{
	d->off = true;
	stop(d);
	cli_notice(d->quiet, "%s: other names of C++ and Rust stay as they are", why);
}

/* The result, to be freed; NULL: the name stays as it is. */
static char *result_of(struct demangler *d, struct slice name)
{
	char answer[DEMANGLE_RESULT];
	ssize_t n = -1;

	if ((d->child || start(d)) && send(d->socket, name.p, name.n, MSG_NOSIGNAL) >= 0)
		do
			n = recv(d->socket, answer, sizeof(answer), 0);
		while (n < 0 && errno == EINTR);
	if (n > 0) {
		d->size += n;
		if (d->size > DEMANGLE_ALL)
			give_up(d, "demangled names take more than 32 MiB");
		return mem_copy((struct slice){answer, n});
	}
	stop(d);
	if (++d->num_failed == DEMANGLE_FAILURES)
		give_up(d, "demangling has failed three times");
	return NULL;
}

const char *demangle_name(struct demangler *d, const char *name)
{
	struct slice text;
	uint32_t number;

	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
		return name;
	text = slice_of(name);
	if (text.n > DEMANGLE_NAME)
		return name;
	number = intern_get(&d->names, text);
	if (number == MAP_NONE) {
		if (d->off)
			return name;
		number = intern_add(&d->names, text);
		d->results = mem_room(d->results, number, &d->cap);
		d->results[number] = result_of(d, text);
	}
	return d->results[number] ? d->results[number] : name;
}

void demangle_free(struct demangler *d)
{
	stop(d);
	for (uint32_t i = 0; i < d->names.n; i++)
		free(d->results[i]);
	free(d->results);
	intern_free(&d->names);
}
