/* SPDX-License-Identifier: BSD-3-Clause */
/* What a request waits for, by the state of the object at work. This is the only such table. */
#ifndef LAYERS_H
#define LAYERS_H

#include "slice.h"

enum layer {
	LAYER_NETWORK, /* the connection: its send queue, or the wire */
	LAYER_BUFFER,  /* a free data buffer */
	LAYER_HOST,    /* data from the host */
	LAYER_TARGET,  /* the target itself, and states that are in no row */
	LAYER_BDEV,    /* a block device or its module */
	LAYER_DRIVE,   /* an NVMe drive, or a remote subsystem as one */
	LAYERS
};

extern const char *const layers_names[LAYERS];

/* The layer of a state, given by its tracepoint's name. */
enum layer layers_of(struct slice tpoint);

#endif
