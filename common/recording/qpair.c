/* SPDX-License-Identifier: BSD-3-Clause */
#include "qpair.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem.h"
#include "out.h"
#include "probeline.h"

static size_t escape(char *to, struct slice string)
{
	const char *begin = to;
	struct slice plain = string;

	/* nearly always there is nothing to decode */
	if (memchr(string.p, '\\', string.n))
		plain = probeline_decode(string);
	to = probeline_escape(to, plain);
	if (plain.p != string.p)
		free((char *)plain.p);
	return to - begin;
}

struct qpair_connect *qpair_connect_new(uint64_t tsc, uint64_t qid, struct slice subnqn, struct slice hostnqn)
{
	size_t max = sizeof(struct qpair_connect) + PROBELINE_ESCAPED(subnqn.n + hostnqn.n);
	struct qpair_connect *c = mem_resize(NULL, max, 1);

	*c = (struct qpair_connect){.tsc = tsc, .qid = qid, .users = 1};
	c->subnqn = escape(c->text, subnqn);
	c->hostnqn = escape(c->text + c->subnqn, hostnqn);
	return mem_resize(c, sizeof(*c) + c->subnqn + c->hostnqn, 1);
}

static struct slice escaped(struct slice plain)
{
	char *text = mem_resize(NULL, PROBELINE_ESCAPED(plain.n) + 1, 1);

	return slice_between(text, probeline_escape(text, plain));
}

struct qpair_connect *qpair_connect_plain(uint64_t qid, struct slice subnqn, struct slice hostnqn)
{
	struct slice s = escaped(subnqn), h = escaped(hostnqn);
	struct qpair_connect *c = qpair_connect_new(0, qid, s, h);

	free((char *)s.p);
	free((char *)h.p);
	return c;
}

struct qpair_connect *qpair_connect_share(struct qpair_connect *c)
{
	c->users++;
	return c;
}

void qpair_connect_drop(struct qpair_connect *c)
{
	if (c && !--c->users)
		free(c);
}

bool qpair_same_host(const struct qpair_connect *a, const struct qpair_connect *b)
{
	return a->qid == b->qid && slice_equal(qpair_subnqn(a), qpair_subnqn(b)) &&
	       slice_equal(qpair_hostnqn(a), qpair_hostnqn(b));
}

static void write_name(struct out *out, const char *key, struct slice name)
{
	out_printf(out, ", %s='", key);
	out_slice(out, name);
	out_char(out, '\'');
}

void qpair_write(struct out *out, const struct qpair *q)
{
	out_printf(out, "qpair: begin=%" PRIu64, q->begin);
	if (q->ended)
		out_printf(out, ", end=%" PRIu64, q->end);
	if (q->owner != UINT64_MAX)
		out_printf(out, ", owner=t%02" PRIu64, q->owner);
	if (!q->unadded)
		out_printf(out, ", ptr=0x%" PRIx64 ", thread=%" PRIu64, q->address, q->thread);
	if (q->connect) {
		out_printf(out, ", qid=%" PRIu64, q->connect->qid);
		write_name(out, "subnqn", qpair_subnqn(q->connect));
		write_name(out, "hostnqn", qpair_hostnqn(q->connect));
	}
	out_char(out, '\n');
}
