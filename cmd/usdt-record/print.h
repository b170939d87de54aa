/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes events as probe lines: spdk-trace-lines(7). */
#ifndef USDT_RECORD_PRINT_H
#define USDT_RECORD_PRINT_H

#include "out.h"
#include "probespec.h"
#include "ticks.h"
#include "bpf/usdt-record.h"

/*
 * Writes an event of a probe as one line: numbers in hexadecimal, strings escaped. A string that
 * could not be read is its address, a number that could not is a question mark. The line has a stamp
 * unless an argument is the time; ticks is NULL: none has. size is that of the event. Returns false,
 * and writes nothing, when the event has another form than its spec.
 */
bool print_event(struct out *out, const struct probespec *spec, struct ticks *ticks, const struct usdt_record_event *e,
		 size_t size);

/* Writes what the clocks show, in a line of their own. */
void print_clock(struct out *out, const struct ticks_reading *now);

#endif
