/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the functions that offwaketime finds in ELF files, START END NAME, and what is wrong with a file. All files
 * share a sandbox, like those of a recording.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/offwaketime/reading.h"
#include "cli.h"
#include "map.h"
#include "out.h"
#include "sandbox.h"
#include "utf8.h"

static void print(struct out *out, const struct elf_file *f, const struct function *function)
{
	out_printf(out, "%" PRIx64 " %" PRIx64 " ", function->start, function->end);
	out_visible(out, slice_of(f->names + function->name));
	out_text(out, "\n");
}

static uint32_t is_known(const void *context, const struct reading_id *id)
{
	(void)context;
	(void)id;
	return MAP_NONE;
}

int main(int argc, char **argv)
{
	const struct mapping_list list = {.proc = -1, .root = open("/", O_PATH | O_DIRECTORY)};
	struct sandbox sandbox = {};
	int status = EXIT_SUCCESS;
	struct out out;

	out_open(&out, STDOUT_FILENO);
	for (int i = 1; i < argc; i++) {
		struct reading r = {.mapping.path = argv[i], .fd = open(argv[i], O_RDONLY)};
		const struct elf_file *f = &r.file;

		if (r.fd < 0)
			err(EXIT_FAILURE, "%s", argv[i]);
		reading_run(&sandbox, &r, 1, &list, is_known, NULL);
		if (r.error) {
			warnx("%s: %s", argv[i], r.error);
			status = EXIT_FAILURE;
		}
		for (size_t k = 0; k < f->n; k++)
			print(&out, f, &f->functions[k]);
		for (size_t k = 0; k < f->num_ranges; k++)
			elf_find(f, f->ranges[k].offset);
		elf_free(&r.file);
		free(r.error);
		close(r.fd);
	}
	close(list.root);
	return cli_close(&out, status);
}
