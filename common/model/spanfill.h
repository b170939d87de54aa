/* SPDX-License-Identifier: BSD-3-Clause */
/* What a span line says of a span by itself, and of the I/O below it. */
#pragma once

#include "connection.h"
#include "spanline.h"

struct spanfill {
	struct spanline line; /* valid while the tree of the span is */
	struct request_io io; /* for spanfill_io() */
	struct out texts[4];  /* scratch */
	struct intern escaped;
};

/* Clears the line, and sets what the span says. f is all zero before the first call. */
void spanfill_span(struct spanfill *f, const struct spans *spans, struct connections *connections,
		   const struct span *s);

/* Sets io in the line, as request_io_read() has read it. */
void spanfill_io(struct spanfill *f);

/* A name for terminals as it is written in JSON, valid until f is freed. */
struct slice spanfill_escaped(struct spanfill *f, struct slice name);

/* Whether an entry of the span or of those below it was torn. */
bool spanfill_is_torn(const struct span *s);

void spanfill_free(struct spanfill *f);
