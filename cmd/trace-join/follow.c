/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "mem.h"
#include "out.h"

/* Indexes in fds: of the output, the trace lines and the first file of lifetimes. */
enum { OUTPUT, TRACE, INPUTS };

void follow_open(struct follow_lifetimes *f, struct lifetimes *lifetimes, const char *const *paths, size_t n)
{
	*f = (struct follow_lifetimes){.lifetimes = lifetimes, .n = n};
	f->inputs = mem_array(n, sizeof(*f->inputs));
	f->fds = mem_array(n + INPUTS, sizeof(*f->fds));
	for (size_t i = 0; i < n; i++) {
		struct lines *lines = &f->inputs[i].lines;

		if (lines_open(lines, paths[i]) != 0)
			err(EXIT_FAILURE, "%s", lines->name);
		lines_expect(lines, KIND_LIFETIMES, "trace-join -F -l - TRACE-LINES");
		lines_follow(lines, true);
	}
}

static void close_input(struct follow_lifetimes *f, struct follow_input *input, int error)
{
	f->failed |= lines_close(&input->lines, error) != 0;
	input->closed = true;
}

/* Reads the lifetimes that have come. */
static void read_lifetimes(struct follow_lifetimes *f)
{
	for (struct follow_input *input = f->inputs; input < f->inputs + f->n; input++) {
		struct lines *lines = &input->lines;
		struct slice line;
		int got;

		if (input->closed)
			continue;
		while ((got = lines_more(lines)) > 0)
			while (lines_ready(lines, &line)) {
				const char *error = lifetimes_add(f->lifetimes, line);

				if (error)
					lines_complain(lines, "%s", error);
			}
		if (got < 0 || lines->eof)
			close_input(f, input, got < 0 ? errno : 0);
	}
}

/* Waits until something comes, or it is time to read growing files again. */
static void wait_for_more(struct follow_lifetimes *f, const struct lines *trace, struct out *out)
{
	int ms = -1;

	out_flush(out);
	f->fds[OUTPUT] = (struct pollfd){out->fd, 0, 0};
	f->fds[TRACE] = (struct pollfd){lines_pollfd(trace), POLLIN, 0};
	for (size_t i = 0; i < f->n; i++) {
		const struct follow_input *input = &f->inputs[i];
		int fd = input->closed ? -1 : lines_pollfd(&input->lines);

		f->fds[INPUTS + i] = (struct pollfd){fd, POLLIN, 0};
		if (!input->closed && fd < 0)
			ms = LINES_GROW_MS;
	}
	if (poll(f->fds, INPUTS + f->n, ms) > 0 && f->fds[OUTPUT].revents & POLLERR)
		out->error = EPIPE;
}

int follow_next(struct follow_lifetimes *f, struct lines *trace, struct out *out, struct slice *line)
{
	while (!lines_ready(trace, line)) {
		int got = lines_more(trace);

		if (got < 0 || trace->eof)
			return got < 0 ? -1 : lines_ready(trace, line);
		if (!got)
			wait_for_more(f, trace, out);
		if (out->error)
			return 0;
		read_lifetimes(f);
	}
	return 1;
}

int follow_close(struct follow_lifetimes *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->inputs[i].closed)
			close_input(f, &f->inputs[i], 0);
	free(f->inputs);
	free(f->fds);
	return f->failed ? -1 : 0;
}
