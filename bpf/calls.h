/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of system calls, as BPF programs and user space use them. */
#pragma once

enum {
	/* for 64 and for 32 bits, the last entry stands for all other numbers */
	NUMBERS = 1024,
	OTHER_NUMBER = NUMBERS - 1,
	NUM_CALLS = 2 * NUMBERS, /* those of 32 bits come last */
};
