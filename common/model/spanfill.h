/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the line of a span: what it says by itself, the I/O below it, and where its time was. */
#pragma once

#include "connection.h"
#include "overlaps.h"
#include "proofs.h"
#include "self_time.h"
#include "spanline.h"

struct spanfill {
	struct spanline line; /* valid while the tree of the span is */
	struct request_io io;
	struct self_time self;
	struct overlaps overlaps;
	struct out texts[4]; /* scratch */
	struct intern escaped;
};

/* Clears the line, and sets what the span says. f is all zero before the first call. */
void spanfill_span(struct spanfill *f, const struct spans *spans, struct connections *connections,
		   const struct span *s);

/* Reads the I/O, and sets io in the line of the same span. */
void spanfill_io(struct spanfill *f, const struct spans *spans, const struct span *s);

/* Divides its life, and sets layers, facts and silent in the line. */
void spanfill_times(struct spanfill *f, const struct spans *spans, const struct proofs *proofs, const struct span *s);

/* A name for terminals as it is written in JSON, valid until f is freed. */
struct slice spanfill_escaped(struct spanfill *f, struct slice name);

/* Whether an entry of the span or of those below it was torn. */
bool spanfill_is_torn(const struct span *s);

void spanfill_free(struct spanfill *f);
