/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operands in memory, which compilers may use for globals and tables. Here they are written in assembler, so that
 * they always exist.
 */
#include <sys/sdt.h>

#include "usdt-target.h"

static int32_t __attribute__((used)) usdt_target_global = -3;
static uint64_t table[] = {40, 41, 42, 43};

void fire_in_memory(unsigned i)
{
	/* clang-format off */
#ifdef __aarch64__
	/* \x2c is a comma for the assembler, which would end the macro's argument */
	uintptr_t page = (uintptr_t)&usdt_target_global & -4096UL;

	__asm__ volatile(STAP_PROBE_ASM(spdk, in_memory,
					-4@[%2\x2c #:lo12:usdt_target_global] 8@[%0\x2c %1\x2c lsl 3])
			 : : "r"(table), "r"((uint64_t)i), "r"(page), "m"(table));
#else
	__asm__ volatile(STAP_PROBE_ASM(spdk, in_memory, -4@usdt_target_global(%%rip) 8@(%0,%1,8))
			 : : "r"(table), "r"((uint64_t)i), "m"(table));
#endif
	/* clang-format on */
}
