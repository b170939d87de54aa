/* SPDX-License-Identifier: BSD-3-Clause */
#include "iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "io.h"

int iterator_open(struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, error = errno;

	bpf_link__destroy(link);
	errno = error;
	return fd < 0 ? -1 : fd;
}

int iterator_run(int fd)
{
	char nothing;
	ssize_t n;
	int error;

	if (fd < 0)
		return -1;
	n = io_read(fd, &nothing, sizeof(nothing));
	error = errno;
	close(fd);
	errno = error;
	return n < 0 ? -1 : 0;
}
