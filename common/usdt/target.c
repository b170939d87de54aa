/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count.h"
#include "io.h"
#include "mapping.h"
#include "mem.h"
#include "utf8.h"

enum {
	MAX_FILES = 4096, /* of a process that are searched; each of its libraries is one */
	MAX_REPORTS = 8,  /* of its files that cannot be read; the others are counted */
};

void target_close(struct target *t)
{
	for (size_t i = 0; i < t->n; i++) {
		usdt_free(&t->files[i].usdt);
		free(t->files[i].path);
		io_close(&t->files[i].fd);
	}
	free(t->files);
	free(t->name);
	*t = (struct target){};
}

void target_report(const struct target *t, char *message)
{
	t->report(message);
	free(message);
}

/* A file that is read. */
struct wanted {
	struct mapping mapping; /* its path is a copy */
	int fd;                 /* of target_add_file(), handed over, or to read in the child; -1: none */
	int error;              /* in the child: why there is none */
};

struct search {
	struct target *target;
	const struct mapping_list *list; /* NULL: the file is open */
	struct wanted *files;
	size_t n, cap;
	bool failed; /* that of target_add_file() */
	bool own;    /* see struct sandbox_job */
};

/* How the child starts its result. Then come the probes, or what is wrong. */
enum result_kind { PROBES, WRONG, NO_ELF };

static uint64_t device_of(void *context, size_t i)
{
	const struct search *search = context;

	return search->files[i].mapping.device;
}

/* In the child. */
static int open_wanted(void *context, size_t i)
{
	struct search *search = context;
	struct wanted *w = &search->files[i];
	char link[32];

	w->fd = mapping_open(&w->mapping, search->list);
	w->error = errno;
	if (w->fd < 0 || !search->target->keeps_open)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", w->fd);
	return open(link, O_PATH | O_CLOEXEC);
}

/* Reads what the kernel knows about the file without asking its file system, which may not answer. */
static bool identify(int fd, struct statx *st)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, st) == 0;
}

/* Whether it is the file that is mapped. */
static bool is_mapped(const struct mapping *m, const struct mapping_list *list, int fd)
{
	struct statx st, mapped;
	bool same_inode, same;
	char link[64];
	int own;

	if (!identify(fd, &st) || !S_ISREG(st.stx_mode))
		return false;
	same_inode = st.stx_ino == m->inode;
	if (same_inode && m->device == ((uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor))
		return true;
	/* statx(2) has other devices on Btrfs, and on an overlay other inodes, too: compare with the mapping itself */
	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
	own = openat(list->proc, link, O_PATH | O_CLOEXEC);
	/* it takes CAP_CHECKPOINT_RESTORE */
	if (own < 0)
		return same_inode;
	same = identify(own, &mapped) && mapped.stx_ino == st.stx_ino && mapped.stx_dev_major == st.stx_dev_major &&
	       mapped.stx_dev_minor == st.stx_dev_minor;
	close(own);
	return same;
}

static void release(struct wanted *w)
{
	io_close(&w->fd);
}

static void take_wanted(void *context, size_t i, int fd)
{
	struct search *search = context;
	struct wanted *w = &search->files[i];

	release(w);
	if (is_mapped(&w->mapping, search->list, fd))
		w->fd = fd;
	else
		close(fd);
}

static void read_wanted(void *context, size_t i, struct out *out)
{
	struct search *search = context;
	const struct wanted *w = &search->files[i];
	struct usdt usdt = {};
	enum result_kind kind = PROBES;
	const char *error = strerror(w->error);

	/* code may be mapped from anything */
	if (w->fd < 0 || usdt_read(&usdt, w->fd, &error) != 0)
		kind = usdt.is_other && search->list ? NO_ELF : WRONG;
	out_bytes(out, &kind, sizeof(kind));
	if (kind == WRONG)
		out_text(out, error);
	else if (kind == PROBES)
		usdt_write(&usdt, out);
	usdt_free(&usdt);
}

/* Reports a file, whose probes are not found. error: NULL if the reason was reported. */
static void leave_out(struct search *search, size_t i, const char *error)
{
	struct target *t = search->target;
	char *path = utf8_visible_copy(search->files[i].mapping.path), *what = utf8_visible_copy(error ? error : "");

	search->failed = true;
	t->incomplete |= search->list != NULL;
	if (!search->list)
		target_report(t, mem_printf("%s: %s", path,
					    error ? what : "too many files could not be read: no more are tried"));
	else if (error && t->num_bad < MAX_REPORTS)
		target_report(t, mem_printf("%s: %s: probes in this file are not found: %s", t->name, path, what));
	else
		t->num_others++;
	t->num_bad += error && search->list;
	free(path);
	free(what);
}

static void fail(void *context, size_t i, const char *why)
{
	struct search *search = context;

	leave_out(search, i, why);
	release(&search->files[i]);
}

/* A process may have mapped a bad file: the others still have probes. */
static bool add_probes(struct search *search, size_t i, struct slice bytes)
{
	struct wanted *w = &search->files[i];
	struct target *t = search->target;
	enum result_kind kind;
	struct usdt usdt;
	char *error;

	if (!sandbox_cut(&bytes, &kind, sizeof(kind)))
		return false;
	if (kind == NO_ELF)
		return true;
	if (kind == WRONG) {
		error = sandbox_error(bytes);
		if (!error)
			return false;
		leave_out(search, i, error);
		free(error);
		return true;
	}
	if (!usdt_receive(&usdt, bytes))
		return false;
	if (search->list && !usdt.n) {
		usdt_free(&usdt);
		return true;
	}
	if (search->list && t->keeps_open && w->fd < 0) {
		leave_out(search, i, "it is not the file that is mapped");
		usdt_free(&usdt);
		return true;
	}
	mem_add(t->files, t->n, t->cap, (struct target_file){utf8_visible_copy(w->mapping.path), w->fd, usdt});
	w->fd = -1;
	return true;
}

static bool add_wanted(void *context, size_t i, struct slice bytes)
{
	struct search *search = context;
	bool is_sound = add_probes(search, i, bytes);

	if (is_sound)
		release(&search->files[i]);
	return is_sound;
}

static void read_files(struct search *search, const int *keep, size_t num_keep)
{
	const struct sandbox_job job = {.n = search->n,
					.context = search,
					.keep = keep,
					.num_keep = num_keep,
					.own = search->own,
					.device = device_of,
					/* what one child returns decides where the kernel changes that file */
					.alone = search->target->keeps_open,
					.open = search->list ? open_wanted : NULL,
					.opened = search->target->keeps_open ? take_wanted : NULL,
					.read = read_wanted,
					.result = add_wanted,
					.failed = fail};

	sandbox_run(&search->target->sandbox, &job);
}

int target_add_file(struct target *t, const char *path)
{
	/* do not wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct wanted file = {.mapping.path = (char *)path, .fd = fd};
	struct search search = {.target = t, .files = &file, .n = 1, .own = fd >= 0 && sandbox_is_own(fd)};

	if (fd < 0)
		leave_out(&search, 0, strerror(errno));
	else
		read_files(&search, &fd, 1);
	if (!t->name)
		t->name = utf8_visible_copy(path);
	return search.failed ? -1 : 0;
}

static bool is_wanted(const struct search *search, const struct mapping *m)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->files[i].mapping.device == m->device && search->files[i].mapping.inode == m->inode)
			return true;
	return false;
}

/* Lists the files of the mappings, each once. Returns 0, or -1 with errno. */
static int list_files(struct search *search, struct mapping_list *list)
{
	struct target *t = search->target;
	struct mapping m;
	int got;

	while ((got = mapping_next(list, &m)) > 0) {
		if (!m.code || !m.inode || is_wanted(search, &m))
			continue;
		if (search->n == MAX_FILES) {
			target_report(t, mem_printf("%s: more than %d files are mapped as code: probes in the others "
						    "are not found",
						    t->name, MAX_FILES));
			t->incomplete = true;
			return 0;
		}
		search->files = mem_room(search->files, search->n, &search->cap);
		m.path = mem_copy(slice_of(m.path));
		search->files[search->n++] = (struct wanted){.mapping = m, .fd = -1};
	}
	return got;
}

/* Adds the files of the mappings. Returns 0, or -1 after a report. */
static int add_mappings(struct target *t, struct mapping_list *list)
{
	const int keep[] = {list->proc, list->root};
	struct search search = {.target = t, .list = list};
	int result = list_files(&search, list);

	if (result != 0)
		target_report(t, mem_printf("%s: maps: %s", t->name, strerror(errno)));
	read_files(&search, keep, COUNT(keep));
	if (t->num_others)
		target_report(t, mem_printf("%s: nor those in %u more file%s", t->name, t->num_others,
					    t->num_others == 1 ? "" : "s"));
	for (size_t i = 0; i < search.n; i++)
		free(search.files[i].mapping.path);
	free(search.files);
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
