/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

enum { SECOND = 1000000000 };

void progress_start(struct progress *p)
{
	*p = (struct progress){.wanted = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO)};
	if (p->wanted)
		p->next = clock_ns() + SECOND;
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *unit)
{
	if (!p->wanted || clock_ns() < p->next)
		return;
	p->next = clock_ns() + SECOND;
	p->shown = true;
	/* \33[K clears the rest of an earlier, longer line */
	if (total)
		fprintf(stderr, "\r%s: %d %% of %" PRIu64 " %s\33[K", program_invocation_short_name,
			(int)(100.0 * done / total), total, unit);
	else
		fprintf(stderr, "\r%s: %" PRIu64 " %s\33[K", program_invocation_short_name, done, unit);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\33[K", stderr);
	p->shown = false;
}
