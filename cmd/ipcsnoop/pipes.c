/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipes.h"

#include <string.h>

#include "calls.h"

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

void pipes_operations(struct operation operations[NUM_CALLS])
{
	for (unsigned call = 0; call < NUM_CALLS; call++) {
		const char *name = calls_plain_name(call);

		for (size_t i = 0; name && i < sizeof(at_pipes) / sizeof(*at_pipes); i++)
			if (strcmp(name, at_pipes[i].name) == 0)
				operations[call] = at_pipes[i].operation;
	}
}
