/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "table.h"

bool facts_answer(struct slice *rpc, const char *method, struct slice *result)
{
	struct slice line;

	while (json_line(rpc, &line)) {
		*result = facts_text(line, "result");
		if (json_is(json_unquoted(facts_text(line, "method")), method))
			return true;
	}
	return false;
}

struct slice facts_config(struct slice rpc, const char *method)
{
	struct slice config, call;
	struct json j;

	while (facts_answer(&rpc, "framework_get_config", &config))
		for (facts_each(&j, config); facts_next(&j, NULL, &call);)
			if (json_is(json_unquoted(facts_text(call, "method")), method))
				return facts_text(call, "params");
	return (struct slice){};
}

struct slice facts_text(struct slice line, const char *path)
{
	return json_path(line, slice_of(path));
}

double facts_number(struct slice line, const char *path)
{
	struct slice value = facts_text(line, path);

	/* what follows it in the object ends it */
	return value.n ? strtod(value.p, NULL) : 0;
}

void facts_each(struct json *j, struct slice container)
{
	json_init(j, container.p, container.n);
	if (json_peek(j) == '{')
		json_object(j);
	else
		json_array(j);
}

bool facts_next(struct json *j, struct slice *key, struct slice *value)
{
	return (key ? json_key(j, key) : json_element(j)) && json_value(j, value);
}

uint64_t facts_ns(double us)
{
	/* also of any number in a line of another program */
	return us >= 0 && us < 1e15 ? us * 1000 + 0.5 : 0;
}

void facts_put_time(struct out *out, double us)
{
	out_duration_text(out, facts_ns(us));
}

void facts_put(struct out *out, struct slice raw)
{
	out_visible_json(out, raw);
}

struct slice facts_largest(struct slice object, double *most)
{
	struct slice key, value, largest = {};
	struct json j;

	*most = 0;
	for (facts_each(&j, object); facts_next(&j, &key, &value);) {
		double n = strtod(value.p + (*value.p == '['), NULL);

		if (n <= *most)
			continue;
		*most = n;
		largest = key;
	}
	return largest;
}

struct slice facts_host(const struct facts *f, const struct share *row)
{
	return row->name.group ? f->names[row->name.group - 1] : (struct slice){};
}

size_t facts_hosts(const struct facts *f, const struct share *rows[FACTS_ROWS], size_t *others)
{
	bool named = false;
	size_t n = 0;

	for (size_t i = 0; i < f->shares.n; i++)
		named |= f->shares.all[i].name.group != 0;
	*others = 0;
	for (const struct share *row = f->shares.all; row < f->shares.all + f->shares.n; row++) {
		size_t i = n < FACTS_ROWS ? n : FACTS_ROWS - 1;

		if (named && !row->name.group)
			continue;
		*others += n == FACTS_ROWS;
		if (n == FACTS_ROWS && row->life <= rows[i]->life)
			continue;
		for (; i && rows[i - 1]->life < row->life; i--)
			rows[i] = rows[i - 1];
		rows[i] = row;
		n += n < FACTS_ROWS;
	}
	return n;
}

const struct latency *facts_life(const struct facts *f, const struct share *row, struct latency_stats *without)
{
	const struct latency *life = NULL;

	for (size_t i = 0; i < f->lives.n && !life; i++)
		if (f->lives.all[i]->group == row->name.group && f->lives.all[i]->type == row->name.type)
			life = f->lives.all[i];
	*without = life ? rows_stats(life) : (struct latency_stats){};
	for (size_t i = 0; i < FACTS_ROWS; i++)
		if (f->bounded[i].row == row && f->bounded[i].n)
			*without = f->bounded[i].without;
	return life;
}

uint64_t facts_bounded(const struct facts *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < FACTS_ROWS; i++)
		n += f->bounded[i].n;
	return n;
}

/* Adds the bounds that say something: of a request that has just begun, nothing is known. */
static void add_bounds(struct facts *f, struct facts_bounded *b)
{
	const struct latency *life = facts_life(f, b->row, &b->without);
	const struct rows_name *name = &b->row->name;

	for (size_t i = 0; life && i < f->num_bounds; i++) {
		const struct facts_bound *bound = &f->bounds[i];

		/* the type of one that has no id is not known */
		if (bound->name.group != name->group || (!name->group && bound->name.type != name->type) ||
		    bound->ns <= b->without.ns[STAT_P50])
			continue;
		rows_record(&f->lives, name->group, name->type, ROWS_LIFE, ROWS_LIFE, bound->ns);
		b->n++;
	}
}

static void find_bounds(struct facts *f)
{
	const struct share *rows[FACTS_ROWS];
	size_t others, n = facts_hosts(f, rows, &others);

	for (size_t i = 0; i < n; i++) {
		f->bounded[i].row = rows[i];
		add_bounds(f, &f->bounded[i]);
	}
}

void facts_put_host(struct out *out, const struct facts *f, const struct share *row)
{
	if (row->name.group) {
		facts_put(out, facts_host(f, row));
	} else {
		out_text(out, "objects ");
		facts_put(out, lifecycle_letter(f->measured.types.all[row->name.type]));
	}
}

const struct facts_span *facts_slowest(const struct facts *f)
{
	return f->slowest[0].line.n ? f->slowest : f->slowest_own;
}

void facts_put_what(struct out *out, struct slice span)
{
	struct slice who = json_unquoted(facts_text(span, "connection"));
	struct slice type = json_unquoted(facts_text(span, "io.type"));
	struct slice bdev = json_unquoted(facts_text(span, "io.bdev")), leg = json_unquoted(facts_text(span, "io.leg"));

	facts_put(out, json_unquoted(facts_text(span, "id")));
	out_text(out, who.n ? " of " : "");
	facts_put(out, who);
	out_text(out, type.n ? ", " : "");
	facts_put(out, type);
	out_text(out, bdev.n ? ", " : "");
	facts_put(out, bdev);
	out_text(out, leg.n ? ">" : "");
	facts_put(out, leg);
	if (facts_text(span, "io.blocks").n)
		out_printf(out, ", %.0f blocks", facts_number(span, "io.blocks"));
}

static void see_host(struct facts *f, struct slice qpair)
{
	struct slice nqn = json_unquoted(facts_text(qpair, "hostnqn"));
	uint32_t i = nqn.n ? intern_add_below(&f->hosts, nqn, FACTS_HOSTS) : MAP_NONE;

	/* only probes have the addresses of qpairs */
	if (i != MAP_NONE)
		*table_at(f->probed, f->num_probed, f->cap_probed, i) |= facts_text(qpair, "ptr").n != 0;
}

static void free_span(struct facts_span *span)
{
	free((char *)span->line.p);
	free((char *)span->story.p);
}

/* Puts the latest span among those with the longest times. */
static void keep_longest(struct facts *f, const struct span *s, struct facts_span *spans, uint64_t ns)
{
	const size_t n = f->num_slowest;
	double us = ns / 1e3;
	size_t i = n;

	while (i && (!spans[i - 1].line.n || spans[i - 1].us < us))
		i--;
	if (i == n)
		return;
	f->text.len = 0;
	spanline_write(&f->text, measured_line(&f->measured, MEASURED_WAITS | MEASURED_TEXTS));
	free_span(&spans[n - 1]);
	memmove(&spans[i + 1], &spans[i], (n - 1 - i) * sizeof(*spans));
	spans[i] = (struct facts_span){.line = mem_slice(out_contents(&f->text)), .us = us};
	if (!f->wants_stories)
		return;
	f->text.len = 0;
	story_write(&f->story, &f->text, s);
	spans[i].story = mem_slice(out_contents(&f->text));
}

/* The number of the host of a span in groups; MAP_NONE: it has none. */
static uint32_t host_of(struct facts *f, const struct span *s, const struct spanline *span)
{
	struct slice nqn;

	if (!span->host.n)
		return MAP_NONE;
	nqn = f->measured.connections.all[s->connection].hostnqn;
	return intern_add_below(&f->groups, nqn.n ? nqn : span->host, ROWS_GROUPS);
}

static void name_hosts(struct facts *f)
{
	struct measured *m = &f->measured;

	f->names = mem_array(f->groups.n, sizeof(*f->names));
	for (uint32_t i = 0; i < f->groups.n; i++) {
		struct slice name = connections_named(&m->connections, f->groups.all[i]);

		f->names[i] = name.n ? spanfill_escaped(&m->fill, name) : f->groups.all[i];
	}
}

static bool is_whole(const struct facts *f, const struct span *s, const struct spanline *span)
{
	return !s->unknown && !span->open && !life_is_lost(&f->measured.spans, s);
}

/* Adds a request that started and ended in the trace to the sums of its host. */
static void add_whole(struct facts *f, const struct span *s, const struct spanline *span, uint32_t host)
{
	const struct rows_name name = {host + 1, s->type};

	shares_add(&f->shares, name, span, false);
	series_request(&f->series, s, name, span);
	if (s->n > 1 || s->age)
		rows_record(&f->lives, name.group, s->type, ROWS_LIFE, ROWS_LIFE, span->life + span->unread);
}

/* The life of one that did not, as far as it is known. */
static void add_bound(struct facts *f, const struct span *s, const struct spanline *span, uint32_t host)
{
	if (f->num_bounds == REQUESTS_MAX)
		return;
	f->bounds = mem_room(f->bounds, f->num_bounds, &f->cap_bounds);
	f->bounds[f->num_bounds++] = (struct facts_bound){{host + 1, s->type}, span->life + span->unread};
}

/* Sees a request that the page is about. */
static void see_request(struct facts *f, const struct span *s, const struct spanline *span, uint32_t host)
{
	const bool has_ended = !span->open && !span->cut;

	f->requests++;
	f->incomplete += !has_ended;
	if (is_whole(f, s, span))
		add_whole(f, s, span, host);
	else if (!(span->open && span->maybe_admin))
		add_bound(f, s, span, host);
	if (has_ended)
		series_heat(&f->series, span->start, span->life);
	if (span->open && span->maybe_admin)
		return;
	pools_see(&f->pools, &f->measured.spans, s, span);
	keep_longest(f, s, span->host.n ? f->slowest : f->slowest_own, span->life + span->unread);
}

/* A measured.emit function. */
static void see_span(void *context, const struct span *s)
{
	struct facts *f = context;
	const struct spanline *span;
	uint32_t host;
	bool wanted;

	if (s->has_parent)
		return;
	measured_span(&f->measured, s);
	span = measured_line(&f->measured, MEASURED_WAITS);
	host = host_of(f, s, span);
	wanted = (!f->keys.n || keys_match(&f->keys, &f->measured)) &&
		 facts_is_between(f, span->start, span->start + span->life);
	f->seen++;
	causes_span(&f->causes, span, host, wanted);
	if (span->admin) {
		f->admin += wanted;
		return;
	}
	/* whatever the page is about, these are of all */
	if (is_whole(f, s, span) && facts_is_between(f, s->last, s->last))
		lcore_rows_request(&f->lcores, s);
	series_waits(&f->series, span);
	see_host(f, json_member(span->args, slice_of("qpair")));
	if (wanted)
		see_request(f, s, span, host);
}

/* A measured.entry function. */
static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line, uint32_t connection,
		      size_t named)
{
	struct facts *f = context;

	story_add(&f->story, s, before, line, connection, named);
}

void facts_start(struct facts *f)
{
	struct measured *m = &f->measured;

	f->text.fd = f->info_text.fd = OUT_MEMORY;
	m->explains = true;
	m->context = f;
	m->emit = see_span;
	m->entry = f->wants_stories ? see_entry : NULL;
	f->lcores.spans = &m->spans;
	f->lcores.connections = &m->connections;
	f->lcores.held = &m->held;
	measured_start(m);
	if (f->wants_stories)
		story_start(&f->story, m, &f->terminal);
}

void facts_end(struct facts *f)
{
	double pool = facts_number(facts_config(f->rpc, "bdev_set_options"), "bdev_io_pool_size");

	f->measured.behind.pool = pool > 0 && pool < 1e9 ? pool : 0;
	measured_end(&f->measured);
	name_hosts(f);
	find_bounds(f);
}

uint64_t facts_entries(const struct facts *f)
{
	return facts_number(f->info, "entries") - facts_number(f->info, "before_window") -
	       facts_number(f->info, "cleared");
}

static void free_spans(struct facts_span *spans, size_t n)
{
	for (size_t i = 0; spans && i < n; i++)
		free_span(&spans[i]);
	free(spans);
}

void facts_free(struct facts *f)
{
	free_spans(f->slowest, f->num_slowest);
	free_spans(f->slowest_own, f->num_slowest);
	story_free(&f->story);
	keys_free(&f->keys);
	free(f->probed);
	free(f->min_us);
	out_close(&f->unread);
	out_close(&f->info_text);
	out_close(&f->text);
	measured_free(&f->measured);
	lcore_rows_free(&f->lcores);
	intern_free(&f->groups);
	free(f->names);
	shares_free(&f->shares);
	rows_free(&f->lives);
	free(f->bounds);
	causes_free(&f->causes);
	intern_free(&f->hosts);
	series_free(&f->series);
	network_free(&f->network);
	pools_free(&f->pools);
}
