/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload: makes system calls and allocations of a tool fail.
 *
 *	FAULT_CALL   the function, as in read
 *	FAULT_NTH    which call of it, from 1 on
 *	FAULT        what happens then: a number is its errno; "short" lets that call, and each one behind it,
 *	             do a few bytes only; "shrink" cuts FAULT_FILE to half its size first
 *	FAULT_MARK   a file that is made when it has happened
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *wanted, *what;
static long nth, calls;

static void __attribute__((constructor)) begin(void)
{
	wanted = getenv("FAULT_CALL");
	what = getenv("FAULT");
	nth = wanted && what && getenv("FAULT_NTH") ? atol(getenv("FAULT_NTH")) : 0;
}

static bool is(const char *text)
{
	return strcmp(what, text) == 0;
}

/* By system calls: what they are made of here may be what is to fail. */
static void mark(void)
{
	const char *path = getenv("FAULT_MARK");

	if (path)
		syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

static void shrink(void)
{
	const char *path = getenv("FAULT_FILE");
	struct stat st;

	if (path && syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0)
		syscall(SYS_truncate, path, st.st_size / 2);
}

/* Whether this call is to fail, errno being set; *n, the bytes that it is to do, becomes less otherwise. */
static bool fails(const char *call, size_t *n)
{
	long number;

	if (!nth || strcmp(call, wanted) != 0)
		return false;
	number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (number < nth || (number > nth && !is("short")))
		return false;
	if (number == nth)
		mark();
	if (is("short")) {
		if (n && *n > 7)
			*n = 7;
		return false;
	}
	if (is("shrink")) {
		shrink();
		return false;
	}
	errno = atoi(what);
	return true;
}

/* The function that this one stands before. */
#define NEXT(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))

ssize_t read(int fd, void *p, size_t n)
{
	return fails("read", &n) ? -1 : syscall(SYS_read, fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return fails("pread", &n) ? -1 : syscall(SYS_pread64, fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	return fails("write", &n) ? -1 : syscall(SYS_write, fd, p, n);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return fails("open", NULL) ? -1 : syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
	int result = syscall(SYS_close, fd);

	return fails("close", NULL) ? -1 : result;
}

int fstat(int fd, struct stat *st)
{
	return fails("fstat", NULL) ? -1 : syscall(SYS_fstat, fd, st);
}

off_t lseek(int fd, off_t at, int whence)
{
	return fails("lseek", NULL) ? -1 : syscall(SYS_lseek, fd, at, whence);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
	return fails("mmap", NULL) ? MAP_FAILED : NEXT(mmap)(at, n, protection, flags, fd, from);
}

void *mremap(void *old, size_t had, size_t n, int flags, ...)
{
	return fails("mremap", NULL) ? MAP_FAILED
				     : (void *)syscall(SYS_mremap, old, had, n, flags, NULL);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	return fails("pthread_create", NULL)
		       ? errno
		       : NEXT(pthread_create)(thread, attributes, run, argument);
}

/* All allocations are one "malloc", in the order of their coming. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);

void *malloc(size_t n)
{
	return fails("malloc", NULL) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails("malloc", NULL) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
	return fails("malloc", NULL) ? NULL : __libc_realloc(old, n);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

char *strdup(const char *s)
{
	return strndup(s, strlen(s));
}

char *strndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	copy[length] = 0;
	return memcpy(copy, s, length);
}

int vasprintf(char **to, const char *format, va_list args)
{
	return fails("malloc", NULL) ? -1 : NEXT(vasprintf)(to, format, args);
}

int asprintf(char **to, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(to, format, args);
	va_end(args);
	return n;
}

FILE *open_memstream(char **text, size_t *n)
{
	return fails("malloc", NULL) ? NULL : NEXT(open_memstream)(text, n);
}
