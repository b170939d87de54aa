/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups.h"

#include <stdlib.h>

#include "mem.h"
#include "reader.h"
#include "spdk.h"

static struct slice name_of(const struct trace_tpoint *tp)
{
	struct slice name = slice_of(tp->name), group = spdk_group(name);
	const char *end = memchr(name.p, '_', name.n);

	if (group.n)
		return group;
	return end && end > name.p ? slice_between(name.p, end) : name;
}

static int by_entries(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->entries != y->entries)
		return x->entries > y->entries ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

size_t groups_count(struct group **groups, const struct reader *r)
{
	const struct trace *t = &r->trace;
	size_t n = 0, cap = 0;

	*groups = NULL;
	for (unsigned i = 0; i < t->num_tpoints; i++) {
		const struct trace_tpoint *tp = &t->tpoints[i];

		if (!tp->name[0])
			continue;
		if (!n || (*groups)[n - 1].id != i / TRACE_GROUP) {
			*groups = mem_room(*groups, n, &cap);
			(*groups)[n++] = (struct group){.id = i / TRACE_GROUP, .name = name_of(tp)};
		}
		(*groups)[n - 1].num++;
		(*groups)[n - 1].off += tp->off;
		(*groups)[n - 1].entries += r->counts.by_tpoint[i];
	}
	if (n)
		qsort(*groups, n, sizeof(**groups), by_entries);
	return n;
}
