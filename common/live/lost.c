/* SPDX-License-Identifier: BSD-3-Clause */
#include "lost.h"

#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "livenames.h"
#include "number.h"
#include "probeline.h"

static const char *const names[LOST_KINDS] = {
	[LOST_EVENTS] = "lost", [LOST_MISSED] = "missed", [LOST_SKIPPED] = "skipped", [LOST_PARTIAL] = "partial"};

bool lost_none(const struct lost *l)
{
	static const struct lost none;

	return memcmp(l, &none, sizeof(none)) == 0;
}

void lost_trace_line(const struct lost *l, struct out *out, const char *tool)
{
	out_text(out, ",\"lcore\":0,\"tpoint\":\"" LIVE_LOSSES "\",\"args\":{\"" LIVE_TOOL "\":");
	out_json(out, slice_of(tool));
	for (int i = 0; i < LOST_KINDS; i++)
		out_printf(out, ",\"%s\":%" PRIu64, names[i], l->n[i]);
	out_text(out, "}}\n");
}

void lost_probe_line(const struct lost *l, struct out *out)
{
	const char *before = LIVE_LOSSES_PROBE ": ";

	for (int i = 0; i < LOST_KINDS; i++, before = ", ") {
		out_printf(out, "%s%s=", before, names[i]);
		out_hex(out, l->n[i]);
	}
	out_char(out, '\n');
}

static bool read_json(struct lost *l, struct slice line)
{
	struct slice args = json_member(line, slice_of("args"));

	if (!slice_is(json_unquoted(json_member(line, slice_of("tpoint"))), LIVE_LOSSES))
		return false;
	for (int i = 0; i < LOST_KINDS; i++)
		if (!number_decimal(json_member(args, slice_of(names[i])), &l->n[i]))
			return false;
	return true;
}

static bool read_probe(struct lost *l, struct slice line)
{
	struct probeline_field fields[LOST_KINDS];
	struct slice name;
	bool has_all;

	has_all = probeline_name(&line, &name) && slice_is(name, LIVE_LOSSES_PROBE) &&
		  !probeline_fields(line, names, LOST_KINDS, fields);
	for (int i = 0; has_all && i < LOST_KINDS; i++)
		has_all = probeline_number(&fields[i], &l->n[i]);
	return has_all;
}

bool lost_read(struct lost *l, struct slice line)
{
	struct json check;

	*l = (struct lost){};
	json_init(&check, line.p, line.n);
	return json_skip(&check) && json_end(&check) ? read_json(l, line) : read_probe(l, line);
}
