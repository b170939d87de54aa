/* SPDX-License-Identifier: BSD-3-Clause */
#include "perfmap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elffile.h"
#include "mapping.h"
#include "mem.h"
#include "number.h"
#include "regular.h"
#include "sandbox.h"
#include "search.h"

enum { NAME_LONGEST = 4096 }; /* a longer name is ignored */

/* Empties it, except for its path and what it has spent. */
static void forget(struct perfmap *map)
{
	struct perfmap empty = {.names.fd = OUT_MEMORY, .loaded = map->loaded};

	memcpy(empty.path, map->path, sizeof(empty.path));
	free(map->functions);
	free(map->names.buf);
	*map = empty;
}

/* Cuts off a number and the blank after it. */
static bool cut_number(struct slice *line, uint64_t *value)
{
	const char *blank = memchr(line->p, ' ', line->n);

	if (!blank || !number_hex(slice_between(line->p, blank), value))
		return false;
	slice_cut(line, blank + 1 - line->p);
	return true;
}

/* Adds n to the bytes that it takes. False with map->error if there is no room for them. */
static bool take_room(struct perfmap *map, uint64_t *held, uint64_t n)
{
	if (n > ELFFILE_MAX - map->loaded)
		map->error = ELFFILE_TOO_LARGE;
	else if (*held > SANDBOX_HELD || n > SANDBOX_HELD - *held)
		map->error = SANDBOX_FULL;
	if (map->error)
		return false;
	map->loaded += n;
	*held += n;
	return true;
}

/* Adds the function of a line, if it is one. A NUL also ends a name. False: there is no room for it. */
static bool add_line(struct perfmap *map, struct slice line, uint64_t *held)
{
	uint64_t start, size;

	if (!cut_number(&line, &start) || !cut_number(&line, &size) || !size || size > UINT64_MAX - start)
		return true;
	line = slice_of_array(line.p, line.n);
	if (!line.n || line.n >= NAME_LONGEST)
		return true;
	/* short lines take more memory than they have bytes */
	if (!take_room(map, held, sizeof(*map->functions)))
		return false;
	map->functions = mem_room(map->functions, map->n, &map->cap);
	map->functions[map->n++] = (struct perfmap_function){start, start + size, map->names.len};
	out_slice(&map->names, line);
	out_char(&map->names, 0);
	return true;
}

/* Whether the file still starts with what was read: Java rewrites its list each time. */
static bool is_continued(const struct perfmap *map, int fd, uint64_t inode)
{
	char now[sizeof(map->last)];
	size_t n = map->read < sizeof(now) ? map->read : sizeof(now);

	return inode == map->inode && pread(fd, now, n, map->read - n) == (ssize_t)n &&
	       memcmp(now, map->last + sizeof(now) - n, n) == 0;
}

/* Advances past these bytes, and stores the last of them. */
static void pass(struct perfmap *map, const char *bytes, size_t n)
{
	size_t kept = n < sizeof(map->last) ? n : sizeof(map->last);

	memmove(map->last, map->last + kept, sizeof(map->last) - kept);
	memcpy(map->last + sizeof(map->last) - kept, bytes + n - kept, kept);
	map->read += n;
}

/* Adds the functions of the next whole lines. Returns how many bytes they have, 0 after the last one. */
static size_t read_lines(struct perfmap *map, int fd, uint64_t *held)
{
	char block[65536], *at = block, *end;
	ssize_t n = pread(fd, block, sizeof(block), map->read);
	size_t used;

	if (n <= 0)
		return 0;
	if (!take_room(map, held, n))
		return 0;
	while ((end = memchr(at, '\n', block + n - at)) && add_line(map, slice_between(at, end), held))
		at = end + 1;
	used = at - block;
	/* a line of this length is no function */
	if (!used && n == sizeof(block))
		used = n;
	pass(map, block, used);
	return used;
}

static int by_start(const void *a, const void *b)
{
	const struct perfmap_function *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->name > y->name) - (x->name < y->name);
}

/* Sorts the functions. Of several with the same start, only the one written last remains. */
static void sort(struct perfmap *map)
{
	size_t n = 0;

	if (!map->n)
		return;
	qsort(map->functions, map->n, sizeof(*map->functions), by_start);
	for (size_t i = 0; i < map->n; i++) {
		n -= n && map->functions[n - 1].start == map->functions[i].start;
		map->functions[n++] = map->functions[i];
	}
	map->n = n;
}

/* Reads the new lines of a file that continues what was read. */
static const char *add_lines(struct perfmap *map, int fd, uint64_t *held)
{
	size_t known = map->n;

	while (!map->error && read_lines(map, fd, held))
		;
	if (map->n > known)
		sort(map);
	return map->error;
}

static void begin(struct perfmap *map, uint64_t inode, bool continued)
{
	if (!continued)
		forget(map);
	map->inode = inode;
}

const char *perfmap_add(struct perfmap *map, int fd, uint64_t *held)
{
	struct stat st;

	if (map->error || fstat(fd, &st) != 0)
		return NULL;
	begin(map, st.st_ino, is_continued(map, fd, st.st_ino));
	return add_lines(map, fd, held);
}

/* The process as it sees itself. */
struct identity {
	unsigned pid;  /* in its own PID namespace */
	unsigned user; /* effective */
};

static bool read_identity(int proc, struct identity *id)
{
	int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC), found = 0;
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *line = NULL;
	size_t cap = 0;

	if (fd >= 0 && !file)
		close(fd);
	while (file && getline(&line, &cap, file) > 0) {
		/* the real one, and the effective one */
		found += sscanf(line, "Uid: %*u %u", &id->user) == 1;
		/* that of each namespace, the innermost last */
		found += strncmp(line, "NSpid:", 6) == 0 && sscanf(strrchr(line, '\t'), "%u", &id->pid) == 1;
	}
	free(line);
	if (file)
		fclose(file);
	return found == 2;
}

/* The copy of a file: only what was not read before, at the same place. */
struct copy {
	struct perfmap *map;
	const struct mapping_list *list;
	uint64_t *held;
	struct identity id;
	int to; /* a file without a name, in memory */
	/* in the child: */
	int from;
	struct stat st;
};

/* What the child writes. */
struct copied {
	uint64_t inode;
	uint32_t is_there, is_continued;
};

static uint64_t root_of(void *context, size_t i)
{
	const struct copy *copy = context;

	(void)i;
	return mapping_root_id(copy->list);
}

static int open_map(void *context, size_t i)
{
	struct copy *copy = context;

	(void)i;
	copy->from = regular_open(copy->list->root, copy->map->path, REGULAR_IN_ROOT | REGULAR_NO_SYMLINKS, &copy->st);
	return -1;
}

static void copy_map(void *context, size_t i, struct out *out)
{
	const struct copy *copy = context;
	bool is_there = copy->from >= 0 && (copy->st.st_uid == copy->id.user || copy->st.st_uid == 0);
	bool continued = is_there && is_continued(copy->map, copy->from, copy->st.st_ino);
	const struct copied copied = {copy->st.st_ino, is_there, continued};
	uint64_t at = continued ? copy->map->read : 0, end = at + ELFFILE_MAX + 1;
	char block[65536];
	ssize_t n;

	(void)i;
	while (is_there && at < end && (n = pread(copy->from, block, sizeof(block), at)) > 0 &&
	       pwrite(copy->to, block, n, at) == n)
		at += n;
	out_bytes(out, &copied, sizeof(copied));
}

static bool add_copy(void *context, size_t i, struct slice bytes)
{
	struct copy *copy = context;
	struct copied copied;

	(void)i;
	if (bytes.n != sizeof(copied) || !sandbox_cut(&bytes, &copied, sizeof(copied)))
		return false;
	if (copied.is_there) {
		begin(copy->map, copied.inode, copied.is_continued != 0);
		add_lines(copy->map, copy->to, copy->held);
	}
	return true;
}

static void fail(void *context, size_t i, const char *why)
{
	struct copy *copy = context;

	(void)i;
	copy->map->failure = mem_copy(slice_of(why ? why : "it is not read"));
	copy->map->error = copy->map->failure;
}

const char *perfmap_read(struct perfmap *map, struct sandbox *sandbox, const struct mapping_list *list)
{
	struct copy copy = {.map = map, .list = list, .held = &sandbox->held};
	int keep[2] = {list->root};
	const struct sandbox_job job = {.n = 1,
					.context = &copy,
					.keep = keep,
					.num_keep = 2,
					.device = root_of,
					.open = open_map,
					.read = copy_map,
					.result = add_copy,
					.failed = fail};

	if (map->error || !read_identity(list->proc, &copy.id))
		return NULL;
	snprintf(map->path, sizeof(map->path), "/tmp/perf-%u.map", copy.id.pid);
	copy.to = memfd_create("perf-map", MFD_CLOEXEC);
	if (copy.to < 0)
		return NULL;
	keep[1] = copy.to;
	sandbox_run(sandbox, &job);
	close(copy.to);
	return map->error;
}

/* How many functions that start before the address are searched: one may be within another. */
enum { NESTED = 16 };

const char *perfmap_find(const struct perfmap *map, uint64_t address)
{
	size_t next = search_first(i, map->n, map->functions[i].start > address);
	const struct perfmap_function *found = NULL;

	for (size_t i = next; i > 0 && next - i < NESTED; i--) {
		const struct perfmap_function *f = &map->functions[i - 1];

		if (address < f->end && (!found || f->name > found->name))
			found = f;
	}
	return found ? map->names.buf + found->name : NULL;
}

void perfmap_free(struct perfmap *map, uint64_t *held)
{
	free(map->functions);
	free(map->names.buf);
	free(map->failure);
	*held -= map->loaded;
}
