/* SPDX-License-Identifier: BSD-3-Clause */
#include "processes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "mapping.h"
#include "mem.h"
#include "minmax.h"
#include "proc.h"
#include "reading.h"
#include "search.h"
#include "signals.h"
#include "utf8.h"

/*
 * Exponential backoff between re-reads of /proc/PID/maps, in milliseconds: without frame pointers a
 * stack holds arbitrary numbers.
 */
enum { MIN_WAIT = 100, MAX_WAIT = 10000 };

/*
 * Any process can map many files and wait again and again, so the time for that is limited, in milliseconds: that of
 * one process, and that of all, which grows by half of the time that passes. After recording there is a little more.
 */
enum { LOAD_MS = 500, BUSY_MS = 2000, BUSY_SHARE = 2, END_MS = 2000 };

enum {
	MAX_NOTES = 8,
	MAX_RANGES = 4096, /* mappings of code of a process; more than any program has */
	MAX_INODES = 65536,
	RECENT_MS = 10000,    /* for which an inode is the same file */
	MAX_PROCESSES = 1024, /* from then on idle ones, which may have ended, are forgotten */
	MAX_HELD = 8 << 20,   /* or when what is known of files takes so many bytes more */
};

/* Whether the process still runs the program that was seen. */
static bool is_image(int proc, uint64_t image)
{
	enum { ARG_START = 48 };
	int fd = openat(proc, "stat", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	const char *start;

	io_close(&fd);
	text[n > 0 ? n : 0] = 0;
	start = proc_field(text, ARG_START);
	return start && strtoull(start, NULL, 10) == image;
}

/* The index of the first range that ends after the address. */
static size_t first_after(const struct code_range *ranges, size_t n, uint64_t address)
{
	return search_first(i, n, ranges[i].end > address);
}

static const struct code_range *range_of(const struct process *process, uint64_t address)
{
	size_t i = first_after(process->ranges, process->n, address);

	return i < process->n && address >= process->ranges[i].start ? &process->ranges[i] : NULL;
}

/* Times are complete without names of functions: this is a note. */
static void note_fault(struct processes *p, const char *path, const char *error)
{
	char *shown;

	if (p->num_faulty++ >= MAX_NOTES)
		return;
	shown = utf8_visible_copy(path);
	cli_notice(p->quiet, "%s: %s: functions in it have no names", shown, error);
	free(shown);
}

/* A reading_known. */
static uint32_t known_file(const void *context, const struct reading_id *id)
{
	const struct processes *p = context;
	uint32_t index = intern_get(&p->file_ids, (struct slice){(const char *)id, sizeof(*id)});

	return index != MAP_NONE && p->files[index].is_read ? index : MAP_NONE;
}

/* Adds a file that was read. Returns its index. */
static uint32_t take_file(struct processes *p, struct reading *r)
{
	uint32_t n = p->file_ids.n, index;
	struct known_file *file;

	if (r->known < n)
		return r->known;
	index = intern_add(&p->file_ids, (struct slice){(const char *)&r->id, sizeof(r->id)});
	if (index == n) {
		p->files = mem_room(p->files, n, &p->files_cap);
		p->files[n] = (struct known_file){};
	}
	file = &p->files[index];
	/* it was read twice */
	if (file->is_read)
		return index;
	*file = (struct known_file){r->file, r->held, true, file->was_noted};
	r->file = (struct elf_file){};
	r->held = 0;
	if (r->error && !file->was_noted)
		note_fault(p, r->mapping.path, r->error);
	file->was_noted |= r->error != NULL;
	return index;
}

static struct recent_file *recent_of(struct processes *p, const struct mapping *m)
{
	const uint64_t id[] = {m->device, m->inode};
	struct slice key = {(const char *)id, sizeof(id)};
	uint32_t number = intern_get(&p->inodes, key);

	if (number != MAP_NONE)
		return &p->recent[number];
	if (p->inodes.n == MAX_INODES)
		intern_free(&p->inodes);
	number = intern_add(&p->inodes, key);
	p->recent = mem_room(p->recent, number, &p->recent_cap);
	p->recent[number] = (struct recent_file){.file = MAP_NONE};
	return &p->recent[number];
}

/* Whether mappings may be read now. After a signal they are not: recording ends, or a user waits for its results. */
static bool has_time(const struct processes *p)
{
	uint64_t now = clock_ms();

	if (signals_caught() || (p->deadline && now >= p->deadline))
		return false;
	return p->busy <= BUSY_MS + (now - p->started) / BUSY_SHARE;
}

/* The files of a process that have to be read. */
struct wanted {
	struct reading *all;
	size_t n, cap;
};

/* Whether the file that is mapped was read shortly before, or could not be. */
static bool is_known(struct processes *p, const struct mapping *m)
{
	const struct recent_file *recent = recent_of(p, m);

	return clock_ms() < recent->until && (recent->file == MAP_NONE || p->files[recent->file].is_read);
}

static void want(struct processes *p, struct wanted *wanted, const struct mapping *m)
{
	struct reading *r;

	/* the next mapping of the file does not want it again */
	*recent_of(p, m) = (struct recent_file){MAP_NONE, clock_ms() + RECENT_MS};
	wanted->all = mem_room(wanted->all, wanted->n, &wanted->cap);
	r = &wanted->all[wanted->n++];
	*r = (struct reading){.mapping = *m, .fd = -1};
	r->mapping.path = mem_copy(slice_of(m->path));
}

/* Lists the code that is mapped, and the files to read. Returns false if there was no time for all of it. */
static bool read_maps(struct processes *p, struct process *process, struct mapping_list *list, struct wanted *wanted)
{
	uint64_t end = clock_ms() + LOAD_MS;
	struct mapping m;

	while (mapping_next(list, &m) > 0) {
		if (clock_ms() >= end || !has_time(p))
			return false;
		if (!m.code)
			continue;
		if (process->n == MAX_RANGES) {
			p->num_large += !process->is_large;
			process->is_large = true;
			break;
		}
		mem_add(process->ranges, process->n, process->cap,
			(struct code_range){.start = m.start,
					    .end = m.end,
					    .offset = m.offset,
					    .device = m.device,
					    .inode = m.inode,
					    .file = MAP_NONE});
		if (m.inode && !is_known(p, &m))
			want(p, wanted, &m);
	}
	return true;
}

/* Returns false if there was no time for all of them: the others are wanted again later. */
static bool read_files(struct processes *p, struct wanted *wanted, const struct mapping_list *list)
{
	uint64_t end = clock_ms() + LOAD_MS;
	bool has_all = true;

	for (size_t i = 0, n; i < wanted->n; i += n) {
		n = wanted->n - i < SANDBOX_FILES ? wanted->n - i : SANDBOX_FILES;
		has_all = has_all && clock_ms() < end && has_time(p);
		if (has_all)
			reading_run(&p->sandbox, wanted->all + i, n, list, known_file, p);
		for (size_t k = i; k < i + n; k++) {
			struct reading *r = &wanted->all[k];
			struct recent_file *recent = recent_of(p, &r->mapping);

			if (!has_all) {
				recent->until = 0;
			} else if (r->is_open) {
				recent->file = take_file(p, r);
			} else if (r->error) {
				/* it is not read again, so that it is named once */
				note_fault(p, r->mapping.path, r->error);
				recent->until = UINT64_MAX;
			}
			p->sandbox.held -= r->held;
			elf_free(&r->file);
			free(r->error);
			free(r->mapping.path);
		}
	}
	free(wanted->all);
	return has_all;
}

/* Whether the code is not from a program or library, or the file could not be read. */
static bool lacks_functions(const struct processes *p, const struct code_range *range)
{
	return range->file == MAP_NONE || !p->files[range->file].functions.num_ranges;
}

static void set_files(struct processes *p, struct process *process)
{
	for (size_t i = 0; i < process->n; i++) {
		struct code_range *range = &process->ranges[i];

		if (range->inode)
			range->file = recent_of(p, &(struct mapping){.device = range->device, .inode = range->inode})
					      ->file;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return ORDER(x->start, y->start);
}

static bool is_same(const struct code_range *a, const struct code_range *b)
{
	return a->start == b->start && a->offset == b->offset && a->device == b->device && a->inode == b->inode;
}

/*
 * Adds ranges that were known before and are gone: libraries are unloaded, and the kernel shows
 * less and less of a process that is ending.
 */
static void keep_old(struct process *process, const struct process *before)
{
	size_t n = process->n;

	for (size_t i = 0; i < before->n && process->n < MAX_RANGES; i++) {
		const struct code_range *old = &before->ranges[i];
		size_t at = first_after(process->ranges, n, old->start);
		struct code_range *now = at < n ? &process->ranges[at] : NULL;

		if (!now || now->start >= old->end)
			mem_add(process->ranges, process->n, process->cap, *old);
		else if (now->file == MAP_NONE && is_same(now, old))
			now->file = old->file;
	}
	if (process->n)
		qsort(process->ranges, process->n, sizeof(*process->ranges), by_start);
}

/* Reads what the process has mapped, unless it has ended or may not be read. Returns false if there was no time. */
static bool load(struct processes *p, struct process *process, const struct party *party)
{
	struct process before = *process;
	bool is_whole = true;
	struct wanted wanted = {};
	struct mapping_list list;

	/* maps are opened first: they remain the old program's if the process calls exec */
	if (!mapping_begin(&list, party->pid) && is_image(list.proc, party->image)) {
		process->ranges = NULL;
		process->n = process->cap = 0;
		is_whole = read_maps(p, process, &list, &wanted);
		is_whole &= read_files(p, &wanted, &list);
		set_files(p, process);
		keep_old(process, &before);
		free(before.ranges);
	}
	mapping_end(&list);
	return is_whole;
}

/* The same within the time that there is. */
static void load_in_time(struct processes *p, struct process *process, const struct party *party)
{
	uint64_t started = clock_ms(), waited = p->sandbox.waited;
	bool is_whole;

	if (!p->started)
		p->started = started;
	is_whole = has_time(p) && load(p, process, party);
	/* a file system that does not answer takes no time from other processes */
	p->busy += clock_ms() - started - (p->sandbox.waited - waited);
	p->num_late += !is_whole;
	p->num_late -= process->is_late;
	process->is_late = !is_whole;
}

static struct process *add(struct processes *p, struct slice id)
{
	uint32_t index = intern_add(&p->ids, id);

	p->all = mem_room(p->all, index, &p->cap);
	p->all[index] = (struct process){};
	return &p->all[index];
}

/* Frees the functions of files that no process has mapped any more. */
static void forget_files(struct processes *p)
{
	bool *mapped = mem_array(p->file_ids.n, sizeof(*mapped));

	for (uint32_t i = 0; i < p->ids.n; i++)
		for (size_t j = 0; j < p->all[i].n; j++)
			if (p->all[i].ranges[j].file != MAP_NONE)
				mapped[p->all[i].ranges[j].file] = true;
	for (uint32_t i = 0; i < p->file_ids.n; i++)
		if (!mapped[i] && p->files[i].is_read) {
			elf_free(&p->files[i].functions);
			p->sandbox.held -= p->files[i].held;
			p->files[i].is_read = false;
		}
	free(mapped);
}

/* Forgets processes without events since the last call. All that had ended by then are among them. */
static void forget_idle(struct processes *p)
{
	struct intern ids = p->ids;
	struct process *all = p->all;

	p->ids = (struct intern){};
	p->all = NULL;
	p->cap = 0;
	for (uint32_t i = 0; i < ids.n; i++) {
		if (all[i].used) {
			all[i].used = false;
			*add(p, ids.all[i]) = all[i];
		} else {
			free(all[i].ranges);
		}
	}
	intern_free(&ids);
	free(all);
	p->limit = p->ids.n < MAX_PROCESSES / 2 ? MAX_PROCESSES : 2 * p->ids.n;
	forget_files(p);
	p->held_limit = p->sandbox.held + MAX_HELD;
}

static struct process *process_of(struct processes *p, const struct party *party)
{
	const uint64_t id[] = {party->pid, party->image};
	struct slice key = {(const char *)id, sizeof(id)};
	uint32_t index = intern_get(&p->ids, key);

	if (index != MAP_NONE)
		return &p->all[index];
	if (p->ids.n >= (p->limit ? p->limit : MAX_PROCESSES) ||
	    p->sandbox.held >= (p->held_limit ? p->held_limit : MAX_HELD))
		forget_idle(p);
	return add(p, key);
}

/* Whether the names of all these addresses cannot change any more. */
static bool is_final(const struct processes *p, const struct process *process, const uint64_t *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct code_range *range = range_of(process, frames[i]);

		if (!range || lacks_functions(p, range))
			return false;
	}
	return true;
}

const struct process *processes_get(struct processes *p, const struct party *party, const uint64_t *frames, size_t n,
				    uint64_t *until)
{
	struct process *process;
	uint64_t known;

	if (!party->pid || !party->image || !n)
		return NULL;
	process = process_of(p, party);
	process->used = true;
	if (is_final(p, process, frames, n))
		return process;
	if (clock_ms() >= process->next) {
		known = process->n;
		load_in_time(p, process, party);
		process->wait = process->n != known || !process->wait ? MIN_WAIT : 2 * process->wait;
		if (process->wait > MAX_WAIT)
			process->wait = MAX_WAIT;
		process->next = clock_ms() + process->wait;
	}
	if (process->next < *until && !is_final(p, process, frames, n))
		*until = process->next;
	return process;
}

size_t processes_depth(const struct process *process, const uint64_t *frames, size_t n)
{
	size_t depth = n > 0;

	while (depth < n && process && range_of(process, frames[depth]))
		depth++;
	return depth;
}

const char *processes_name(const struct processes *p, const struct process *process, uint64_t address)
{
	const struct code_range *range = process ? range_of(process, address) : NULL;

	if (!range || lacks_functions(p, range))
		return NULL;
	return elf_find(&p->files[range->file].functions, address - range->start + range->offset);
}

void processes_end(struct processes *p)
{
	p->deadline = clock_ms() + END_MS;
}

void processes_report(const struct processes *p)
{
	unsigned more = p->num_faulty > MAX_NOTES ? p->num_faulty - MAX_NOTES : 0;

	cli_count(p->quiet, more, "functions in %u more such file{|s} have no names", more);
	cli_count(p->quiet, p->num_large,
		  "%u process{ has|es have} more than %d mappings of code: functions in the others have no names",
		  p->num_large, MAX_RANGES);
	cli_count(p->quiet, p->num_late,
		  "the mappings of %u process{|es} could not all be read in time: functions in them have no names",
		  p->num_late);
}

void processes_free(struct processes *p)
{
	for (uint32_t i = 0; i < p->ids.n; i++)
		free(p->all[i].ranges);
	for (uint32_t i = 0; i < p->file_ids.n; i++)
		elf_free(&p->files[i].functions);
	free(p->all);
	free(p->files);
	free(p->recent);
	intern_free(&p->inodes);
	intern_free(&p->ids);
	intern_free(&p->file_ids);
	*p = (struct processes){};
}
