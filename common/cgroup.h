/* SPDX-License-Identifier: BSD-3-Clause */
/* Cgroups of version 2, by which tools choose processes; bpf/cgroup.bpf.h compares them. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdint.h>

/* The id of the cgroup whose directory this is; 0 after a message. */
uint64_t cgroup_id(const char *path);

#endif
