/* SPDX-License-Identifier: BSD-3-Clause */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "mem.h"
#include "search.h"

/* Slices come nearly in the order of their ends. Where they do not, a block bounds how many lanes are moved. */
enum { BLOCK = 64 };

struct lanes_block {
	size_t n; /* at least 1 */
	struct lane {
		uint64_t end; /* ns, of its last slice */
		uint32_t track;
	} all[BLOCK]; /* by end */
};

static void move_blocks(struct lanes *lanes, size_t to, size_t from)
{
	memmove(lanes->blocks + to, lanes->blocks + from, (lanes->n - from) * sizeof(struct lanes_block *));
	lanes->n += to - from;
}

/* Removes the lane that became free last, up to this time. Returns its track; MAP_NONE: none is free. */
static uint32_t take_free(struct lanes *lanes, uint64_t first)
{
	size_t k = search_first(b, lanes->n, lanes->blocks[b]->all[0].end > first), i;
	struct lanes_block *block;
	uint32_t track;

	if (!k)
		return MAP_NONE;
	block = lanes->blocks[--k];
	i = search_first(l, block->n, block->all[l].end > first) - 1;
	track = block->all[i].track;
	memmove(block->all + i, block->all + i + 1, (--block->n - i) * sizeof(struct lane));
	if (!block->n) {
		free(block);
		move_blocks(lanes, k, k + 1);
	}
	return track;
}

/* Moves the later half of a block that is full to a new one after it. */
static void split(struct lanes *lanes, size_t k)
{
	struct lanes_block *block = lanes->blocks[k], *next = mem_array(1, sizeof(*next));

	next->n = BLOCK / 2;
	block->n -= next->n;
	memcpy(next->all, block->all + block->n, next->n * sizeof(struct lane));
	lanes->blocks = mem_room(lanes->blocks, lanes->n, &lanes->cap);
	move_blocks(lanes, k + 2, k + 1);
	lanes->blocks[k + 1] = next;
}

/* Adds a lane after those with an earlier or the same end. */
static struct lane *add(struct lanes *lanes, struct lane lane)
{
	size_t k = search_first(b, lanes->n, lanes->blocks[b]->all[0].end > lane.end), i;
	struct lanes_block *block;

	k -= k > 0;
	if (!lanes->n) {
		mem_add(lanes->blocks, lanes->n, lanes->cap, mem_array(1, sizeof(struct lanes_block)));
	} else if (lanes->blocks[k]->n == BLOCK) {
		split(lanes, k);
		k += lanes->blocks[k + 1]->all[0].end <= lane.end;
	}
	block = lanes->blocks[k];
	i = search_first(l, block->n, block->all[l].end > lane.end);
	memmove(block->all + i + 1, block->all + i, (block->n++ - i) * sizeof(struct lane));
	block->all[i] = lane;
	return &block->all[i];
}

uint32_t *lanes_assign(struct lanes *lanes, uint64_t first, uint64_t end)
{
	struct lane lane = {end, take_free(lanes, first)};

	/* it is never free again */
	if (end == UINT64_MAX) {
		lanes->last = lane.track;
		return &lanes->last;
	}
	return &add(lanes, lane)->track;
}

void lanes_free(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->n; i++)
		free(lanes->blocks[i]);
	free(lanes->blocks);
}
