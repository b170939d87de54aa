/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aliases.h"
#include "answer.h"
#include "busy.h"
#include "cli.h"
#include "count.h"
#include "page_hosts.h"
#include "page_recorded.h"
#include "page_slowest.h"
#include "palette.h"
#include "quota.h"
#include "recording.h"

enum { GAPS = 64 }; /* that trace-dump -i lists */

void page_put_largest(struct out *out, const struct facts *f, const double layers[LAYERS], double all, unsigned n)
{
	enum layer sorted[LAYERS];

	spdk_sort_layers(layers, sorted);
	for (unsigned i = 0; i < n && layers[sorted[i]] > 0 && layers[sorted[i]] >= 0.005 * all; i++) {
		out_char(out, ' ');
		terminal_paint(&f->terminal, out, palette_layers[sorted[i]].sgr);
		out_printf(out, "%s %.0f%%", spdk_layers[sorted[i]], 100 * layers[sorted[i]] / all);
		terminal_plain(&f->terminal, out);
	}
}

struct columns page_table(struct out *out, const struct facts *f)
{
	return (struct columns){.out = out, .terminal = f->terminal, .indent = 2};
}

static void write_damage(struct out *out, const struct facts *f)
{
	struct slice parts = f->parts, value, gap;
	struct json j, k;

	out_slice(out, out_contents(&f->unread));
	for (facts_each(&j, facts_text(f->info, "damage")); facts_next(&j, NULL, &value);) {
		out_text(out, "damaged: ");
		facts_put(out, json_unquoted(value));
		out_char(out, '\n');
	}
	for (facts_each(&j, facts_text(f->info, "lcores")); facts_next(&j, NULL, &value);) {
		unsigned n = 0;

		for (facts_each(&k, facts_text(value, "gaps")); facts_next(&k, NULL, &gap);)
			n++;
		if (n)
			out_printf(out, "lcore %.0f: entries are missing in %u%s place%s: written faster than copied\n",
				   facts_number(value, "lcore"), n, n < GAPS ? "" : " or more", n == 1 ? "" : "s");
	}
	while (json_line(&parts, &value)) {
		if (!slice_is(json_unquoted(facts_text(value, RECORDING_PART)), "trace") ||
		    !facts_number(value, RECORDING_LOST))
			continue;
		out_printf(out, "%.0f slots of the rings were lost while they were recorded\n",
			   facts_number(value, RECORDING_LOST));
	}
}

/* What is wrong with the trace itself, before the numbers that it affects. */
static void put_damage(struct out *out, const struct facts *f)
{
	struct out text = {.fd = OUT_MEMORY};
	struct slice lines;

	write_damage(&text, f);
	for (lines = out_contents(&text); lines.n;) {
		terminal_paint(&f->terminal, out, TERMINAL_BAD);
		out_slice(out, slice_cut_line(&lines));
		terminal_plain(&f->terminal, out);
		out_char(out, '\n');
	}
	out_close(&text);
}

static void put_title(struct out *out, const struct facts *f)
{
	const char *name = strrchr(f->name, '/');
	struct slice value, releases;
	double lcores = 0;
	struct json j;

	out_visible(out, slice_of(name && name[1] ? name + 1 : f->name));
	if (!f->info.n) {
		out_text(out, ": no trace\n");
		return;
	}
	for (facts_each(&j, facts_text(f->info, "lcores")); facts_next(&j, NULL, &value);)
		lcores += facts_number(value, "entries") > 0;
	out_text(out, ": ");
	facts_put_time(out, facts_number(f->info, "us"));
	out_printf(out, ", %" PRIu64 " entries of %.0f lcore%s", facts_entries(f), lcores, lcores == 1 ? "" : "s");
	releases = json_unquoted(facts_text(f->info, "releases"));
	out_text(out, slice_starts(releases, "v") ? ", SPDK " : releases.n ? ", " : "");
	facts_put(out, releases);
	out_char(out, '\n');
}

/* What a folder of the flight recorder is about. */
static void put_trigger(struct out *out, const struct facts *f)
{
	struct slice parts = f->parts, part;

	while (f->min_us && json_line(&parts, &part)) {
		double requests = facts_number(part, RECORDING_REQUESTS);

		if (!slice_is(json_unquoted(facts_text(part, RECORDING_PART)), RECORDING_TRIGGER))
			continue;
		out_printf(out, "recorded for %.0f request%s of ", requests, requests == 1 ? "" : "s");
		facts_put_time(out, facts_number(part, RECORDING_MIN_US));
		out_text(out, " or more, the slowest ");
		facts_put_time(out, facts_number(part, RECORDING_SLOWEST));
		out_char(out, '\n');
	}
}

/* What it is about, if not all requests. */
static void put_chosen(struct out *out, const struct facts *f)
{
	const bool is_window = f->since || f->until < UINT64_MAX;

	if (!is_window && !f->keys.n)
		return;
	out_text(out, "only requests");
	if (f->since) {
		out_text(out, " from ");
		out_us(out, f->since);
	}
	if (f->until < UINT64_MAX) {
		out_text(out, f->since ? " to " : " up to ");
		out_us(out, f->until);
	}
	out_text(out, is_window ? " us" : "");
	for (size_t i = 0; i < f->keys.n; i++) {
		out_text(out, i ? " and " : " with ");
		out_visible(out, slice_of(f->keys.all[i].path.p));
	}
	out_char(out, '\n');
}

void page_put_counted(struct out *out, uint64_t n, const char *what)
{
	char *text = cli_counted(n, what);

	if (n)
		out_printf(out, "%" PRIu64 " %s\n", n, text);
	free(text);
}

/* What trace-causes says, with its conclusion first. */
static void put_causes(struct out *out, const struct facts *f)
{
	const uint64_t requests = f->causes.requests.dropped, rows = f->causes.all.dropped, older = f->causes.all.older;
	struct out command = {.fd = OUT_MEMORY};

	page_put_report(&command, f);
	answer_write(out, &f->causes.findings,
		     &(struct answer_options){.group = causes_group(&f->causes),
					      .report = out_contents(&command),
					      .elsewhere = network_deaf(&f->network) && !causes_any(&f->causes),
					      .terminal = f->terminal});
	out_close(&command);
	if (requests || rows || older)
		out_text(out, "\nnot all of it is explained\n");
	page_put_counted(out, older, TALLY_OLDER);
	page_put_counted(out, requests, REQUESTS_DROPPED);
	page_put_counted(out, rows, TALLY_DROPPED);
}

static void put_pools(struct out *out, const struct facts *f)
{
	struct out text = {.fd = OUT_MEMORY};

	pools_write(&text, &f->pools, f->rpc, f->measured.behind.more);
	out_text(out, text.len ? "\n" : "");
	out_slice(out, out_contents(&text));
	out_close(&text);
}

/* A host that does not read. */
static void put_deaf(struct out *out, struct facts *f, const char *word)
{
	const struct network_connection *deaf = network_deaf(&f->network);

	if (!deaf)
		return;
	out_printf(out, "%s: host ", word);
	network_put_name(out, f, deaf);
	out_printf(out, " does not read its replies: its window was full for %.0f %% of the time\n",
		   100 * network_full(deaf));
}

/* An lcore that has no time left. */
static void put_full(struct out *out, struct facts *f, const char *word)
{
	struct busy_full full;

	if (!busy_is_full(f, &full))
		return;
	out_printf(out, "%s: lcore %" PRIu64 " is full, mostly by ", word, full.lcore);
	out_visible(out, full.who);
	out_printf(out, ": it was busy for %.0f %% of the time\n", 100 * full.part);
}

/* What has overwritten the rest, and how that ends. */
static void put_flood(struct out *out, const struct facts *f)
{
	struct slice missing;
	struct json j;

	for (facts_each(&j, facts_text(f->info, "missing")); facts_next(&j, NULL, &missing);) {
		if (!slice_is(json_unquoted(facts_text(missing, "what")), "flood"))
			continue;
		facts_put(out, json_unquoted(facts_text(missing, "text")));
		out_text(out, "\n  try: ");
		facts_put(out, json_unquoted(facts_text(missing, "try")));
		out_char(out, '\n');
	}
}

/* Lines about reactors of connections that stand still. Returns whether all do, since before the recording. */
static bool put_still(struct out *out, struct facts *f)
{
	struct lcore_sum *sums = f->info.n ? lcore_rows_end(&f->lcores) : NULL;
	size_t before = out->len, current = 0;
	bool is_older;

	for (size_t i = 0; sums && i < f->lcores.n; i++) {
		uint64_t last = f->base + (uint64_t)(sums[i].row->last / 1e9 * f->rate);

		if (sums[i].num_uses)
			current += !still_write(out, &f->still, sums[i].row->lcore, last, f->rate) ||
				   last >= f->still.start;
	}
	is_older = out->len > before && !current;
	if (is_older)
		out_text(out, "  what follows is of requests before that\n");
	if (out->len > before && !is_older)
		out_char(out, '\n');
	free(sums);
	return is_older;
}

/*
 * Subsystems that did not answer though the target did later: their calls wait until a pause has begun and ended.
 * Returns whether there are any.
 */
static bool put_paused(struct out *out, const struct facts *f)
{
	struct slice text = f->rpc, line;
	const char *last = text.p;
	bool any = false;

	while (json_line(&text, &line))
		last = facts_text(line, "result").n ? line.p : last;
	for (text = f->rpc; json_line(&text, &line) && line.p < last;) {
		if (!slice_is(json_unquoted(facts_text(line, "method")), "nvmf_subsystem_get_qpairs") ||
		    !slice_is(json_unquoted(facts_text(line, "error.message")), RECORDING_LATE))
			continue;
		out_text(out, "subsystem ");
		facts_put(out, json_unquoted(facts_text(line, "params.nqn")));
		out_text(out, " is paused or being paused: no reply\n");
		any = true;
	}
	return any;
}

/* What the target says of the bdev that requests in flight wait for: its limits, and where it is. */
static void write_bdev(struct out *out, struct slice bdev)
{
	struct slice key, value, path, address;
	struct json j;

	for (facts_each(&j, facts_text(bdev, "assigned_rate_limits")); facts_next(&j, &key, &value);)
		if (strtod(value.p, NULL) > 0) {
			out_text(out, " (");
			facts_put(out, key);
			out_printf(out, " %.0f)", strtod(value.p, NULL));
		}
	facts_each(&j, facts_text(bdev, "driver_specific.nvme"));
	address = facts_next(&j, NULL, &path) ? json_unquoted(facts_text(path, "trid.traddr")) : (struct slice){};
	if (!address.n)
		return;
	out_text(out, " (");
	facts_put(out, address);
	out_text(out, facts_text(path, "trid.trsvcid").n ? ":" : "");
	facts_put(out, json_unquoted(facts_text(path, "trid.trsvcid")));
	out_char(out, ')');
}

static void write_head(struct out *out, const struct facts *f)
{
	const char *kinds[] = {"bdev ", "remote of ", "drive of "};
	struct slice head = f->causes.inflight.head, rpc = f->rpc, bdevs, bdev;
	struct json j;

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (slice_starts(head, kinds[i]))
			head = slice_from(head, strlen(kinds[i]));
	while (head.n && facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);)
			if (slice_equal(aliases_name(bdev), head))
				write_bdev(out, bdev);
}

bool page_hang(struct out *out, struct facts *f, bool *all)
{
	const struct inflight *inflight = &f->causes.inflight;
	bool paused;

	*all = put_still(out, f) || inflight_is_most(inflight);
	paused = put_paused(out, f);
	if (inflight->is_older || inflight->unseen) {
		struct out note = {.fd = OUT_MEMORY};

		write_head(&note, f);
		inflight_write(out, inflight, PAGE_GROUPS, out_contents(&note));
		out_close(&note);
	}
	return *all || paused || inflight_hangs(inflight);
}

bool page_write(struct out *to, struct facts *f)
{
	const struct inflight *inflight = &f->causes.inflight;
	struct out out = {.fd = OUT_MEMORY};
	bool explains, named; /* explains: the requests that ended; named: a cause of theirs, or of a hang */
	struct busy_full full;
	bool hangs, all;

	put_title(&out, f);
	put_trigger(&out, f);
	put_chosen(&out, f);
	put_damage(&out, f);
	put_flood(&out, f);
	out_char(&out, '\n');
	if (f->info.n && !facts_entries(f))
		out_text(&out, "The trace has no entries: was tracing enabled, as by -e of an SPDK application?\n");
	else if (f->seen && !f->admin && !f->requests)
		out_text(&out, "No such requests.\n");
	else if (f->info.n && !f->requests)
		out_printf(&out, "No requests but %" PRIu64 " of admin: there is nothing to compare.\n", f->admin);
	hangs = page_hang(&out, f, &all);
	out_text(&out, inflight->is_older && !all ? "\n" : "");
	explains = !all && f->requests;
	named = hangs || causes_any(&f->causes);
	if (!named && network_deaf(&f->network)) {
		put_deaf(&out, f, "cause");
		out_text(&out, "  cure:  look at that host and its network\n\n");
	} else if (!named) {
		put_full(&out, f, "cause");
		out_text(&out,
			 busy_is_full(f, &full) ? "  cure:  more lcores, or fewer connections on this one\n\n" : "");
	}
	terminal_lines(&f->terminal, to, out_contents(&out));
	out.len = 0;
	if (explains)
		put_causes(to, f);
	if (named)
		put_deaf(&out, f, "\nalso");
	if (named || network_deaf(&f->network))
		put_full(&out, f, "\nalso");
	quota_put(&out, f->kernel);
	page_hosts(&out, f, explains);
	if (explains)
		page_spread(&out, f);
	network_put(&out, f, &f->network);
	put_pools(&out, f);
	page_lcores(&out, f);
	page_slowest(&out, f);
	if (inflight->n && !inflight->is_older) {
		out_char(&out, '\n');
		inflight_write(&out, inflight, 0, slice_of(""));
	}
	if (!f->is_short)
		page_recorded(&out, f);
	terminal_lines(&f->terminal, to, out_contents(&out));
	if (facts_entries(f) && !f->is_short)
		page_commands(to, f);
	out_close(&out);
	return named || f->causes.findings.n || network_deaf(&f->network) || busy_is_full(f, &full);
}
