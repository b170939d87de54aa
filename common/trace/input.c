/* SPDX-License-Identifier: BSD-3-Clause */
#include "input.h"

#include <errno.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "io.h"

/* shared memory's f_type in statfs(2); a C library may come without the kernel's headers */
enum { TMPFS = 0x01021994 };

static void *anonymous(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* The one input with a mapping, for the signal handler. */
static struct {
	struct input *in;
	char *begin, *end;
	size_t asked; /* the page after the one that input_find_lost() has tried to read, 0: none; and the result */
	bool is_lost;
} mapped;

static bool grow(struct input *in, size_t n)
{
	size_t mapped = in->mapped ? in->mapped : 1 << 20;
	void *map;

	while (mapped < n)
		mapped *= 2;
	map = in->data ? mremap((void *)in->data, in->mapped, mapped, MREMAP_MAYMOVE) : anonymous(mapped);
	if (map == MAP_FAILED)
		return false;
	in->data = map;
	in->mapped = mapped;
	return true;
}

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static bool put_zeros(char *at, size_t n)
{
	return mmap(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void note_unreadable(struct input *in, size_t position, size_t n, int error)
{
	if (!in->unreadable || position < in->first_unreadable)
		in->first_unreadable = position;
	if (!in->unreadable)
		in->read_error = error;
	in->unreadable += n;
}

/* Reads n bytes of a page from this position. If that fails, they become zeros, which are counted. */
static void read_page(struct input *in, char *to, size_t n, size_t position)
{
	if (io_pread(in->fd, to, n, position) == 0)
		return;
	if (errno == ENODATA) {
		in->shrunk = true;
		return;
	}
	if (!in->copied || !in->unreadable)
		note_unreadable(in, position, n, errno);
	memset(to, 0, n);
}

/* Replaces a page that the kernel could not map. Returns false if that is not possible. */
static bool replace(struct input *in, char *at)
{
	size_t position = at - mapped.begin, page = page_size();
	struct stat st;

	in->replaced = true;
	if (fstat(in->fd, &st) == 0 && position >= (size_t)st.st_size) {
		in->shrunk = true;
		return put_zeros(at, mapped.end - at);
	}
	if (!put_zeros(at, page)) {
		/* too many mappings: a single one replaces the rest, of which some bytes may be counted twice */
		note_unreadable(in, position, in->size - position, EIO);
		return put_zeros(at, mapped.end - at);
	}
	/* read(2) may succeed: the kernel maps several blocks at once, and none of them if one is bad */
	read_page(in, at, in->size - position < page ? in->size - position : page, position);
	return true;
}

/* Maps zeros, which look like slots that were never used. */
static void handle_sigbus(int signal, siginfo_t *info, void *context)
{
	char *at = (char *)((uintptr_t)info->si_addr & ~(page_size() - 1));
	int error = errno;

	(void)context;
	if (at < mapped.begin || at >= mapped.end || !replace(mapped.in, at)) {
		struct sigaction fatal = {.sa_handler = SIG_DFL};

		sigaction(signal, &fatal, NULL);
	}
	errno = error;
}

bool input_shrunk(const struct input *in)
{
	struct stat st;

	/* the rest of a page that was truncated reads as zeros, without a signal */
	return in->shrunk || (in->file && fstat(in->fd, &st) == 0 && (size_t)st.st_size < in->size);
}

bool input_find_lost(const struct input *in, const void *at, size_t n)
{
	size_t page = page_size(), first = ((const uint8_t *)at - in->data) / page;
	size_t last = ((const uint8_t *)at - in->data + n - 1) / page;

	for (size_t i = first; i <= last; i++) {
		char byte;

		if (mapped.asked != i + 1)
			mapped.is_lost = io_pread(in->fd, &byte, 1, i * page) != 0 && errno != ENODATA;
		mapped.asked = i + 1;
		if (mapped.is_lost)
			return true;
	}
	return false;
}

/* Returns NULL with errno. */
static uint8_t *map(struct input *in, size_t size, int flags)
{
	struct sigaction action = {.sa_sigaction = handle_sigbus, .sa_flags = SA_SIGINFO};
	uint8_t *map = mmap(NULL, size, PROT_READ, flags, in->fd, 0);

	if (map == MAP_FAILED)
		return NULL;
	in->size = in->mapped = size;
	mapped.in = in;
	mapped.begin = (char *)map;
	mapped.end = mapped.begin + size;
	sigaction(SIGBUS, &action, NULL);
	return map;
}

/* Copies n bytes from this position of the file. False when it has become shorter. */
static bool copy_live(struct input *in, void *to, size_t n, off_t from)
{
	size_t page = page_size();

	if (io_pread(in->fd, to, n, from) == 0)
		return true;
	if (errno == ENODATA)
		in->shrunk = true;
	for (size_t done = 0, piece; done < n && !in->shrunk; done += piece) {
		piece = page - (from + done) % page;
		if (piece > n - done)
			piece = n - done;
		read_page(in, (char *)to + done, piece, from + done);
	}
	return !in->shrunk;
}

/* Copies the file. Its holes, most of a young trace, cost neither time nor memory. */
static int copy_snapshot(struct input *in, size_t size)
{
	uint8_t *copy = anonymous(size);
	off_t from = 0, to;

	if (copy == MAP_FAILED)
		return -1;
	in->live = map(in, size, MAP_SHARED);
	if (!in->live)
		return -1;
	in->snapshot = true;
	in->data = copy;
	in->whole = true;
	while ((from = lseek(in->fd, from, SEEK_DATA)) >= 0 && (size_t)from < size) {
		to = lseek(in->fd, from, SEEK_HOLE);
		if (to < 0 || (size_t)to > size)
			to = size;
		if (!copy_live(in, copy + from, to - from, from))
			return 0;
		from = to;
	}
	if (from < 0 && errno != ENXIO)
		return -1;
	in->copied = true;
	/* a part that was truncated before it was copied looks like a hole */
	if (lseek(in->fd, 0, SEEK_END) < (off_t)size)
		in->shrunk = true;
	return 0;
}

int input_open(struct input *in, const char *path, bool live)
{
	return input_open_fd(in, io_open(path), live);
}

int input_open_fd(struct input *in, int fd, bool live)
{
	struct stat st;
	struct statfs fs;

	*in = (struct input){.fd = fd};
	if (in->fd < 0 || fstat(in->fd, &st) != 0)
		return -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(in->fd, 0, SEEK_CUR) == 0) {
		if (live || (fstatfs(in->fd, &fs) == 0 && fs.f_type == TMPFS))
			return copy_snapshot(in, st.st_size);
		in->data = map(in, st.st_size, MAP_PRIVATE);
		if (in->data) {
			in->file = in->whole = true;
			return 0;
		}
	}
	input_fill(in, INPUT_START);
	errno = in->error;
	return in->error ? -1 : 0;
}

int input_open_rest(struct input *in, int fd, struct slice start)
{
	if (lseek(fd, -(off_t)start.n, SEEK_CUR) >= 0)
		return input_open_fd(in, fd, false);
	*in = (struct input){.fd = fd};
	if (!grow(in, start.n))
		return -1;
	memcpy((void *)in->data, start.p, start.n);
	in->size = start.n;
	input_fill(in, INPUT_START);
	errno = in->error;
	return in->error ? -1 : 0;
}

void input_of(struct input *in, const void *bytes, size_t n)
{
	*in = (struct input){.fd = -1, .data = bytes, .size = n, .whole = true};
}

static size_t position(const struct input *in, const void *at)
{
	return (const uint8_t *)at - in->data;
}

uint64_t input_load_live_u64(const struct input *in, const void *at)
{
	const uint8_t *now = in->live + position(in, at);
	uint64_t v;

	/* in one access, as it is written: read(2) could return a torn value */
	if ((uintptr_t)now % sizeof(v) == 0)
		return __atomic_load_n((const uint64_t *)now, __ATOMIC_ACQUIRE);
	memcpy(&v, now, sizeof(v));
	return v;
}

bool input_reread(struct input *in, const void *at, void *to, size_t n)
{
	return copy_live(in, to, n, position(in, at));
}

bool input_refresh(struct input *in, const void *at, size_t n)
{
	return input_reread(in, at, (void *)at, n);
}

void input_patch(struct input *in, const void *at, const void *bytes, size_t n)
{
	memcpy((uint8_t *)in->data + position(in, at), bytes, n);
}

size_t input_hole(const struct input *in, const void *at, size_t *data)
{
	size_t from = position(in, at), rest = from < in->size ? in->size - from : 0;
	off_t start, end;

	*data = rest;
	if (!in->file && !in->snapshot)
		return 0;
	start = lseek(in->fd, from, SEEK_DATA);
	if (start < 0)
		return errno == ENXIO ? rest : 0;
	end = lseek(in->fd, start, SEEK_HOLE);
	if (end > start && (size_t)end - from < rest)
		*data = end - from;
	return (size_t)start - from < rest ? start - from : rest;
}

bool input_fill(struct input *in, uint64_t n)
{
	while (!in->whole && in->size < n) {
		ssize_t got = -1;

		if (in->size < in->mapped || grow(in, in->size + 1))
			got = io_read(in->fd, (void *)(in->data + in->size), in->mapped - in->size);
		if (got < 0)
			in->error = errno;
		else
			in->size += got;
		in->whole = got <= 0;
	}
	return in->size >= n;
}

void input_close(struct input *in)
{
	mapped.begin = mapped.end = NULL;
	mapped.asked = 0;
	if (in->live)
		munmap((void *)in->live, in->mapped);
	if (in->data)
		munmap((void *)in->data, in->mapped);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->data = in->live = NULL;
}

void input_release(const struct input *in, const void *from, const void *to)
{
	uintptr_t page = page_size(), start = ((uintptr_t)from + page - 1) & ~(page - 1);
	uintptr_t end = (uintptr_t)to & ~(page - 1);

	/* pages that are not mapped from the file would be lost */
	if (in->file && !in->replaced && start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

void input_consume(struct input *in, size_t n)
{
	if (in->whole)
		return;
	memmove((void *)in->data, in->data + n, in->size - n);
	in->size -= n;
	in->consumed += n;
}
