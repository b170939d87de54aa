/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder that the flight recorder makes of its ring when requests were slow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ask.h"
#include "describe.h"
#include "flight.h"
#include "folder.h"
#include "parts.h"
#include "watch.h"
#include "window.h"

/* In the order of enum part_id from PART_USDT on. */
enum { CAPTURE_TEXTS = 3 };

struct capture {
	/* the caller's, set before capture_begin(): */
	const struct flight_setup *setup;
	const struct flight_options *options;
	struct part *trace; /* its tool completes its file, in the ring */
	const struct part *texts;
	const struct window *windows; /* of the texts */
	bool has_target_ended;

	bool is_active, is_bad; /* is_bad: not all could be written */
	struct folder folder;
	struct incident incident;
	struct part parts[PARTS]; /* as they are described */
	struct description description;
	bool is_asked;        /* the target */
	struct ask ask, look; /* look: at what the kernel says */
	uint64_t since;       /* milliseconds */
};

/*
 * Starts a folder with this name: asks the tool of trace to end, copies the texts, and asks the target. The incident
 * becomes the capture's. Returns false after a message if there can be no folder: the incident is dropped.
 */
bool capture_begin(struct capture *c, const char *name, struct incident *incident);

/* Whether the trace is complete, and the target has answered. To be called until then. */
bool capture_is_ready(struct capture *c);

/* Completes the folder. ring: where the trace is. */
void capture_end(struct capture *c, const struct folder *ring);
