/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <stdlib.h>

#include "count.h"
#include "livenames.h"
#include "minmax.h"
#include "search.h"
#include "table.h"

/* Names beyond these are not told apart: input may have any number of them. */
enum { NAMES = 4096 };

/* The process that has the CPU, else the call, else the reason, such as a quota; of an interrupt, its name. */
static struct slice name_of(const struct traceline *line)
{
	static const char *const args[] = {LIVE_BY, LIVE_SYSCALL, LIVE_WHY, LIVE_NAME, LIVE_KIND};

	if (slice_is(traceline_string(traceline_arg(line, LIVE_WHY)), LIVE_THROTTLED))
		return slice_of("CPU quota");
	for (size_t i = 0; i < COUNT(args); i++) {
		struct slice value = traceline_string(traceline_arg(line, args[i]));

		if (value.n)
			return value;
	}
	return slice_of("unknown");
}

uint32_t held_cause(struct held *h, const struct traceline *line)
{
	return intern_add_below(&h->names, name_of(line), NAMES);
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

static void gather(struct held *h, const struct reactor *reactor, uint64_t from, uint64_t to, enum reactors_kind kind)
{
	for (size_t i = search_first(k, reactor->n, reactor->parts[k].end > from); i < reactor->n; i++) {
		const struct reactors_interval *part = &reactor->parts[i];

		if (part->begin >= to)
			break;
		if (part->kind == kind)
			add(h, part->cause, min_u64(part->end, to) - max_u64(part->begin, from));
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct held_sum *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

void held_find(struct held *h, const struct span *s, enum reactors_kind kind)
{
	const struct reactor *reactor = reactors_of_span(&h->spans->reactors, s, s->lcore);
	uint64_t until = life_is_lost(h->spans, s) ? s->last : life_until(h->spans, s);

	h->num_sums = 0;
	if (reactor)
		gather(h, reactor, s->first, until, kind);
	if (h->num_sums)
		qsort(h->sums, h->num_sums, sizeof(*h->sums), longest_first);
}

struct slice held_name(const struct held *h, uint32_t name)
{
	return name == MAP_NONE ? slice_of("others") : h->names.all[name];
}

void held_free(struct held *h)
{
	free(h->sums);
	free(h->places);
	intern_free(&h->names);
}
