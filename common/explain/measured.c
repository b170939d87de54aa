/* SPDX-License-Identifier: BSD-3-Clause */
#include "measured.h"

#include "json.h"

/* Texts that are made: those that no other part of the model keeps. */
enum { CHILDREN, REMOTE, STATES, SELF };

static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line)
{
	struct measured *m = context;
	uint32_t connection = MAP_NONE;
	size_t named = SIZE_MAX;

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
	behind_see(&m->behind, s, before);
	unread_see(&m->unread, s, line, before == MAP_NONE);
}

static uint32_t find_who(void *context, struct span *s, const struct traceline *line)
{
	struct measured *m = context;
	uint32_t who = holders_who(&m->holders, s, line);

	unread_line(&m->unread, line, who);
	return who;
}

static void keep_held(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		      const struct traceline *line)
{
	struct measured *m = context;

	(void)reactor;
	held_cause(&m->held, interval, line);
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
	enum { OLD = 100 * 1000 * 1000 }; /* ns: those that get stuck together are found together */
	struct measured *m = context;

	if (m->explains && (!m->behind.at || m->spans.now - m->behind.at > OLD))
		behind_find(&m->behind);
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
	spans->has_lcores = spans->coverage.waits = true;
	spans->entry = see_entry;
	if (m->explains) {
		holders_start(&m->holders, spans, &m->connections);
		m->behind.spans = spans;
		m->behind.connections = &m->connections;
		spans->who = find_who;
		spans->held = keep_held;
	}
	m->held.spans = spans;
	m->proofs.spans = spans;
	m->unread.spans = spans;
	spans_start(spans);
}

void measured_end(struct measured *m)
{
	if (m->explains)
		behind_find(&m->behind);
	spans_end(&m->spans);
}

void measured_span(struct measured *m, const struct span *s)
{
	m->span = s;
	m->parts = 0;
}

static struct slice name_of(struct measured *m, uint32_t who)
{
	return spanfill_escaped(&m->fill, holders_who_name(&m->holders, who));
}

/* For whom an lcore wrote, the longest time first; and those of hosts with several connections. */
static void fill_names(struct measured *m, struct spanline_wait *w, const struct lcores_work *work)
{
	const struct holders *h = &m->holders;

	for (size_t i = 0; i < work->sums.n && i < SPANLINE_NAMES; i++) {
		const struct lcores_sum *sum = &work->sums.all[i];

		*spanline_add_name(&m->fill.line, &w->of) = (struct spanline_name){name_of(m, sum->who), sum->ns,
										   sum->entries, 0};
	}
	if (work->sums.n < 2)
		return;
	holders_find_groups(&m->holders, work);
	for (size_t i = 0; i < h->num_groups; i++) {
		const struct holders_group *group = &h->groups[i];

		if (group->members > 1)
			*spanline_add_name(&m->fill.line, &w->hosts) = (struct spanline_name){
				spanfill_escaped(&m->fill, connections_host(&m->connections, group->who)), group->ns,
				group->entries, group->members};
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
		w->active = work->read == work->entries && !work->gap ? work->active : UINT64_MAX;
		w->is_rare = lcores_is_rare(&m->spans.lcores, known.lcore, work->silence);
		w->lost = work->gap;
		fill_names(m, w, work);
	}
	if (!known.fact)
		return;
	w->is_buffer = known.tpoint->layer == LAYER_BUFFER;
	w->is_queued = known.tpoint->kind == SPDK_SOCKET_WRITE;
	w->others = known.fact->others;
	if (!known.fact->held)
		return;
	w->buffers = known.fact->holders;
	w->held = known.fact->held;
	w->holder = name_of(m, known.fact->holder);
}

static void fill_held(struct measured *m, struct spanline_names *names, const struct span *s, enum fact fact,
		      enum reactors_kind kind)
{
	if (!m->fill.line.facts[fact])
		return;
	held_find(&m->held, s, kind);
	for (size_t i = 0; i < m->held.num_sums && i < SPANLINE_NAMES; i++)
		*spanline_add_name(&m->fill.line, names) = (struct spanline_name){
			held_name(&m->held, m->held.sums[i].name), m->held.sums[i].ns, 0, 0};
}

uint64_t measured_unread(struct measured *m, const struct span *s, struct slice *by, struct slice *of)
{
	uint64_t ns;
	const struct unread_away *away = s->has_parent ? NULL : unread_of(&m->unread, s, &ns);

	if (!away)
		return 0;
	if (away->cause != MAP_NONE)
		*by = held_name(&m->held, away->cause);
	else
		*of = away->thread ? away->thread->name : name_of(m, away->who);
	return ns;
}

/* What a root waited for. */
static void fill_waits(struct measured *m, const struct span *s)
{
	struct spanline *l = &m->fill.line;

	if (!m->explains || s->has_parent)
		return;
	l->unread = measured_unread(m, s, &l->unread_by, &l->unread_for);
	fill_held(m, &l->off_cpu_by, s, FACT_OFF_CPU, REACTORS_OFF_CPU);
	fill_held(m, &l->irq_by, s, FACT_IRQ, REACTORS_IRQ);
	waits_find(&m->waits, &m->spans, s);
	for (; l->num_waits < m->waits.num_waits; l->num_waits++)
		fill_wait(m, &l->waits[l->num_waits], &m->waits.all[l->num_waits]);
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

/* The requests of the process itself that commands below a span are. */
static void write_remote(struct out *out, const struct spans *spans, const struct span *s)
{
	for (const struct span *child = s->child; child; child = child->next) {
		if (spans_is_own(spans, child)) {
			out_text(out, out->len ? ",\"" : "[\"");
			spans_write_id(out, spans, child);
			out_char(out, '"');
		}
		write_remote(out, spans, child);
	}
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
		uint64_t end = i + 1 < s->n ? s->states[i + 1].ns : life_until(spans, s);

		out_text(out, i ? ",[\"" : "[\"");
		out_slice(out, spans->states->all[s->states[i].state]);
		out_text(out, "\",");
		out_us(out, end - s->states[i].ns);
		out_char(out, ']');
	}
	out_char(out, ']');
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
			n = self_time_letter(letters, n, lifecycle_letter(types->all[i]), self->types[i]);
	for (unsigned i = 0; i < self->num_letters; i++)
		n = self_time_letter(letters, n, self->letters[i].letter, self->letters[i].ns);
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
	write_children(out_start(&m->texts[CHILDREN]), &m->spans, s);
	write_remote(out_start(&m->texts[REMOTE]), &m->spans, s);
	out_text(&m->texts[REMOTE], m->texts[REMOTE].len ? "]" : "");
	write_states(out_start(&m->texts[STATES]), &m->spans, s);
	write_self(out_start(&m->texts[SELF]), &m->spans, &m->fill.self);
	m->fill.line.children = out_contents(&m->texts[CHILDREN]);
	m->fill.line.remote = out_contents(&m->texts[REMOTE]);
	m->fill.line.states = out_contents(&m->texts[STATES]);
	m->fill.line.self = out_contents(&m->texts[SELF]);
}

const struct spanline *measured_line(struct measured *m, unsigned parts)
{
	enum { PLAIN = 4 };

	if (!(m->parts & PLAIN)) {
		spanfill_span(&m->fill, &m->spans, &m->connections, m->span);
		spanfill_io(&m->fill, &m->spans, m->span);
		spanfill_times(&m->fill, &m->spans, &m->proofs, m->span);
		if (m->explains && m->fill.line.open && !m->span->has_parent)
			m->fill.line.behind = spanfill_escaped(&m->fill, behind_of(&m->behind, m->span));
	}
	if (parts & ~m->parts & MEASURED_WAITS)
		fill_waits(m, m->span);
	if (parts & ~m->parts & MEASURED_TEXTS)
		fill_texts(m, m->span);
	m->parts |= parts | PLAIN;
	return &m->fill.line;
}

struct slice measured_value(struct measured *m, struct slice path)
{
	return spanline_value(measured_line(m, spanline_is_deep(path) ? MEASURED_WAITS | MEASURED_TEXTS : 0), path,
			      &m->value);
}

void measured_notes(const struct measured *m, struct measured_note notes[MEASURED_NOTES])
{
	const struct spans *spans = &m->spans;
	const struct measured_note all[MEASURED_NOTES] = {
		{spans->ending.lost, LIFE_LOST},
		{spans->late, "{entry left out: its span|entries left out: their spans} had ended"},
		{spans->lifecycle.out_of_order,
		 "{entry left out: it|entries left out: each} is earlier than the previous one of its object"},
		{spans->lifecycle.restarts, LIFECYCLE_RESTARTS},
		{remote_unmatched(&spans->remote),
		 "{command of the process to itself is|commands of the process to itself are} without a request: which "
		 "one is not known"},
		{spans->remote.ambiguous,
		 "{request may be a command|requests may be commands} of the process itself: several commands fit"},
		{spans->beyond, "{child or state|children or states} left out: a span has more than are kept"},
		{spans->reactors.elsewhere,
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
	behind_free(&m->behind);
	holders_free(&m->holders);
	held_free(&m->held);
	waits_free(&m->waits);
	for (unsigned i = 0; i <= SELF; i++)
		out_close(&m->texts[i]);
	out_close(&m->value);
	spanfill_free(&m->fill);
	*m = (struct measured){};
}
