/* SPDX-License-Identifier: BSD-3-Clause */
/* What usdt-record may do, and giving it up again. */
#ifndef USDT_RECORD_PRIVILEGE_H
#define USDT_RECORD_PRIVILEGE_H

/* Whether BPF programs can be loaded. Returns 0, or -1 having said which privileges are missing. */
int privilege_check(void);

/* Drops every capability, for good. Returns 0, or -1 with errno. */
int privilege_drop(void);

#endif
