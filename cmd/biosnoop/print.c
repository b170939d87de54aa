/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <stdio.h>
#include <string.h>

#include "livenames.h"

struct word print_type(uint32_t flags)
{
	struct word type = {};
	char *to = type.text;

	if (flags & FLAG_PREFLUSH)
		*to++ = 'F';
	switch (flags & OP_MASK) {
	case OP_READ:
		*to++ = 'R';
		break;
	case OP_WRITE:
		*to++ = 'W';
		break;
	case OP_FLUSH:
		*to++ = 'F';
		break;
	case OP_SECURE_ERASE:
		*to++ = 'D';
		*to++ = 'E';
		break;
	case OP_DISCARD:
		*to++ = 'D';
		break;
	case OP_WRITE_ZEROES:
		*to++ = 'W';
		*to++ = 'Z';
		break;
	default:
		*to++ = 'N';
	}
	if (flags & FLAG_FUA)
		*to++ = 'F';
	if (flags & FLAG_AHEAD)
		*to++ = 'A';
	if (flags & FLAG_SYNC)
		*to++ = 'S';
	if (flags & FLAG_META)
		*to++ = 'M';
	return type;
}

/*
 * The errno of an error, empty without one: the kernel's blk_status_t up to BLK_STS_DEV_RESOURCE, after which the
 * numbers differ between kernels.
 */
static struct word error_of(int error)
{
	static const char *const names[] = {
		"",        "EOPNOTSUPP", "ETIMEDOUT", "ENOSPC", "ENOLINK", "EREMOTEIO", "EBADE",
		"ENODATA", "EILSEQ",     "ENOMEM",    "EIO",    "EREMCHG", "EAGAIN",    "EBUSY",
	};
	struct word word;

	if (error >= 0 && (size_t)error < COUNT(names))
		snprintf(word.text, sizeof(word.text), "%s", names[error]);
	else if (error < 0 && strerrorname_np(-error))
		snprintf(word.text, sizeof(word.text), "%s", strerrorname_np(-error));
	else
		snprintf(word.text, sizeof(word.text), "BLK_STS_%d", error);
	return word;
}

/* 0 if `to` is earlier: times of different kernel clocks may be some nanoseconds apart. */
static struct column_value time_between(uint64_t from, uint64_t to)
{
	return columns_if(from && to, columns_ms(to > from ? to - from : 0, 2));
}

void print_line(struct biosnoop_printer *p, const struct biosnoop_event *event)
{
	static const struct biosnoop_event none;
	static const char *const patterns[] = {
		[PATTERN_UNKNOWN] = "", [PATTERN_SEQUENTIAL] = "sequential", [PATTERN_RANDOM] = "random"};
	const struct biosnoop_event *e = event ? event : &none;
	struct livelines *c = &p->columns;
	struct word type = print_type(e->flags), error = error_of(e->error);
	const struct column columns[] = {
		{"TIME(s)", "us", 11,
		 columns_spare(c->stamp.wall ? 1 : 0, columns_seconds(stamp_since(&c->stamp, e->end_ns)))},
		{"COMM", "comm", 15, columns_name(SLICE_ARRAY(e->comm))},
		{"PID", "pid", 7, columns_if(*e->comm, columns_number(e->pid))},
		{"DISK", LIVE_DISK, 9, columns_name(SLICE_ARRAY(e->disk))},
		{"T", LIVE_TYPE, 4, columns_word(slice_of(type.text))},
		{"SECTOR", LIVE_SECTOR, 10, columns_spare(2, columns_number(e->sector))},
		{"BYTES", LIVE_BYTES, 7, columns_number(e->bytes)},
		{p->pattern ? "PATTERN" : NULL, "pattern", 10, columns_name(slice_of(patterns[e->pattern]))},
		{p->queued ? "QUE(ms)" : NULL, "queued", -7, time_between(e->start_ns, e->issued_ns)},
		{"LAT(ms)", LIVE_LATENCY, -7, time_between(e->issued_ns, e->end_ns)},
		{"", "error", 0, columns_name(slice_of(error.text))},
	};

	if (event)
		livelines_event(c, e->end_ns, e->cpu, LIVE_BLOCK_IO, columns, COUNT(columns));
	else
		livelines_heading(c, columns, COUNT(columns));
}
