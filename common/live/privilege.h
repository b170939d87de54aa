/* SPDX-License-Identifier: BSD-3-Clause */
/* The privileges that a tool with a BPF program needs: checks and drops them. */
#pragma once

#include <stdbool.h>

/*
 * Refuses to run set-user-ID or set-group-ID. Returns 0, or -1 after a message. needs_ptrace: as of
 * privilege_check().
 */
int privilege_check_ids(bool needs_ptrace);

/*
 * Whether BPF programs can be loaded; needs_ptrace: and the tool may trace any process. The kernel does not ask for
 * CAP_SYS_PTRACE: CAP_BPF and CAP_PERFMON let a program run in every process. Returns 0, or -1 after a message about
 * what is missing.
 */
int privilege_check(bool needs_ptrace);

/* What a tool still does after it has attached its program. */
enum privilege {
	PRIVILEGE_NONE,
	PRIVILEGE_LOOK, /* looks at other processes and opens their files */
};

/*
 * Drops all other capabilities, permanently, but for CAP_BPF if BPF maps cannot be read without it. Root becomes a user
 * of its own, as of stranger_become(); signals: it keeps CAP_KILL, to send signals to a command that it has started
 * before, and stays root if it lacks that. Returns 0, or -1 after a message.
 */
int privilege_drop(enum privilege keep, bool signals);
