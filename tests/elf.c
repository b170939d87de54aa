/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the functions that offwaketime finds in ELF files, START END NAME, and what is wrong with a file. All files
 * share one budget, like those of a recording.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/offwaketime/elf.h"
#include "cli.h"
#include "elffile.h"
#include "out.h"
#include "utf8.h"

static void print(struct out *out, const struct function *f)
{
	out_printf(out, "%" PRIx64 " %" PRIx64 " ", f->start, f->end);
	out_visible(out, slice_of(f->name));
	out_text(out, "\n");
}

int main(int argc, char **argv)
{
	int root = open("/", O_PATH | O_DIRECTORY), status = EXIT_SUCCESS;
	struct elffile_budget budget = {};
	struct out out;

	out_open(&out, STDOUT_FILENO);
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		struct elf_file f;
		const char *error;

		if (fd < 0)
			err(EXIT_FAILURE, "%s", argv[i]);
		error = elf_read(&f, fd, argv[i], root, &budget);
		if (error) {
			warnx("%s: %s", argv[i], error);
			status = EXIT_FAILURE;
		}
		for (size_t k = 0; k < f.n; k++)
			print(&out, &f.functions[k]);
		for (size_t k = 0; k < f.num_ranges; k++)
			elf_find(&f, f.ranges[k].offset);
		elf_free(&f);
		close(fd);
	}
	close(root);
	return cli_close(&out, status);
}
