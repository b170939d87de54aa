/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include <stdlib.h>

#include "keys.h"
#include "mem.h"
#include "minmax.h"
#include "table.h"

bool facts_line(struct slice *text, struct slice *line)
{
	while (text->n) {
		struct json j;

		*line = slice_cut_line(text);
		json_init(&j, line->p, line->n);
		if (json_peek(&j) == '{' && json_skip(&j) && json_end(&j))
			return true;
	}
	return false;
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

enum layer facts_layer(struct slice name)
{
	enum layer layer = 0;

	while (layer < LAYER_UNKNOWN && !slice_is(name, spdk_layers[layer]))
		layer++;
	return layer;
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

bool facts_same_row(struct slice a, struct slice b)
{
	return slice_equal(facts_text(a, "group"), facts_text(b, "group")) &&
	       slice_equal(facts_text(a, "object"), facts_text(b, "object")) &&
	       slice_equal(facts_text(a, "family"), facts_text(b, "family"));
}

static bool has_host(struct slice row)
{
	return !slice_is(facts_text(row, "group.host"), "null");
}

size_t facts_hosts(const struct facts *f, struct slice rows[FACTS_ROWS], size_t *others)
{
	double times[FACTS_ROWS + 1];
	struct slice text = f->layers, row;
	bool named = false;
	size_t n = 0;

	while (facts_line(&text, &row))
		named |= has_host(row);
	*others = 0;
	for (text = f->layers; facts_line(&text, &row);) {
		double time = facts_number(row, "count") * facts_number(row, "mean");
		size_t i = n < FACTS_ROWS ? n : FACTS_ROWS - 1;

		if (named && !has_host(row))
			continue;
		*others += n == FACTS_ROWS;
		if (n == FACTS_ROWS && time <= times[i])
			continue;
		for (; i && times[i - 1] < time; i--) {
			times[i] = times[i - 1];
			rows[i] = rows[i - 1];
		}
		times[i] = time;
		rows[i] = row;
		n += n < FACTS_ROWS;
	}
	return n;
}

void facts_put_host(struct out *out, struct slice row)
{
	if (has_host(row)) {
		facts_put(out, json_unquoted(facts_text(row, "group.host")));
	} else {
		out_text(out, "objects ");
		facts_put(out, json_unquoted(facts_text(row, "object")));
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

/* Puts a span among those with the longest times. */
static void keep_longest(struct facts_span *spans, size_t n, struct slice line, double us)
{
	size_t i = n;

	while (i && (!spans[i - 1].line.n || spans[i - 1].us < us))
		i--;
	if (i == n)
		return;
	free((char *)spans[n - 1].line.p);
	memmove(&spans[i + 1], &spans[i], (n - 1 - i) * sizeof(*spans));
	spans[i] = (struct facts_span){mem_slice(line), us};
}

/* Microseconds. */
static double us_of(uint64_t ns)
{
	return ns / 1e3;
}

void facts_span(struct facts *f, struct slice line)
{
	struct spanline *span = &f->span;

	if (spanline_parse(span, line) || span->has_parent)
		return;
	causes_span(&f->causes, span, keys_value(line, slice_of("host")));
	if (span->admin) {
		f->admin++;
		return;
	}
	f->requests++;
	f->incomplete += span->open || span->cut;
	if (!span->open && !span->cut)
		series_request(&f->series, us_of(span->start), us_of(span->life));
	series_waits(&f->series, span);
	see_host(f, json_member(span->args, slice_of("qpair")));
	if (span->open && span->maybe_admin)
		return;
	if (span->open) {
		f->open++;
		keep_longest(f->oldest, FACTS_OLDEST, line, us_of(span->life));
	} else {
		f->longest = max_u64(f->longest, span->life);
	}
	keep_longest(span->connection.n ? f->slowest : f->slowest_own, FACTS_SLOWEST, line,
		     us_of(span->open || !span->to_reply ? span->life : span->to_reply));
}

uint64_t facts_entries(const struct facts *f)
{
	return facts_number(f->info, "entries") - facts_number(f->info, "before_window") -
	       facts_number(f->info, "cleared");
}

static void free_spans(struct facts_span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free((char *)spans[i].line.p);
}

void facts_free(struct facts *f)
{
	free_spans(f->oldest, FACTS_OLDEST);
	free_spans(f->slowest, FACTS_SLOWEST);
	free_spans(f->slowest_own, FACTS_SLOWEST);
	free(f->probed);
	free(f->min_us);
	out_close(&f->unread);
	spanline_free(&f->span);
	causes_free(&f->causes);
	intern_free(&f->hosts);
	series_free(&f->series);
}
