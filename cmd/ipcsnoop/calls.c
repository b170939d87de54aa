/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <stdio.h>
#include <string.h>

#include "syscalls.h"

#define SIZE(array) (sizeof(array) / sizeof(*(array)))

#ifdef __x86_64__
static const char prefix_32[] = "i386:";
#else
static const char prefix_32[] = "arm:";
/* the system's headers have none of them */
static const char *const syscalls_32[] = {NULL};
#endif

_Static_assert(SIZE(syscalls_64) < OTHER_NUMBER && SIZE(syscalls_32) < OTHER_NUMBER,
	       "more system calls than there is room for");

/* NULL: none. */
static const char *plain_name(unsigned call)
{
	if (call >= NUMBERS)
		return call - NUMBERS < SIZE(syscalls_32) ? syscalls_32[call - NUMBERS] : NULL;
	return call < SIZE(syscalls_64) ? syscalls_64[call] : NULL;
}

const char *calls_name(unsigned call, char buffer[CALLS_NAME])
{
	const char *mode = call >= NUMBERS ? prefix_32 : "", *known = plain_name(call);

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

/* preadv2 and pwritev2 take a pipe when they are given no offset. */
static const struct {
	const char *name;
	struct operation operation;
} at_pipes[] = {
	{"read", {.from = 1, .asked = 3}},
	{"write", {.to = 1, .asked = 3}},
	{"readv", {.from = 1, .vectors = 2, .asked = 3}},
	{"writev", {.to = 1, .vectors = 2, .asked = 3}},
	{"preadv2", {.from = 1, .vectors = 2, .asked = 3}},
	{"pwritev2", {.to = 1, .vectors = 2, .asked = 3}},
	{"splice", {.from = 1, .to = 3, .asked = 5}},
	{"tee", {.from = 1, .to = 2, .asked = 3}},
	{"vmsplice", {.from = 1, .to = 1, .vectors = 2, .asked = 3}},
	{"sendfile", {.from = 2, .to = 1, .asked = 4}},
	{"sendfile64", {.from = 2, .to = 1, .asked = 4}},
};

void calls_at_pipes(struct operation operations[NUM_CALLS])
{
	for (unsigned call = 0; call < NUM_CALLS; call++) {
		const char *name = plain_name(call);

		for (size_t i = 0; name && i < SIZE(at_pipes); i++)
			if (strcmp(name, at_pipes[i].name) == 0)
				operations[call] = at_pipes[i].operation;
	}
}
