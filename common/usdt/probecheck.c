/* SPDX-License-Identifier: BSD-3-Clause */
#include "probecheck.h"

#include <stdlib.h>

#include "mem.h"
#include "out.h"
#include "utf8.h"

/* A site that is checked. */
struct candidate {
	const struct target *target;
	const struct target_file *file;
	const struct usdt_site *site;
};

/* Reports what is wrong with the site. what: a text of mem_printf(), which is freed. */
static void complain(const struct candidate *c, char *what)
{
	char *shown = utf8_visible_copy(what);

	target_report(c->target,
		      mem_printf("%s: probe %.*s %s", c->file->path, (int)c->site->name.n, c->site->name.p, shown));
	free(shown);
	free(what);
}

/* The constant 0, as x86-64 and arm64 write it. */
static bool is_zero(struct slice operand)
{
	return slice_is(operand, "$0") || slice_is(operand, "0");
}

static bool check_arg(const struct candidate *c, unsigned i, const struct probespec_arg *want)
{
	const struct usdt_arg *arg = &c->site->args[i];
	int n = want->name.n;

	if (!want->name.n)
		return true;
	if (slice_is(want->name, "tsc") && is_zero(arg->operand))
		complain(c,
			 mem_printf("has no time: its argument %u, 'tsc', is always 0; with _ usdt-record writes one",
				    i));
	if (arg->is_float)
		complain(c, mem_printf("has a floating-point number (%.*s) as argument %u, '%.*s': "
				       "int and str can be read, _ skips it",
				       (int)arg->operand.n, arg->operand.p, i, n, want->name.p));
	else if (arg->size > 8 || (arg->size & (arg->size - 1)))
		complain(c, mem_printf("has %u bytes as argument %u, '%.*s': 1, 2, 4 or 8 can be read", arg->size, i, n,
				       want->name.p));
	else if (want->is_string && arg->size != sizeof(uint64_t))
		complain(c, mem_printf("has %s as argument %u, '%.*s': that is not a string's address",
				       usdt_type(arg).text, i, n, want->name.p));
	else
		return true;
	return false;
}

static bool check_site(const struct candidate *c, const struct probespec *spec)
{
	for (unsigned i = 0; i < spec->num_args; i++) {
		const struct probespec_arg *want = &spec->args[i];

		if (i >= c->site->num_args && want->name.n) {
			complain(c, mem_printf("has %u arguments; '%.*s' would be number %u, counted from 0",
					       c->site->num_args, (int)want->name.n, want->name.p, i));
			return false;
		}
		if (i < c->site->num_args && !check_arg(c, i, want))
			return false;
	}
	return true;
}

/* Returns whether the target fits the spec. *missing: it has no such probe; else what does not fit was reported. */
static bool check_spec(const struct target *t, const struct probespec *spec, bool *missing)
{
	*missing = true;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->files[i].usdt.n; k++) {
			const struct usdt_site *site = &t->files[i].usdt.sites[k];

			if (!probespec_matches(spec, site))
				continue;
			*missing = false;
			if (!check_site(&(struct candidate){t, &t->files[i], site}, spec))
				return false;
		}
	return !*missing;
}

/* Adds the spec, which is the i-th missing one of n, to their list: A, B or C. */
static void add_missing(struct out *list, const struct probespec *spec, size_t i, size_t n)
{
	enum { LISTED = 10 };

	if (i < LISTED)
		out_printf(list, "%s%.*s",
			   !i           ? ""
			   : i + 1 == n ? " or "
					: ", ",
			   (int)strcspn(spec->text, "("), spec->text);
	else if (i == LISTED)
		out_printf(list, " or %zu others", n - i);
}

/* Reports specs of which there is no probe, by their names: usually all, since SPDK was built without. */
static void report_missing(const struct target *t, const struct probespecs *specs, const bool *missing, size_t n)
{
	struct out list = {.fd = OUT_MEMORY};
	size_t num_sites = 0, listed = 0;

	for (size_t i = 0; i < t->n; i++)
		num_sites += t->files[i].usdt.n;
	for (size_t i = 0; i < specs->n; i++)
		if (missing[i])
			add_missing(&list, &specs->all[i], listed++, n);
	if (num_sites)
		target_report(t, mem_printf("%s: there is no probe %.*s; usdt-gen -l lists those that are there",
					    t->name, (int)list.len, list.buf));
	else
		target_report(t, mem_printf("%s: there are no probes; SPDK has them when configured with --with-usdt",
					    t->name));
	out_close(&list);
}

size_t probecheck(const struct target *t, const struct probespecs *specs)
{
	bool *missing = mem_array(specs->n, sizeof(*missing));
	size_t num_missing = 0, faults = 0;

	for (size_t i = 0; i < specs->n; i++) {
		faults += !check_spec(t, &specs->all[i], &missing[i]);
		num_missing += missing[i];
	}
	if (num_missing)
		report_missing(t, specs, missing, num_missing);
	free(missing);
	return faults;
}
