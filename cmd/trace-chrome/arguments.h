/* SPDX-License-Identifier: BSD-3-Clause */
/* Annotations (writer.h) as the members of an event's args, with commas between them and no braces around them. */
#ifndef TRACE_CHROME_ARGUMENTS_H
#define TRACE_CHROME_ARGUMENTS_H

#include "writer.h"

/* Sets the functions for annotations. members: all zero; it gets the text, and must outlive the writer. */
void arguments_start(struct writer *w, struct out *members);

#endif
