/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours of layers: the same in tables, stories and pictures. Each pair is as alike as 256 colours permit. */
#pragma once

#include "spdk.h"

static const struct {
	const char *svg;
	const char *sgr; /* for terminal_paint() */
} palette_layers[LAYERS + 1] = {
	[LAYER_NETWORK] = {"#7ba7d7", "38;5;110"}, [LAYER_BUFFER] = {"#f28e2b", "38;5;208"},
	[LAYER_HOST] = {"#c99bbd", "38;5;175"},    [LAYER_TARGET] = {"#7cc36f", "38;5;113"},
	[LAYER_BELOW] = {"#c79c84", "38;5;138"},   [LAYER_BDEV] = {"#ee7b78", "38;5;210"},
	[LAYER_DRIVE] = {"#76b7b2", "38;5;73"},    [LAYER_REPLY] = {"#a0cbe8", "38;5;153"},
	[LAYER_UNKNOWN] = {"#bab0ac", "38;5;145"}, [LAYERS] = {"#d1d9e0", NULL},
};

/*
 * The layer whose colour the time in a state has, as far as its tracepoint says; LAYERS, with no colour: it is that of
 * what the object has passed its I/O on to.
 */
static inline enum layer palette_of(const struct spdk_tpoint *tpoint)
{
	return tpoint->passes_on ? LAYERS : tpoint->layer;
}
