/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_recorded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "page.h"
#include "recording.h"

enum { COMMAND = 38 }; /* columns, after which is what it prints */

/* The groups of tracepoints with most entries, which come first. */
static void put_groups(struct out *out, struct slice groups)
{
	struct slice group;
	struct json j;

	facts_each(&j, groups);
	for (unsigned i = 0; i < PAGE_GROUPS && facts_next(&j, NULL, &group) && facts_number(group, "entries"); i++) {
		out_text(out, i ? ", " : ": ");
		facts_put(out, json_unquoted(facts_text(group, "group")));
		out_printf(out, " %.0f", facts_number(group, "entries"));
	}
}

/* The first words of a row about what was recorded. */
static void put_part(struct out *out, const char *name)
{
	out_printf(out, "  %-10s ", name);
}

/* How many requests the lines of another tool cover. */
static void put_covered(struct out *out, const struct facts *f, const char *name, const char *file, bool differs,
			enum overlap part)
{
	uint64_t covered = 0, all = 0;

	if (differs || file)
		put_part(out, name);
	if (differs)
		out_text(out, "left out: its times are of another clock than the trace's\n");
	if (!file)
		return;
	for (size_t i = 0; i < f->shares.n; i++) {
		covered += f->shares.all[i].overlaps[part].count;
		all += f->shares.all[i].count;
	}
	out_printf(out, "covers %" PRIu64 " of %" PRIu64 " requests\n", covered, all);
}

static void put_left_out(struct out *out, const struct facts *f)
{
	static const struct {
		const char *key, *what;
	} all[] = {
		{"before_window", "older than the start of another ring"},
		{"cleared", "older than trace_clear"},
		{"torn", "torn"},
		{"undefined", "without a definition"},
	};
	const char *before = "";

	for (size_t i = 0; i < COUNT(all); i++) {
		double n = facts_number(f->info, all[i].key);

		if (!n)
			continue;
		if (!*before)
			put_part(out, "");
		out_printf(out, "%s%.0f %s", before, n, all[i].what);
		before = ", ";
	}
	out_text(out, *before ? "\n" : "");
}

/* What the trace lacks for a good answer. The page has other words for names and losses, and no time of day. */
static void put_missing(struct out *out, const struct facts *f)
{
	struct slice missing;
	struct json j;

	for (facts_each(&j, facts_text(f->info, "missing")); facts_next(&j, NULL, &missing);) {
		struct slice what = json_unquoted(facts_text(missing, "what"));

		if (slice_is(what, "names") || slice_is(what, "lost") || slice_is(what, "time") ||
		    slice_is(what, "flood"))
			continue;
		put_part(out, "missing");
		facts_put(out, json_unquoted(facts_text(missing, "text")));
		out_char(out, '\n');
		put_part(out, "");
		out_text(out, "try: ");
		facts_put(out, json_unquoted(facts_text(missing, "try")));
		out_char(out, '\n');
	}
}

/* Groups of tracepoints that were on, as the target said. */
static void put_rpc(struct out *out, const struct facts *f)
{
	struct slice text = f->rpc, line, key, value;
	struct json j;

	while (json_line(&text, &line)) {
		struct slice method = json_unquoted(facts_text(line, "method")), result = facts_text(line, "result");

		if (slice_is(method, "spdk_get_version")) {
			put_part(out, "version");
			facts_put(out, json_unquoted(facts_text(result, "version")));
			out_char(out, '\n');
		} else if (slice_is(method, "trace_get_tpoint_group_mask")) {
			put_part(out, "groups");
			out_text(out, "on:");
			for (facts_each(&j, result); facts_next(&j, &key, &value);) {
				if (!slice_is(facts_text(value, "enabled"), "true"))
					continue;
				out_char(out, ' ');
				facts_put(out, key);
			}
			out_char(out, '\n');
		}
	}
}

static void put_target(struct out *out, struct slice target)
{
	put_part(out, RECORDING_TARGET);
	facts_put(out, json_unquoted(facts_text(target, RECORDING_NAME)));
	out_printf(out, " (%.0f), from ", facts_number(target, RECORDING_PID));
	facts_put(out, json_unquoted(facts_text(target, RECORDING_STARTED)));
	out_text(out, " to ");
	facts_put(out, json_unquoted(facts_text(target, RECORDING_ENDED)));
	out_char(out, '\n');
}

/* What was recorded, and the parts of it that are not complete. */
static void put_parts(struct out *out, const struct facts *f)
{
	struct slice text = f->parts, part;

	while (json_line(&text, &part)) {
		struct slice status = json_unquoted(facts_text(part, RECORDING_STATUS));
		struct slice why = json_unquoted(facts_text(part, RECORDING_WHY));
		struct slice name = json_decode(json_unquoted(facts_text(part, RECORDING_PART)));

		if (slice_is(name, RECORDING_TARGET)) {
			put_target(out, part);
		} else if (status.n && (why.n || !slice_is(status, RECORDING_DONE))) {
			out_text(out, "  ");
			out_column(out, name, 10);
			facts_put(out, status);
			out_text(out, why.n ? ": " : "");
			facts_put(out, why);
			out_char(out, '\n');
		}
		free((char *)name.p);
	}
}

/* Where the names of hosts are from. */
static void put_names(struct out *out, const struct facts *f)
{
	size_t probed = 0, n = f->hosts.n;

	put_part(out, "names");
	for (size_t i = 0; i < f->num_probed; i++)
		probed += f->probed[i];
	if (!n) {
		out_printf(out, "none%s\n",
			   f->names_unread ? ", but addresses: what has those of hosts could not be read"
			   : f->usdt && f->answers
				   ? ": neither probe lines nor JSON-RPC name a connection of this trace"
			   : f->usdt    ? ": the probe lines name no connection of this trace"
			   : f->answers ? ": JSON-RPC names no connection of this trace"
					: ", but addresses: usdt-record(1) records those of hosts");
		return;
	}
	out_printf(out, "of %zu host%s, ", n, n == 1 ? "" : "s");
	if (probed == n)
		out_text(out, "by their probes\n");
	else if (!probed)
		out_text(out, "by JSON-RPC\n");
	else
		out_printf(out, "%zu by their probes, %zu by JSON-RPC\n", probed, n - probed);
}

void page_recorded(struct out *out, const struct facts *f)
{
	out_text(out, "\nrecorded\n");
	if (f->info.n) {
		put_part(out, "trace");
		out_printf(out, "%" PRIu64 " entries", facts_entries(f));
		put_groups(out, facts_text(f->info, "groups"));
		out_char(out, '\n');
		put_left_out(out, f);
		put_missing(out, f);
	}
	if (f->usdt || f->info.n)
		put_names(out, f);
	put_covered(out, f, "offcpu", f->offcpu, f->offcpu_differs, OVERLAP_OFF_CPU);
	put_covered(out, f, "bio", f->bio, f->bio_differs, OVERLAP_DISK);
	put_rpc(out, f);
	put_parts(out, f);
}

void page_put_report(struct out *out, const struct facts *f)
{
	out_text(out, "trace-report ");
	if (f->pid)
		out_printf(out, "-p %d", f->pid);
	else
		out_word(out, slice_of(f->is_folder ? f->name : f->trace));
	if (f->usdt && !f->is_folder) {
		out_char(out, ' ');
		out_word(out, slice_of(f->usdt));
	}
	out_text(out, " --story ");
}

/* A file of the recording, as in its folder. */
static void put_file(struct out *out, const struct facts *f, const char *path)
{
	out_word(out, slice_of(f->is_folder ? path + strlen(f->name) + 1 : path));
}

/* A command that reads the trace. */
static void put_dump(struct out *out, const struct facts *f, const char *command)
{
	out_text(out, command);
	if (f->pid)
		out_printf(out, "-p %d", f->pid);
	else
		put_file(out, f, f->trace);
}

static void put_lifetimes(struct out *out, const struct facts *f)
{
	out_text(out, "  ");
	if (f->has_owners) {
		put_dump(out, f, "trace-dump -O ");
		out_text(out, " | ");
	}
	out_text(out, f->has_owners ? "qpair-lifetimes -O - " : "qpair-lifetimes ");
	if (f->answers) {
		out_text(out, "--rpc ");
		put_file(out, f, f->answers);
	}
	if (f->usdt) {
		out_text(out, f->answers ? " " : "");
		put_file(out, f, f->usdt);
	}
	out_text(out, " >lifetimes.txt\n");
}

/* A command that reads trace lines. */
static void put_command(struct out *out, const struct facts *f, const char *command, const char *to, const char *what)
{
	size_t start = out->len;

	out_text(out, command);
	if (f->is_lines) {
		out_text(out, f->usdt ? "-l lifetimes.txt " : "");
		put_file(out, f, f->trace);
	} else {
		out_text(out, "lines.jsonl");
	}
	out_text(out, to);
	out_printf(out, "%*s  # %s\n", out->len - start < COMMAND ? (int)(COMMAND - (out->len - start)) : 0, "", what);
}

/* The command that makes the file that others on the page read. */
static void put_merge(struct out *out, const struct facts *f)
{
	put_dump(out, f, "  trace-dump ");
	out_text(out, f->usdt || f->answers ? " | trace-join -j -l lifetimes.txt" : "");
	out_text(out, f->offcpu || f->bio ? " |\n      trace-merge -" : "");
	if (f->offcpu) {
		out_char(out, ' ');
		put_file(out, f, f->offcpu);
	}
	if (f->bio) {
		out_char(out, ' ');
		put_file(out, f, f->bio);
	}
	out_text(out, " >lines.jsonl\n");
}

void page_commands(struct out *out, const struct facts *f)
{
	out_text(out, "\nmore\n  ");
	page_put_report(out, f);
	out_text(out, "'us=*'  # stories of the slowest requests\n");
	if (f->is_folder) {
		out_text(out, "  cd ");
		out_word(out, slice_of(f->name));
		out_char(out, '\n');
	}
	if (f->usdt || f->answers)
		put_lifetimes(out, f);
	if (f->pid)
		out_text(out, "  # the trace goes on: times on this page are of other requests in a later one\n");
	if (!f->is_lines)
		put_merge(out, f);
	put_command(out, f, "  trace-spans --open ", "", "what is in flight at the end");
	put_command(out, f, "  trace-latency -g host ", "", "the states of each host's requests");
	put_command(out, f, "  trace-perfetto ", " >trace.pb", "a picture for ui.perfetto.dev");
}
