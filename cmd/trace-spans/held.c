/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <stdlib.h>

#include "count.h"
#include "livenames.h"
#include "search.h"
#include "table.h"

/* Names beyond these are not told apart: input may have any number of them. */
enum { NAMES = 4096, WRITTEN = 4 };

/* The process that has the CPU, else the call, else the reason; of an interrupt, its name. */
static struct slice name_of(const struct traceline *line)
{
	static const char *const args[] = {LIVE_BY, LIVE_SYSCALL, LIVE_WHY, LIVE_NAME, LIVE_KIND};

	for (size_t i = 0; i < COUNT(args); i++) {
		struct slice value = traceline_string(traceline_arg(line, args[i]));

		if (value.n)
			return value;
	}
	return slice_of("unknown");
}

void held_keep(struct held *h, const struct reactor *reactor, const struct reactors_interval *interval,
	       const struct traceline *line)
{
	struct held_ring *ring = table_at(h->rings, h->num_rings, h->cap_rings, reactor - h->spans->reactors.all);
	struct held_interval *kept;

	if (ring->n < HELD_KEPT)
		ring->all = mem_room(ring->all, ring->n, &ring->cap);
	kept = &ring->all[ring->n++ % HELD_KEPT];
	*kept = (struct held_interval){.begin = interval->begin, .end = interval->end, .kind = interval->kind};
	kept->name = intern_add_below(&h->names, name_of(line), NAMES);
}

static void add(struct held *h, uint32_t name, uint64_t ns)
{
	size_t *place = table_at(h->places, h->num_places, h->cap_places, (uint32_t)(name + 1));

	if (*place >= h->num_sums || h->sums[*place].name != name) {
		*place = h->num_sums;
		h->sums = mem_room(h->sums, h->num_sums, &h->cap_sums);
		h->sums[h->num_sums++] = (struct held_sum){name, 0};
	}
	h->sums[*place].ns += ns;
}

/* Lines come in the order of their ends. */
static void gather(struct held *h, const struct held_ring *ring, uint64_t from, uint64_t to, enum reactors_kind kind)
{
	uint64_t kept = ring->n < HELD_KEPT ? ring->n : HELD_KEPT, i = ring->n - kept;

	i += search_first(k, kept, ring->all[(i + k) % HELD_KEPT].end > from);
	for (; i < ring->n; i++) {
		const struct held_interval *interval = &ring->all[i % HELD_KEPT];
		uint64_t begin = interval->begin > from ? interval->begin : from;
		uint64_t end = interval->end < to ? interval->end : to;

		if (interval->kind == kind && begin < end)
			add(h, interval->name, end - begin);
		if (interval->end >= to)
			break;
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct held_sum *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

bool held_write(struct held *h, struct out *out, const struct span *s, enum reactors_kind kind)
{
	const struct reactor *reactor = spans_reactor(h->spans, s, s->lcore);
	size_t index = reactor ? (size_t)(reactor - h->spans->reactors.all) : SIZE_MAX;

	h->num_sums = 0;
	if (index < h->num_rings)
		gather(h, &h->rings[index], s->first, spans_until(h->spans, s), kind);
	if (!h->num_sums)
		return false;
	qsort(h->sums, h->num_sums, sizeof(*h->sums), longest_first);
	for (size_t i = 0; i < h->num_sums && i < WRITTEN; i++) {
		struct slice name = h->sums[i].name == MAP_NONE ? slice_of("others") : h->names.all[h->sums[i].name];

		out_char(out, i ? ',' : '{');
		out_char(out, '"');
		out_slice(out, name);
		out_text(out, "\":");
		out_us(out, h->sums[i].ns);
	}
	out_char(out, '}');
	return true;
}

void held_free(struct held *h)
{
	for (size_t i = 0; i < h->num_rings; i++)
		free(h->rings[i].all);
	free(h->rings);
	free(h->sums);
	free(h->places);
	intern_free(&h->names);
}
