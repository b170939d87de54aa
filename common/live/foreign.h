/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of bpf/foreign.bpf.h: without CAP_SYS_PTRACE, a program shows the user's own processes only. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All NULL: the program shows only what all users can see. */
struct foreign {
	bool *only_own;
	uint32_t *uid, *gid;
	uint64_t *capabilities;
	uint32_t *dumpable_offset;
	uint32_t *num;
};
/* The variables of an opened skeleton. */
#define FOREIGN(bpf)                                                                    \
	((struct foreign){.only_own = &(bpf)->rodata->only_own,                         \
			  .uid = &(bpf)->rodata->own_uid,                               \
			  .gid = &(bpf)->rodata->own_gid,                               \
			  .capabilities = (uint64_t *)&(bpf)->rodata->own_capabilities, \
			  .dumpable_offset = &(bpf)->rodata->dumpable_offset,           \
			  .num = &(bpf)->bss->num_foreign})

/*
 * Sets the variables, before the program is loaded. pid: the process to record; 0: any. Returns 0, or -1 after a
 * message if the process is another user's and may not be shown.
 */
int foreign_hide(const struct foreign *f, pid_t pid);

/* The number of events that were not shown. */
uint32_t foreign_hidden(const struct foreign *f);

#endif
