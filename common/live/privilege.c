/* SPDX-License-Identifier: BSD-3-Clause */
#include "privilege.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stranger.h"

/* In linux/capability.h since Linux 5.8. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif
/* since 5.9 */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

static bool has_capability(unsigned number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {};

	return syscall(SYS_capget, &header, sets) == 0 && sets[number / 32].effective >> number % 32 & 1;
}

/* Only a hint: whether they would be enough is up to the kernel. */
static void say_missing(bool needs_ptrace)
{
	bool admin = has_capability(CAP_SYS_ADMIN);
	const char *names[3] = {"", "", ""};
	unsigned n = 0;

	if (!admin && !has_capability(CAP_BPF))
		names[n++] = "CAP_BPF";
	if (!admin && !has_capability(CAP_PERFMON))
		names[n++] = "CAP_PERFMON";
	if (needs_ptrace && !has_capability(CAP_SYS_PTRACE))
		names[n++] = "CAP_SYS_PTRACE";
	if (n)
		warnx("%s%s%s%s%s%s missing: run it as root, or with these capabilities", names[0], n == 3 ? ", " : "",
		      n == 3 ? names[1] : "", n > 1 ? " and " : "", n > 1 ? names[n - 1] : "", n > 1 ? " are" : " is");
	else
		warnx("the kernel refuses BPF programs, whatever the privileges: it may be locked down, or this is a "
		      "container that may not have them");
}

int privilege_check_ids(bool needs_ptrace)
{
	if (geteuid() == getuid() && getegid() == getgid())
		return 0;
	warnx("does not run set-user-ID or set-group-ID: give it %s instead",
	      needs_ptrace ? "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE" : "CAP_BPF and CAP_PERFMON");
	return -1;
}

int privilege_check(bool needs_ptrace)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", program, 2, NULL);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && (!needs_ptrace || has_capability(CAP_SYS_PTRACE)))
		return 0;
	if (fd >= 0 || errno == EPERM || errno == EACCES)
		say_missing(needs_ptrace);
	else
		warn("this kernel has no BPF programs for probes");
	return -1;
}

static int set_capabilities(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {};

	if (syscall(SYS_capget, &header, sets) != 0)
		return -1;
	sets[0].permitted &= permitted;
	sets[1].permitted &= permitted >> 32;
	sets[0].effective = sets[0].permitted & effective;
	sets[1].effective = sets[1].permitted & effective >> 32;
	sets[0].inheritable = sets[1].inheritable = 0;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return syscall(SYS_capset, &header, sets) == 0 ? 0 : -1;
}

/* Before Linux 5.19, sysctl kernel.unprivileged_bpf_disabled also forbids to read maps and facts about programs. */
static bool needs_bpf_to_read(void)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(-1, &info, &size) != 0 && errno == EPERM;
}

/* Keeps the permitted capabilities. Returns whether root became another user. */
static bool change_user(void)
{
	bool changed;

	if (prctl(PR_SET_KEEPCAPS, 1) != 0)
		return false;
	changed = stranger_become();
	prctl(PR_SET_KEEPCAPS, 0);
	return changed;
}

int privilege_drop(enum privilege keep, bool signals)
{
	static bool changed_user;
	uint64_t capabilities = 0, bpf = UINT64_C(1) << CAP_BPF;

	if (keep == PRIVILEGE_LOOK)
		capabilities = UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
			       UINT64_C(1) << CAP_CHECKPOINT_RESTORE;
	/* the command is still root's */
	if (geteuid() == 0 && (!signals || has_capability(CAP_KILL)))
		changed_user = change_user();
	if (signals && changed_user)
		capabilities |= UINT64_C(1) << CAP_KILL;
	if (set_capabilities(capabilities | bpf, capabilities) == 0) {
		if (needs_bpf_to_read())
			capabilities |= bpf;
		if (set_capabilities(capabilities, capabilities) == 0)
			return 0;
	}
	warn("capabilities");
	return -1;
}
