/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confines itself as the process that reads other users' files, and prints which of these calls still succeed: those
 * that a file made to harm its reader would want. With an argument it stays until the end of its standard input.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"
#include "sandbox.h"

static void print(const char *what, bool works)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s: %s\n", what, works ? "yes" : "no");

	if (write(STDOUT_FILENO, line, n) != n)
		_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	int file = open("/proc/self/exe", O_RDONLY);
	int other = memfd_create("other", 0);
	void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pair[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		err(EXIT_FAILURE, "socketpair");
	/* the limit of a file's size */
	signal(SIGXFSZ, SIG_IGN);
	if (sandbox_enter())
		err(EXIT_FAILURE, "sandbox");
	print("read", pread(file, &byte, 1, 0) == 1);
	print("memory", mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	print("much memory",
	      mmap(NULL, UINT64_C(3) << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	print("file in memory", pwrite(other, "", 1, SANDBOX_HELD - 1) == 1);
	print("large file in memory", pwrite(other, "", 1, SANDBOX_HELD) == 1);
	print("another file in memory", memfd_create("another", 0) >= 0);
	print("code", mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	print("change to code", mprotect(page, 1, PROT_READ | PROT_EXEC) == 0);
	print("open", open("/", O_RDONLY) >= 0);
	print("create", open("created", O_WRONLY | O_CREAT, 0600) >= 0);
	print("open by handle", syscall(SYS_open_by_handle_at, AT_FDCWD, &byte, 0) >= 0 || errno != EPERM);
	print("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	print("write to a socket", write(pair[0], "", 1) == 1);
	print("hand over", worker_send(pair[0], "", 1, file) == 0);
	print("fork", fork() >= 0);
	print("exec", execv(argv[0], argv) >= 0 || errno != EPERM);
	print("kill", kill(getppid(), 0) == 0);
	print("trace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0);
	print("other memory", syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) >= 0);
	print("user", setresuid(0, 0, 0) == 0);
	print("dumpable", prctl(PR_SET_DUMPABLE, 1) == 0);
	/* until it has been looked at */
	if (argc > 1)
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
	_exit(EXIT_SUCCESS);
}
