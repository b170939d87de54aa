/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads files in a sandbox that take their time to be opened, and prints which were read. Usage:
 *
 *	slow-files DEVICE:MS...
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox.h"

static uint64_t device_of(void *context, size_t i)
{
	char **files = context;

	return strtoul(files[i], NULL, 10);
}

static int open_file(void *context, size_t i)
{
	char **files = context;

	usleep(1000 * strtoul(strchr(files[i], ':') + 1, NULL, 10));
	return -1;
}

static void read_file(void *context, size_t i, struct out *out)
{
	(void)context;
	(void)i;
	(void)out;
}

static bool add_file(void *context, size_t i, struct slice bytes)
{
	(void)context;
	printf("%zu: read\n", i);
	return !bytes.n;
}

static void fail(void *context, size_t i, const char *why)
{
	(void)context;
	printf("%zu: %s\n", i, why ? why : "as the others");
}

int main(int argc, char **argv)
{
	struct sandbox sandbox = {};

	/* nothing is to be in the buffer when it forks */
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 1; i < argc; i++)
		if (!strchr(argv[i], ':'))
			return 2;
	sandbox_run(&sandbox, &(struct sandbox_job){.n = argc - 1,
						    .context = argv + 1,
						    .device = device_of,
						    .open = open_file,
						    .read = read_file,
						    .result = add_file,
						    .failed = fail});
	return EXIT_SUCCESS;
}
