/* SPDX-License-Identifier: BSD-3-Clause */
#include "reading.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count.h"
#include "elffile.h"
#include "map.h"
#include "mem.h"
#include "out.h"
#include "regular.h"
#include "sandbox.h"

/* Where the debug files of a file may be: by its build id, and by its link, below two roots. */
enum { LINKS = 3, PLACES = 2 * (1 + LINKS) };

struct job {
	struct reading *files;
	const struct mapping_list *list;
	reading_known *is_known;
	const void *context;
	int own_root;
	/* of debug files, by number of a file: */
	uint64_t root_id;
	size_t *numbers;
	int (*places)[PLACES];
};

/* How the child starts its result. What is wrong follows, and then the file. */
struct head {
	uint32_t is_open, is_found, error_size;
	struct reading_id id;
	struct elf_debug debug;
};

static void write_result(struct head *head, const char *error, const struct elf_file *file, struct out *out)
{
	head->error_size = error ? strlen(error) : 0;
	out_bytes(out, head, sizeof(*head));
	out_bytes(out, error, head->error_size);
	elf_write(file, out);
}

/* Cuts off all but the file. */
static bool cut_head(struct slice *bytes, struct head *head, char **error)
{
	*error = NULL;
	if (!sandbox_cut(bytes, head, sizeof(*head)) || head->error_size > bytes->n)
		return false;
	if (head->error_size)
		*error = sandbox_error(slice_cut(bytes, head->error_size));
	return !head->error_size || *error;
}

static uint64_t device_of(void *context, size_t i)
{
	const struct job *job = context;

	return job->files[i].mapping.device;
}

static int open_file(void *context, size_t i)
{
	struct job *job = context;
	struct reading *f = &job->files[i];
	struct stat st;

	if (f->fd < 0)
		f->fd = mapping_open(&f->mapping, job->list);
	f->is_open = f->fd >= 0 && fstat(f->fd, &st) == 0;
	if (!f->is_open)
		return -1;
	f->id = (struct reading_id){f->mapping.device, f->mapping.inode, st.st_size, st.st_mtim.tv_sec,
				    st.st_mtim.tv_nsec};
	f->known = job->is_known(job->context, &f->id);
	return -1;
}

static void read_file(void *context, size_t i, struct out *out)
{
	const struct job *job = context;
	struct reading *f = &job->files[i];
	struct head head = {.is_open = f->is_open, .id = f->id};
	const char *error = NULL;

	if (f->is_open && f->known == MAP_NONE)
		error = elf_read(&f->file, &head.debug, f->fd);
	write_result(&head, error, &f->file, out);
	elf_free(&f->file);
}

/* A child that was taken over must not choose which files are opened. A path has a build id in two pieces. */
static bool is_sound(const struct elf_debug *debug)
{
	size_t n = strnlen(debug->build_id, sizeof(debug->build_id)), i = 0;

	while (i < n && isxdigit((unsigned char)debug->build_id[i]))
		i++;
	return i == n && (!n || n >= ELF_BUILD_ID_MIN) && n < sizeof(debug->build_id) &&
	       strnlen(debug->link, sizeof(debug->link)) <= NAME_MAX && !strchr(debug->link, '/');
}

static bool add_file(void *context, size_t i, struct slice bytes)
{
	struct job *job = context;
	struct reading *f = &job->files[i];
	size_t n = bytes.n;
	struct head head;
	char *error;

	if (!cut_head(&bytes, &head, &error))
		return false;
	f->is_open = head.is_open != 0;
	f->id = head.id;
	/* no child chooses a file that another process has mapped: its functions would be this one's */
	f->id.device = f->mapping.device;
	f->id.inode = f->mapping.inode;
	f->known = f->is_open ? job->is_known(job->context, &f->id) : MAP_NONE;
	if (f->is_open && f->known == MAP_NONE) {
		if (!elf_receive(&f->file, bytes)) {
			free(error);
			return false;
		}
		if (is_sound(&head.debug))
			f->debug = head.debug;
	}
	f->error = error;
	f->held = n;
	return true;
}

static void fail(void *context, size_t i, const char *why)
{
	struct job *job = context;
	struct reading *f = &job->files[i];

	f->is_open = false;
	f->known = MAP_NONE;
	if (why)
		f->error = mem_copy(slice_of(why));
}

/* Opens the debug file at a place, if it is there. */
static int open_place(const struct job *job, const struct reading *f, int place)
{
	static const char *const links[LINKS] = {"%.*s/%s", "%.*s/.debug/%s", "usr/lib/debug%.*s/%s"};
	int root = place < PLACES / 2 ? job->list->root : job->own_root, n;
	const char *slash = strrchr(f->mapping.path, '/'), *id = f->debug.build_id;
	char path[PATH_MAX + NAME_MAX + 32];
	struct stat st;

	place %= PLACES / 2;
	if (!place && *id)
		n = snprintf(path, sizeof(path), "usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	else if (place && slash && *f->debug.link)
		n = snprintf(path, sizeof(path), links[place - 1], (int)(slash - f->mapping.path), f->mapping.path,
			     f->debug.link);
	else
		return -1;
	return n < (int)sizeof(path) ? regular_open(root, path, REGULAR_IN_ROOT | REGULAR_NO_MAGICLINKS, &st) : -1;
}

static uint64_t root_of(void *context, size_t i)
{
	const struct job *job = context;

	(void)i;
	return job->root_id;
}

static int open_debug(void *context, size_t i)
{
	struct job *job = context;

	for (int place = 0; place < PLACES; place++)
		job->places[i][place] = open_place(job, &job->files[job->numbers[i]], place);
	return -1;
}

static void read_debug(void *context, size_t i, struct out *out)
{
	const struct job *job = context;
	const struct reading *f = &job->files[job->numbers[i]];
	const char *error = NULL, *first = NULL;
	struct elf_file file = {};
	bool found = false;
	struct head head;

	for (int place = 0; place < PLACES && !found; place++)
		if (job->places[i][place] >= 0) {
			elf_free(&file);
			error = elf_read_debug(&file, &found, &f->debug, place % (PLACES / 2) == 0,
					       job->places[i][place]);
			first = first ? first : error;
		}
	head = (struct head){.is_found = found};
	write_result(&head, first, &file, out);
	elf_free(&file);
}

/* Takes the functions of the debug file instead of those that the file itself has. */
static bool add_debug(void *context, size_t i, struct slice bytes)
{
	struct job *job = context;
	struct reading *f = &job->files[job->numbers[i]];
	size_t n = bytes.n;
	struct elf_file file;
	struct head head;
	char *error;

	if (!cut_head(&bytes, &head, &error))
		return false;
	if (!elf_receive(&file, bytes)) {
		free(error);
		return false;
	}
	f->held += n;
	if (head.is_found) {
		free(file.ranges);
		file.ranges = f->file.ranges;
		file.num_ranges = f->file.num_ranges;
		f->file.ranges = NULL;
		elf_free(&f->file);
		f->file = file;
	} else {
		elf_free(&file);
	}
	if (head.is_found || error) {
		free(f->error);
		f->error = error;
	}
	return true;
}

static void fail_debug(void *context, size_t i, const char *why)
{
	struct job *job = context;
	struct reading *f = &job->files[job->numbers[i]];

	if (!why || f->error)
		return;
	f->error = mem_printf("its debug file: %s", why);
}

static void read_debug_files(struct sandbox *sandbox, struct job *job, size_t n)
{
	const int keep[] = {job->list->proc, job->list->root, job->own_root};
	size_t num = 0;

	job->root_id = mapping_root_id(job->list);
	job->numbers = mem_array(n, sizeof(*job->numbers));
	job->places = mem_array(n, sizeof(*job->places));
	for (size_t i = 0; i < n; i++)
		if (*job->files[i].debug.build_id || *job->files[i].debug.link)
			job->numbers[num++] = i;
	sandbox_run(sandbox, &(struct sandbox_job){.n = num,
						   .context = job,
						   .keep = keep,
						   .num_keep = COUNT(keep),
						   .device = root_of,
						   .open = open_debug,
						   .read = read_debug,
						   .result = add_debug,
						   .failed = fail_debug});
	free(job->numbers);
	free(job->places);
}

void reading_run(struct sandbox *sandbox, struct reading *files, size_t n, const struct mapping_list *list,
		 reading_known *is_known, const void *context)
{
	struct job job = {.files = files,
			  .list = list,
			  .is_known = is_known,
			  .context = context,
			  .own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	int *keep = mem_array(n + 2, sizeof(*keep));

	for (size_t i = 0; i < n; i++) {
		files[i].known = MAP_NONE;
		keep[i] = files[i].fd;
	}
	keep[n] = list->proc;
	keep[n + 1] = list->root;
	sandbox_run(sandbox, &(struct sandbox_job){.n = n,
						   .context = &job,
						   .keep = keep,
						   .num_keep = n + 2,
						   .device = device_of,
						   .open = open_file,
						   .read = read_file,
						   .result = add_file,
						   .failed = fail});
	read_debug_files(sandbox, &job, n);
	free(keep);
	if (job.own_root >= 0)
		close(job.own_root);
}
