/* SPDX-License-Identifier: BSD-3-Clause */
#include "reading.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"
#include "mem.h"
#include "out.h"
#include "sandbox.h"

struct job {
	struct reading *files;
	const struct mapping_list *list;
	reading_known *is_known;
	const void *context;
};

/* How the child starts its result. What is wrong follows, and then the file. */
struct head {
	uint32_t is_open, error_size;
	struct reading_id id;
};

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
		error = elf_read(&f->file, f->fd);
	head.error_size = error ? strlen(error) : 0;
	out_bytes(out, &head, sizeof(head));
	out_bytes(out, error, head.error_size);
	elf_write(&f->file, out);
	elf_free(&f->file);
}

static bool add_file(void *context, size_t i, struct slice bytes)
{
	struct job *job = context;
	struct reading *f = &job->files[i];
	size_t n = bytes.n;
	struct head head;

	if (!sandbox_cut(&bytes, &head, sizeof(head)) || head.error_size > bytes.n)
		return false;
	f->is_open = head.is_open != 0;
	f->id = head.id;
	/* no child chooses a file that another process has mapped: its functions would be this one's */
	f->id.device = f->mapping.device;
	f->id.inode = f->mapping.inode;
	f->known = f->is_open ? job->is_known(job->context, &f->id) : MAP_NONE;
	f->error = head.error_size ? sandbox_error(slice_cut(&bytes, head.error_size)) : NULL;
	if ((head.error_size && !f->error) || (f->is_open && f->known == MAP_NONE && !elf_receive(&f->file, bytes))) {
		free(f->error);
		f->error = NULL;
		return false;
	}
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

void reading_run(struct sandbox *sandbox, struct reading *files, size_t n, const struct mapping_list *list,
		 reading_known *is_known, const void *context)
{
	struct job job = {.files = files, .list = list, .is_known = is_known, .context = context};
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
	free(keep);
}
