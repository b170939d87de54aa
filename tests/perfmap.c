/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the functions that offwaketime finds in lists of generated functions, START END NAME, and the one that it
 * finds at the start of each if that differs; and what is wrong with a file. All files share the memory that there is,
 * like those of a recording.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/offwaketime/perfmap.h"
#include "cli.h"
#include "out.h"

static void print(struct out *out, const struct perfmap *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct perfmap_function *f = &map->functions[i];
		const char *name = map->names.buf + f->name, *found = perfmap_find(map, f->start);

		out_printf(out, "%" PRIx64 " %" PRIx64 " ", f->start, f->end);
		out_visible(out, slice_of(name));
		if (found != name) {
			out_text(out, ", at its start ");
			out_visible(out, slice_of(found));
		}
		out_text(out, "\n");
	}
}

int main(int argc, char **argv)
{
	uint64_t held = 0;
	int status = EXIT_SUCCESS;
	struct out out;

	out_open(&out, STDOUT_FILENO);
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		struct perfmap map = {};
		const char *error;

		if (fd < 0)
			err(EXIT_FAILURE, "%s", argv[i]);
		error = perfmap_add(&map, fd, &held);
		if (error) {
			warnx("%s: %s", argv[i], error);
			status = EXIT_FAILURE;
		}
		print(&out, &map);
		perfmap_free(&map, &held);
		close(fd);
	}
	return cli_close(&out, status);
}
