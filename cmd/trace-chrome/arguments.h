/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes as the members of an event's args, with commas between them and no braces around them. */
#ifndef TRACE_CHROME_ARGUMENTS_H
#define TRACE_CHROME_ARGUMENTS_H

#include "notes.h"

struct notes {
	struct out text; /* in memory */
};

#endif
