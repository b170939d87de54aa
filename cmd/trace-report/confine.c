/* SPDX-License-Identifier: BSD-3-Clause */
#include "confine.h"

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"
#include "count.h"
#include "mem.h"
#include "recording.h"
#include "stranger.h"

/* As in linux/capability.h, which musl's compiler does not find. */
enum { VERSION_3 = 0x20080522, DAC_OVERRIDE = 1, DAC_READ_SEARCH = 2, SYS_PTRACE = 19, CHECKPOINT_RESTORE = 40 };
struct capability_header {
	uint32_t version;
	int pid;
};
struct capability_sets {
	uint32_t effective, permitted, inheritable;
};

#define BIT(capability) (UINT64_C(1) << (capability))
#define READ_FILES      BIT(DAC_READ_SEARCH)

/* access(2) asks for the user, whatever the capabilities. */
static bool may_read(const char *path)
{
	return access(path, R_OK) == 0 || errno == ENOENT;
}

static bool may_read_all(const char *path)
{
	static const char *const names[] = {RECORDING_TRACE, RECORDING_USDT, RECORDING_OFFCPU,
					    RECORDING_BIO,   RECORDING_RPC,  RECORDING_PARTS};
	bool may = may_read(path);

	for (size_t i = 0; may && i < COUNT(names); i++) {
		char *file = mem_printf("%s/%s", path, names[i]);

		/* of a file, there are none */
		may = may_read(file) || errno == ENOTDIR;
		free(file);
	}
	return may;
}

/* All of them are kept in the tools that are started. */
static int keep_capabilities(uint64_t kept)
{
	struct capability_header header = {.version = VERSION_3};
	struct capability_sets sets[2] = {};

	if (syscall(SYS_capget, &header, sets) != 0)
		return -1;
	/* a container's root may have the other one only */
	if (kept & READ_FILES & ~(uint64_t)sets[0].permitted)
		kept |= BIT(DAC_OVERRIDE);
	for (int i = 0; i < 2; i++) {
		sets[i].permitted &= kept >> 32 * i;
		sets[i].effective = sets[i].inheritable = sets[i].permitted;
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 || syscall(SYS_capset, &header, sets) != 0)
		return -1;
	for (int i = 0; i < 64; i++)
		if (sets[i / 32].permitted >> i % 32 & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) != 0)
			return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void confine_enter(pid_t pid, char *const *paths)
{
	char *self, *tool;
	uint64_t kept = 0;

	if (geteuid() != 0)
		return;
	/* tools are searched for in the folder of the first, then in $PATH */
	self = child_tool("trace-report");
	tool = child_tool("trace-dump");
	if (prctl(PR_SET_KEEPCAPS, 1) != 0)
		err(EXIT_FAILURE, "capabilities");
	if (!stranger_become())
		warnx("reads as root, which cannot become another user here");
	for (; *paths; paths++)
		if (!may_read_all(*paths))
			kept |= READ_FILES;
	if ((self && !may_read(self)) || (tool && !may_read(tool)))
		kept |= READ_FILES;
	if (pid)
		kept |= READ_FILES | BIT(SYS_PTRACE) | BIT(CHECKPOINT_RESTORE);
	if (keep_capabilities(kept) != 0)
		err(EXIT_FAILURE, "capabilities");
	free(self);
	free(tool);
	/* a change of user forbids the process to look at itself in /proc; nobody else is this user */
	prctl(PR_SET_DUMPABLE, 1);
}
