/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of usdt-target. */
#ifndef USDT_TARGET_H
#define USDT_TARGET_H

#include <stdint.h>

/*
 * In a shared library, or linked in: fires spdk:guarded(7, "library"), and with 6 before main(), if somebody
 * listens. Returns how many do.
 */
unsigned fire_guarded(void);

/* Fires spdk:in_memory(40 + i) with an operand that is an element of a table. */
void fire_in_memory(unsigned i);

#endif
