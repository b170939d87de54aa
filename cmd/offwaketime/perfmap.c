/* SPDX-License-Identifier: BSD-3-Clause */
#include "perfmap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "number.h"
#include "regular.h"
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

/* Adds the function of a line, if it is one. A NUL also ends a name. False: the budget is spent. */
static bool add_line(struct perfmap *map, struct slice line, struct elffile_budget *budget)
{
	uint64_t start, size;

	if (!cut_number(&line, &start) || !cut_number(&line, &size) || !size || size > UINT64_MAX - start)
		return true;
	line = slice_of_array(line.p, line.n);
	if (!line.n || line.n >= NAME_LONGEST)
		return true;
	/* short lines take more memory than they have bytes */
	map->error = elffile_budget_spend(budget, &map->loaded, sizeof(*map->functions));
	if (map->error)
		return false;
	map->functions = mem_room(map->functions, map->n, &map->cap);
	map->functions[map->n++] = (struct perfmap_function){start, start + size, map->names.len};
	out_slice(&map->names, line);
	out_char(&map->names, 0);
	return true;
}

/* Whether the file still starts with what was read: Java rewrites its list each time. */
static bool is_continued(const struct perfmap *map, int fd, const struct stat *st)
{
	char now[sizeof(map->last)];
	size_t n = map->read < sizeof(now) ? map->read : sizeof(now);

	return st->st_ino == map->inode && pread(fd, now, n, map->read - n) == (ssize_t)n &&
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
static size_t read_lines(struct perfmap *map, int fd, struct elffile_budget *budget)
{
	char block[65536], *at = block, *end;
	ssize_t n = pread(fd, block, sizeof(block), map->read);
	size_t used;

	if (n <= 0)
		return 0;
	map->error = elffile_budget_spend(budget, &map->loaded, n);
	if (map->error)
		return 0;
	while ((end = memchr(at, '\n', block + n - at)) && add_line(map, slice_between(at, end), budget))
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

const char *perfmap_add(struct perfmap *map, int fd, struct elffile_budget *budget)
{
	size_t known;
	struct stat st;

	if (map->error || fstat(fd, &st) != 0)
		return NULL;
	if (!is_continued(map, fd, &st))
		forget(map);
	map->inode = st.st_ino;
	known = map->n;
	while (!map->error && read_lines(map, fd, budget))
		;
	if (map->n > known)
		sort(map);
	return map->error;
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

const char *perfmap_read(struct perfmap *map, int proc, int root, struct elffile_budget *budget)
{
	const uint64_t below = REGULAR_IN_ROOT | REGULAR_NO_SYMLINKS;
	const char *error = NULL;
	struct identity id;
	struct stat st;
	int fd;

	if (map->error || !read_identity(proc, &id))
		return NULL;
	snprintf(map->path, sizeof(map->path), "/tmp/perf-%u.map", id.pid);
	fd = regular_open(root, map->path, below, &st);
	if (fd < 0)
		return NULL;
	if (st.st_uid == id.user || st.st_uid == 0)
		error = perfmap_add(map, fd, budget);
	close(fd);
	return error;
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

void perfmap_free(struct perfmap *map, struct elffile_budget *budget)
{
	free(map->functions);
	free(map->names.buf);
	budget->spent -= map->loaded;
}
