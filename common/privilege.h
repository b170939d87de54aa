/* SPDX-License-Identifier: BSD-3-Clause */
/* The privileges that a tool with a BPF program needs: checks and drops them. */
#ifndef PRIVILEGE_H
#define PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

/* Refuses to run set-user-ID or set-group-ID. Returns 0, or -1 after a message. */
int privilege_check_ids(void);

/* Whether BPF programs can be loaded. Returns 0, or -1 after a message about what is missing. */
int privilege_check(void);

/* Whether it may look into other users' processes. */
bool privilege_may_trace(void);

/* The permitted capabilities, a bit each. */
uint64_t privilege_permitted(void);

/*
 * Drops every capability, for good; may_read: except those to look into other processes and at
 * their files. Returns 0, or -1 after a message.
 */
int privilege_drop(bool may_read);

#endif
