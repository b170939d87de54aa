/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file as offwaketime and usdt-record do, in child processes that lie about it, as those may do that the file
 * has taken over. It prints what is believed. Usage:
 *
 *	taken-over LIE FILE
 *	taken-over LIE FILE mapped    only as usdt-record reads files that a process has mapped
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/offwaketime/reading.h"
#include "elffile.h"
#include "map.h"
#include "sandbox.h"
#include "target.h"

/* More than there is room for then, and little enough to be returned in time on a busy machine. */
enum { MUCH = 8 << 20 };

static const char *lie = "";
static pid_t tool;

static bool tells(const char *which)
{
	return getpid() != tool && strcmp(lie, which) == 0;
}

/* The linker lets these take the place of the functions without __wrap_. */
const char *__real_elf_read(struct elf_file *f, int fd);
const char *__wrap_elf_read(struct elf_file *f, int fd);
int __real_mapping_open(const struct mapping *m, const struct mapping_list *list);
int __wrap_mapping_open(const struct mapping *m, const struct mapping_list *list);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_elffile_open(struct elffile *f, int fd);
int __wrap_elffile_open(struct elffile *f, int fd);
int __real_usdt_read(struct usdt *u, int fd, const char **error);
int __wrap_usdt_read(struct usdt *u, int fd, const char **error);

const char *__wrap_elf_read(struct elf_file *f, int fd)
{
	/* what it reads itself is not needed, and would be more than it may */
	if (!tells("much"))
		return __real_elf_read(f, fd);
	*f = (struct elf_file){.names = calloc(MUCH, 1), .names_size = MUCH};
	return NULL;
}

int __wrap_mapping_open(const struct mapping *m, const struct mapping_list *list)
{
	int fd = __real_mapping_open(m, list);

	if (tells("another file"))
		return open("other", O_RDONLY | O_CLOEXEC);
	if (tells("identity"))
		((struct mapping *)m)->inode++;
	return fd;
}

int __wrap_elffile_open(struct elffile *f, int fd)
{
	static char longest[1024];
	int result = __real_elffile_open(f, fd);

	if (tells("error"))
		f->error = "\033[2J";
	if (tells("long error"))
		f->error = memset(longest, 'x', sizeof(longest) - 1);
	return f->error ? -1 : result;
}

/* The first file takes the process over. */
int __wrap_usdt_read(struct usdt *u, int fd, const char **error)
{
	static bool is_taken;
	int result = __real_usdt_read(u, fd, error);

	for (size_t i = 0; tells("other probes") && is_taken && i < u->n; i++)
		u->sites[i].offset++;
	is_taken = true;
	return result;
}

/* Without close_range(2), as in a container. */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	errno = ENOSYS;
	return number == SYS_close_range && tells("no close_range")
		       ? -1
		       : __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
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
	const uint64_t before = strcmp(lie, "much") == 0 ? SANDBOX_HELD - MUCH : 0;
	struct sandbox sandbox = {.held = before};
	struct stat st;

	if (stat(path, &st) != 0)
		err(EXIT_FAILURE, "%s", path);
	r.mapping.inode = st.st_ino;
	reading_run(&sandbox, &r, 1, &list, is_known, NULL);
	printf("known: %s\nidentity: %s\nfunctions: %zu\nerror: %s\n", r.known == MAP_NONE ? "no" : "yes",
	       !r.is_open || r.id.inode == st.st_ino ? "its own" : "another", r.file.n, r.error ? r.error : "none");
	elf_free(&r.file);
	free(r.error);
	if (sandbox.held - before != r.held)
		errx(EXIT_FAILURE, "%" PRIu64 " bytes for %" PRIu64, sandbox.held - before, r.held);
}

static void report(const char *message)
{
	printf("probes: %s\n", message);
}

static void read_probes(const char *path)
{
	struct target t = {.report = report};

	target_add_file(&t, path);
	printf("probes: %zu\n", t.n ? t.files[0].usdt.n : 0);
	target_close(&t);
}

/* As code that this process has mapped. */
static void read_mapped(const char *path)
{
	struct target t = {.report = report, .keeps_open = true};
	int fd = open(path, O_RDONLY);
	struct stat st, got;

	if (fd < 0 || fstat(fd, &st) != 0 || mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		err(EXIT_FAILURE, "%s", path);
	close(fd);
	target_add_process(&t, getpid());
	for (size_t i = 0; i < t.n; i++) {
		const struct target_file *f = &t.files[i];
		uint64_t sum = 0;

		if (strcmp(strrchr(f->path, '/') + 1, path) != 0)
			continue;
		for (size_t k = 0; k < f->usdt.n; k++)
			sum += f->usdt.sites[k].offset;
		/* closing one of O_PATH does not wait for the file system */
		printf("%s file, %s: %zu probes at %" PRIu64 "\n",
		       fstat(f->fd, &got) == 0 && got.st_ino == st.st_ino ? "its own" : "another",
		       fcntl(f->fd, F_GETFL) & O_PATH ? "not open" : "open", f->usdt.n, sum);
	}
	target_close(&t);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	lie = argv[1];
	tool = getpid();
	if (argc > 3) {
		read_mapped(argv[2]);
		return EXIT_SUCCESS;
	}
	read_functions(argv[2]);
	read_probes(argv[2]);
	return EXIT_SUCCESS;
}
