/* SPDX-License-Identifier: BSD-3-Clause */
#include "replies.h"

/* lib/nvmf/tcp.c sends the parts of a long reply, and then its status, one after the other. */
void replies_extend(struct span *s, const struct span *write)
{
	if (s->reply < write->first)
		s->reply = write->first;
}

/*
 * posix_sock_group_impl_poll() in module/sock/posix/posix.c passes what is queued to the kernel before it reads. So a
 * write that the kernel got after a read of its lcore was still queued then: the host had not read what was before it.
 * module/sock/uring/uring.c may notice a write one round after it was passed on: then this is that much too late.
 */
void replies_delay(const struct replies *r, const struct span *write, uint64_t lcore)
{
	struct span *s = write->parent;

	if (s && s->reply != UINT64_MAX && latest_of(&r->reads, lcore) > s->reply)
		s->reply = latest_of(&r->reads, lcore);
}

void replies_keep(struct replies *r, struct span *const *all, struct span *write, uint64_t key)
{
	uint32_t *latest = map_put(&r->writes, key);

	write->earlier = *latest;
	write->earlier_generation = *latest == MAP_NONE ? 0 : all[*latest]->generation;
	*latest = write->index;
}

struct span *replies_latest(const struct replies *r, struct span *const *all, uint64_t key)
{
	uint32_t index = map_get(&r->writes, key);

	return index == MAP_NONE ? NULL : all[index];
}

struct span *replies_before(struct span *const *all, const struct span *write)
{
	struct span *before = write->earlier == MAP_NONE ? NULL : all[write->earlier];

	return before && before->generation == write->earlier_generation ? before : NULL;
}

void replies_free(struct replies *r)
{
	latest_free(&r->reads);
	map_free(&r->writes);
}
