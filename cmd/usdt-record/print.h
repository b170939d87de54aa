/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes events as probe lines: spdk-trace-lines(7). */
#pragma once

#include "out.h"
#include "probespec.h"
#include "ticks.h"
#include "bpf/usdt-record.h"

/*
 * Writes an event of a probe, of size bytes, as one line: numbers in hexadecimal, strings escaped. An
 * unreadable string is printed as its address, an unreadable number as a question mark. The line has
 * a timestamp unless an argument is one; ticks is NULL: it never has. Returns false, and writes
 * nothing, if the event does not match its spec.
 */
bool print_event(struct out *out, const struct probespec *spec, struct ticks *ticks, const struct usdt_record_event *e,
		 size_t size);

/* Writes a clock line: the counter, the clock and the time of day at one moment. */
void print_clock(struct out *out, const struct ticks_reading *now);
