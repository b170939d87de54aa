/* SPDX-License-Identifier: BSD-3-Clause */
#include "lanes.h"

#include "map.h"
#include "mem.h"
#include "search.h"

uint32_t *lanes_assign(struct lanes *lanes, uint64_t first, uint64_t end)
{
	/* how many rows are free at that time */
	size_t i = search_first(k, lanes->n, lanes->all[k].end > first);
	struct lane lane = {.end = end, .track = MAP_NONE};

	if (i) {
		lane.track = lanes->all[--i].track;
	} else {
		i = lanes->n;
		lanes->all = mem_room(lanes->all, lanes->n, &lanes->cap);
		lanes->n++;
	}
	/* slices come nearly in the order of their ends, so the row moves to the end of the array, or near it */
	for (; i && lanes->all[i - 1].end > end; i--)
		lanes->all[i] = lanes->all[i - 1];
	for (; i + 1 < lanes->n && lanes->all[i + 1].end <= end; i++)
		lanes->all[i] = lanes->all[i + 1];
	lanes->all[i] = lane;
	return &lanes->all[i].track;
}
