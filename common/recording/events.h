/* SPDX-License-Identifier: BSD-3-Clause */
/* The events in probe lines, and the owners among them. */
#pragma once

#include "registry.h"
#include "qpair.h"

struct lines;

/* The probe that adds a qpair, for messages. */
#define EVENTS_ADD_PROBE "nvmf_poll_group_add_qpair"

/* All zero has no events. */
struct events {
	struct qpair_event *all;
	size_t n, cap;
	bool unsorted;
	uint64_t last_added; /* highest ticks of an addition; 0: there was no addition */
};

/* Adds the event or owner of a line, if it has one. Prints a message if it is malformed. */
void events_read_line(struct events *events, struct owners *owners, struct lines *lines, struct slice line);

/* Sorts them by time. */
void events_sort(struct events *events);
