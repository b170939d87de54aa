/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a BPF program follows, in its map `followed`: see bpf/descendants.bpf.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Removes those that have ended, since the kernel may skip the program that does so when they exit. Returns how many
 * are left, or -1 with errno. map: its descriptor.
 */
int followers_sweep(int map);

/* Whether all threads of the process have ended, even if it is a zombie. id 0: it has no id in this namespace. */
bool followers_ended(uint32_t id);

/* Returns 1 if there are any, 0 if not, or -1 with errno. */
int followers_left(int map);
