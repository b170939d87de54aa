/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mapping.h"
#include "mem.h"
#include "utf8.h"

struct target_file *target_add(struct target *t, const char *path, int fd)
{
	struct target_file *files = reallocarray(t->files, t->n + 1, sizeof(*files));
	char *copy = utf8_visible_copy(path);

	if (files)
		t->files = files;
	if (!files || !copy) {
		free(copy);
		warn(NULL);
		return NULL;
	}
	files[t->n] = (struct target_file){.path = copy, .fd = fd};
	return &files[t->n++];
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

/* Takes over fd. */
static int add_elf(struct target *t, const char *path, int fd)
{
	struct target_file *f = target_add(t, path, fd);
	const char *error;

	if (!f) {
		close(fd);
		return -1;
	}
	if (usdt_read(&f->usdt, fd, &t->budget, &error) != 0) {
		warnx("%s: %s", f->path, error);
		drop_last(t);
		return -1;
	}
	return 0;
}

int target_add_file(struct target *t, const char *path)
{
	/* not to wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		warn("%s", path);
		return -1;
	}
	if (!t->name && !(t->name = utf8_visible_copy(path))) {
		warn(NULL);
		close(fd);
		return -1;
	}
	return add_elf(t, path, fd);
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

static void warn_mapping(const struct target *t, const struct mapping *m)
{
	char *path = utf8_visible_copy(m->path);

	warn("%s: %s: probes in this file are not found", t->name, path ? path : "");
	free(path);
}

static int add_mapping(struct target *t, const struct mapping_list *list, const struct mapping *m)
{
	int fd = mapping_open(m, list), elf;

	if (fd < 0) {
		warn_mapping(t, m);
		t->incomplete = true;
		return 0;
	}
	/* code may be mapped from anything */
	elf = is_elf(fd);
	if (elf < 0)
		warn_mapping(t, m);
	if (elf <= 0) {
		close(fd);
		return elf;
	}
	/* a process may have mapped a bad file: the others have probes all the same */
	if (add_elf(t, m->path, fd) != 0)
		t->incomplete = true;
	else if (!t->files[t->n - 1].usdt.n)
		drop_last(t);
	return 0;
}

/* Adds the files of the mappings, each once. */
static int add_mappings(struct target *t, struct mapping_list *list)
{
	struct seen {
		uint64_t device, inode;
	} *seen = NULL;
	struct mapping m;
	size_t cap = 0, n = 0;
	int result = 0, got;

	while (result == 0 && (got = mapping_next(list, &m)) > 0) {
		size_t i = 0;

		if (!m.code || !m.inode)
			continue;
		while (i < n && (seen[i].device != m.device || seen[i].inode != m.inode))
			i++;
		if (i < n)
			continue;
		seen = mem_room(seen, n, &cap);
		seen[n++] = (struct seen){m.device, m.inode};
		result = add_mapping(t, list, &m);
	}
	if (result == 0 && got < 0) {
		warn("%s: maps", t->name);
		result = -1;
	}
	free(seen);
	return result;
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

static void process_error(pid_t pid, const char *what, int error)
{
	bool denied = error == EACCES || error == EPERM;

	warnx("process %d: %s%s: %s", pid, what,
	      denied ? " (needs its user's id, or CAP_SYS_PTRACE)" : "", strerror(error));
}

int target_add_process(struct target *t, pid_t pid)
{
	struct mapping_list list;
	const char *missing = mapping_begin(&list, pid);
	int result = -1, error = errno;

	if (missing && !*missing) {
		warnx("process %d: %s", pid, error == ENOENT ? "there is none" : strerror(error));
		mapping_end(&list);
		return -1;
	}
	t->name = process_name(list.proc);
	if (!t->name && errno == ENOENT)
		warnx("process %d: it has no executable: it has ended, or is one of the kernel",
		      pid);
	else if (!t->name)
		process_error(pid, "exe", errno);
	else if (missing)
		process_error(pid, missing, error);
	else
		result = add_mappings(t, &list);
	mapping_end(&list);
	return result;
}

bool target_matches(const struct probespec *spec, const struct usdt_site *site)
{
	return slice_equal(spec->name, site->name) &&
	       (!spec->provider.n || slice_equal(spec->provider, site->provider));
}

const char *target_type(const struct usdt_arg *arg)
{
	static char type[8];

	if (!arg->size)
		return "?";
	snprintf(type, sizeof(type), "%c%d",
		 arg->is_float    ? 'f'
		 : arg->is_signed ? 's'
				  : 'u',
		 8 * arg->size);
	return type;
}

/* Says what is wrong with a probe that a spec names. */
static void __attribute__((format(printf, 4, 5)))
complain(const struct target *t, const struct target_file *f, const struct usdt_site *site,
	 const char *format, ...)
{
	char line[24] = "", what[256], shown[UTF8_VISIBLE(sizeof(what))];
	va_list args;

	if (t->is_source)
		snprintf(line, sizeof(line), ":%" PRIu64, site->address);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	*utf8_visible(shown, slice_of(what)) = 0;
	warnx("%s%s: probe %.*s %s", f->path, line, (int)site->name.n, site->name.p, shown);
}

/* The constant 0, as x86-64 and arm64 write it. */
static bool is_zero(struct slice operand)
{
	return slice_is(operand, "$0") || slice_is(operand, "0");
}

/* Whether an argument of the probe can be what the spec says. */
static bool check_arg(const struct target *t, const struct target_file *f,
		      const struct usdt_site *site, unsigned i, const struct probespec_arg *want)
{
	const struct usdt_arg *arg = &site->args[i];
	int name = want->name.n;

	if (!want->name.n || !arg->size)
		return true;
	if (slice_is(want->name, "tsc") && is_zero(arg->operand))
		complain(t, f, site, "tells no time: its argument %u, 'tsc', is always 0", i);
	if (arg->is_float)
		complain(t, f, site,
			 "has a floating-point number (%.*s) as argument %u, '%.*s': "
			 "int and str can be read, _ skips it",
			 (int)arg->operand.n, arg->operand.p, i, name, want->name.p);
	else if (arg->size > 8 || (arg->size & (arg->size - 1)))
		complain(t, f, site,
			 "has %u bytes as argument %u, '%.*s': 1, 2, 4 or 8 can be read", arg->size,
			 i, name, want->name.p);
	else if (want->is_string && arg->size != sizeof(uint64_t))
		complain(t, f, site,
			 "has %s as argument %u, '%.*s': that is not a string's address",
			 target_type(arg), i, name, want->name.p);
	else
		return true;
	return false;
}

/* Whether a probe has the arguments that are wanted. */
static bool check_site(const struct target *t, const struct target_file *f,
		       const struct usdt_site *site, const struct probespec *spec)
{
	for (unsigned i = 0; i < spec->num_args; i++) {
		if (i >= site->num_args && spec->args[i].name.n) {
			complain(t, f, site,
				 "has %u arguments; '%.*s' would be number %u, counted from 0",
				 site->num_args, (int)spec->args[i].name.n, spec->args[i].name.p,
				 i);
			return false;
		}
		if (i < site->num_args && !check_arg(t, f, site, i, &spec->args[i]))
			return false;
	}
	return true;
}

static bool check_spec(const struct target *t, const struct probespec *spec, size_t num_sites)
{
	bool found = false;

	for (size_t i = 0; i < t->n; i++)
		for (size_t j = 0; j < t->files[i].usdt.n; j++) {
			const struct usdt_site *site = &t->files[i].usdt.sites[j];

			if (!target_matches(spec, site))
				continue;
			found = true;
			if (!check_site(t, &t->files[i], site, spec))
				return false;
		}
	if (found)
		return true;
	if (num_sites)
		warnx("%s: there is no probe %s; usdt-gen -l lists those that are there", t->name,
		      spec->text);
	else
		warnx("%s: there is no probe %s, nor any other; SPDK has them when configured with --with-usdt",
		      t->name, spec->text);
	return false;
}

size_t target_check(const struct target *t, const struct probespecs *specs)
{
	size_t num_sites = 0, faults = 0;

	for (size_t i = 0; i < t->n; i++)
		num_sites += t->files[i].usdt.n;
	for (size_t i = 0; i < specs->n; i++)
		faults += !check_spec(t, &specs->all[i], num_sites);
	return faults;
}
