/* SPDX-License-Identifier: BSD-3-Clause */
#include "counts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "count.h"
#include "minmax.h"

void counts_sum(struct count sums[NUM_CALLS], const struct count *counts, int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		for (unsigned call = 0; call < NUM_CALLS; call++) {
			const struct count *count = &counts[(size_t)cpu * NUM_CALLS + call];

			sums[call].calls += count->calls;
			sums[call].errors += count->errors;
			sums[call].ns += count->ns;
		}
}

struct ranked_call {
	uint64_t value;
	unsigned call;
};

static int compare(const void *a, const void *b)
{
	const struct ranked_call *x = a, *y = b;

	return ORDER(x->value, y->value) ?: ORDER(x->call, y->call);
}

/* The calls that have a value other than 0 at this offset, by value. Returns how many. */
static size_t sort(struct ranked_call rows[NUM_CALLS], const struct count sums[NUM_CALLS], size_t offset)
{
	size_t n = 0;

	for (unsigned call = 0; call < NUM_CALLS; call++) {
		uint64_t value = *(const __u64 *)((const char *)&sums[call] + offset);

		if (value)
			rows[n++] = (struct ranked_call){value, call};
	}
	qsort(rows, n, sizeof(*rows), compare);
	return n;
}

void counts_text(struct out *out, const struct count sums[NUM_CALLS])
{
	static const struct {
		const char *name;
		size_t offset;
		bool is_time;
	} maps[] = {{"syscalls", offsetof(struct count, calls), false},
		    {"usecs", offsetof(struct count, ns), true},
		    {"errors", offsetof(struct count, errors), false}};
	struct ranked_call rows[NUM_CALLS];
	char name[CALLS_NAME];

	for (size_t k = 0; k < COUNT(maps); k++) {
		size_t n = sort(rows, sums, maps[k].offset);

		for (size_t i = 0; i < n; i++) {
			out_printf(out, "%s@%s[%s]: ", k && !i ? "\n" : "", maps[k].name,
				   calls_name(rows[i].call, name));
			(maps[k].is_time ? out_us : out_u64)(out, rows[i].value);
			out_char(out, '\n');
		}
	}
}

void counts_json(struct out *out, const struct count sums[NUM_CALLS])
{
	struct ranked_call rows[NUM_CALLS];
	char name[CALLS_NAME];
	size_t n = sort(rows, sums, offsetof(struct count, calls));

	for (size_t i = 0; i < n; i++) {
		const struct count *sum = &sums[rows[i].call];

		out_printf(out, "{\"syscall\":\"%s\",\"calls\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"us\":%.3f}\n",
			   calls_name(rows[i].call, name), (uint64_t)sum->calls, (uint64_t)sum->errors, sum->ns / 1e3);
	}
}
