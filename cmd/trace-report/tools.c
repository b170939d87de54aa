/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

enum { PIPE = 1 << 20 };

void tools_start(struct tools *t, const char *const *argv, struct tools_io io)
{
	struct tool *tool = &t->all[t->n++];
	char *path = child_tool(argv[0]);

	*tool = (struct tool){.name = argv[0], .notes = io.quiet ? tools_file() : -1};
	if (!path) {
		warnx("%s is neither in the folder of trace-report nor in $PATH", argv[0]);
		tool->failed = true;
	} else if (child_start(&tool->child, path, (char *const *)argv,
			       &(struct child_setup){.in = io.in,
						     .out = io.out,
						     .err = io.quiet ? tool->notes : STDERR_FILENO,
						     .directory = -1}) != 0) {
		warn("%s", argv[0]);
		tool->failed = true;
	}
	free(path);
	if (io.in >= 0)
		close(io.in);
}

bool tools_wait(struct tools *t)
{
	bool good = true;

	for (size_t i = 0; i < t->n; i++) {
		struct tool *tool = &t->all[i];
		int *status = &tool->child.status;

		child_wait(&tool->child);
		/* by SIGPIPE, the next one has said why; of any other signal nobody has */
		if (WIFSIGNALED(*status) && WTERMSIG(*status) != SIGPIPE)
			warnx("%s: killed by signal %d: %s", tool->name, WTERMSIG(*status),
			      strsignal(WTERMSIG(*status)));
		tool->failed |= *status != 0;
		good &= !tool->failed;
	}
	return good;
}

bool tools_failed(const struct tools *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].failed && strcmp(t->all[i].name, name) == 0)
			return true;
	return false;
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
	struct stat st;
	void *p = NULL;

	if (fstat(file, &st) != 0)
		err(EXIT_FAILURE, "a file in memory");
	if (st.st_size)
		p = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, file, 0);
	if (p == MAP_FAILED)
		err(EXIT_FAILURE, "a file in memory");
	close(file);
	return (struct slice){p ? p : "", st.st_size};
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
	t->error = n < 0 ? errno : 0;
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

bool tee_wait(struct tee *t)
{
	pthread_join(t->thread, NULL);
	if (t->error)
		warnx("a pipe: %s", strerror(t->error));
	return !t->error;
}
