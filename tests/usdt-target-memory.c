/* SPDX-License-Identifier: BSD-3-Clause */
/* An operand in memory, which compilers may use for tables: written in assembler, so that it always exists. */
#include <sys/sdt.h>

#include "usdt-target.h"

static uint64_t table[] = {40, 41, 42, 43};

void fire_in_memory(unsigned i)
{
	/* clang-format off */
#ifdef __aarch64__
	/* \x2c is a comma for the assembler, which would end the macro's argument */
	__asm__ volatile(STAP_PROBE_ASM(spdk, in_memory, 8@[%0\x2c %1\x2c lsl 3])
			 : : "r"(table), "r"((uint64_t)i), "m"(table));
#else
	__asm__ volatile(STAP_PROBE_ASM(spdk, in_memory, 8@(%0,%1,8))
			 : : "r"(table), "r"((uint64_t)i), "m"(table));
#endif
	/* clang-format on */
}
