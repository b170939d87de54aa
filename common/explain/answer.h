/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found, as a page for people, and as JSON lines. */
#pragma once

#include "findings.h"
#include "out.h"
#include "terminal.h"

struct answer_options {
	const char *group; /* the key of -g; NULL: none */
	bool against;      /* fast requests are those of an earlier trace */
	/* of a report: the command that reads it. The conclusion comes first. */
	struct slice report;
	bool elsewhere; /* the report has a cause that is not in the trace, and comes first */
	struct terminal terminal;
};

/* Writes a page, as wide as the terminal, to memory. */
void answer_write(struct out *to, const struct findings *f, const struct answer_options *options);

/* Writes an object for each finding, or one with the cause "none". */
void answer_json(struct out *out, const struct findings *f, const struct answer_options *options);

/* Writes whom a finding belongs to; nothing if nobody is known. */
void answer_write_who(struct out *out, const struct tally *t, const struct finding *f);

/* Writes the share of a finding, and of what it is one. */
void answer_write_share(struct out *out, const struct finding *f);
