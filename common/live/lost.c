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
	struct probeline_field field;
	struct slice name;
	unsigned found = 0;
	const char *error;

	if (!probeline_name(&line, &name) || !slice_is(name, LIVE_LOSSES_PROBE))
		return false;
	while (probeline_next(&line, &field, &error) > 0)
		for (int i = 0; i < LOST_KINDS; i++)
			if (slice_is(field.key, names[i]) && number_hex(field.value, &l->n[i]))
				found |= 1U << i;
	return found == (1U << LOST_KINDS) - 1;
}

bool lost_read(struct lost *l, struct slice line)
{
	struct json check;

	*l = (struct lost){};
	json_init(&check, line.p, line.n);
	return json_skip(&check) && json_end(&check) ? read_json(l, line) : read_probe(l, line);
}
