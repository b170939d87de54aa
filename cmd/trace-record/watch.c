/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "json.h"
#include "minmax.h"
#include "number.h"

enum {
	BLOCK = 1 << 16,
	LINE_MAX_SIZE = 1 << 20, /* longer ones are dropped */
	LINES_MAX_SIZE = 4 << 20,
};

static bool is_true(struct slice line, const char *key)
{
	return slice_is(json_member(line, slice_of(key)), "true");
}

static void see(struct incident *i, struct slice line, uint64_t stuck_ns)
{
	struct json check;
	uint64_t life;
	bool open;

	json_init(&check, line.p, line.n);
	if (!json_skip(&check) || !number_fixed(json_member(line, slice_of("life")), 3, &life))
		return;
	/* asynchronous event requests may wait for days; where entries were lost, a life may be that of several */
	if (is_true(line, "admin") || is_true(line, "maybe_admin") || is_true(line, "lost"))
		return;
	open = is_true(line, "open");
	i->seen = clock_ms();
	if (!open && life >= stuck_ns && i->open) {
		/* it was counted before */
		i->open--;
	} else {
		if (!i->requests++) {
			i->since = clock_wall_ns();
			i->first = i->seen;
		}
		i->open += open;
	}
	i->slowest = max_u64(i->slowest, life);
	if (i->lines.len + line.n < LINES_MAX_SIZE) {
		out_slice(&i->lines, line);
		out_char(&i->lines, '\n');
	} else {
		i->left_out++;
	}
}

void watch_read(struct watch *w, struct incident *incident, uint64_t stuck_ns)
{
	char block[BLOCK];
	ssize_t n;

	while (w->fd >= 0 && (n = read(w->fd, block, sizeof(block))) > 0) {
		struct slice text = {block, n};

		while (text.n) {
			const char *end = memchr(text.p, '\n', text.n);
			struct slice piece = end ? slice_between(text.p, end) : text;

			if (w->line.len + piece.n <= LINE_MAX_SIZE)
				out_slice(&w->line, piece);
			text = slice_from(text, piece.n + (end != NULL));
			if (!end)
				break;
			see(incident, out_contents(&w->line), stuck_ns);
			w->line.len = 0;
		}
	}
}

void watch_close(struct watch *w)
{
	io_close(&w->fd);
	out_close(&w->line);
}

void incident_clear(struct incident *incident)
{
	out_close(&incident->lines);
	*incident = (struct incident){.lines.fd = OUT_MEMORY};
}
