/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints whether common/base/json accepts each file as JSON text: "good NAME", or "bad NAME: why". */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "json.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = io_open(argv[i]);
		struct stat st;
		struct json j;
		char *text;

		if (fd < 0 || fstat(fd, &st) != 0)
			err(EXIT_FAILURE, "%s", argv[i]);
		/* exactly the size of the text, so that sanitizers detect reads beyond it */
		text = malloc(st.st_size ? st.st_size : 1);
		if (!text || io_read(fd, text, st.st_size) != st.st_size)
			err(EXIT_FAILURE, "%s", argv[i]);
		json_init(&j, text, st.st_size);
		json_skip(&j);
		if (json_end(&j))
			printf("good %s\n", argv[i]);
		else
			printf("bad %s: %s\n", argv[i], j.error);
		close(fd);
		free(text);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
