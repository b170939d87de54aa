/* SPDX-License-Identifier: BSD-3-Clause */
#include "sums.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"

static void add_states(struct sums *m, const struct span *s)
{
	for (size_t i = 0; i < s->n; i++) {
		mem_add(m->states, m->num_states, m->cap_states, s->states[i]);
	}
	for (const struct span *child = s->child; child; child = child->next)
		add_states(m, child);
}

static int by_entry(const void *a, const void *b)
{
	const struct span_state *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

/* Adds the time in each state, and the life if that is over. */
static void add_times(struct sums *m, const struct span *s, uint32_t group)
{
	const struct span_state *states = s->states;
	size_t n = s->n;
	bool is_life;

	if (m->related) {
		m->num_states = 0;
		add_states(m, s);
		states = m->states;
		n = m->num_states;
		qsort(m->states, n, sizeof(*m->states), by_entry);
	}
	for (size_t i = 1; i < n; i++)
		rows_record(&m->rows, group, s->type, states[i - 1].state, states[i].state,
			    states[i].ns - states[i - 1].ns);
	is_life = n > 1 || s->age;
	m->counts.measured += is_life;
	if (life_is_open(m->spans, s)) {
		m->counts.in_progress++;
	} else if (life_is_lost(m->spans, s)) {
		m->counts.lost++;
	} else if (!is_life) {
		m->counts.single_entry++;
	} else {
		rows_record(&m->rows, group, s->type, ROWS_LIFE, ROWS_LIFE, s->age + (states[n - 1].ns - s->first));
		if (s->reply.start != UINT64_MAX)
			rows_record(&m->rows, group, s->type, ROWS_LIFE, ROWS_TO_REPLY, life_to_reply(m->spans, s));
	}
}

static void add_share(struct sums *m, const struct span *s, struct rows_name name)
{
	const struct spanline *line = &m->group.fill.line;
	const struct coverage_time *tools = m->spans->coverage.tools;

	spanfill_times(&m->group.fill, m->spans, m->proofs, s);
	shares_add(&m->shares, name, line, lcores_is_rare(&m->spans->lcores, line->silent.lcore, line->silent.ns));
	m->shares.has_overlaps |= tools[COVERAGE_OFFCPUSNOOP].any || tools[COVERAGE_BIOSNOOP].any;
	m->shared++;
	m->covered[COVERAGE_OFFCPUSNOOP] += line->covered[OVERLAP_OFF_CPU];
	m->covered[COVERAGE_BIOSNOOP] += line->covered[OVERLAP_DISK];
}

static void add_request(struct sums *m, const struct span *s, struct rows_name name)
{
	struct spanfill *fill = &m->group.fill;

	spanfill_span(fill, m->spans, m->connections, s);
	if (m->wanted & SUMS_SHARES)
		add_share(m, s, name);
	if (!(m->wanted & SUMS_RATES))
		return;
	spanfill_io(fill, m->spans, s);
	m->counts.no_peak += !rates_add(&m->rates, name, &fill->line, s->last, sums_slot(m));
}

/* Whether it is not to be added, because of its queue. */
static bool is_left_out(const struct sums *m, const struct span *root)
{
	return !m->admin && admin_has(root);
}

static bool is_whole(const struct sums *m, const struct span *s)
{
	return !s->unknown && !life_is_open(m->spans, s) && !life_is_lost(m->spans, s);
}

/* Counts a request by whether its life is known. */
static void see_request(struct sums *m, const struct span *s)
{
	bool longer = life_is_longer(m->spans, s);
	uint64_t *longest = longer ? &m->counts.longest : &m->counts.longest_life;

	m->counts.incomplete += longer;
	*longest = max_u64(*longest, life_ns(m->spans, s));
}

static void add_tree(struct sums *m, const struct span *s)
{
	uint32_t group = group_of(&m->group, m->connections, m->spans, s);

	m->counts.refused += group == MAP_NONE;
	/* shares leave out requests only, which are counted as incomplete */
	m->counts.unknown += group != MAP_NONE && s->unknown && !(m->wanted & SUMS_SHARES);
	if (!s->has_parent)
		see_request(m, s);
	if (group != MAP_NONE && !s->unknown) {
		if (m->wanted & SUMS_TIMES)
			add_times(m, s, group);
		else
			m->counts.measured++;
		if (m->wanted & (SUMS_RATES | SUMS_SHARES) && !s->has_parent && is_whole(m, s))
			add_request(m, s, (struct rows_name){group, s->type});
	}
	/* the others are added when they end */
	for (const struct span *child = s->child; child; child = child->next)
		if (child->end.over)
			add_tree(m, child);
}

/* Starts the interval that contains a time. */
static void next_interval(struct sums *m, uint64_t ns)
{
	if (m->rows.interval.to)
		m->over(m->context);
	m->rows.interval = interval_of(ns, m->interval);
	if (m->keeps)
		return;
	rows_clear(&m->rows);
	shares_free(&m->shares);
	rates_free(&m->rates);
}

void sums_span(struct sums *m, const struct span *s)
{
	if (s->parent)
		return;
	if (is_left_out(m, s)) {
		m->counts.left_out += !s->has_parent;
		return;
	}
	/*
	 * Those in final states end in the order of their last entries. Others may end at any time, and must not end an
	 * interval before these.
	 */
	if (m->interval && s->last >= m->rows.interval.to &&
	    (s->end.expected || m->spans->over || !m->rows.interval.to))
		next_interval(m, s->last);
	add_tree(m, s);
}

void sums_next_file(struct sums *m)
{
	rates_next_file(&m->rates);
	m->counts = (struct sums_counts){};
	m->shared = m->covered[COVERAGE_OFFCPUSNOOP] = m->covered[COVERAGE_BIOSNOOP] = 0;
}

void sums_end_file(struct sums *m)
{
	const struct spans *spans = m->spans;

	for (enum coverage_tool tool = 0; tool < COVERAGE_TOOLS; tool++)
		m->counts.uncovered[tool] = spans->coverage.tools[tool].any ? m->shared - m->covered[tool] : 0;
	m->elapsed += seen_elapsed(&spans->seen);
}

uint64_t sums_elapsed(const struct sums *m)
{
	const struct interval *interval = &m->rows.interval;
	uint64_t from = max_u64(m->spans->seen.first, interval->from), to = min_u64(m->spans->seen.last, interval->to);

	if (!m->interval)
		return m->elapsed;
	return to > from ? to - from : 0;
}

uint64_t sums_slot(const struct sums *m)
{
	return m->interval && m->interval < RATES_SLOT_NS ? m->interval : RATES_SLOT_NS;
}

void sums_free(struct sums *m)
{
	group_free(&m->group);
	rows_free(&m->rows);
	shares_free(&m->shares);
	rates_free(&m->rates);
	free(m->states);
}
