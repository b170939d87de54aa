/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints whether common/base/json accepts each file as JSON text: "good NAME", or "bad NAME: why". With -m MEMBER
 * first, also the value of this member, as written and without quotes.
 */
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
	const char *name = argc > 2 && strcmp(argv[1], "-m") == 0 ? argv[2] : NULL;

	for (int i = name ? 3 : 1; i < argc; i++) {
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
		if (name) {
			struct slice value = json_member((struct slice){text, st.st_size}, slice_of(name));
			struct slice plain = json_unquoted(value);

			printf("%.*s\n%.*s\n", (int)value.n, value.p, (int)plain.n, plain.p);
		}
		close(fd);
		free(text);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
