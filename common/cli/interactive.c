/* SPDX-License-Identifier: BSD-3-Clause */
#include "interactive.h"

#include "out.h"

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
