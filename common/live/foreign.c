/* SPDX-License-Identifier: BSD-3-Clause */
#include "foreign.h"

#include <bpf/btf.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "privilege.h"

/* The offset of task_exec_state.dumpable; 0: the kernel has none. */
static uint32_t dumpable_offset(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "task_exec_state", BTF_KIND_STRUCT) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, id) : NULL;
	uint32_t offset = 0;

	for (unsigned i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), "dumpable") == 0)
			offset = btf_member_bit_offset(type, i) / 8;
	btf__free(btf);
	return offset;
}

int foreign_hide(const struct foreign *f, pid_t pid)
{
	char path[32], target;

	if (!f->only_own || privilege_may_trace())
		return 0;
	*f->only_own = true;
	*f->uid = getuid();
	*f->gid = getgid();
	*f->capabilities = privilege_permitted();
	*f->dumpable_offset = dumpable_offset();
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!pid || readlink(path, &target, 1) >= 0 || errno != EACCES)
		return 0;
	warnx("process %d: of another user, which requires CAP_SYS_PTRACE", pid);
	return -1;
}

uint32_t foreign_hidden(const struct foreign *f)
{
	return f->num ? *f->num : 0;
}
