/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem.h"
#include "names.h"
#include "palette.h"

/* The name of the i-th key of -g, for terminals. Groups of a run have the same keys. */
static const char *key_name(struct output *to, size_t i, struct slice key)
{
	struct out name = {.fd = OUT_MEMORY};

	if (i == to->num_keys) {
		out_visible_json(&name, key);
		out_char(&name, '\0');
		mem_add(to->keys, to->num_keys, to->cap_keys, name.buf);
	}
	return to->keys[i];
}

static struct column_value *add_name(struct output *to, const char *heading, struct slice raw)
{
	return columns_add(&to->columns, heading, NULL, columns_least(COLUMNS_LEAST, columns_raw(raw)));
}

static void add_group(struct output *to, struct slice group)
{
	struct slice key, value;
	struct json j;

	json_init(&j, group.p, group.n);
	json_object(&j);
	for (size_t i = 0; group.n && names_member(&j, &key, &value); i++)
		add_name(to, key_name(to, i, key), value);
}

/* What a row is of: a state, "whole life", "TCP whole life" of a family, or "to reply"; one word in plain tables. */
static void write_from(struct output *to, const struct rows *rows, const struct latency *row)
{
	struct slice family = names_family(rows, row->type);

	if (rows_is_transition(row)) {
		out_slice(&to->from, rows->states.all[row->from]);
	} else if (to->columns.terminal.plain) {
		out_text(&to->from, rows_is_life(row) ? "life" : "reply");
	} else {
		out_slice(&to->from, family);
		out_text(&to->from, family.n ? " " : "");
		out_text(&to->from, rows_is_life(row) ? "whole life" : "to reply");
	}
}

const char *cells_sgr(const struct rows *rows, const struct latency *row)
{
	return rows_is_transition(row) ? palette_layers[palette_of(spdk_tpoint(rows->states.all[row->from]))].sgr
				       : NULL;
}

static void add_states(struct output *to, const struct rows *rows, const struct latency *row)
{
	write_from(to, rows, row);
	add_name(to, "from", out_contents(&to->from))->sgr = cells_sgr(rows, row);
	if (rows_is_transition(row))
		add_name(to, "to", rows->states.all[row->to]);
	else
		columns_add(&to->columns, "to", NULL, columns_least(COLUMNS_LEAST, columns_word(slice_of(""))));
}

void cells_members(struct columns *c, const struct rows *rows, const struct rows_name *name, const struct latency *row)
{
	columns_add(c, NULL, "group", columns_json(rows_group(rows, name->group)));
	columns_add(c, NULL, "object", columns_string(rows_letter(rows, name->type)));
	if (row && rows_is_transition(row)) {
		columns_add(c, NULL, "from", columns_string(rows->states.all[row->from]));
		columns_add(c, NULL, "to", columns_string(rows->states.all[row->to]));
	} else if (row) {
		columns_add(c, NULL, rows_is_life(row) ? "life" : "to_reply", columns_bool(true));
	}
	columns_add(c, NULL, "family", columns_raw(rows_family(rows, name->type)));
}

void cells_interval(struct output *to, const struct interval *interval)
{
	const uint64_t second = 1000000000, from = interval->from, until = interval->to;

	if (!until)
		return;
	terminal_paint(&to->columns.terminal, &to->out, TERMINAL_BOLD);
	out_printf(&to->out, "%" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s", from / second, from % second,
		   until / second, until % second);
	terminal_plain(&to->columns.terminal, &to->out);
	out_char(&to->out, '\n');
}

void cells_start_row(struct output *to, const struct rows *rows, const struct rows_name *name,
		     const struct latency *latency)
{
	const struct interval *interval = &rows->interval;
	struct slice letter = rows_letter(rows, name->type), family = names_family(rows, name->type);
	struct columns *c = &to->columns;
	bool is_human = output_is_human(to);

	to->object.fd = to->from.fd = OUT_MEMORY;
	to->object.len = to->from.len = 0;
	if (is_human && !c->n)
		cells_interval(to, interval);
	if (c->is_json)
		cells_members(c, rows, name, latency);
	/* for people, a table of times has them in its title, and the family with the state */
	if (!is_human || !latency)
		add_group(to, rows_group(rows, name->group));
	out_slice(&to->object, letter);
	if (family.n && !(is_human && latency)) {
		out_char(&to->object, ' ');
		out_slice(&to->object, family);
	}
	add_name(to, is_human && latency ? "obj" : "object", out_contents(&to->object));
	if (interval->to) {
		columns_add(c, is_human ? NULL : "begin", "begin", columns_us(interval->from));
		columns_add(c, is_human ? NULL : "end", "end", columns_us(interval->to));
	}
	if (latency)
		add_states(to, rows, latency);
}

void cells_end(struct output *to, const struct interval *interval)
{
	bool any = to->columns.n;

	columns_end(&to->columns);
	if (any && interval->to)
		out_char(&to->out, '\n');
}

void cells_free(struct output *to)
{
	for (size_t i = 0; i < to->num_keys; i++)
		free(to->keys[i]);
	free(to->keys);
	out_close(&to->object);
	out_close(&to->from);
	columns_end(&to->columns);
}
