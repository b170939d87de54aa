/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file as offwaketime and usdt-record do, in a child process that lies about it, as one would that the file has
 * taken over. It prints what is believed. Usage:
 *
 *	taken-over LIE FILE
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/offwaketime/reading.h"
#include "elffile.h"
#include "map.h"
#include "sandbox.h"

static const char *lie = "";
static pid_t tool;

static bool tells(const char *which)
{
	return getpid() != tool && strcmp(lie, which) == 0;
}

/* The linker lets these take the place of the functions without __wrap_. */
const char *__real_elf_read(struct elf_file *f, struct elf_debug *debug, int fd, struct elffile_budget *budget);
const char *__wrap_elf_read(struct elf_file *f, struct elf_debug *debug, int fd, struct elffile_budget *budget);
const char *__real_elf_read_debug(struct elf_file *f, bool *found, const struct elf_debug *debug, bool by_id, int fd,
				  struct elffile_budget *budget);
const char *__wrap_elf_read_debug(struct elf_file *f, bool *found, const struct elf_debug *debug, bool by_id, int fd,
				  struct elffile_budget *budget);
int __real_mapping_open(const struct mapping *m, const struct mapping_list *list);
int __wrap_mapping_open(const struct mapping *m, const struct mapping_list *list);

const char *__wrap_elf_read(struct elf_file *f, struct elf_debug *debug, int fd, struct elffile_budget *budget)
{
	static const char path[] = "a\0../../../../../secret";
	const char *error = __real_elf_read(f, debug, fd, budget);

	if (tells("debug file")) {
		*debug = (struct elf_debug){};
		memcpy(debug->build_id, path, sizeof(path));
	}
	return error;
}

const char *__wrap_elf_read_debug(struct elf_file *f, bool *found, const struct elf_debug *debug, bool by_id, int fd,
				  struct elffile_budget *budget)
{
	const char *error = __real_elf_read_debug(f, found, debug, by_id, fd, budget);

	return tells("debug file") ? "another file was opened" : error;
}

int __wrap_mapping_open(const struct mapping *m, const struct mapping_list *list)
{
	int fd = __real_mapping_open(m, list);

	if (tells("identity"))
		((struct mapping *)m)->inode++;
	return fd;
}

/* A reading_known. */
static uint32_t is_known(const void *context, const struct reading_id *id)
{
	(void)context;
	(void)id;
	return tells("known") ? 7 : MAP_NONE;
}

static void read_functions(char *path)
{
	const struct mapping_list list = {.proc = -1, .root = open(".", O_PATH | O_DIRECTORY)};
	struct reading r = {.mapping.path = path, .fd = -1};
	struct elffile_budget budget = {};
	struct sandbox sandbox = {};
	struct stat st;

	if (stat(path, &st) != 0)
		err(EXIT_FAILURE, "%s", path);
	r.mapping.inode = st.st_ino;
	reading_run(&sandbox, &r, 1, &list, &budget, is_known, NULL);
	printf("known: %s\nidentity: %s\nfunctions: %zu\nerror: %s\n", r.known == MAP_NONE ? "no" : "yes",
	       r.id.inode == st.st_ino ? "its own" : "another", r.file.n, r.error ? r.error : "none");
	elf_free(&r.file);
	free(r.error);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	lie = argv[1];
	tool = getpid();
	read_functions(argv[2]);
	return EXIT_SUCCESS;
}
