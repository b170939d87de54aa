/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "kernel.h"
#include "mem.h"
#include "rpc.h"
#include "sandbox.h"
#include "state.h"
#include "utf8.h"
#include "worker.h"

enum {
	ANSWER_MS = 20000, /* for the target, all in all */
	TEXT_MAX = 16384,  /* of each line before the state */
};

/* Writes a text that may be cut off, as a line. */
static void write_line(struct out *out, const char *text)
{
	out_bytes(out, text ? text : "", text ? strnlen(text, TEXT_MAX - 1) : 0);
	out_char(out, '\n');
}

/* The end of a child: writes why not all is known, which groups are off, and the lines. */
static _Noreturn void answer(const struct ask *a, const char *why, const char *off, struct slice lines)
{
	struct out out = {.fd = OUT_MEMORY};

	write_line(&out, why);
	write_line(&out, off);
	out_slice(&out, lines);
	_exit(io_write(a->fd, out.buf, out.len) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The child that asks. */
static _Noreturn void serve(const struct ask *a, pid_t pid, const char *socket, bool at_start)
{
	struct out state = {.fd = OUT_MEMORY};
	char *why, *off = NULL;
	const char *error = NULL, *failed;
	struct rpc rpc;

	why = rpc_connect(&rpc, pid, socket);
	failed = sandbox_enter();
	if (failed) {
		error = mem_printf("the process that would read the replies cannot be confined: %s failed", failed);
	} else if (!why) {
		off = at_start ? state_groups_off(&rpc) : NULL;
		error = state_write(&rpc, at_start, &state, a->max);
	}
	answer(a, why ? why : error, off, out_contents(&state));
}

/* Returns whether this is the child, which writes into a->fd. */
static bool start(struct ask *a, uint64_t max)
{
	sigset_t all;

	*a = (struct ask){.child.pidfd = -1, .max = max, .since = clock_ms()};
	a->fd = memfd_create("answers", MFD_CLOEXEC);
	a->child.pid = a->fd >= 0 ? fork() : -1;
	if (a->child.pid < 0) {
		a->error = errno;
		a->child.pid = 0;
	} else if (a->child.pid > 0) {
		a->child.pidfd = syscall(SYS_pidfd_open, a->child.pid, 0);
	} else {
		/* Ctrl-C is for the tool */
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		prctl(PR_SET_NAME, "read-answers");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!worker_close_others(NULL, 0, a->fd))
			_exit(EXIT_FAILURE);
		return true;
	}
	return false;
}

void ask_start(struct ask *a, pid_t pid, const char *socket, bool at_start, uint64_t max)
{
	if (start(a, max))
		serve(a, pid, socket, at_start);
}

void ask_kernel(struct ask *a, pid_t pid, const char *when)
{
	struct out lines = {.fd = OUT_MEMORY};
	const char *why;

	if (start(a, THREADS_MAX_SIZE + CONNECTIONS_MAX_SIZE)) {
		threads_write(&lines, pid, when);
		why = lines.len ? NULL : "/proc lists no threads of the target";
		quota_write(&lines, pid, when);
		/* last: this child may be in the target's network namespace then */
		if (!why)
			why = connections_write(&lines, pid, when);
		answer(a, why, NULL, out_contents(&lines));
	}
}

bool ask_is_over(struct ask *a)
{
	if (clock_ms() - a->since > ANSWER_MS)
		child_signal(&a->child, SIGKILL);
	return child_has_ended(&a->child);
}

char *ask_end(struct ask *a, struct out *state, char **off)
{
	char *bytes = NULL, *groups = NULL, *why = NULL;
	struct slice text = {}, line;
	struct stat st;

	if (a->fd >= 0 && fstat(a->fd, &st) == 0 && (uint64_t)st.st_size <= a->max + 2 * TEXT_MAX) {
		bytes = mem_array(st.st_size, 1);
		if (io_pread(a->fd, bytes, st.st_size, 0) == 0)
			text = (struct slice){bytes, st.st_size};
	}
	io_close(&a->fd);
	if (a->error) {
		why = mem_copy(slice_of(strerror(a->error)));
	} else if (a->child.status || !text.n) {
		why = child_ending(&a->child);
	} else {
		line = slice_cut_line(&text);
		why = line.n ? mem_copy(line) : NULL;
		groups = mem_copy(slice_cut_line(&text));
		out_slice(state, text);
	}
	if (off)
		*off = utf8_visible_copy(groups ? groups : "");
	free(groups);
	free(bytes);
	return why;
}
