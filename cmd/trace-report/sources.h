/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what was recorded, and opens it before anything is read. What is not there is left out; what is there and
 * cannot be read is left out after a message, and facts.unread has it for the page.
 */
#pragma once

#include "facts.h"

/* Opens it: what the operands name, or the trace of the process f->pid. A mistake in these is a usage error. */
void sources_find(struct facts *f, int argc, char **argv);

/* Reads all but the trace, and the lines that go with it. */
void sources_read(struct facts *f);

/* Leaves out lines of other tools whose times are not the trace's, which has so many ticks per second. */
void sources_check_clocks(struct facts *f, double rate);
