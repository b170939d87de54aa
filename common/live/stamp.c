/* SPDX-License-Identifier: BSD-3-Clause */
#include "stamp.h"

int64_t stamp_since(struct stamp *s, uint64_t ns)
{
	if (!s->first_ns)
		s->first_ns = ns;
	return ns - s->first_ns;
}

uint64_t stamp_tsc(struct stamp *s, uint64_t ns)
{
	return s->ticks ? ticks_at(s->ticks, ns) : ns;
}

void stamp_json(struct stamp *s, struct out *out, uint64_t ns)
{
	int64_t since = stamp_since(s, ns);

	out_text(out, "{\"tsc\":");
	out_u64(out, stamp_tsc(s, ns));
	out_text(out, since < 0 ? ",\"us\":-" : ",\"us\":");
	out_us(out, since < 0 ? -since : since);
	if (s->wall) {
		out_text(out, ",\"time\":\"");
		out_commit(out, wall_write(&s->text, out_room(out, WALL_ROOM), ticks_wall(s->wall, ns)));
		out_char(out, '"');
	}
}

void stamp_column(struct stamp *s, struct out *out, uint64_t ns)
{
	if (!s->wall)
		return;
	out_commit(out, wall_write_local(&s->text, out_room(out, WALL_ROOM), ticks_wall(s->wall, ns)));
}
