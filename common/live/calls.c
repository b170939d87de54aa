/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <stdio.h>

#include "count.h"
#include "syscalls.h"

#ifdef __x86_64__
static const char prefix_32[] = "i386:";
#else
static const char prefix_32[] = "arm:";
/* the system's headers do not have these names */
static const char *const syscalls_32[] = {NULL};
#endif

_Static_assert(COUNT(syscalls_64) < OTHER_NUMBER && COUNT(syscalls_32) < OTHER_NUMBER,
	       "more system calls than there is room for");

const char *calls_plain_name(unsigned call)
{
	if (call >= NUMBERS)
		return call - NUMBERS < COUNT(syscalls_32) ? syscalls_32[call - NUMBERS] : NULL;
	return call < COUNT(syscalls_64) ? syscalls_64[call] : NULL;
}

const char *calls_name(unsigned call, char buffer[CALLS_NAME])
{
	const char *mode = call >= NUMBERS ? prefix_32 : "", *known = calls_plain_name(call);

	if (known && call < NUMBERS)
		return known;
	if (known)
		snprintf(buffer, CALLS_NAME, "%s%s", mode, known);
	else if (call % NUMBERS == OTHER_NUMBER)
		snprintf(buffer, CALLS_NAME, "%ssyscall_other", mode);
	else
		snprintf(buffer, CALLS_NAME, "%ssyscall_%u", mode, call % NUMBERS);
	return buffer;
}
