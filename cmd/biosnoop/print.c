/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "count.h"

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
 * The errno of an error: the kernel's blk_status_t up to BLK_STS_DEV_RESOURCE, after which the
 * numbers differ between kernels.
 */
static struct word error_of(int error)
{
	static const char *const names[] = {
		"",        "EOPNOTSUPP", "ETIMEDOUT", "ENOSPC", "ENOLINK", "EREMOTEIO", "EBADE",
		"ENODATA", "EILSEQ",     "ENOMEM",    "EIO",    "EREMCHG", "EAGAIN",    "EBUSY",
	};
	struct word word;

	if (error > 0 && (size_t)error < COUNT(names))
		snprintf(word.text, sizeof(word.text), "%s", names[error]);
	else if (error < 0 && strerrorname_np(-error))
		snprintf(word.text, sizeof(word.text), "%s", strerrorname_np(-error));
	else
		snprintf(word.text, sizeof(word.text), "BLK_STS_%d", error);
	return word;
}

/* 0 if `to` is earlier: times of different kernel clocks may be some nanoseconds apart. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void print_header(struct biosnoop_printer *p)
{
	stamp_heading(&p->stamp, p->out);
	out_printf(p->out, "%-11s %-14s %-7s %-9s %-4s %-10s %-7s%s%s %7s\n", "TIME(s)", "COMM", "PID", "DISK", "T",
		   "SECTOR", "BYTES", p->pattern ? " P" : "", p->queued ? " QUE(ms)" : "", "LAT(ms)");
}

static void write_ms(struct out *out, uint64_t from, uint64_t to)
{
	if (from && to)
		out_printf(out, " %7.2f", between(from, to) / 1e6);
	else
		out_printf(out, " %7s", "-");
}

void print_text(struct biosnoop_printer *p, const struct biosnoop_event *e)
{
	struct out *out = p->out;
	char pid[16] = "-";

	stamp_column(&p->stamp, out, e->end_ns);
	out_printf(out, "%-11.6f ", stamp_since(&p->stamp, e->end_ns) / 1e9);
	out_column(out, SLICE_ARRAY(e->comm), 14);
	if (*e->comm)
		snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
	out_printf(out, "%-7s ", pid);
	out_column(out, SLICE_ARRAY(e->disk), 9);
	out_printf(out, "%-4s %-10" PRIu64 " %-7" PRIu64, print_type(e->flags).text, (uint64_t)e->sector,
		   (uint64_t)e->bytes);
	if (p->pattern)
		out_printf(out, " %c", "-SR"[e->pattern]);
	if (p->queued)
		write_ms(out, e->start_ns, e->issued_ns);
	write_ms(out, e->issued_ns, e->end_ns);
	if (e->error)
		out_printf(out, " %s", error_of(e->error).text);
	out_char(out, '\n');
	p->number++;
}

static void write_us(struct out *out, const char *key, uint64_t from, uint64_t to)
{
	if (!from || !to)
		return;
	out_text(out, key);
	out_us(out, between(from, to));
}

void print_json(struct biosnoop_printer *p, const struct biosnoop_event *e)
{
	struct out *out = p->out;

	stamp_json(&p->stamp, out, e->end_ns);
	out_printf(out, ",\"lcore\":%" PRIu32 ",\"tpoint\":\"BLOCK_IO\",\"args\":{", e->cpu);
	if (*e->comm) {
		out_text(out, "\"comm\":");
		out_json(out, SLICE_ARRAY(e->comm));
		out_printf(out, ",\"pid\":%" PRIu32 ",", e->pid);
	}
	if (*e->disk) {
		out_text(out, "\"disk\":");
		out_json(out, SLICE_ARRAY(e->disk));
		out_char(out, ',');
	}
	out_printf(out, "\"type\":\"%s\",\"sector\":%" PRIu64 ",\"bytes\":%" PRIu64, print_type(e->flags).text,
		   (uint64_t)e->sector, (uint64_t)e->bytes);
	if (e->pattern)
		out_text(out,
			 e->pattern == PATTERN_SEQUENTIAL ? ",\"pattern\":\"sequential\"" : ",\"pattern\":\"random\"");
	write_us(out, ",\"queued\":", e->start_ns, e->issued_ns);
	write_us(out, ",\"latency\":", e->issued_ns, e->end_ns);
	if (e->error)
		out_printf(out, ",\"error\":\"%s\"", error_of(e->error).text);
	out_text(out, "}}\n");
	p->number++;
}
