/* SPDX-License-Identifier: BSD-3-Clause */
#include "qpair.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem.h"
#include "out.h"
#include "owners.h"
#include "probeline.h"

/* Escapes a string of a probe line as usdt-record does, whichever recorder wrote it. */
static size_t escape(char *to, struct slice string)
{
	struct slice plain = probeline_decode(string);
	size_t n = probeline_escape(to, plain) - to;

	free((char *)plain.p);
	return n;
}

void qpair_keep_names(struct qpair_event *e, struct slice subnqn, struct slice hostnqn)
{
	char *copy = mem_resize(NULL, PROBELINE_ESCAPED(subnqn.n + hostnqn.n), 1);

	e->subnqn.n = escape(copy, subnqn);
	e->hostnqn.n = escape(copy + e->subnqn.n, hostnqn);
	e->subnqn.p = mem_resize(copy, e->subnqn.n + e->hostnqn.n, 1);
	e->hostnqn.p = e->subnqn.p + e->subnqn.n;
}

void qpair_free_names(struct qpair_event *e)
{
	free((char *)e->subnqn.p);
	e->subnqn = e->hostnqn = (struct slice){};
}

bool qpair_same_host(const struct qpair_event *a, const struct qpair_event *b)
{
	return a->qid == b->qid && slice_equal(a->subnqn, b->subnqn) && slice_equal(a->hostnqn, b->hostnqn);
}

static void write_name(struct out *out, const char *key, struct slice name)
{
	out_printf(out, ", %s='", key);
	out_slice(out, name);
	out_char(out, '\'');
}

void qpair_write(struct out *out, const struct qpair *q)
{
	out_printf(out, "qpair: begin=%" PRIu64, q->begin->tsc);
	if (q->end)
		out_printf(out, ", end=%" PRIu64, q->end->tsc);
	else if (q->owner && q->owner->end != UINT64_MAX)
		out_printf(out, ", end=%" PRIu64, q->owner->end);
	if (q->owner)
		out_printf(out, ", owner=t%02" PRIu64, q->owner->id);
	out_printf(out, ", ptr=0x%" PRIx64 ", thread=%" PRIu64, q->begin->qpair, q->begin->thread);
	if (q->connect) {
		out_printf(out, ", qid=%" PRIu64, q->connect->qid);
		write_name(out, "subnqn", q->connect->subnqn);
		write_name(out, "hostnqn", q->connect->hostnqn);
	}
	out_char(out, '\n');
}
