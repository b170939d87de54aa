/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_slowest.h"

#include "fact.h"
#include "number.h"
#include "page.h"

static void put_percent(struct out *out, const char *name, double share)
{
	if (share >= 0.005)
		out_printf(out, " %s %.0f%%", name, 100 * share);
}

static void put_by(struct out *out, struct slice span, const char *key, const char *by, double life)
{
	double share = facts_number(span, key) / life, most;
	struct slice name = facts_largest(facts_text(span, by), &most);

	put_percent(out, key, share);
	if (share < 0.005 || !name.n)
		return;
	out_text(out, " (");
	facts_put(out, name);
	out_char(out, ')');
}

/* The time of a request until it ended, that before it was read included. */
static double time_of(struct slice span)
{
	return facts_number(span, "life") + facts_number(span, "unread");
}

/* The longest wait of a request, as far as its span line says whom it waited for. */
static void put_wait(struct out *out, struct slice span)
{
	struct slice waits = facts_text(span, "waits"), wait, state, name;
	double unread = facts_number(span, "unread");
	double us, silent, most;
	struct json j;

	facts_each(&j, waits);
	if (!facts_next(&j, NULL, &wait))
		wait = (struct slice){};
	if (unread > facts_number(wait, "us")) {
		out_text(out, "    waited ");
		facts_put_time(out, unread);
		name = json_unquoted(facts_text(span, "unread_for"));
		out_text(out,
			 name.n ? " to be read; the lcore worked for " : " to be read; the reactor was off its CPU: ");
		facts_put(out, name.n ? name : json_unquoted(facts_text(span, "unread_by")));
		out_char(out, '\n');
		return;
	}
	if (!wait.n)
		return;
	state = json_unquoted(facts_text(wait, "state"));
	us = facts_number(wait, "us");
	silent = facts_number(wait, "silent");
	out_text(out, "    waited ");
	facts_put_time(out, us);
	out_text(out, state.n ? " in " : " before its first entry");
	facts_put(out, state);
	name = facts_largest(facts_text(wait, "holders"), &most);
	if (name.n) {
		out_text(out, "; ");
		facts_put(out, name);
		out_printf(out, " had %.0f of %.0f buffers", most, facts_number(wait, "buffers"));
	} else if (silent * 2 >= us) {
		out_printf(out, "; lcore %.0f silent for ", facts_number(wait, "lcore"));
		facts_put_time(out, silent);
	} else if ((name = facts_largest(facts_text(wait, "of"), &most)).n) {
		double kept = facts_number(wait, "kept");

		out_printf(out, "; lcore %.0f: %.0f of %s%.0f entries of ", facts_number(wait, "lcore"), most,
			   kept > 0 ? "the latest " : "", kept > 0 ? kept : facts_number(wait, "entries"));
		facts_put(out, name);
	}
	out_char(out, '\n');
}

/* Whether lines of another tool cover the whole life of a span. */
static bool is_covered(struct slice span, const char *part)
{
	struct slice value;
	struct json j;

	for (facts_each(&j, facts_text(span, "covered")); facts_next(&j, NULL, &value);)
		if (slice_is(json_unquoted(value), part))
			return true;
	return false;
}

static void put_slow(struct out *out, struct slice span)
{
	bool bound = facts_text(span, "open").n || facts_text(span, "cut").n;

	out_text(out, bound ? "  >" : "  ");
	facts_put_time(out, time_of(span));
	/* as -k of trace-spans expects it */
	out_text(out, ", us=");
	facts_put(out, facts_text(span, "us"));
	out_text(out, ": ");
	facts_put_what(out, span);
	out_char(out, '\n');
}

/* Where the time of a request was, and its longest wait. */
static void put_time_of(struct out *out, const struct facts *f, struct slice span)
{
	struct slice parts = facts_text(span, "layers");
	double life = time_of(span), layers[LAYERS];

	out_text(out, "   ");
	for (unsigned i = 0; i < LAYERS; i++)
		layers[i] = facts_number(parts, spdk_layers[i]);
	layers[LAYER_NETWORK] += facts_number(span, "unread");
	page_put_largest(out, f, layers, life, 3);
	put_by(out, span, "off_cpu", "off_cpu_by", life);
	put_by(out, span, "irq", "irq_by", life);
	if (f->offcpu && !is_covered(span, "off_cpu"))
		out_text(out, " off_cpu ?");
	put_percent(out, "disk", facts_number(span, "disk") / life);
	for (size_t i = 0; i < FACTS_PROVEN; i++) {
		const char *name = fact_table[fact_proven[i]].name;

		put_percent(out, name, facts_number(span, name) / life);
	}
	out_char(out, '\n');
	put_wait(out, span);
}

void page_slowest(struct out *out, const struct facts *f)
{
	const struct facts_span *spans = facts_slowest(f);
	struct out last = {.fd = OUT_MEMORY}, text = {.fd = OUT_MEMORY};

	out_text(out, spans->line.n ? "\nthe slowest requests\n" : "");
	for (size_t i = 0; i < f->num_slowest && spans[i].line.n; i++) {
		text.len = 0;
		put_time_of(&text, f, spans[i].line);
		/* what is the same of several is below the last one */
		if (!slice_equal(out_contents(&last), out_contents(&text)))
			out_slice(out, out_contents(&last));
		put_slow(out, spans[i].line);
		last.len = 0;
		out_slice(&last, out_contents(&text));
	}
	out_slice(out, out_contents(&last));
	out_close(&last);
	out_close(&text);
}

void page_stories(struct out *out, struct facts *f, bool as_lines)
{
	const struct facts_span *spans = facts_slowest(f);
	struct out title = {.fd = OUT_MEMORY};
	uint64_t ns;

	for (size_t i = 0; i < f->num_slowest && spans[i].line.n; i++) {
		if (as_lines) {
			out_slice(out, spans[i].line);
			continue;
		}
		out_text(out, i ? "\n" : "");
		put_slow(&title, spans[i].line);
		put_time_of(&title, f, spans[i].line);
		terminal_lines(&f->terminal, out, out_contents(&title));
		out_slice(out, spans[i].story);
		if (number_fixed(facts_text(spans[i].line, "us"), 3, &ns))
			causes_write_one(out, &f->causes, ns, &f->terminal);
		title.len = 0;
	}
	out_close(&title);
}
