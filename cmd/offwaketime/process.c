/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "mapping.h"
#include "utf8.h"

/*
 * Milliseconds between two looks at a process that has addresses which it has not mapped: every time twice as many,
 * since without frame pointers a stack may hold any number.
 */
enum { LEAST_WAIT = 100, MOST_WAIT = 10000 };

enum { SHOWN_FAULTS = 8 };

/* Whether the process of this id is still the memory image that was seen: it may have run another program since. */
static bool is_image(int proc, uint64_t image)
{
	enum { ARG_START = 46 }; /* words behind the name */
	int fd = openat(proc, "stat", O_RDONLY | O_CLOEXEC);
	char text[1024], *p;
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	p = strrchr(text, ')');
	for (int i = 0; p && i < ARG_START; i++)
		p = strchr(p + 1, ' ');
	return p && strtoull(p, NULL, 10) == image;
}

/* The index of the first range that ends behind the address. */
static size_t first_behind(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address >= process->ranges[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct range *range_of(const struct process *process, uint64_t address)
{
	size_t i = first_behind(process, address);

	return i < process->n && address >= process->ranges[i].start ? &process->ranges[i] : NULL;
}

/* Functions without names are no loss of times: this is a note. */
static void note_fault(struct processes *p, const char *path, const char *error)
{
	char shown[UTF8_VISIBLE(PATH_MAX) + 1];
	size_t n = strnlen(path, PATH_MAX);

	if (p->num_faulty++ >= SHOWN_FAULTS)
		return;
	*utf8_visible(shown, (struct slice){path, n}) = 0;
	cli_note("%s: %s: functions in it have no names", shown, error);
}

static uint32_t add_file(struct processes *p, struct slice id, int fd, const struct mapping *m,
			 int root)
{
	const char *error;
	uint32_t index;

	if (p->file_ids.n == p->files_cap) {
		size_t cap = p->files_cap ? 2 * p->files_cap : 16;
		struct elf_file *files = reallocarray(p->files, cap, sizeof(*files));

		if (!files)
			return MAP_NONE;
		p->files = files;
		p->files_cap = cap;
	}
	index = intern_add(&p->file_ids, id);
	if (index == MAP_NONE)
		return index;
	error = elf_read(&p->files[index], fd, m->path, root, &p->budget);
	if (error)
		note_fault(p, m->path, error);
	return index;
}

/*
 * The index of the mapped file, which is read when it is a new one: the inode of one that was deleted may have
 * become another file's.
 */
static uint32_t file_of(struct processes *p, const struct mapping *m, int proc, int root)
{
	int fd = m->inode ? mapping_open(m, proc, root) : -1;
	uint32_t index = MAP_NONE;
	struct stat st;

	if (fd < 0)
		return MAP_NONE;
	if (fstat(fd, &st) == 0) {
		const uint64_t id[] = {m->device, m->inode, st.st_size, st.st_mtim.tv_sec,
				       st.st_mtim.tv_nsec};
		struct slice text = {(const char *)id, sizeof(id)};

		index = intern_get(&p->file_ids, text);
		if (index == MAP_NONE)
			index = add_file(p, text, fd, m, root);
	}
	close(fd);
	return index;
}

static int read_maps(struct processes *p, struct process *process, FILE *maps, int proc, int root)
{
	struct mapping m;
	char *line = NULL;
	size_t cap = 0;
	int result = 0;

	while (getline(&line, &cap, maps) > 0) {
		struct range *ranges;

		if (!mapping_parse(&m, line) || !m.code)
			continue;
		ranges = reallocarray(process->ranges, process->n + 1, sizeof(*ranges));
		if (!ranges) {
			result = -1;
			break;
		}
		process->ranges = ranges;
		ranges[process->n++] = (struct range){
			m.start, m.end, m.offset, m.device, m.inode, file_of(p, &m, proc, root)};
	}
	free(line);
	return result;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/*
 * Adds what was known before and is not there any more: libraries are unloaded, and of a process that is just ending
 * the kernel tells less and less. Returns 0, or -1 without memory.
 */
static int keep(struct process *process, const struct process *before)
{
	struct range *all = reallocarray(process->ranges, process->n + before->n + 1, sizeof(*all));
	size_t n = process->n;

	if (!all)
		return -1;
	process->ranges = all;
	for (size_t i = 0; i < before->n; i++) {
		const struct range *old = &before->ranges[i];
		size_t at = first_behind(process, old->start);
		struct range *same = &all[at];

		if (at == process->n || same->start >= old->end)
			all[n++] = *old;
		else if (same->file == MAP_NONE && same->start == old->start &&
			 same->offset == old->offset && same->device == old->device &&
			 same->inode == old->inode)
			same->file = old->file;
	}
	process->n = n;
	qsort(all, n, sizeof(*all), by_start);
	return 0;
}

/* NULL: it has ended, or may not be looked into. */
static FILE *open_maps(int proc)
{
	int fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC);
	FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !maps)
		close(fd);
	return maps;
}

/* Reads what the process has mapped, unless it has ended. Returns 0, or -1 without memory. */
static int look(struct processes *p, struct process *process, const struct side *side)
{
	struct process before = *process;
	int proc, root, result = 0;
	char path[32];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, side->pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return 0;
	root = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	maps = open_maps(proc);
	/* in this order: maps stay those of the program that they were opened of */
	if (maps && root >= 0 && is_image(proc, side->image)) {
		process->ranges = NULL;
		process->n = 0;
		result = read_maps(p, process, maps, proc, root);
		if (keep(process, &before) != 0)
			result = -1;
		free(before.ranges);
	}
	if (maps)
		fclose(maps);
	if (root >= 0)
		close(root);
	close(proc);
	return result;
}

static struct slice id_of(const struct side *side, uint64_t id[2])
{
	id[0] = side->pid;
	id[1] = side->image;
	return (struct slice){(const char *)id, 2 * sizeof(*id)};
}

/* The process of this side, a new one if it must be; NULL without memory. */
static struct process *process_of(struct processes *p, const struct side *side)
{
	uint64_t id[2];
	uint32_t known = p->ids.n, index;

	/* first, so that each name has its place */
	if (known == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		struct process *all = reallocarray(p->all, cap, sizeof(*all));

		if (!all)
			return NULL;
		p->all = all;
		p->cap = cap;
	}
	index = intern_add(&p->ids, id_of(side, id));
	if (index == MAP_NONE)
		return NULL;
	if (index == known)
		p->all[index] = (struct process){};
	return &p->all[index];
}

/* Whether all addresses are mapped, as far as is known. */
static bool has_all(const struct process *process, const uint64_t *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!range_of(process, frames[i]))
			return false;
	return true;
}

int processes_look(struct processes *p, const struct side *side, const uint64_t *frames, size_t n)
{
	struct process *process;

	if (!side->pid || !side->image || !n)
		return 1;
	process = process_of(p, side);
	if (!process)
		return -1;
	if (has_all(process, frames, n))
		return 1;
	if (clock_ms() < process->next)
		return 0;
	process->wait = !process->wait              ? LEAST_WAIT
			: process->wait < MOST_WAIT ? 2 * process->wait
						    : MOST_WAIT;
	process->next = clock_ms() + process->wait;
	if (look(p, process, side) != 0)
		return -1;
	return has_all(process, frames, n);
}

const struct function *processes_find(const struct processes *p, const struct side *side,
				      uint64_t address)
{
	uint64_t id[2];
	uint32_t index = intern_get(&p->ids, id_of(side, id));
	const struct range *range;

	if (index == MAP_NONE)
		return NULL;
	range = range_of(&p->all[index], address);
	if (!range || range->file == MAP_NONE)
		return NULL;
	return elf_find(&p->files[range->file], address - range->start + range->offset);
}

void processes_report(const struct processes *p)
{
	if (p->num_faulty > SHOWN_FAULTS)
		cli_note("functions in %u more such files have no names",
			 p->num_faulty - SHOWN_FAULTS);
}

void processes_free(struct processes *p)
{
	for (uint32_t i = 0; i < p->ids.n; i++)
		free(p->all[i].ranges);
	for (uint32_t i = 0; i < p->file_ids.n; i++)
		elf_free(&p->files[i]);
	free(p->all);
	free(p->files);
	intern_free(&p->ids);
	intern_free(&p->file_ids);
	*p = (struct processes){};
}
