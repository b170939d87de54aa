/* SPDX-License-Identifier: BSD-3-Clause */
#include "replies.h"

#include "minmax.h"
#include "span.h"

/* lib/nvmf/tcp.c sends the parts of a long reply, and then its status, one after the other. */
void replies_extend(struct span *s, const struct span *write)
{
	s->reply.start = max_u64(s->reply.start, write->first);
}

/*
 * posix_sock_group_impl_poll() in module/sock/posix/posix.c passes what is queued to the kernel before it reads. So a
 * write that the kernel got after a read of its lcore was still queued then: the host had not read what was before it.
 * module/sock/uring/uring.c may notice a write one round after it was passed on: then this is that much too late.
 */
void replies_delay(const struct replies *r, const struct span *write, uint64_t lcore)
{
	struct span *s = write->parent;

	if (s && s->reply.start != UINT64_MAX && latest_of(&r->reads, lcore) > s->reply.start)
		s->reply.start = latest_of(&r->reads, lcore);
}

void replies_keep(struct replies *r, struct span *write, const char *argument, const struct traceline *line)
{
	struct store_ref *latest;
	uint64_t address;

	if (!traceline_number(traceline_arg(line, argument), &address))
		return;
	latest = table_put(&r->map, traceline_in_source(line, address), r->writes, r->n, r->cap);
	write->reply.before = *latest;
	*latest = store_ref(write);
}

struct store_ref replies_latest(const struct replies *r, uint64_t address)
{
	uint32_t index = map_get(&r->map, address);

	return index == MAP_NONE ? (struct store_ref){} : r->writes[index];
}

uint64_t replies_start(const struct span *s)
{
	uint64_t start = UINT64_MAX;

	for (; s; s = s->parent)
		start = min_u64(start, s->reply.start);
	return start;
}

void replies_free(struct replies *r)
{
	latest_free(&r->reads);
	map_free(&r->map);
	free(r->writes);
}
