/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operands in memory as compilers make them for globals and tables when they like; here they are written
 * out, so that they are there for sure.
 */
#include <sys/sdt.h>

#include "usdt-target.h"

static int32_t __attribute__((used)) usdt_target_global = -3;
static uint64_t table[] = {40, 41, 42, 43};

void fire_in_memory(unsigned i)
{
	/* clang-format off */
#ifdef __aarch64__
	/* commas, which would end the macro's argument, are for the assembler */
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
