/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-dump -i and -d print, which describe the trace itself. */
#pragma once

struct anchors;
struct out;
struct reader;
struct trace;
struct us;

struct info {
	const struct reader *r;  /* has read all entries */
	const struct us *rate;   /* of its ticks */
	struct anchors *anchors; /* NULL: without times of day */
};

/* The line of -i. */
void info_write(struct out *out, const struct info *info);

/* The lines of -d. */
void info_write_definitions(struct out *out, const struct trace *t);
