/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of text. */
#pragma once

#include "facts.h"
#include "terminal.h"

/*
 * Lines about what hangs. Returns whether they are a cause. *all: of all requests, so that those that ended are not
 * explained. Call it once.
 */
bool page_hang(struct out *out, struct facts *f, bool *all);

/* The slowest requests, with their stories; or their span lines. */
void page_stories(struct out *out, const struct facts *f, bool as_lines);

/* As wide as the terminal; with colours if that has them. Returns whether there is a cause. */
bool page_write(struct out *to, struct facts *f, const struct terminal *terminal);
