/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints parts of tables for people, between brackets: for each line "NS" on standard input the duration, for "WIDTH
 * NAME" the name in that many characters, for "-WIDTH LINE" the line in at most as many.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "out.h"

int main(void)
{
	char line[4096], *rest;
	struct out out;

	out_open(&out, STDOUT_FILENO);
	while (fgets(line, sizeof(line), stdin)) {
		bool clipped = line[0] == '-';
		unsigned long long number = strtoull(line + clipped, &rest, 10);

		out_char(&out, '[');
		rest[strcspn(rest, "\n")] = '\0';
		if (clipped)
			out_clipped(&out, slice_of(rest + 1), number);
		else if (*rest)
			out_shortened(&out, slice_of(rest + 1), number);
		else
			out_duration(&out, number);
		out_text(&out, "]\n");
	}
	if (out_close(&out) != 0)
		err(1, "standard output");
	return 0;
}
