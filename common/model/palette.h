/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The colours of layers: the same in tables, stories and pictures. Those of text have a contrast of 4.5 on white and on
 * black, of which there are few among 256; each pair is as alike as they permit.
 */
#pragma once

#include "spdk.h"

static const struct {
	const char *svg;
	const char *sgr; /* for terminal_paint() */
} palette_layers[LAYERS + 1] = {
	[LAYER_NETWORK] = {"#7ba7d7", "38;5;63"},  [LAYER_BUFFER] = {"#f28e2b", "38;5;130"},
	[LAYER_HOST] = {"#c99bbd", "38;5;163"},    [LAYER_TARGET] = {"#7cc36f", "38;5;28"},
	[LAYER_BELOW] = {"#c79c84", "38;5;243"},   [LAYER_BDEV] = {"#ee7b78", "38;5;131"},
	[LAYER_DRIVE] = {"#76b7b2", "38;5;29"},    [LAYER_REPLY] = {"#a0cbe8", "38;5;98"},
	[LAYER_UNKNOWN] = {"#bab0ac", "38;5;243"}, [LAYERS] = {"#d1d9e0", NULL},
};

/*
 * The layer whose colour the time in a state has, as far as its tracepoint says; LAYERS, with no colour: it is that of
 * what the object has passed its I/O on to.
 */
static inline enum layer palette_of(const struct spdk_tpoint *tpoint)
{
	return tpoint->passes_on ? LAYERS : tpoint->layer;
}
