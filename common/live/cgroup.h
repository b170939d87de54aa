/* SPDX-License-Identifier: BSD-3-Clause */
/* Cgroups of version 2, to filter processes by; bpf/cgroup.bpf.h compares their ids. */
#pragma once

#include <stdint.h>

/* The id of the cgroup with this directory. Returns 0 after a message if there is no such cgroup. */
uint64_t cgroup_id(const char *path);
