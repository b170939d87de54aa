/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tool with a BPF program may do, and giving it up again. */
#ifndef PRIVILEGE_H
#define PRIVILEGE_H

/* Returns -1 having said that the file has another user's id, which gives others too much, else 0. */
int privilege_check_ids(void);

/* Whether BPF programs can be loaded. Returns 0, or -1 having said which privileges are missing. */
int privilege_check(void);

/* Drops every capability, for good. Returns 0, or -1 with errno. */
int privilege_drop(void);

/* The same, but for those to look into other processes and at their files. */
int privilege_drop_all_but_reading(void);

#endif
