/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "label.h"

/* The letters of blktrace's RWBS field. */
static const char *type_of(uint32_t flags)
{
	static char type[8];
	char *to = type;

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
	*to = 0;
	return type;
}

/*
 * The errno of an error: the kernel's blk_status_t up to BLK_STS_DEV_RESOURCE, behind which the numbers are not
 * the same in all kernels.
 */
static const char *error_of(int error)
{
	static const char *const names[] = {
		"",        "EOPNOTSUPP", "ETIMEDOUT", "ENOSPC", "ENOLINK", "EREMOTEIO", "EBADE",
		"ENODATA", "EILSEQ",     "ENOMEM",    "EIO",    "EREMCHG", "EAGAIN",    "EBUSY",
	};
	static char other[24];

	if (error > 0 && (size_t)error < sizeof(names) / sizeof(*names))
		return names[error];
	if (error < 0 && strerrorname_np(-error))
		return strerrorname_np(-error);
	snprintf(other, sizeof(other), "BLK_STS_%d", error);
	return other;
}

/* Nanoseconds since the first request was done. Those of several CPUs may come in another order. */
static int64_t since_first(struct printer *p, const struct event *e)
{
	if (!p->first)
		p->first = e->done;
	return e->done - p->first;
}

/* Two times that come from different clocks of the kernel may be some nanoseconds apart. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void print_header(struct printer *p)
{
	out_printf(p->out, "%-11s %-14s %-7s %-9s %-4s %-10s %-7s%s %7s\n", "TIME(s)", "COMM",
		   "PID", "DISK", "T", "SECTOR", "BYTES", p->queued ? " QUE(ms)" : "", "LAT(ms)");
}

static void put_ms(struct out *out, uint64_t from, uint64_t to)
{
	if (from && to)
		out_printf(out, " %7.2f", between(from, to) / 1e6);
	else
		out_printf(out, " %7s", "-");
}

void print_text(struct printer *p, const struct event *e)
{
	struct out *out = p->out;
	char pid[16] = "-";

	out_printf(out, "%-11.6f ", since_first(p, e) / 1e9);
	label_column(out, e->comm, sizeof(e->comm), 14);
	if (*e->comm)
		snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	out_printf(out, "%-7s ", pid);
	label_column(out, e->disk, sizeof(e->disk), 9);
	out_printf(out, "%-4s %-10" PRIu64 " %-7" PRIu64, type_of(e->flags), (uint64_t)e->sector,
		   (uint64_t)e->bytes);
	if (p->queued)
		put_ms(out, e->begun, e->issued);
	put_ms(out, e->issued, e->done);
	if (e->error)
		out_printf(out, " %s", error_of(e->error));
	out_text(out, "\n");
	p->number++;
}

static void put_us(struct out *out, const char *key, uint64_t from, uint64_t to)
{
	if (from && to)
		out_printf(out, ",\"%s\":%.3f", key, between(from, to) / 1e3);
}

void print_json(struct printer *p, const struct event *e)
{
	struct out *out = p->out;

	out_printf(out,
		   "{\"tsc\":%" PRIu64 ",\"us\":%.3f,\"lcore\":%" PRIu32
		   ",\"tpoint\":\"BLOCK_IO\",\"args\":{",
		   (uint64_t)e->done, since_first(p, e) / 1e3, e->cpu);
	if (*e->comm) {
		label_member(out, "comm", e->comm, sizeof(e->comm));
		out_printf(out, "\"pid\":%" PRIu32 ",", e->pid);
	}
	if (*e->disk)
		label_member(out, "disk", e->disk, sizeof(e->disk));
	out_printf(out, "\"type\":\"%s\",\"sector\":%" PRIu64 ",\"bytes\":%" PRIu64,
		   type_of(e->flags), (uint64_t)e->sector, (uint64_t)e->bytes);
	put_us(out, "queued", e->begun, e->issued);
	put_us(out, "latency", e->issued, e->done);
	if (e->error)
		out_printf(out, ",\"error\":\"%s\"", error_of(e->error));
	out_text(out, "}}\n");
	p->number++;
}
