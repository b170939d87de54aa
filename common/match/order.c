/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

#include "mem.h"
#include "search.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15) /* of a digest, which is a polynomial */

/* Never 0. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0xd6e8feb86659fd93;
	x = (x ^ x >> 29) * 0xff51afd7ed558ccd;
	x ^= x >> 32;
	return x ? x : 1;
}

struct order_what order_what(uint64_t lba, uint64_t blocks, uint64_t opcode)
{
	uint64_t kind = mix(blocks << 8 | opcode);

	return (struct order_what){mix(lba + kind), mix(lba + blocks + kind)};
}

static bool is_kept(const struct order_io *io, uint64_t mask)
{
	return !mask || (io->gram && !(io->gram & mask));
}

static void thin(struct order *o)
{
	size_t n = 0;

	o->mask = o->mask * 2 + 1;
	for (size_t i = 0; i < o->n; i++)
		if (is_kept(&o->kept[i], o->mask))
			o->kept[n++] = o->kept[i];
	o->n = n;
}

uint32_t order_add(struct order *o, struct order_what what, int64_t begin, bool sequential)
{
	const struct order_what *last = o->last;
	struct order_io io = {.begin = begin, .end = ORDER_UNKNOWN, .what = what.hash, .number = o->count++};

	o->digest = io.digest = o->digest * STEP + what.hash;
	if (what.hash && last[0].hash && last[1].hash &&
	    (sequential || last[1].hash != last[0].next || what.hash != last[1].next))
		io.gram = mix(what.hash + mix(last[1].hash + mix(last[0].hash)));
	o->last[0] = o->last[1];
	o->last[1] = what;
	if (!is_kept(&io, o->mask))
		return io.number;
	o->kept = mem_room(o->kept, o->n, &o->cap);
	o->kept[o->n++] = io;
	/* grams that are all the same one go together */
	while (o->n > (o->mask ? ORDER_KEPT / 2 : ORDER_KEPT))
		thin(o);
	return io.number;
}

size_t order_from(const struct order *o, uint32_t number)
{
	return search_first(i, o->n, o->kept[i].number >= number);
}

struct order_io *order_find(const struct order *o, uint32_t number)
{
	size_t i = order_from(o, number);

	return i < o->n && o->kept[i].number == number ? &o->kept[i] : NULL;
}

static uint64_t power(uint32_t n)
{
	uint64_t result = 1;

	for (uint64_t square = STEP; n; n >>= 1, square *= square)
		result *= n & 1 ? square : 1;
	return result;
}

bool order_is_same(const struct order_io *a, const struct order_io *b, const struct order_io *c,
		   const struct order_io *d)
{
	uint32_t n = b->number - a->number;

	return n == d->number - c->number && b->digest - a->digest * power(n) == d->digest - c->digest * power(n);
}
