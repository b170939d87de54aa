/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer_json.h"

#include <inttypes.h>

#include "means.h"
#include "owed.h"

static void put_name(struct out *out, const char *key, const struct tally *t, uint32_t name)
{
	if (name == MAP_NONE)
		return;
	out_printf(out, ",\"%s\":\"", key);
	out_utf8(out, tally_name(t, name));
	out_char(out, '"');
}

static void put_resource(struct out *out, const struct tally *t, enum fact fact, uint32_t of, uint32_t who)
{
	enum resource resource = fact_table[fact].resource;

	out_printf(out, "\"resource\":\"%s\",\"cause\":\"%s\"", fact_resources[resource], fact_table[fact].name);
	put_name(out, "of", t, of);
	put_name(out, "who", t, who);
}

static void put_group(struct out *out, const struct findings *f, const char *key)
{
	out_text(out, "\"group\":{");
	out_json(out, slice_of(key));
	out_text(out, ":\"");
	out_utf8(out, tally_name(f->tally, f->group->name));
	out_text(out, "\"},");
}

static void put_who(struct out *out, const struct findings *f, const struct finding *finding)
{
	if (fact_table[findings_cause(finding)].who != FACT_OF_LCORE) {
		put_name(out, "who", f->tally, finding->cause.subject);
		out_text(out, finding->cause.of_several ? ",\"of_several\":true" : "");
		return;
	}
	out_text(out, ",\"who\":\"");
	out_text(out, finding->cause.subject == MAP_NONE ? "an lcore" : "lcore ");
	out_utf8(out, tally_name(f->tally, finding->cause.subject));
	out_char(out, '"');
}

static void put_times(struct out *out, const struct tally_set *set, const struct means *m)
{
	out_printf(out, ",\"slow_us\":%.3f,\"fast_us\":%.3f,\"slow\":%" PRIu64 ",\"others\":%" PRIu64,
		   (double)m->slow / 1000, (double)m->fast / 1000, set->slow.n, set->others);
}

static void put_layers(struct out *out, const struct means *m)
{
	for (unsigned i = 0; i < LAYERS; i++)
		out_printf(out, "%s\"%s\":%.3f", i ? "," : ",\"layers\":{", spdk_layers[i],
			   (double)m->layers[i] / 1000);
	out_char(out, '}');
}

/* printf knows no integers of 128 bits. */
static void put_big(struct out *out, unsigned __int128 value)
{
	char digits[40], *p = digits + sizeof(digits);

	do
		*--p = '0' + (char)(value % 10);
	while (value /= 10);
	out_bytes(out, p, digits + sizeof(digits) - p);
}

/* All rows of who waited for what, which add up to the lives. */
static void put_rows(struct out *out, const struct tally *t, uint32_t set)
{
	struct owed owed = {};

	owed_find(&owed, t, set);
	out_text(out, ",\"rows\":[");
	for (size_t i = 0; i < owed.n; i++) {
		const struct owed_row *row = &owed.all[i];

		out_text(out, i ? ",{" : "{");
		put_resource(out, t, row->fact, row->of, row->who);
		put_name(out, "host", t, row->host);
		out_text(out, ",\"us\":");
		put_big(out, row->ns / 1000);
		out_printf(out, ".%03u}", (unsigned)(row->ns % 1000));
	}
	out_char(out, ']');
	owed_free(&owed);
}

static void put_failed(struct out *out, const struct findings *f)
{
	const struct tally_status *status = f->group->statuses;

	out_printf(out, ",\"failed\":%" PRIu64 ",\"statuses\":{", f->group->failed);
	for (size_t i = 0; i < TALLY_STATUSES && status[i].n; i++) {
		out_text(out, i ? ",\"" : "\"");
		out_utf8(out, tally_name(f->tally, status[i].name));
		out_printf(out, "\":%" PRIu64, status[i].n);
	}
	out_char(out, '}');
}

static const char *kind_of(enum slow slow, const struct answer_options *options)
{
	return options->against ? "against" : tally_slows[slow];
}

/* *has_rows: an object has those of its set. */
static void put_finding(struct out *out, const struct findings *f, const struct finding *finding, bool *has_rows,
			const struct answer_options *options)
{
	const struct tally_set *set = &f->group->sets[finding->slow];
	struct means m = means_of(set);

	out_printf(out, "\"cause\":\"%s\"", fact_table[findings_cause(finding)].name);
	put_who(out, f, finding);
	put_name(out, "victim", f->tally, finding->cause.victim);
	out_printf(out, ",\"kind\":\"%s\",\"excess_us\":%.3f,\"share\":%.3f", kind_of(finding->slow, options),
		   finding->ns / 1000 / set->slow.n, finding->share);
	put_times(out, set, &m);
	out_printf(out, ",\"n\":%" PRIu64 ",\"bursts\":%" PRIu64 ",\"example_us\":", finding->cause.n, finding->bursts);
	out_us(out, finding->cause.example->us);
	put_layers(out, &m);
	if (!*has_rows)
		put_rows(out, f->tally, tally_set_number(f->tally, f->group, finding->slow));
	*has_rows = true;
}

/* Nothing stands out. */
static void put_none(struct out *out, const struct findings *f, const struct answer_options *options)
{
	enum slow slow = findings_main(f);
	const struct tally_set *set = &f->group->sets[slow];
	struct means m = means_of(set);

	out_printf(out, "\"cause\":\"none\",\"kind\":\"%s\"", kind_of(slow, options));
	put_times(out, set, &m);
	put_layers(out, &m);
	put_rows(out, f->tally, tally_set_number(f->tally, f->group, slow));
}

void answer_json(struct out *out, const struct findings *f, const struct answer_options *options)
{
	bool has_rows[SLOWS] = {};

	for (size_t i = 0; i < f->n || !i; i++) {
		out_char(out, '{');
		if (options->group)
			put_group(out, f, options->group);
		if (f->n)
			put_finding(out, f, &f->all[i], &has_rows[f->all[i].slow], options);
		else
			put_none(out, f, options);
		if (!i && f->group->failed)
			put_failed(out, f);
		out_text(out, "}\n");
	}
}
