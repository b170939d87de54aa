/* SPDX-License-Identifier: BSD-3-Clause */
#include "legs.h"

/* While a leg is in flight, no other one has ended last. */
static uint64_t end_of(const struct spans *spans, const struct span *s)
{
	return spans_is_open(spans, s) ? UINT64_MAX : s->last;
}

const struct span *legs_rival(const struct spans *spans, const struct span *s)
{
	const struct span *rival = NULL;

	for (const struct span *other = s->parent->child; other; other = other->next)
		if (other != s && spans_is_bdev_io(spans, other) && other->first < s->last &&
		    end_of(spans, other) > s->first && (!rival || end_of(spans, other) > end_of(spans, rival)))
			rival = other;
	return rival;
}

/* The bdev I/O that ends last of those that this object has started. */
static const struct span *last_child(const struct spans *spans, const struct span *s)
{
	const struct span *last = NULL;

	for (const struct span *child = s->child; child; child = child->next)
		if (spans_is_bdev_io(spans, child) && (!last || end_of(spans, child) > end_of(spans, last)))
			last = child;
	return last;
}

bool legs_find_last(const struct spans *spans, const struct span *s, struct legs_last *last)
{
	const struct span *leg = s->child != s->last_child ? last_child(spans, s) : NULL;
	const struct span *rival = leg && !spans_is_open(spans, leg) ? legs_rival(spans, leg) : NULL;
	bool found = rival && !spans_is_open(spans, rival) && spans_bdev(leg).n &&
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
