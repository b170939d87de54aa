/* SPDX-License-Identifier: BSD-3-Clause */
#include "openmetrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "names.h"
#include "table.h"

static bool is_reply(const struct latency *row)
{
	return !rows_is_transition(row) && !rows_is_life(row);
}

static const struct family {
	const char *name, *help;
	bool (*has)(const struct latency *row);
} families[] = {
	{"trace_latency_life_seconds", "From the creation of an object to its last entry.", rows_is_life},
	{"trace_latency_reply_seconds", "From the creation of a request until its reply was passed to the socket.",
	 is_reply},
	{"trace_latency_state_seconds", "From an entry of an object to its next one.", rows_is_transition},
};

/* Two bounds for each power of two, from 256 ns to 17 s. All of them are between two buckets of the histograms. */
enum { FIRST_POWER = 8, LAST_POWER = 34, NUM_BOUNDS = 2 * (LAST_POWER - FIRST_POWER) + 1 };

static void write_seconds(struct out *out, unsigned __int128 ns)
{
	const unsigned second = 1000000000;

	histogram_write_sum(out, ns / second);
	out_printf(out, ".%09u", (unsigned)(ns % second));
}

/* A JSON value as the value of a label. */
static void write_label(struct out *out, struct slice name, struct slice value)
{
	struct out text = {.fd = OUT_MEMORY};
	struct slice visible;

	out_visible_json(&text, json_unquoted(value));
	visible = out_contents(&text);
	out_slice(out, name);
	out_text(out, "=\"");
	for (size_t i = 0; i < visible.n; i++) {
		if (visible.p[i] == '"' || visible.p[i] == '\\')
			out_char(out, '\\');
		out_char(out, visible.p[i]);
	}
	out_text(out, "\",");
	out_close(&text);
}

/* Texts that must differ, and how often each was repeated. */
struct unique {
	struct intern texts;
	uint32_t *again;
	size_t num_again, cap_again;
};

/* How often this text was added before. */
static uint32_t count_again(struct unique *u, struct slice text)
{
	uint32_t n = u->texts.n, number = intern_add(&u->texts, text);

	return number < n ? ++*table_at(u->again, u->num_again, u->cap_again, number) : 0;
}

static void free_unique(struct unique *u)
{
	intern_free(&u->texts);
	free(u->again);
}

/* Sets name to that of a label: the key without characters that such names do not have, and unlike those before it. */
static void name_label(struct out *name, struct slice key, struct unique *taken)
{
	uint32_t again;
	size_t len;

	name->len = 0;
	if (!key.n || isdigit((unsigned char)*key.p))
		out_char(name, '_');
	for (size_t i = 0; i < key.n; i++)
		out_char(name, isalnum((unsigned char)key.p[i]) ? key.p[i] : '_');
	len = name->len;
	while ((again = count_again(taken, (struct slice){name->buf, len}))) {
		uint32_t n = taken->texts.n;

		name->len = len;
		out_char(name, '_');
		if (again > 1)
			out_printf(name, "%" PRIu32, again);
		if (intern_add(&taken->texts, out_contents(name)) == n)
			break;
	}
}

/* A null is no label: Prometheus does not know an empty one from none. */
static void write_group(struct out *out, struct slice group)
{
	static const char *const own[] = {"object", "family", "from", "to", "again", "le"};
	struct out name = {.fd = OUT_MEMORY};
	struct unique taken = {};
	struct slice key, value;
	struct json j;

	if (!group.n)
		return;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		intern_add(&taken.texts, slice_of(own[i]));
	json_init(&j, group.p, group.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);) {
		name_label(&name, key, &taken);
		if (!slice_is(value, "null"))
			write_label(out, out_contents(&name), value);
	}
	free_unique(&taken);
	out_close(&name);
}

/* The labels of a row, with a comma after each. */
static void write_labels(struct out *out, const struct rows *rows, const struct latency *row)
{
	struct slice family = rows_family(rows, row->type);

	write_group(out, rows->groups.all[row->group]);
	write_label(out, slice_of("object"), rows_letter(rows, row->type));
	if (family.n)
		write_label(out, slice_of("family"), family);
	if (rows_is_transition(row)) {
		write_label(out, slice_of("from"), rows->states.all[row->from]);
		write_label(out, slice_of("to"), rows->states.all[row->to]);
	}
}

static void end_sample(struct out *out, uint64_t wall)
{
	if (wall) {
		out_char(out, ' ');
		write_seconds(out, wall);
	}
	out_char(out, '\n');
}

static void write_bucket(struct out *out, const char *name, struct slice labels, uint64_t bound, uint64_t count)
{
	out_printf(out, "%s_bucket{", name);
	out_slice(out, labels);
	out_text(out, "le=\"");
	/* values are whole nanoseconds, and a bound belongs to its bucket */
	if (bound)
		write_seconds(out, bound - 1);
	else
		out_text(out, "+Inf");
	out_printf(out, "\"} %" PRIu64, count);
}

/* The labels are those of a row, whose last comma count and sum do not have. */
static void write_row(struct out *out, const char *name, struct slice labels, const struct histogram *h, uint64_t wall)
{
	uint64_t bounds[NUM_BOUNDS], counts[NUM_BOUNDS];

	for (unsigned i = 0; i < NUM_BOUNDS; i++)
		bounds[i] = (uint64_t)(2 + i % 2) << (FIRST_POWER - 1 + i / 2);
	histogram_below(h, bounds, NUM_BOUNDS, counts);
	for (unsigned i = 0; i < NUM_BOUNDS; i++) {
		write_bucket(out, name, labels, bounds[i], counts[i]);
		end_sample(out, wall);
	}
	write_bucket(out, name, labels, 0, h->count);
	end_sample(out, wall);
	labels.n--;
	out_printf(out, "%s_count{", name);
	out_slice(out, labels);
	out_printf(out, "} %" PRIu64, h->count);
	end_sample(out, wall);
	out_printf(out, "%s_sum{", name);
	out_slice(out, labels);
	out_text(out, "} ");
	write_seconds(out, h->sum);
	end_sample(out, wall);
}

static void write_family(struct out *out, const struct rows *rows, const struct ranked_row *ranked,
			 const struct family *family, uint64_t wall)
{
	struct unique seen = {};
	bool any = false;

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		struct out labels = {.fd = OUT_MEMORY};
		uint32_t again;

		if (!family->has(row))
			continue;
		if (!any)
			out_printf(out, "# TYPE %s histogram\n# UNIT %s seconds\n# HELP %s %s\n", family->name,
				   family->name, family->name, family->help);
		any = true;
		write_labels(&labels, rows, row);
		/* different values may look alike, such as 1 and "1"; readers reject equal samples */
		again = count_again(&seen, out_contents(&labels));
		if (again)
			out_printf(&labels, "again=\"%" PRIu32 "\",", again);
		write_row(out, family->name, out_contents(&labels), &row->times, wall);
		out_close(&labels);
	}
	free_unique(&seen);
}

void openmetrics_write(struct out *out, const struct rows *rows, uint64_t wall)
{
	struct ranked_row *ranked = rows_ranked(rows);

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		write_family(out, rows, ranked, &families[i], wall);
	out_text(out, "# EOF\n");
	free(ranked);
}
