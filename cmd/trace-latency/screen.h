/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of a live trace: the table of the latest interval, and below it what is in flight, drawn in one place. */
#pragma once

#include "connection.h"
#include "spans.h"

/* Writes how many requests are in flight, and the oldest ones, as of spans->now or the latest spans_pass(). */
void screen_put_open(struct out *out, const struct spans *spans, struct connections *connections);

/* Shows as much of the text as standard output has lines, instead of what was there. */
void screen_show(struct out *out, struct slice text);
