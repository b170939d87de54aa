/* SPDX-License-Identifier: BSD-3-Clause */
#include "followers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_STEPS = 1 << 16 }; /* more than the map has room for */

bool followers_ended(uint32_t id)
{
	struct pollfd process = {.events = POLLIN};
	bool ended;

	if (!id)
		return false;
	process.fd = syscall(SYS_pidfd_open, id, 0);
	/* the last two: the id is now that of a thread */
	if (process.fd < 0)
		return errno == ESRCH || errno == EINVAL || errno == ENOENT;
	ended = poll(&process, 1, 0) > 0;
	close(process.fd);
	return ended;
}

int followers_left(int map)
{
	uint32_t key;

	if (bpf_map_get_next_key(map, NULL, &key) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

int followers_sweep(int map)
{
	uint32_t key, next, id;
	int error = bpf_map_get_next_key(map, NULL, &next) == 0 ? 0 : errno, left = 0;

	/* if the process at key has ended, the kernel starts again with the first key */
	for (int n = 0; !error && n < MAX_STEPS; n++) {
		key = next;
		error = bpf_map_get_next_key(map, &key, &next) == 0 ? 0 : errno;
		if (bpf_map_lookup_elem(map, &key, &id) != 0)
			continue;
		if (followers_ended(id))
			bpf_map_delete_elem(map, &key);
		else
			left++;
	}
	errno = error;
	return error && error != ENOENT ? -1 : left;
}
