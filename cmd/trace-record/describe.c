/* SPDX-License-Identifier: BSD-3-Clause */
#include "describe.h"

#include <inttypes.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "folder.h"
#include "io.h"
#include "parts.h"
#include "recording.h"
#include "targets.h"
#include "wall.h"

enum { RESERVE = 64 << 10 }; /* bytes of each file */

bool describe_open(struct description *d)
{
	d->readme = folder_file(d->folder, RECORDING_README, RESERVE);
	d->index = folder_file(d->folder, RECORDING_PARTS, RESERVE);
	return d->readme >= 0 && d->index >= 0;
}

void describe_close(struct description *d)
{
	io_close(&d->readme);
	io_close(&d->index);
}

void describe_time(struct out *out, uint64_t ns)
{
	struct wall wall = {};
	char text[WALL_ROOM];

	*wall_write(&wall, text, ns) = 0;
	out_text(out, text);
}

static void write_command(struct out *out, const struct part *p)
{
	for (int i = 0; p->argv[i]; i++)
		out_printf(out, "%s%s", i ? " " : "", p->argv[i]);
}

static void write_part_text(struct out *out, const struct part *p)
{
	out_printf(out, "\n%-13s ", p->file);
	if (p->status == PART_MISSING) {
		out_text(out, "not recorded: ");
		out_visible(out, slice_of(p->why));
		out_char(out, '\n');
		return;
	}
	out_printf(out, "%s\n", p->about);
	if (p->argv[0]) {
		out_text(out, "              made by: ");
		write_command(out, p);
		out_char(out, '\n');
	}
	if (p->since) {
		out_text(out, "              recorded since: ");
		describe_time(out, p->since);
		out_char(out, '\n');
	}
	if (p->lost)
		out_printf(out, "              lost: %" PRIu64 "\n", p->lost);
	else if (p->argv[0] && !p->is_counted)
		out_printf(out, "              lost: unknown: %s %s\n", p->argv[0],
			   part_is_running(p) ? "is still recording" : "ended without a count");
	if (p->why) {
		out_text(out, p->status == PART_FAILED ? "              ended early: " : "              ");
		out_visible(out, slice_of(p->why));
		out_char(out, '\n');
	}
}

bool describe_readme(const struct description *d)
{
	struct out out = {.fd = OUT_MEMORY};
	struct utsname kernel = {};

	uname(&kernel);
	out_printf(&out, "recorded-by: trace-record %s\n", VERSION);
	out_printf(&out, "target: %s (process %d), trace %s\n", d->target->name, d->target->pid,
		   d->target->trace ? d->target->trace : "unknown");
	out_printf(&out, "kernel: %s %s %s\n", kernel.sysname, kernel.release, kernel.machine);
	if (!d->ended) {
		out_text(&out, "not ended: it goes on, or trace-record was killed\n" DESCRIBE_HOLES);
	} else {
		out_text(&out, "started: ");
		describe_time(&out, d->started);
		out_text(&out, "\nended: ");
		describe_time(&out, d->ended);
		out_text(&out, d->has_target_ended ? ", with the target\n" : "\n");
	}
	out_slice(&out, d->about);
	for (int i = 0; i < PARTS && d->ended; i++)
		write_part_text(&out, &d->parts[i]);
	if (d->ended)
		out_printf(&out, "\n%-13s the same for programs: spdk-trace-lines(7)\n", RECORDING_PARTS);
	return folder_write(d->folder, RECORDING_README, d->readme, &out);
}

static void write_member(struct out *out, const char *key, const char *text)
{
	out_printf(out, ",\"%s\":", key);
	out_json(out, slice_of(text));
}

static void write_notes(struct out *out, struct slice said)
{
	const char *comma = "";

	if (!said.n)
		return;
	out_text(out, ",\"" RECORDING_NOTES "\":[");
	while (said.n) {
		out_text(out, comma);
		out_json(out, slice_cut_line(&said));
		comma = ",";
	}
	out_char(out, ']');
}

static void write_part(struct out *out, const struct part *p)
{
	static const char *const status[] = {
		[PART_MISSING] = RECORDING_MISSING, [PART_DONE] = RECORDING_DONE, [PART_FAILED] = RECORDING_FAILED};

	out_printf(out, "{\"" RECORDING_PART "\":\"%s\",\"" RECORDING_STATUS "\":\"%s\"", p->name, status[p->status]);
	if (p->status != PART_MISSING)
		write_member(out, RECORDING_FILE, p->file);
	if (p->argv[0]) {
		out_text(out, ",\"" RECORDING_COMMAND "\":\"");
		write_command(out, p);
		out_char(out, '"');
	}
	if (p->since) {
		out_text(out, ",\"" RECORDING_SINCE "\":\"");
		describe_time(out, p->since);
		out_char(out, '"');
	}
	if (p->why)
		write_member(out, RECORDING_WHY, p->why);
	if (p->is_counted)
		out_printf(out, ",\"" RECORDING_LOST "\":%" PRIu64, p->lost);
	write_notes(out, out_contents(&p->said));
	out_text(out, "}\n");
}

bool describe_index(const struct description *d)
{
	struct out out = {.fd = OUT_MEMORY};

	out_printf(&out, "{\"" RECORDING_PART "\":\"" RECORDING_TARGET "\",\"" RECORDING_PID "\":%d", d->target->pid);
	write_member(&out, RECORDING_NAME, d->target->name);
	if (d->target->trace)
		write_member(&out, RECORDING_TRACE_NAME, d->target->trace);
	out_text(&out, ",\"" RECORDING_STARTED "\":\"");
	describe_time(&out, d->started);
	out_text(&out, "\",\"" RECORDING_ENDED "\":\"");
	describe_time(&out, d->ended);
	out_text(&out, "\"}\n");
	out_slice(&out, d->object);
	for (int i = 0; i < PARTS; i++)
		write_part(&out, &d->parts[i]);
	return folder_write(d->folder, RECORDING_PARTS, d->index, &out);
}
