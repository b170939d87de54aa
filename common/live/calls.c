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

/* count: 0 where the system's headers have no names */
static const char *name_of(unsigned number, const char *const *names, size_t count)
{
	return number < count ? names[number] : NULL;
}

const char *calls_plain_name(unsigned call)
{
	return call >= NUMBERS ? name_of(call - NUMBERS, syscalls_32, COUNT(syscalls_32))
			       : name_of(call, syscalls_64, COUNT(syscalls_64));
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
