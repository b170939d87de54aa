/* SPDX-License-Identifier: BSD-3-Clause */
#include "spanfill.h"

#include "json.h"
#include "number.h"

enum { ID, PARENT, TYPE, STATUS };

struct slice spanfill_escaped(struct spanfill *f, struct slice name)
{
	struct out text = {.fd = OUT_MEMORY};
	uint32_t number;

	/* most need none */
	if (!name.n || (!memchr(name.p, '"', name.n) && !memchr(name.p, '\\', name.n)))
		return name;
	out_json(&text, name);
	/* it moves what it adds to */
	number = intern_add(&f->escaped, json_unquoted(out_contents(&text)));
	out_close(&text);
	return f->escaped.all[number];
}

static struct slice id_of(struct spanfill *f, const struct spans *spans, const struct span *s, unsigned text)
{
	struct out *out = out_start(&f->texts[text]);

	spans_write_id(out, spans, s);
	return out_contents(out);
}

void spanfill_io(struct spanfill *f, const struct spans *spans, const struct span *s)
{
	struct spanline *l = &f->line;
	struct out *status = out_start(&f->texts[STATUS]);

	request_io_read(&f->io, spans, s);
	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++)
		if (request_io_number(&f->io, key, &l->io.numbers[key]))
			l->io.has |= 1U << key;
		else
			l->io.texts[key] = request_io_text(&f->io, key, status);
	if (spanline_has(l, REQUEST_IO_TYPE)) {
		out_u64(out_start(&f->texts[TYPE]), l->io.numbers[REQUEST_IO_TYPE]);
		l->io.texts[REQUEST_IO_TYPE] = out_contents(&f->texts[TYPE]);
	}
}

void spanfill_times(struct spanfill *f, const struct spans *spans, const struct proofs *proofs, const struct span *s)
{
	self_time_measure(&f->self, spans, s);
	memcpy(f->line.layers, f->self.layers, sizeof(f->line.layers));
	overlaps_measure(&f->overlaps, spans, s, &f->line);
	proofs_measure(proofs, s, &f->line);
}

bool spanfill_is_torn(const struct span *s)
{
	bool torn = s->torn;

	for (const struct span *child = s->child; child && !torn; child = child->next)
		torn = spanfill_is_torn(child);
	return torn;
}

static void fill_connection(struct spanfill *f, struct connections *connections, uint32_t number)
{
	const struct connection *c = connections_name(connections, number);
	struct spanline *l = &f->line;
	uint64_t queue;

	l->connection = spanfill_escaped(f, c->name);
	if (c->kind > CONNECTION_QPAIR)
		return;
	l->host = spanline_host(l->connection);
	if (number_decimal(c->queue, &queue) && (*c->queue.p != '0' || c->queue.n == 1))
		l->queue = c->queue;
}

void spanfill_span(struct spanfill *f, const struct spans *spans, struct connections *connections, const struct span *s)
{
	struct spanline *l = &f->line;

	spanline_clear(l);
	l->tsc = s->tsc;
	l->start = s->first;
	l->life = life_ns(spans, s);
	l->to_reply = life_to_reply(spans, s);
	l->lcore = s->lcore;
	l->value = s->value;
	l->id = id_of(f, spans, s, ID);
	if (s->source != MAP_NONE)
		l->source = spans->seen.names.all[s->source];
	l->parent = span_parent(s);
	/* an object without an id */
	if (!l->parent.n && s->parent)
		l->parent = id_of(f, spans, s->parent, PARENT);
	l->has_parent = l->parent.n;
	l->owner = span_owner(s);
	l->poller = span_poller(s);
	/* of a root: whose the others below it are follows from that */
	if (!s->has_parent && s->connection != MAP_NONE)
		fill_connection(f, connections, s->connection);
	l->state = spans->states->all[s->states[0].state];
	l->args = span_args(s);
	l->admin = !s->has_parent && s->admin.queue == ADMIN_QUEUE;
	l->maybe_admin = admin_is_possible(&spans->admin, s);
	l->open = life_is_open(spans, s);
	l->cut = s->cut;
	l->torn = spanfill_is_torn(s);
	l->lost = s->gap || life_is_lost(spans, s);
}

void spanfill_free(struct spanfill *f)
{
	spanline_free(&f->line);
	request_io_free(&f->io);
	overlaps_free(&f->overlaps);
	for (unsigned i = 0; i <= STATUS; i++)
		out_close(&f->texts[i]);
	intern_free(&f->escaped);
}
