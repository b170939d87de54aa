/* SPDX-License-Identifier: BSD-3-Clause */
/* The maps of --heatmap: requests by the time of their end and by their life, a map for each group and type. */
#ifndef TRACE_LATENCY_HEATMAP_H
#define TRACE_LATENCY_HEATMAP_H

#include "heat.h"
#include "rows.h"
#include "terminal.h"

/* All zero but the step of heat has no maps. */
struct heatmap {
	struct map map;
	struct heatmap_row {
		struct rows_name name;
		uint64_t count;
	} * all; /* the i-th is map i of heat */
	size_t n, cap;
	struct heat heat;
};

/* A request that ended at a time in ns. */
void heatmap_add(struct heatmap *m, struct rows_name name, uint64_t end, uint64_t life);

/*
 * Ends the maps. A column has the step of heat, or a multiple of it where the map would be too wide. Without a terminal
 * (NULL), it has as many columns as possible if has_interval, else 100.
 */
void heatmap_end(struct heatmap *m, bool has_interval, const struct terminal *terminal);

/* To be called after heatmap_end(). rows has the texts of the groups and types. */
void heatmap_print(struct out *out, const struct heatmap *m, const struct rows *rows, const struct terminal *terminal);
void heatmap_print_svg(struct out *out, const struct heatmap *m, const struct rows *rows);
void heatmap_print_json(struct out *out, const struct heatmap *m, const struct rows *rows);

void heatmap_free(struct heatmap *m);

#endif
