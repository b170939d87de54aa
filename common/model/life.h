/* SPDX-License-Identifier: BSD-3-Clause */
/* Until when spans live, and whether that is known: they may be open, or have ended where entries are missing. */
#pragma once

#include "reactors.h"

struct span;
struct spans;

/* Whether a span is in no final state or, after spans_end(), was in none at the end of the input. */
bool life_is_open(const struct spans *spans, const struct span *s);

/* The child that is open and started last, or NULL. */
const struct span *life_open_child(const struct spans *spans, const struct span *s);

/* The innermost one that is open, as far as the one that started last is; or the span itself. */
const struct span *life_innermost(const struct spans *spans, const struct span *s);

/* The lcore of its latest entry, as a key of struct latest. */
uint64_t life_lcore_key(const struct spans *spans, const struct span *s);

/* ns: the latest entry of that lcore before which others are missing; 0: none are missing so far. */
uint64_t life_gap(const struct spans *spans, const struct span *s);

/*
 * Whether entries of its lcore are missing after its last one, and it has ended unseen: its address is used again; or
 * may have, since no span below it has an entry after those that are missing. It is not open.
 */
bool life_is_lost(const struct spans *spans, const struct span *s);

/*
 * The time in ns until which a span lived. That is its last entry; if its end is lost, it has lived at least until the
 * last one below it. But while it is open, and all spans above it are, it is the end of the input: the latest entry of
 * its source, or the time that was passed to spans_pass(). Lines of other tools do not count, which may go on when the
 * trace has been copied. But if the reactor has not run since that entry, it is until when they say that.
 */
uint64_t life_until(const struct spans *spans, const struct span *s);

/* ns from its creation, as far as that is known, until then. */
uint64_t life_ns(const struct spans *spans, const struct span *s);

/* The same to its reply, if there is one. */
uint64_t life_to_reply(const struct spans *spans, const struct span *s);

/*
 * Passes on the times for which the reactors of its entries were held, until then, or until its own last entry if its
 * end is lost. See spans.has_lcores.
 */
void life_held(const struct spans *spans, const struct span *s, reactors_part *part, void *context);

/*
 * Whether it lives longer than that, by an unknown time: it is open, its end is lost, or the time of its creation is
 * not known.
 */
bool life_is_longer(const struct spans *spans, const struct span *s);

/* The same for the time to its reply. */
bool life_may_reply_later(const struct spans *spans, const struct span *s);

#define LIFE_LOST "span{ was|s were} in flight where entries are missing: whether {it|they} ended is not known"
