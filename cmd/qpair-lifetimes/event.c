/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "out.h"
#include "owners.h"
#include "probeline.h"

void event_keep_names(struct event *e, struct slice subnqn, struct slice hostnqn)
{
	char *copy = malloc(subnqn.n + hostnqn.n + 1);

	if (!copy)
		err(EXIT_FAILURE, NULL);
	memcpy(copy, subnqn.p, subnqn.n);
	memcpy(copy + subnqn.n, hostnqn.p, hostnqn.n);
	e->subnqn = (struct slice){copy, subnqn.n};
	e->hostnqn = (struct slice){copy + subnqn.n, hostnqn.n};
}

struct slice event_plain_name(struct slice value)
{
	char *plain = malloc(value.n + 1);

	if (!plain)
		err(EXIT_FAILURE, NULL);
	return (struct slice){plain, probeline_unescape(plain, value)};
}

bool event_same_host(const struct event *a, const struct event *b)
{
	return a->qid == b->qid && slice_equal(a->subnqn, b->subnqn) &&
	       slice_equal(a->hostnqn, b->hostnqn);
}

void event_free(struct event *e)
{
	free((char *)e->subnqn.p);
	e->subnqn = e->hostnqn = (struct slice){};
}

static void write_name(struct out *out, const char *key, struct slice value)
{
	struct slice plain = event_plain_name(value);
	char *to = out_room(out, PROBELINE_ESCAPED(value.n) + 64);

	if (!to)
		err(EXIT_FAILURE, NULL);
	to += sprintf(to, ", %s='", key);
	to = probeline_escape(to, plain);
	*to++ = '\'';
	out_commit(out, to);
	free((char *)plain.p);
}

void lifetime_write(struct out *out, const struct lifetime *l)
{
	out_printf(out, "qpair: begin=%" PRIu64, l->begin->tsc);
	if (l->end)
		out_printf(out, ", end=%" PRIu64, l->end->tsc);
	else if (l->owner && l->owner->end != UINT64_MAX)
		out_printf(out, ", end=%" PRIu64, l->owner->end);
	if (l->owner)
		out_printf(out, ", owner=t%02" PRIu64, l->owner->id);
	out_printf(out, ", ptr=0x%" PRIx64 ", thread=%" PRIu64, l->begin->qpair, l->begin->thread);
	if (l->connect) {
		out_printf(out, ", qid=%" PRIu64, l->connect->qid);
		write_name(out, "subnqn", l->connect->subnqn);
		write_name(out, "hostnqn", l->connect->hostnqn);
	}
	out_text(out, "\n");
}
