/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

enum { EXIT_NO_COMMAND = 127 };

/* Either of the two names in a folder, the packages' first: the other may be another project's there. */
static char *find_in(const char *folder, size_t n, const char *name)
{
	static const char *const prefixes[] = {"spdk-", ""};

	for (int i = 0; i < 2; i++) {
		char *path = mem_printf("%.*s/%s%s", (int)n, folder, prefixes[i], name);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
			return path;
		free(path);
	}
	return NULL;
}

bool (*child_is_inside)(const char *name);

char *child_tool(const char *name)
{
	const char *directories = getenv("PATH");
	char self[4096], *path = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (child_is_inside && child_is_inside(name))
		return mem_printf("/proc/self/exe");
	if (n > 0) {
		self[n] = 0;
		path = find_in(self, strrchr(self, '/') - self, name);
	}
	/* a relative one would be looked for in the child's working directory */
	for (const char *p = directories ? directories : "/usr/bin:/bin"; !path && *p; p += *p == ':') {
		n = strcspn(p, ":");
		if (*p == '/')
			path = find_in(p, n, name);
		p += n;
	}
	return path;
}

static void set_stream(int fd, int stream)
{
	if (fd < 0)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(fd, stream);
}

/* A handler of the tool would swallow a signal that comes before the child runs its program. */
static void restore_signals(const sigset_t *mask)
{
	struct sigaction action;

	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/*
 * Leaves the session, whose terminal would send it Ctrl-C. Where the kernel divides processors among sessions first, a
 * priority counts only within one: sched(7), "The autogroup feature".
 */
static void leave_session(void)
{
	int fd;

	setsid();
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%d", getpriority(PRIO_PROCESS, 0));
	close(fd);
}

static _Noreturn void run(const char *path, char *const argv[], const struct child_setup *setup, pid_t parent,
			  const sigset_t *mask)
{
	struct rlimit limit;
	int in = setup->in, out = setup->out, err = setup->err;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NO_COMMAND);
	leave_session();
	restore_signals(mask);
	set_stream(in, STDIN_FILENO);
	set_stream(out, STDOUT_FILENO);
	set_stream(err, STDERR_FILENO);
	if (setup->max_file && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur > setup->max_file) {
		limit.rlim_cur = setup->max_file;
		setrlimit(RLIMIT_FSIZE, &limit);
	}
	if (setup->directory >= 0 && fchdir(setup->directory) != 0)
		_exit(EXIT_NO_COMMAND);
	execv(path, argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(EXIT_NO_COMMAND);
}

int child_start(struct child *c, const char *path, char *const argv[], const struct child_setup *setup)
{
	pid_t parent = getpid(), pid;
	struct sigaction action;
	sigset_t all, mask;
	int error;

	*c = (struct child){.pidfd = -1};
	/* if it is ignored, as whoever started the tool may have it, waitpid() fails */
	if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	pid = fork();
	if (pid == 0)
		run(path, argv, setup, parent, &mask);
	error = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	errno = error;
	if (pid < 0)
		return -1;
	c->pid = pid;
	c->pidfd = syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

static bool wait_for(struct child *c, int options)
{
	if (c->pid && waitpid(c->pid, &c->status, options) == c->pid) {
		c->pid = 0;
		io_close(&c->pidfd);
	}
	return !c->pid;
}

bool child_has_ended(struct child *c)
{
	return wait_for(c, WNOHANG);
}

bool child_is_stopped(const struct child *c)
{
	siginfo_t info = {};

	/* that it has been continued takes this away */
	return c->pid && waitid(P_PID, c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

void child_wait(struct child *c)
{
	while (!wait_for(c, 0) && errno == EINTR)
		;
}

void child_signal(const struct child *c, int number)
{
	if (c->pid)
		kill(c->pid, number);
}

char *child_ending(const struct child *c)
{
	if (WIFSIGNALED(c->status))
		return mem_printf("killed by signal %d (%s)", WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	return mem_printf("exit status %d", WEXITSTATUS(c->status));
}
