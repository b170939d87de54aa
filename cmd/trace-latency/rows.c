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

/* The row, which is added to those that have values. */
static struct latency *to_fill(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to)
{
	struct latency **place = table_put(&rows->map, key_of(group, type, from, to), rows->all, rows->n, rows->cap);
	struct latency *row = *place;

	if (!row) {
		row = *place = mem_array(1, sizeof(*row));
		*row = (struct latency){.group = group, .type = type, .from = from, .to = to};
	}
	if (!row->times.count) {
		rows->filled = mem_room(rows->filled, rows->num_filled, &rows->cap_filled);
		rows->filled[rows->num_filled++] = row;
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

/* The family of a row that was written without one, by the states that it may have of its objects' own. */
static struct slice family_of(const struct rows_key *key)
{
	struct slice family = key->family;

	if (!family.n && key->from)
		family = spdk_family(key->letter, *key->from);
	if (!family.n && key->to)
		family = spdk_family(key->letter, *key->to);
	return family;
}

const char *rows_merge(struct rows *rows, struct rows_key key, const struct histogram *times)
{
	uint32_t group = intern_add_below(&rows->groups, key.group, ROWS_GROUPS);
	uint32_t type = add_type(rows, key.letter, family_of(&key));
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

/* The number of types of this letter; *only is the last one. */
static unsigned types_of(const struct rows *rows, struct slice letter, uint32_t *only)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < rows->types.n; i++)
		if (!rows->is_renamed[i] && slice_equal(rows_letter(rows, i), letter)) {
			*only = i;
			n++;
		}
	return n;
}

struct slice rows_shown_family(const struct rows *rows, uint32_t type)
{
	uint32_t only;

	return types_of(rows, rows_letter(rows, type), &only) > 1 ? rows_family(rows, type) : (struct slice){"", 0};
}

/* Moves the values of all rows of a type to those of another one. */
static void rename_type(struct rows *rows, uint32_t type, uint32_t to)
{
	size_t n = rows->num_filled, left = 0;

	for (size_t i = 0; i < n; i++) {
		struct latency *row = rows->filled[i];

		if (row->type == type &&
		    histogram_merge(&to_fill(rows, row->group, to, row->from, row->to)->times, &row->times))
			histogram_clear(&row->times);
	}
	for (size_t i = 0; i < rows->num_filled; i++)
		if (rows->filled[i]->times.count)
			rows->filled[left++] = rows->filled[i];
	rows->num_filled = left;
	rows->is_renamed[type] = true;
}

void rows_find_families(struct rows *rows)
{
	for (uint32_t type = 0; type < rows->types.n; type++) {
		struct slice letter = rows_letter(rows, type);
		uint32_t only;

		if (rows_family(rows, type).n || rows->is_renamed[type])
			continue;
		rows->is_renamed[type] = true;
		if (types_of(rows, letter, &only) == 1)
			rename_type(rows, type, only);
		else
			rows->is_renamed[type] = false;
	}
}

/*
 * The type in `rows` of a type in `others`; MAP_NONE: none. A type without a family, as earlier releases wrote them,
 * is that of its letter if there is one on both sides.
 */
static uint32_t find_type(const struct rows *rows, const struct rows *others, uint32_t type)
{
	struct slice letter = rows_letter(others, type), family = rows_family(others, type);
	uint32_t exact = intern_get(&rows->types, others->types.all[type]), only, other;

	if (exact != MAP_NONE && !rows->is_renamed[exact])
		return exact;
	if (types_of(rows, letter, &only) != 1 || types_of(others, letter, &other) != 1)
		return MAP_NONE;
	return !family.n || !rows_family(rows, only).n ? only : MAP_NONE;
}

const struct latency *rows_find(const struct rows *rows, const struct rows *others, const struct latency *other)
{
	uint32_t group = intern_get(&rows->groups, others->groups.all[other->group]);
	uint32_t type = find_type(rows, others, other->type);
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

void rows_write_text(struct out *out, struct slice raw)
{
	struct slice plain = json_decode(raw);

	out_visible(out, plain);
	free((char *)plain.p);
}

bool rows_next_member(struct json *j, struct slice *key, struct slice *value)
{
	if (!json_key(j, key) || !json_value(j, value))
		return false;
	*value = slice_is(*value, "null") ? slice_of("-") : json_unquoted(*value);
	return true;
}

void rows_write_group(struct out *out, struct slice group, const char *after)
{
	const char *separator = "";
	struct slice key, value;
	struct json j;

	if (!group.n)
		return;
	json_init(&j, group.p, group.n);
	for (json_object(&j); rows_next_member(&j, &key, &value); separator = ", ") {
		out_text(out, separator);
		rows_write_text(out, key);
		out_char(out, '=');
		rows_write_text(out, value);
	}
	out_text(out, after);
}

void rows_write_keys(struct out *out, struct slice group)
{
	const char *separator = "";
	struct slice key, value;
	struct json j;

	if (!group.n)
		out_text(out, "nothing");
	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && rows_next_member(&j, &key, &value); separator = ", ") {
		out_text(out, separator);
		rows_write_text(out, key);
	}
}

void rows_write_name(struct out *out, const struct rows *rows, const struct latency *row)
{
	rows_write_group(out, rows->groups.all[row->group], ": ");
	rows_write_text(out, rows_letter(rows, row->type));
	if (rows_shown_family(rows, row->type).n) {
		out_char(out, ' ');
		rows_write_text(out, rows_shown_family(rows, row->type));
	}
	if (!rows_is_transition(row)) {
		out_text(out, rows_is_life(row) ? " whole life" : " to reply");
		return;
	}
	out_char(out, ' ');
	rows_write_text(out, rows->states.all[row->from]);
	out_text(out, " -> ");
	rows_write_text(out, rows->states.all[row->to]);
}

static void write_member(struct out *out, const char *key, struct slice raw)
{
	out_text(out, key);
	out_slice(out, raw);
	out_char(out, '"');
}

static void write_object(struct out *out, const struct rows *rows, uint32_t group, uint32_t type)
{
	struct slice name = rows->groups.all[group];

	if (name.n) {
		out_text(out, "\"group\":");
		out_slice(out, name);
		out_char(out, ',');
	}
	write_member(out, "\"object\":\"", rows_letter(rows, type));
}

static void write_family(struct out *out, const struct rows *rows, uint32_t type)
{
	struct slice family = rows_family(rows, type);

	if (family.n)
		write_member(out, ",\"family\":\"", family);
}

void rows_write_type(struct out *out, const struct rows *rows, uint32_t group, uint32_t type)
{
	write_object(out, rows, group, type);
	write_family(out, rows, type);
}

void rows_write_key(struct out *out, const struct rows *rows, const struct latency *row)
{
	write_object(out, rows, row->group, row->type);
	if (!rows_is_transition(row)) {
		out_text(out, rows_is_life(row) ? ",\"life\":true" : ",\"to_reply\":true");
	} else {
		write_member(out, ",\"from\":\"", rows->states.all[row->from]);
		write_member(out, ",\"to\":\"", rows->states.all[row->to]);
	}
	write_family(out, rows, row->type);
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

void rows_free(struct rows *rows)
{
	rows_clear(rows);
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
