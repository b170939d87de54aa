/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mapping.h"
#include "mem.h"
#include "utf8.h"

enum {
	MAX_FILES = 4096, /* of a process that are searched; each of its libraries is one */
	MAX_REPORTS = 8,  /* of its files that cannot be read; the others are counted */
};

struct target_file *target_add(struct target *t, const char *path, int fd)
{
	t->files = mem_room(t->files, t->n, &t->cap);
	t->files[t->n] = (struct target_file){.path = utf8_visible_copy(path), .fd = fd};
	return &t->files[t->n++];
}

static void drop_last(struct target *t)
{
	struct target_file *f = &t->files[--t->n];

	usdt_free(&f->usdt);
	free(f->path);
	if (f->fd >= 0)
		close(f->fd);
}

void target_close(struct target *t)
{
	while (t->n)
		drop_last(t);
	free(t->files);
	free(t->name);
	*t = (struct target){};
}

void target_report(const struct target *t, char *message)
{
	t->report(message);
	free(message);
}

/* fd then belongs to the target; it is closed after an error. Returns NULL, or what is wrong. */
static const char *add_elf(struct target *t, const char *path, int fd)
{
	struct target_file *f = target_add(t, path, fd);
	const char *error;

	if (usdt_read(&f->usdt, fd, &t->budget, &error) == 0)
		return NULL;
	drop_last(t);
	return error;
}

int target_add_file(struct target *t, const char *path)
{
	/* do not wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *error = fd < 0 ? strerror(errno) : add_elf(t, path, fd);
	char *shown = utf8_visible_copy(path);

	if (error)
		target_report(t, mem_printf("%s: %s", shown, error));
	if (t->name)
		free(shown);
	else
		t->name = shown;
	return error ? -1 : 0;
}

/* Returns 1, 0, or -1 with errno. */
static int is_elf(int fd)
{
	char magic[4];
	ssize_t n;

	do
		n = pread(fd, magic, sizeof(magic), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	return n == sizeof(magic) && memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

static void leave_out(struct target *t, const struct mapping *m, const char *error)
{
	char *path;

	t->incomplete = true;
	if (t->num_bad++ >= MAX_REPORTS)
		return;
	path = utf8_visible_copy(m->path);
	target_report(t, mem_printf("%s: %s: probes in this file are not found: %s", t->name, path, error));
	free(path);
}

static void add_mapping(struct target *t, const struct mapping_list *list, const struct mapping *m)
{
	int fd = mapping_open(m, list), elf = fd >= 0 ? is_elf(fd) : -1;
	const char *error = elf < 0 ? strerror(errno) : NULL;

	/* code may be mapped from anything */
	if (elf > 0)
		error = add_elf(t, m->path, fd);
	else if (fd >= 0)
		close(fd);
	/* a process may have mapped a bad file: the others still have probes */
	if (error)
		leave_out(t, m, error);
	else if (elf > 0 && !t->files[t->n - 1].usdt.n)
		drop_last(t);
}

/* Adds the files of the mappings, each once. Returns 0, or -1 after a report. */
static int add_mappings(struct target *t, struct mapping_list *list)
{
	struct seen {
		uint64_t device, inode;
	} *seen = NULL;
	struct mapping m;
	size_t cap = 0, n = 0;
	int got;

	while ((got = mapping_next(list, &m)) > 0) {
		size_t i = 0;

		if (!m.code || !m.inode)
			continue;
		while (i < n && (seen[i].device != m.device || seen[i].inode != m.inode))
			i++;
		if (i < n)
			continue;
		if (n == MAX_FILES) {
			target_report(t, mem_printf("%s: more than %d files are mapped as code: probes in the others "
						    "are not found",
						    t->name, MAX_FILES));
			t->incomplete = true;
			break;
		}
		seen = mem_room(seen, n, &cap);
		seen[n++] = (struct seen){m.device, m.inode};
		add_mapping(t, list, &m);
	}
	if (got < 0)
		target_report(t, mem_printf("%s: maps: %s", t->name, strerror(errno)));
	if (t->num_bad > MAX_REPORTS)
		target_report(t, mem_printf("%s: nor those in %u more files", t->name, t->num_bad - MAX_REPORTS));
	free(seen);
	return got < 0 ? -1 : 0;
}

/* The name of the executable: SPDK renames its main thread. */
static char *process_name(int proc)
{
	char exe[4096], *slash;
	ssize_t n = readlinkat(proc, "exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return NULL;
	exe[n] = 0;
	slash = strrchr(exe, '/');
	return utf8_visible_copy(slash ? slash + 1 : exe);
}

static char *process_error(pid_t pid, const char *what, int error)
{
	bool denied = error == EACCES || error == EPERM;

	return mem_printf("process %d: %s%s: %s", pid, what, denied ? " (needs its user's id, or CAP_SYS_PTRACE)" : "",
			  strerror(error));
}

int target_add_process(struct target *t, pid_t pid)
{
	struct mapping_list list;
	const char *missing = mapping_begin(&list, pid);
	int result = -1, error = errno;

	if (missing && !*missing) {
		target_report(t,
			      mem_printf("process %d: %s", pid, error == ENOENT ? "does not exist" : strerror(error)));
		mapping_end(&list);
		return -1;
	}
	t->name = process_name(list.proc);
	if (!t->name && errno == ENOENT)
		target_report(t, mem_printf("process %d: no executable: it has ended, or is a kernel thread", pid));
	else if (!t->name)
		target_report(t, process_error(pid, "exe", errno));
	else if (missing)
		target_report(t, process_error(pid, missing, error));
	else
		result = add_mappings(t, &list);
	mapping_end(&list);
	return result;
}
