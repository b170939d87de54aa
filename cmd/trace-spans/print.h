/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans as text for people: columns. */
#pragma once

#include "measured.h"
#include "terminal.h"

struct print {
	struct measured *measured;
	const struct spanline *line; /* of the span being printed */
	struct out text, end, id;    /* reused: for parts of a line */
	struct terminal terminal;
	bool is_title; /* lines stand above stories */
};

/* Columns, as far as the terminal has room for them; open: for print_open(). */
void print_heading(struct print *p, struct out *out, bool open);

/* Both write to memory. The second one is for a span that is open: its age, and what it waits for. */
void print_text(struct print *p, struct out *out, const struct span *s);
void print_open(struct print *p, struct out *out, const struct span *s);

void print_free(struct print *p);
