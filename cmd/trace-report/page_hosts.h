/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of a page: hosts, the lives of the requests of one of them, and lcores. */
#pragma once

#include "facts.h"

/* explains: the causes of requests that ended are on the page. */
void page_hosts(struct out *out, const struct facts *f, bool explains);

/* How the lives of one host's requests are spread. */
void page_spread(struct out *out, const struct facts *f);

void page_lcores(struct out *out, struct facts *f);
