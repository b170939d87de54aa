/* SPDX-License-Identifier: BSD-3-Clause */
#include "legs.h"

/* While a leg is in flight, no other one has ended last. */
static uint64_t end_of(const struct spans *spans, const struct span *s)
{
	return life_is_open(spans, s) ? UINT64_MAX : s->last;
}

/*
 * Of the bdev I/Os that this object has started, the one that ends last; NULL: there is none. leg: another one, which
 * was in flight at the same time; NULL: of all.
 */
static const struct span *find_last(const struct spans *spans, const struct span *s, const struct span *leg)
{
	const struct span *last = NULL;

	for (const struct span *child = s->child; child; child = child->next)
		if (child != leg && spans_is_bdev_io(spans, child) &&
		    (!leg || (child->first < leg->last && end_of(spans, child) > leg->first)) &&
		    (!last || end_of(spans, child) > end_of(spans, last)))
			last = child;
	return last;
}

const struct span *legs_rival(const struct spans *spans, const struct span *s)
{
	return find_last(spans, s->parent, s);
}

bool legs_find_last(const struct spans *spans, const struct span *s, struct legs_last *last)
{
	const struct span *leg = s->child != s->last_child ? find_last(spans, s, NULL) : NULL;
	const struct span *rival = leg && !life_is_open(spans, leg) ? legs_rival(spans, leg) : NULL;
	bool found = rival && !life_is_open(spans, rival) && spans_bdev(leg).n &&
		     !slice_equal(spans_bdev(leg), spans_bdev(rival));

	if (found)
		*last = (struct legs_last){leg, rival, leg->last - rival->last};
	for (const struct span *child = s->child; child; child = child->next) {
		struct legs_last below;

		if (!child->child || !legs_find_last(spans, child, &below))
			continue;
		if (!found || below.ns > last->ns)
			*last = below;
		found = true;
	}
	return found;
}
