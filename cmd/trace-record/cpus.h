/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a recording off the CPUs of the target's reactors. */
#pragma once

#include <sys/types.h>

/*
 * Lets this process, and those that it starts, run only on CPUs to which no thread of the target is bound, and with a
 * higher priority there: a part that has to wait for others of the machine loses entries. Does nothing if there are no
 * such CPUs, or it is not permitted.
 */
void cpus_leave_to(pid_t target);
