/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OLDEST = 5, DEFAULT_LINES = 24 };

static void put_request(struct out *out, const struct spans *spans, struct connections *connections,
			const struct span *s)
{
	out_text(out, "  ");
	out_duration(out, life_ns(spans, s));
	out_text(out, "  ");
	spans_write_id(out, spans, s);
	if (s->connection != MAP_NONE) {
		out_text(out, " of ");
		out_slice(out, connections_name(connections, s->connection)->name);
	}
	for (const struct span *child = s; child; child = life_open_child(spans, child)) {
		out_text(out, child == s ? ": " : " > ");
		out_visible_json(out, spans->states->all[child->states[child->n - 1].state]);
	}
	out_char(out, '\n');
}

/* Whether it is a request in flight. One that is free has no states. */
static bool is_in_flight(const struct spans *spans, const struct span *s)
{
	return s->n && !s->end.over && !s->has_parent && !s->unknown && life_is_open(spans, s) &&
	       !life_is_lost(spans, s);
}

void screen_put_open(struct out *out, const struct spans *spans, struct connections *connections)
{
	const struct span *oldest[OLDEST] = {};
	uint64_t n = 0;

	for (size_t i = 0; i < spans->store.n; i++) {
		const struct span *s = spans->store.all[i];
		size_t at = OLDEST;

		if (!is_in_flight(spans, s))
			continue;
		n++;
		for (; at && (!oldest[at - 1] || life_ns(spans, oldest[at - 1]) < life_ns(spans, s)); at--)
			if (at < OLDEST)
				oldest[at] = oldest[at - 1];
		if (at < OLDEST)
			oldest[at] = s;
	}
	out_printf(out, "in flight: %" PRIu64 "%s\n", n, n ? ", the oldest" : "");
	for (size_t i = 0; i < OLDEST && oldest[i]; i++)
		put_request(out, spans, connections, oldest[i]);
}

void screen_show(struct out *out, struct slice text)
{
	struct winsize size = {};
	unsigned lines = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : DEFAULT_LINES;

	/* erased as it is written, so that nothing flickers */
	out_text(out, "\x1b[H");
	for (unsigned i = 1; i < lines && text.n; i++) {
		out_slice(out, slice_cut_line(&text));
		out_text(out, "\x1b[K\n");
	}
	out_text(out, "\x1b[J");
	out_flush(out);
}
