/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "io.h"
#include "mem.h"

extern char **environ;

enum { PIPE = 1 << 20 };

static void close_given(struct tools_io io)
{
	if (io.in >= 0)
		close(io.in);
	if (io.keep >= 0)
		close(io.keep);
}

/* Returns 0 or an error number. */
static int spawn(struct tool *tool, const char *const *argv, struct tools_io io)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *path = child_tool(argv[0]);
	sigset_t pipe;
	int error;

	posix_spawn_file_actions_init(&actions);
	if (io.in >= 0)
		posix_spawn_file_actions_adddup2(&actions, io.in, STDIN_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, io.out, STDOUT_FILENO);
	if (tool->notes >= 0)
		posix_spawn_file_actions_adddup2(&actions, tool->notes, STDERR_FILENO);
	if (io.keep >= 0)
		posix_spawn_file_actions_adddup2(&actions, io.keep, TOOLS_KEEP);
	/* this tool ignores it */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &pipe);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = path ? posix_spawn(&tool->pid, path, &actions, &attributes, (char *const *)argv, environ) : ENOENT;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(path);
	return error;
}

void tools_start(struct tools *t, const char *const *argv, struct tools_io io)
{
	struct tool *tool = &t->all[t->n++];

	tool->name = argv[0];
	tool->notes = io.quiet ? tools_file() : -1;
	errno = spawn(tool, argv, io);
	if (errno) {
		warn("%s", argv[0]);
		tool->failed = true;
	}
	close_given(io);
}

bool tools_wait(struct tools *t)
{
	bool good = true;

	for (size_t i = 0; i < t->n; i++) {
		struct tool *tool = &t->all[i];
		int status = 1;

		while (!tool->failed && waitpid(tool->pid, &status, 0) < 0 && errno == EINTR)
			;
		tool->failed |= status != 0;
		good &= !tool->failed;
		/* by SIGPIPE, the next one has said why; of any other signal nobody has */
		if (tool->failed && WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
			warnx("%s: killed by signal %d: %s", tool->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	}
	return good;
}

void tools_complain(const struct tools *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].failed && t->all[i].notes >= 0) {
			struct slice text = tools_contents(t->all[i].notes);

			io_write(STDERR_FILENO, text.p, text.n);
		}
}

void tools_pipe(int *from, int *to)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		err(EXIT_FAILURE, "a pipe");
	/* fewer switches between the tools; what a user may have of this is limited */
	fcntl(ends[1], F_SETPIPE_SZ, PIPE);
	*from = ends[0];
	*to = ends[1];
}

int tools_file(void)
{
	int file = memfd_create("trace-report", MFD_CLOEXEC);

	if (file < 0)
		err(EXIT_FAILURE, "a file in memory");
	return file;
}

struct slice tools_contents(int file)
{
	struct slice text = {"", 0};
	struct stat st;
	void *p;

	if (fstat(file, &st) == 0 && st.st_size) {
		p = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, file, 0);
		if (p != MAP_FAILED)
			text = (struct slice){p, st.st_size};
	}
	close(file);
	return text;
}

static void *copy_all(void *context)
{
	struct tee *t = context;
	char *block = mem_resize(NULL, 1, IO_BLOCK);
	ssize_t n;

	while ((n = io_read(t->from, block, IO_BLOCK)) > 0)
		for (size_t i = 0; i < t->n; i++)
			if (t->to[i] >= 0 && io_write(t->to[i], block, n) != 0) {
				close(t->to[i]);
				t->to[i] = -1;
			}
	for (size_t i = 0; i < t->n; i++)
		if (t->to[i] >= 0)
			close(t->to[i]);
	close(t->from);
	free(block);
	return NULL;
}

void tee_start(struct tee *t)
{
	errno = pthread_create(&t->thread, NULL, copy_all, t);
	if (errno)
		err(EXIT_FAILURE, "a thread");
}

void tee_wait(struct tee *t)
{
	pthread_join(t->thread, NULL);
}
