/* SPDX-License-Identifier: BSD-3-Clause */
#include "measured.h"

#include "json.h"
#include "legs.h"

/* Texts that are made: those that no other part of the model keeps. */
enum { ID, PARENT, TYPE, STATUS, CHILDREN, STATES, SELF };

static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line, struct slice entry)
{
	struct measured *m = context;
	uint32_t connection = MAP_NONE;
	size_t named = SIZE_MAX;

	(void)entry;
	if (m->entry || before == MAP_NONE)
		connection = connections_find(&m->connections, line, &named);
	/* a write to a socket does not name its connection */
	if (before == MAP_NONE)
		s->connection = connection == MAP_NONE && s->parent ? s->parent->connection : connection;
	proofs_see(&m->proofs, s, before);
	if (m->entry)
		m->entry(m->context, s, before, line, connection, named);
	if (!m->explains)
		return;
	holders_store(&m->holders, s, before);
	if (!s->has_parent)
		unread_see(&m->unread, s, before == MAP_NONE);
}

static uint32_t find_who(void *context, struct span *s, const struct traceline *line)
{
	struct measured *m = context;

	return holders_who(&m->holders, s, line);
}

static void keep_held(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		      const struct traceline *line)
{
	struct measured *m = context;

	if (m->hold)
		m->hold(m->context, reactor, interval, line);
	else
		interval->cause = held_cause(&m->held, line);
}

static void emit(void *context, const struct span *s)
{
	struct measured *m = context;

	if (m->explains)
		holders_end(&m->holders, s);
	m->emit(m->context, s);
}

static void pass_stuck(void *context, const struct span *s)
{
	struct measured *m = context;

	m->stuck(m->context, s);
}

void measured_start(struct measured *m)
{
	struct spans *spans = &m->spans;

	spans->types = &m->types;
	spans->states = &m->states;
	spans->context = m;
	spans->emit = emit;
	spans->stuck = m->stuck ? pass_stuck : NULL;
	spans->has_lcores = spans->covered = true;
	spans->entry = see_entry;
	if (m->explains) {
		holders_start(&m->holders, spans, &m->connections);
		spans->who = find_who;
		spans->held = keep_held;
	}
	m->held.spans = spans;
	m->proofs.spans = spans;
	m->unread.spans = spans;
	spans_start(spans);
}

void measured_span(struct measured *m, const struct span *s)
{
	m->span = s;
	m->parts = 0;
	request_io_read(&m->io, &m->spans, s);
	self_time_measure(&m->self, &m->spans, s);
	overlaps_measure(&m->overlaps, &m->spans, s);
	m->facts = proofs_facts(&m->proofs, s);
}

/* Starts one of texts. */
static struct out *start_text(struct measured *m, unsigned text)
{
	m->texts[text].fd = OUT_MEMORY;
	m->texts[text].len = 0;
	return &m->texts[text];
}

/* A name for terminals as it is written in JSON. Most need no escapes. */
static struct slice escaped(struct measured *m, struct slice name)
{
	struct out text = {.fd = OUT_MEMORY};
	uint32_t number;

	if (!memchr(name.p, '"', name.n) && !memchr(name.p, '\\', name.n))
		return name;
	out_json(&text, name);
	/* it moves what it adds to */
	number = intern_add(&m->escaped, json_unquoted(out_contents(&text)));
	out_close(&text);
	return m->escaped.all[number];
}

static struct slice name_of(struct measured *m, uint32_t who)
{
	return escaped(m, holders_who_name(&m->holders, who));
}

static struct slice id_of(struct measured *m, const struct span *s, unsigned text)
{
	struct out *out = start_text(m, text);

	spans_write_id(out, &m->spans, s);
	return out_contents(out);
}

static void fill_io(struct measured *m)
{
	struct spanline *l = &m->line;
	uint64_t ns;

	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++)
		if (request_io_number(&m->io, key, &l->io.numbers[key]))
			l->io.has |= 1U << key;
	if (spanline_has(l, REQUEST_IO_TYPE)) {
		out_u64(start_text(m, TYPE), l->io.numbers[REQUEST_IO_TYPE]);
		l->io.texts[REQUEST_IO_TYPE] = out_contents(&m->texts[TYPE]);
	} else if (m->io.type) {
		l->io.texts[REQUEST_IO_TYPE] = slice_of(m->io.type);
	}
	l->io.texts[REQUEST_IO_BDEV] = out_contents(&m->io.bdev);
	l->io.texts[REQUEST_IO_LEG] = request_io_leg(&m->io, &ns);
	request_io_status(start_text(m, STATUS), &m->io);
	l->io.texts[REQUEST_IO_STATUS] = out_contents(&m->texts[STATUS]);
}

static void fill_facts(struct measured *m)
{
	struct spanline *l = &m->line;

	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		l->facts[fact_proven[i]] = m->facts.ns[fact_proven[i]];
	for (unsigned i = 0; i < OVERLAPS; i++) {
		l->facts[overlaps_facts[i]] = m->overlaps.parts[i];
		l->covered[i] = m->overlaps.covered[i];
	}
	l->silent = m->overlaps.silent;
	l->retries = m->facts.retries;
	l->queue = m->facts.queue;
	memcpy(l->layers, m->self.layers, sizeof(l->layers));
}

bool measured_is_torn(const struct span *s)
{
	bool torn = s->torn;

	for (const struct span *child = s->child; child && !torn; child = child->next)
		torn = measured_is_torn(child);
	return torn;
}

static void fill(struct measured *m, const struct span *s)
{
	const struct spans *spans = &m->spans;
	struct spanline *l = &m->line;

	spanline_clear(l);
	l->tsc = s->tsc;
	l->start = s->first;
	l->life = spans_life(spans, s);
	l->to_reply = spans_to_reply(spans, s);
	l->lcore = s->lcore;
	l->value = s->value;
	l->id = id_of(m, s, ID);
	if (s->source != MAP_NONE)
		l->source = spans->sources.all[s->source];
	l->parent = span_parent(s);
	/* an object without an id */
	if (!l->parent.n && s->parent)
		l->parent = id_of(m, s->parent, PARENT);
	l->has_parent = l->parent.n;
	l->owner = span_owner(s);
	l->poller = span_poller(s);
	/* of a root: whose the others below it are follows from that */
	if (m->explains && !s->has_parent && s->connection != MAP_NONE)
		l->connection = name_of(m, s->connection);
	l->state = spans->states->all[s->states[0].state];
	l->args = span_args(s);
	l->admin = !s->has_parent && s->queue == SPAN_QUEUE_ADMIN;
	l->maybe_admin = admin_is_possible(&spans->admin, s);
	l->open = spans_is_open(spans, s);
	l->cut = s->cut;
	l->torn = measured_is_torn(s);
	l->lost = s->gap || spans_is_lost(spans, s);
	fill_io(m);
	fill_facts(m);
}

/* For whom an lcore wrote, the longest time first; and those of hosts with several connections. */
static void fill_names(struct measured *m, struct spanline_wait *w, const struct lcores_work *work)
{
	const struct holders *h = &m->holders;

	for (size_t i = 0; i < work->sums.n && i < SPANLINE_NAMES; i++) {
		const struct lcores_sum *sum = &work->sums.all[i];

		*spanline_add_name(&m->line, &w->of) = (struct spanline_name){name_of(m, sum->who), sum->ns,
									      sum->entries, 0};
	}
	if (work->sums.n < 2)
		return;
	holders_find_groups(&m->holders, work);
	for (size_t i = 0; i < h->num_groups; i++) {
		const struct holders_group *group = &h->groups[i];

		if (group->members > 1)
			*spanline_add_name(&m->line, &w->hosts) = (struct spanline_name){
				escaped(m, connections_host(&m->connections, group->who)), group->ns, group->entries,
				group->members};
	}
}

static void fill_wait(struct measured *m, struct spanline_wait *w, const struct wait *wait)
{
	const struct lcores_work *work;
	struct holders_wait known;

	holders_explain(&m->holders, &m->waits, wait, &known);
	work = known.work;
	*w = (struct spanline_wait){.ns = known.ns, .layer = known.layer};
	if (known.tpoint)
		w->state = m->states.all[known.state];
	if (known.lcore != MAP_NONE) {
		w->has_lcore = true;
		w->at = known.at;
		w->lcore = m->spans.lcores.all[known.lcore].number;
		w->entries = work->entries;
		w->kept = work->read;
		w->silent = work->silence;
		w->active = work->entries && work->read == work->entries && !work->gap ? work->active : UINT64_MAX;
		w->is_rare = lcores_is_rare(&m->spans.lcores, known.lcore, work->silence);
		if (work->ended_by != MAP_NONE)
			w->ended_by = name_of(m, work->ended_by);
		w->ended_before = work->ended_before;
		w->lost = work->gap;
		fill_names(m, w, work);
	}
	if (!known.fact)
		return;
	w->is_buffer = known.tpoint->layer == LAYER_BUFFER;
	w->is_queued = known.tpoint->kind == SPDK_SOCKET_WRITE;
	w->others = known.fact->others;
	w->pdus = known.pdus;
	if (!known.fact->held)
		return;
	w->buffers = known.fact->holders;
	w->held = known.fact->held;
	w->holder = name_of(m, known.fact->holder);
}

static void fill_held(struct measured *m, struct spanline_names *names, const struct span *s, enum overlap part,
		      enum reactors_kind kind)
{
	if (m->hold || !m->overlaps.parts[part])
		return;
	held_find(&m->held, s, kind);
	for (size_t i = 0; i < m->held.num_sums && i < SPANLINE_NAMES; i++)
		*spanline_add_name(&m->line, names) = (struct spanline_name){held_name(&m->held, m->held.sums[i].name),
									     m->held.sums[i].ns, 0, 0};
}

/* What a root waited for. */
static void fill_waits(struct measured *m, const struct span *s)
{
	struct spanline *l = &m->line;
	struct unread_wait unread;
	struct legs_last last;

	if (!m->explains || s->has_parent)
		return;
	unread = unread_of(&m->unread, s);
	l->unread = unread.ns;
	if (unread.ns && !m->hold)
		l->unread_by = held_name(&m->held, unread.cause);
	fill_held(m, &l->off_cpu_by, s, OVERLAP_OFF_CPU, REACTORS_OFF_CPU);
	fill_held(m, &l->irq_by, s, OVERLAP_IRQ, REACTORS_IRQ);
	waits_find(&m->waits, &m->spans, s);
	for (; l->num_waits < m->waits.num_waits; l->num_waits++)
		fill_wait(m, &l->waits[l->num_waits], &m->waits.all[l->num_waits]);
	if (!s->child || !legs_find_last(&m->spans, s, &last) || !last.ns)
		return;
	l->facts[FACT_LEG] = last.ns;
	l->last_leg = spans_bdev(last.leg);
	l->leg_after = spans_bdev(last.rival);
}

static void write_children(struct out *out, const struct spans *spans, const struct span *s)
{
	for (const struct span *child = s->child; child; child = child->next) {
		out_text(out, child == s->child ? "[\"" : ",\"");
		spans_write_id(out, spans, child);
		out_char(out, '"');
	}
	out_text(out, s->child ? "]" : "");
}

static void write_states(struct out *out, const struct spans *spans, const struct span *s)
{
	uint64_t unknown = s->age + (s->states[0].ns - s->first);

	out_char(out, '[');
	if (unknown) {
		out_text(out, "[null,");
		out_us(out, unknown);
		out_text(out, "],");
	}
	for (size_t i = 0; i < s->n; i++) {
		uint64_t end = i + 1 < s->n ? s->states[i + 1].ns : spans_until(spans, s);

		out_text(out, i ? ",[\"" : "[\"");
		out_slice(out, spans->states->all[s->states[i].state]);
		out_text(out, "\",");
		out_us(out, end - s->states[i].ns);
		out_char(out, ']');
	}
	out_char(out, ']');
}

/* Adds the time of a letter to the n letters so far; returns their number then. */
static unsigned add_letter(struct self_letter *all, unsigned n, struct slice letter, uint64_t ns)
{
	unsigned i = 0;

	while (i < n && !slice_equal(all[i].letter, letter))
		i++;
	if (i == n)
		all[n++] = (struct self_letter){letter, 0};
	all[i].ns += ns;
	return n;
}

/* By letter, which several types may have. */
static void write_self(struct out *out, const struct spans *spans, const struct self_time *self)
{
	const struct intern *types = spans->types;
	struct self_letter letters[LIFECYCLE_TYPES + SPDK_LETTERS];
	const char *separator = "\"";
	unsigned n = 0;

	for (uint32_t i = 0; i < types->n; i++)
		if (self->has[i])
			n = add_letter(letters, n, lifecycle_letter(types->all[i]), self->types[i]);
	for (unsigned i = 0; i < self->num_letters; i++)
		n = add_letter(letters, n, self->letters[i].letter, self->letters[i].ns);
	out_char(out, '{');
	for (unsigned i = 0; i < n; i++) {
		out_text(out, separator);
		out_slice(out, letters[i].letter);
		out_text(out, "\":");
		out_us(out, letters[i].ns);
		separator = ",\"";
	}
	out_char(out, '}');
}

static void fill_texts(struct measured *m, const struct span *s)
{
	write_children(start_text(m, CHILDREN), &m->spans, s);
	write_states(start_text(m, STATES), &m->spans, s);
	write_self(start_text(m, SELF), &m->spans, &m->self);
	m->line.children = out_contents(&m->texts[CHILDREN]);
	m->line.states = out_contents(&m->texts[STATES]);
	m->line.self = out_contents(&m->texts[SELF]);
}

const struct spanline *measured_line(struct measured *m, unsigned parts)
{
	enum { PLAIN = 4 };

	if (!(m->parts & PLAIN))
		fill(m, m->span);
	if (parts & ~m->parts & MEASURED_WAITS)
		fill_waits(m, m->span);
	if (parts & ~m->parts & MEASURED_TEXTS)
		fill_texts(m, m->span);
	m->parts |= parts | PLAIN;
	return &m->line;
}

struct slice measured_value(struct measured *m, struct slice path)
{
	const char *dot = memchr(path.p, '.', path.n);
	struct slice key = dot ? slice_between(path.p, dot) : path;
	struct slice rest = dot ? slice_between(dot + 1, path.p + path.n) : (struct slice){};
	const struct spanline *l = measured_line(m, spanline_is_deep(key) ? MEASURED_WAITS | MEASURED_TEXTS : 0);
	bool is_io = dot && slice_is(key, "io");

	m->value.fd = OUT_MEMORY;
	m->value.len = 0;
	if (!spanline_is_key(key) || is_io)
		return spanline_write_io_key(&m->value, l, is_io ? rest : path) ? out_contents(&m->value)
										: (struct slice){};
	if (!spanline_write_key(&m->value, l, key))
		return (struct slice){};
	return dot ? json_path(out_contents(&m->value), rest) : out_contents(&m->value);
}

void measured_notes(const struct measured *m, struct measured_note notes[MEASURED_NOTES])
{
	const struct spans *spans = &m->spans;
	const struct measured_note all[MEASURED_NOTES] = {
		{spans->lost, SPANS_LOST},
		{spans->late, "{entry left out: its span|entries left out: their spans} had ended"},
		{spans->lifecycle.out_of_order,
		 "{entry left out: it|entries left out: each} is earlier than the previous one of its object"},
		{spans->lifecycle.restarts, LIFECYCLE_RESTARTS},
		{spans->beyond, "{child or state|children or states} left out: a span has more than are kept"},
		{spans->foreign,
		 "{entry has no off_cpu and irq: the reactor of its lcore counts|entries have no off_cpu and irq: the "
		 "reactors of their lcores count} for another source"},
		{spans->reactors.foreign,
		 "line{|s} left out: another process, which came first, has reactors on {its lcore|their lcores}"},
	};

	memcpy(notes, all, sizeof(all));
}

void measured_free(struct measured *m)
{
	spans_free(&m->spans);
	intern_free(&m->types);
	intern_free(&m->states);
	connections_free(&m->connections);
	proofs_free(&m->proofs);
	unread_free(&m->unread);
	holders_free(&m->holders);
	held_free(&m->held);
	request_io_free(&m->io);
	overlaps_free(&m->overlaps);
	waits_free(&m->waits);
	spanline_free(&m->line);
	for (unsigned i = 0; i <= SELF; i++)
		out_close(&m->texts[i]);
	out_close(&m->value);
	intern_free(&m->escaped);
	*m = (struct measured){};
}
