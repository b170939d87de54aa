/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends spans, and passes on those that have ended. A span ends when it has been in a final state (lifecycle.h) for a
 * while, when its address is reused, or at the end of the input. Then it may wait for what coverage.h says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span;
struct spans;

/* Trace time in a final state, after which no entry is expected. */
enum { ENDING_GRACE_NS = 10 * 1000 * 1000 };

/* The area of a span. */
struct ending_span {
	struct span *next; /* the next one that waits */
	bool expected;     /* is in a final state, and queued to end */
	bool over;         /* has ended: later entries do not count */
	bool emitted;      /* was passed to emit() */
	bool open;         /* it was in no final state when the input ended */
	bool lost;         /* had ended as life_is_lost() says */
	bool stuck;        /* was passed to stuck() */
};

/* All zero at first. */
struct ending {
	/* spans by the time since which they wait, as rings: memory grows with the number of spans that are open */
	struct ending_queue {
		struct ending_entry {
			struct span *span;
			uint32_t generation; /* of the span, when it was added */
			uint64_t since;      /* ns */
		} * all;
		size_t first, n, cap; /* cap: a power of two */
	} final,                      /* in final states, since their last entry */
		open;                 /* if spans.stuck: without a parent, since their first entry */
	struct span *first, *last;    /* have ended, and wait */
	size_t num_waiting;
	uint64_t lost; /* spans without a parent whose end is lost, without admin requests */
};

/* Waits for the end of a span whose latest entry was at ns, or until it is stuck. starts: that is its first one. */
void ending_add(struct spans *spans, struct span *s, bool starts, uint64_t ns);

/* Ends a span. */
void ending_end(struct spans *spans, struct span *s);

/* Whether one has been in a final state since ns or longer. */
static inline bool ending_is_due(const struct ending *e, uint64_t ns)
{
	return e->final.n && e->final.all[e->final.first].since <= ns;
}

/* Ends the spans that have been in final states since ns or longer. */
void ending_due(struct spans *spans, uint64_t ns);

/* Finds those that are stuck now. */
void ending_stuck(struct spans *spans);

/* Emits those that have waited for long, or wait in vain. all: and all others. */
void ending_emit(struct spans *spans, bool all);

/* Ends all spans, at the end of the input, in the order of their last entries. */
void ending_all(struct spans *spans);

void ending_free(struct ending *e);
