/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

#include <stdlib.h>

#include "json.h"
#include "lifecycle.h"
#include "mem.h"
#include "table.h"

static uint64_t key_of(uint32_t group, uint32_t type, uint32_t from, uint32_t to)
{
	return (uint64_t)group << 40 | (uint64_t)type << 32 | from << 16 | to;
}

static struct latency *find_or_add(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to)
{
	struct latency **place = table_put(&rows->map, key_of(group, type, from, to), rows->all, rows->n, rows->cap);

	if (!*place) {
		*place = mem_array(1, sizeof(**place));
		**place = (struct latency){.group = group, .type = type, .from = from, .to = to};
	}
	return *place;
}

/* The row, which is added to those that have values. */
static struct latency *to_fill(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to)
{
	struct latency **recent = &rows->recent[(from + 8 * group) % ROWS_RECENT], *row = *recent;

	if (!row || row->from != from || row->to != to || row->type != type || row->group != group)
		row = *recent = find_or_add(rows, group, type, from, to);
	if (!row->times.count) {
		mem_add(rows->filled, rows->num_filled, rows->cap_filled, row);
	}
	return row;
}

void rows_record(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to, uint64_t ns)
{
	histogram_record(&to_fill(rows, group, type, from, to)->times, ns);
}

static uint32_t add_type(struct rows *rows, struct slice letter, struct slice family)
{
	struct out text = {.fd = OUT_MEMORY};
	uint32_t type;

	out_slice(&text, letter);
	if (family.n) {
		out_char(&text, 0);
		out_slice(&text, family);
	}
	type = intern_add_below(&rows->types, out_contents(&text), ROWS_TYPES);
	out_close(&text);
	return type;
}

const char *rows_merge(struct rows *rows, struct rows_key key, const struct histogram *times)
{
	uint32_t group = intern_add_below(&rows->groups, key.group, ROWS_GROUPS);
	uint32_t type = add_type(rows, key.letter, key.family);
	uint32_t from = ROWS_LIFE, to = key.to_reply ? ROWS_TO_REPLY : ROWS_LIFE;

	if (key.from) {
		from = intern_add_below(&rows->states, *key.from, ROWS_STATES);
		to = intern_add_below(&rows->states, *key.to, ROWS_STATES);
	}
	if (group == MAP_NONE || type == MAP_NONE || from == MAP_NONE || to == MAP_NONE)
		return "more than 16777216 groups, 256 types of objects or 65535 states";
	if (!histogram_merge(&to_fill(rows, group, type, from, to)->times, times))
		return "a count that does not fit 64 bits";
	return NULL;
}

struct slice rows_letter(const struct rows *rows, uint32_t type)
{
	return lifecycle_letter(rows->types.all[type]);
}

struct slice rows_family(const struct rows *rows, uint32_t type)
{
	return lifecycle_family(rows->types.all[type]);
}

const struct latency *rows_find(const struct rows *rows, const struct rows *others, const struct latency *other)
{
	uint32_t group = intern_get(&rows->groups, others->groups.all[other->group]);
	uint32_t type = intern_get(&rows->types, others->types.all[other->type]);
	uint32_t from = ROWS_LIFE, to = other->to, index;

	if (rows_is_transition(other)) {
		from = intern_get(&rows->states, others->states.all[other->from]);
		to = intern_get(&rows->states, others->states.all[other->to]);
	}
	if (group == MAP_NONE || type == MAP_NONE || from == MAP_NONE || to == MAP_NONE)
		return NULL;
	index = map_get(&rows->map, key_of(group, type, from, to));
	return index != MAP_NONE && rows->all[index]->times.count ? rows->all[index] : NULL;
}

struct latency_stats rows_stats(const struct latency *row)
{
	static const unsigned thousandths[] = {50000, 90000, 99000, 99900};
	struct latency_stats stats;

	stats.ns[STAT_MEAN] = histogram_mean(&row->times);
	histogram_percentiles(&row->times, thousandths, STAT_MAX - STAT_P50, &stats.ns[STAT_P50]);
	stats.ns[STAT_MAX] = row->times.max;
	return stats;
}

/* Compares numbers by value: lcore 9 sorts before lcore 10. JSON has no NUL bytes. */
static int compare_groups(struct slice a, struct slice b)
{
	int order = strverscmp(a.p, b.p);

	return order ? order : slice_compare(a, b);
}

/* The whole life, the time to the reply, transitions. */
static int place_of(const struct latency *row)
{
	return rows_is_transition(row) ? 2 : !rows_is_life(row);
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct latency *x = ((const struct ranked_row *)a)->row;
	const struct latency *y = ((const struct ranked_row *)b)->row;
	const struct rows *rows = context;
	const struct slice *states = rows->states.all;
	int order;

	if (x->group != y->group)
		return compare_groups(rows->groups.all[x->group], rows->groups.all[y->group]);
	if (x->type != y->type)
		return slice_compare(rows->types.all[x->type], rows->types.all[y->type]);
	if (!rows_is_transition(x) || !rows_is_transition(y))
		return place_of(x) - place_of(y);
	if (x->times.sum != y->times.sum)
		return x->times.sum > y->times.sum ? -1 : 1;
	order = slice_compare(states[x->from], states[y->from]);
	return order ? order : slice_compare(states[x->to], states[y->to]);
}

/*
 * Each transition has its share of the time of all transitions of its group and type. Whole lives may have more than
 * that: some of it was before the interval, or before the first line.
 */
static void set_shares(struct ranked_row *from, struct ranked_row *to)
{
	unsigned __int128 life = 0, parts = 0, total;

	for (struct ranked_row *r = from; r < to; r++)
		if (rows_is_transition(r->row))
			parts += r->row->times.sum;
		else if (rows_is_life(r->row))
			life = r->row->times.sum;
	total = parts ? parts : life;
	for (struct ranked_row *r = from; r < to; r++)
		r->share = r->row->times.sum > total ? 1 : (double)r->row->times.sum / (double)(total ? total : 1);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct rows_name *x = *(const void *const *)a, *y = *(const void *const *)b;
	const struct rows *rows = context;

	if (x->group != y->group)
		return compare_groups(rows->groups.all[x->group], rows->groups.all[y->group]);
	return slice_compare(rows->types.all[x->type], rows->types.all[y->type]);
}

const void **rows_sorted(const struct rows *rows, const void *all, size_t n, size_t size)
{
	const void **sorted = mem_array(n, sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		sorted[i] = (const char *)all + i * size;
	if (n)
		qsort_r(sorted, n, sizeof(*sorted), by_name, (void *)rows);
	return sorted;
}

struct ranked_row *rows_ranked(const struct rows *rows)
{
	size_t n = rows->num_filled, to;
	struct ranked_row *ranked = mem_array(n, sizeof(*ranked));

	for (size_t i = 0; i < n; i++)
		ranked[i].row = rows->filled[i];
	qsort_r(ranked, n, sizeof(*ranked), by_rank, (void *)rows);
	for (size_t from = 0; from < n; from = to) {
		for (to = from + 1; to < n && ranked[to].row->group == ranked[from].row->group &&
				    ranked[to].row->type == ranked[from].row->type;
		     to++)
			;
		set_shares(ranked + from, ranked + to);
	}
	return ranked;
}

void rows_clear(struct rows *rows)
{
	for (size_t i = 0; i < rows->num_filled; i++)
		histogram_clear(&rows->filled[i]->times);
	rows->num_filled = 0;
}

static bool next_member(struct json *j, struct slice *key, struct slice *value)
{
	return json_key(j, key) && json_value(j, value);
}

/* A value of "host", which may be the NQN of one. */
static void learn_host(struct connections *connections, struct slice group)
{
	struct slice host = json_decode(json_unquoted(json_member(group, slice_of("host"))));

	if (slice_starts(host, "nqn."))
		connections_learn(connections, host, (struct slice){});
	free((char *)host.p);
}

static struct slice show_group(struct connections *connections, struct slice group)
{
	struct out text = {.fd = OUT_MEMORY};
	struct slice key, value, shown;
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); next_member(&j, &key, &value);) {
		struct slice name = slice_is(key, "host") ? connections_named(connections, json_unquoted(value))
							  : (struct slice){};

		out_text(&text, text.len ? ",\"" : "{\"");
		out_slice(&text, key);
		out_text(&text, "\":");
		if (name.n)
			out_json(&text, name);
		else
			out_slice(&text, value);
	}
	out_char(&text, '}');
	shown = mem_slice(out_contents(&text));
	out_close(&text);
	return shown;
}

struct slice rows_group(const struct rows *rows, uint32_t group)
{
	struct rows_shown *shown;

	if (group >= rows->num_shown)
		return rows->groups.all[group];
	shown = &rows->shown[group];
	if (shown->known != rows->connections->known + 1) {
		free((char *)shown->text.p);
		shown->text = show_group(rows->connections, rows->groups.all[group]);
		shown->known = rows->connections->known + 1;
	}
	return shown->text;
}

void rows_name_hosts(struct rows *rows, struct connections *connections)
{
	uint32_t n = rows->groups.n;

	if (!n || !json_member(rows->groups.all[n - 1], slice_of("host")).n)
		return;
	rows->connections = connections;
	for (uint32_t i = rows->num_shown; i < n; i++) {
		learn_host(connections, rows->groups.all[i]);
		mem_add(rows->shown, rows->num_shown, rows->cap_shown, (struct rows_shown){});
	}
}

void rows_free(struct rows *rows)
{
	rows_clear(rows);
	for (size_t i = 0; i < rows->num_shown; i++)
		free((char *)rows->shown[i].text.p);
	free(rows->shown);
	for (size_t i = 0; i < rows->n; i++)
		free(rows->all[i]);
	free(rows->all);
	free(rows->filled);
	map_free(&rows->map);
	intern_free(&rows->groups);
	intern_free(&rows->types);
	intern_free(&rows->states);
	*rows = (struct rows){};
}
