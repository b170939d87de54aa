/* SPDX-License-Identifier: BSD-3-Clause */
/* Why requests are slow: those of all hosts together, and those of each. */
#pragma once

#include "findings.h"
#include "inflight.h"
#include "terminal.h"

/* All zero at first. */
struct causes {
	struct requests requests;
	struct tally all, hosts;
	struct findings findings; /* of all; without any, those of a host */
	struct inflight inflight;
	struct ledger ledger; /* of single requests, once one was asked for */
};

/* Sees a span, with the number of its host; MAP_NONE: it has none. wanted: it is to be explained. */
void causes_span(struct causes *c, const struct spanline *span, uint32_t host, bool wanted);

/*
 * Finds the causes, after all spans. hosts: names by number, as written in JSON. min_ns: the least of a slow request;
 * 0: any. end: as for inflight_find(); behind: of the same trace.
 */
void causes_find(struct causes *c, const struct slice *hosts, uint64_t min_ns, uint64_t end,
		 const struct behind *behind);

/* The first finding about the requests of the host of this name. False if none of their causes is known. */
bool causes_of_host(const struct causes *c, struct slice host, struct findings *findings);

/* Whether a cause is found that is not as it should be, perhaps. */
static inline bool causes_any(const struct causes *c)
{
	return c->findings.n && findings_doubt(c->findings.all) != DOUBT_MEANT;
}

/* What the findings are of, as for answer_options. */
static inline const char *causes_group(const struct causes *c)
{
	return c->findings.tally == &c->hosts ? "host" : NULL;
}

/* Writes whom the request waited for that was read at this time, in ns; nothing if none was. */
void causes_write_one(struct out *out, struct causes *c, uint64_t ns, const struct terminal *terminal);

/* Writes the findings as lines of trace-causes -j: of all requests, then of those of each host, with "group". */
void causes_write(struct out *out, const struct causes *c);

void causes_free(struct causes *c);
