/* SPDX-License-Identifier: BSD-3-Clause */
#include "disks.h"

#include <stdlib.h>

#include "count.h"
#include "livenames.h"
#include "number.h"
#include "span.h"
#include "table.h"

/* Sizes of blocks. */
enum { SECTOR = 512, LARGEST = 64 << 10 };

bool disks_is(struct slice tpoint)
{
	return slice_is(tpoint, LIVE_BLOCK_IO);
}

/* Open bdev I/Os with the same key match no disk I/O. */
static uint64_t key_of(uint64_t lba, uint64_t blocks)
{
	return lba * 0x9e3779b97f4a7c15 ^ blocks;
}

static uint64_t span_key(const struct span *s)
{
	return key_of(s->io.values[IO_LBA], s->io.values[IO_BLOCKS]);
}

/* Drops the places without open spans when they are the majority. */
static void forget(struct disks *d)
{
	enum { FEW = 1024 };
	struct disks left = {.any = d->any, .names = d->names, .num_open = d->num_open};

	if (d->n < FEW + 2 * d->num_open)
		return;
	for (size_t i = 0; i <= d->map.mask; i++) {
		const struct map_slot *slot = &d->map.slots[i];

		if (slot->value == MAP_NONE || !d->places[slot->value].open)
			continue;
		*table_put(&left.map, slot->key, left.places, left.n, left.cap) = d->places[slot->value];
	}
	map_free(&d->map);
	free(d->places);
	*d = left;
}

void disks_open(struct disks *d, struct span *const *all, struct span *s)
{
	struct disks_place *place;

	if (!io_args_has(&s->io, IO_LBA) || !io_args_has(&s->io, IO_BLOCKS) || !io_args_has(&s->io, IO_TYPE))
		return;
	forget(d);
	place = table_put(&d->map, span_key(s), d->places, d->n, d->cap);
	/* a line could match any of the bdev I/Os with the same blocks; if several are open, they are marked already */
	if (place->open)
		s->disk.found = DISK_UNCLEAR;
	if (place->open == 1 && all[place->index]->disk.found == DISK_NONE)
		all[place->index]->disk.found = DISK_UNCLEAR;
	d->num_open += !place->open;
	place->open++;
	place->index ^= s->index;
	s->disk.open = true;
}

void disks_close(struct disks *d, struct span *s)
{
	struct disks_place *place;

	if (!s->disk.open)
		return;
	place = &d->places[map_get(&d->map, span_key(s))];
	place->open--;
	place->index ^= s->index;
	d->num_open -= !place->open;
	s->disk.open = false;
}

/* Whether the letters of blktrace's RWBS field are those of a bdev I/O of this type. */
static bool is_type(struct slice letters, uint64_t type)
{
	static const struct {
		const char *name, *letters;
	} types[] = {{"read", "R"}, {"write zeroes", "WZ"}, {"write", "W"}, {"unmap", "D"}};
	const char *name = spdk_bdev_type(type);

	/* F: a flush before it */
	if (letters.n > 1 && letters.p[0] == 'F')
		slice_cut(&letters, 1);
	for (size_t i = 0; name && i < COUNT(types); i++) {
		size_t n = strlen(types[i].letters);

		if (letters.n >= n && memcmp(letters.p, types[i].letters, n) == 0)
			return strcmp(name, types[i].name) == 0;
	}
	return false;
}

/* The disk I/O of a line. */
struct disk_line {
	uint64_t sector, bytes, ns, latency;
	struct slice type;
};

/* Returns the only bdev I/O with blocks of this size that matches the line, or NULL. */
static struct span *find(const struct disks *d, struct span *const *all, const struct disk_line *c, unsigned size)
{
	uint64_t lba = c->sector / (size / SECTOR), blocks = c->bytes / size;
	uint32_t index = map_get(&d->map, key_of(lba, blocks));
	/* SPDK rounds its tick rate: its microseconds differ from the kernel's by up to 1 in 128 */
	uint64_t tolerance = c->latency / 128;
	struct span *s;

	if (index == MAP_NONE || d->places[index].open != 1)
		return NULL;
	s = all[d->places[index].index];
	if (s->io.values[IO_LBA] != lba || s->io.values[IO_BLOCKS] != blocks ||
	    !is_type(c->type, s->io.values[IO_TYPE]))
		return NULL;
	return c->ns >= s->first && c->latency - tolerance <= c->ns - s->first ? s : NULL;
}

/* Looks up the bdev I/Os that a line fits. It matches only if there is exactly one. */
static void match(struct disks *d, struct span *const *all, const struct disk_line *c, struct slice name)
{
	struct span *only = NULL;
	bool unclear = false;

	for (unsigned size = SECTOR; size <= LARGEST && c->bytes % size == 0; size *= 2) {
		struct span *s = c->sector % (size / SECTOR) ? NULL : find(d, all, c, size);

		if (!s)
			continue;
		unclear |= only || s->disk.found != DISK_NONE;
		if (only)
			only->disk.found = DISK_UNCLEAR;
		if (unclear)
			s->disk.found = DISK_UNCLEAR;
		only = s;
	}
	if (!only || unclear)
		return;
	only->disk = (struct disks_span){.begin = c->ns - c->latency > only->first ? c->ns - c->latency : only->first,
					 .end = c->ns,
					 .name = intern_add(&d->names, name),
					 .found = DISK_ONE,
					 .open = true};
}

const char *disks_line(struct disks *d, struct span *const *all, const struct traceline *line, uint64_t ns)
{
	struct disk_line c = {.ns = ns, .type = traceline_string(traceline_arg(line, LIVE_TYPE))};
	struct slice latency = traceline_arg(line, LIVE_LATENCY);

	if (!number_decimal(traceline_arg(line, LIVE_SECTOR), &c.sector) ||
	    !number_decimal(traceline_arg(line, LIVE_BYTES), &c.bytes))
		return LIVE_SECTOR " or " LIVE_BYTES " is missing";
	/* issued before biosnoop started */
	if (!latency.p)
		return NULL;
	if (!number_fixed(latency, 3, &c.latency))
		return LIVE_LATENCY " is not a number of microseconds";
	/* a request without blocks, such as a flush, matches no bdev I/O */
	if (c.bytes && c.latency <= ns)
		match(d, all, &c, traceline_string(traceline_arg(line, LIVE_DISK)));
	return NULL;
}

void disks_free(struct disks *d)
{
	map_free(&d->map);
	intern_free(&d->names);
	free(d->places);
	*d = (struct disks){};
}
