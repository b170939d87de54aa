/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reactors that stand still, and why: by what trace-record says of their threads at its start and end, and by the lines
 * of offcpusnoop about waits that did not end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"

enum { STILL_REACTORS = 64 };

/* All zero at first. Texts are slices of the lines. */
struct still {
	uint64_t start, end; /* ticks: of the recording, as far as it is known */
	struct still_reactor {
		uint64_t lcore;
		struct slice name;
		/* what it was in; state 0: not known */
		struct still_moment {
			char state;
			uint64_t tsc, ran, switches; /* ran: ns */
			bool has_ran;
			struct slice syscall, file, tracer_name;
			uint64_t tracer; /* 0: none */
		} start, end;
		struct slice unfinished; /* the call in which offcpusnoop last saw it */
	} all[STILL_REACTORS];
	size_t n;
	/* why some calls of JSON-RPC got no reply; empty: they got one */
	struct slice unanswered;
};

/* Lines of kernel.jsonl; and the last ones of offcpu.jsonl, which are for recordings without the former. */
void still_threads(struct still *s, struct slice lines);
void still_off_cpu(struct still *s, struct slice lines);

/*
 * Writes a line about an lcore that has connections if it stands still. last: the ticks of its latest entry; rate:
 * ticks of a second. Returns whether it does.
 */
bool still_write(struct out *out, const struct still *s, uint64_t lcore, uint64_t last, double rate);
