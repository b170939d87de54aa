/* SPDX-License-Identifier: BSD-3-Clause */
#include "followers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 256 }; /* more than collide in a bucket of the map */

/* Whether all threads of the process have ended: it may be a zombie. 0 is one that has no id here. */
static bool has_ended(uint32_t id)
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

int followers_sweep(int map)
{
	uint32_t keys[BATCH], ids[BATCH], next, n;
	bool more = true;
	int left = 0;

	for (uint32_t *from = NULL; more; from = &next) {
		n = BATCH;
		more = bpf_map_lookup_batch(map, from, &next, keys, ids, &n, NULL) == 0;
		if (!more && errno != ENOENT)
			return -1;
		for (uint32_t i = 0; i < n; i++) {
			if (has_ended(ids[i]))
				bpf_map_delete_elem(map, &keys[i]);
			else
				left++;
		}
	}
	return left;
}
