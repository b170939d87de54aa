/* SPDX-License-Identifier: BSD-3-Clause */
#include "counts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"

typedef uint64_t value_of(const struct count *count);

static uint64_t calls_of(const struct count *count)
{
	return count->calls;
}

static uint64_t ns_of(const struct count *count)
{
	return count->ns;
}

static uint64_t errors_of(const struct count *count)
{
	return count->errors;
}

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

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

/* The calls whose value is not 0, by value. Returns how many there are. */
static size_t sort(struct ranked_call rows[NUM_CALLS], const struct count sums[NUM_CALLS], value_of *value_of)
{
	size_t n = 0;

	for (unsigned call = 0; call < NUM_CALLS; call++) {
		uint64_t value = value_of(&sums[call]);

		if (value)
			rows[n++] = (struct ranked_call){value, call};
	}
	qsort(rows, n, sizeof(*rows), compare);
	return n;
}

void counts_text(struct out *out, const struct count sums[NUM_CALLS])
{
	struct ranked_call rows[NUM_CALLS];
	char name[CALLS_NAME];
	size_t n = sort(rows, sums, calls_of);

	for (size_t i = 0; i < n; i++)
		out_printf(out, "@syscalls[%s]: %" PRIu64 "\n", calls_name(rows[i].call, name), rows[i].value);
	n = sort(rows, sums, ns_of);
	for (size_t i = 0; i < n; i++)
		out_printf(out, "%s@usecs[%s]: %.3f\n", i ? "" : "\n", calls_name(rows[i].call, name),
			   rows[i].value / 1e3);
	n = sort(rows, sums, errors_of);
	for (size_t i = 0; i < n; i++)
		out_printf(out, "%s@errors[%s]: %" PRIu64 "\n", i ? "" : "\n", calls_name(rows[i].call, name),
			   rows[i].value);
}

void counts_json(struct out *out, const struct count sums[NUM_CALLS])
{
	struct ranked_call rows[NUM_CALLS];
	char name[CALLS_NAME];
	size_t n = sort(rows, sums, calls_of);

	for (size_t i = 0; i < n; i++) {
		const struct count *sum = &sums[rows[i].call];

		out_printf(out, "{\"syscall\":\"%s\",\"calls\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"us\":%.3f}\n",
			   calls_name(rows[i].call, name), (uint64_t)sum->calls, (uint64_t)sum->errors, sum->ns / 1e3);
	}
}
