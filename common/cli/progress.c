/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "out.h"

enum { SECOND = 1000000000 };

void progress_start(struct progress *p)
{
	*p = (struct progress){.wanted = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO)};
	if (p->wanted)
		p->next = clock_ns() + SECOND;
}

static void print_amount(uint64_t n, const char *unit)
{
	const double mb = 1e6;

	if (unit)
		fprintf(stderr, "%" PRIu64 " %s", n, unit);
	else
		fprintf(stderr, "%.*f MB", n < 10 * mb ? 1 : 0, n / mb);
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *unit)
{
	if (!p->wanted || clock_ns() < p->next)
		return;
	p->next = clock_ns() + SECOND;
	p->shown = true;
	fprintf(stderr, "\r%s: ", program_invocation_short_name);
	if (total)
		fprintf(stderr, "%d %% of ", (int)(100.0 * done / total));
	print_amount(total ? total : done, unit);
	/* clears the rest of an earlier, longer line */
	fputs("\33[K", stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\33[K", stderr);
	p->shown = false;
}

/* A lines_hook. */
static void hook(void *context, const struct lines *l, enum lines_moment moment)
{
	struct interactive *i = context;

	if (moment == LINES_REPORT) {
		progress_end(&i->progress);
		return;
	}
	progress_show(&i->progress, l->consumed, l->size, NULL);
	if (moment == LINES_WAIT && i->out)
		out_flush(i->out);
	while (moment == LINES_WAIT && i->pause && !lines_wait(l, INTERACTIVE_TICK_MS)) {
		i->pause(i->context);
		if (i->out)
			out_flush(i->out);
	}
}

void interactive_start(struct interactive *i, struct lines *l, struct out *out)
{
	*i = (struct interactive){.out = out};
	progress_start(&i->progress);
	l->hook = hook;
	l->context = i;
}
