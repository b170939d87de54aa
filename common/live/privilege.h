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

/* Whether the tool may read other users' processes. */
bool privilege_may_trace(void);

/* The permitted capabilities, a bit each. */
uint64_t privilege_permitted(void);

/*
 * Drops all capabilities, permanently. may_read: retains those to read other processes and their
 * files. Returns 0, or -1 after a message.
 */
int privilege_drop(bool may_read);

#endif
