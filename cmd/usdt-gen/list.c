/* SPDX-License-Identifier: BSD-3-Clause */
#include "list.h"

#include <stdlib.h>

#include "mem.h"

/* The sites of one probe in one file. */
struct listed_probe {
	const struct target_file *file;
	const struct usdt_site *const *sites;
	size_t n;
};

static int compare_names(const struct usdt_site *a, const struct usdt_site *b)
{
	int order = slice_compare(a->provider, b->provider);

	return order ? order : slice_compare(a->name, b->name);
}

static int by_name(const void *a, const void *b)
{
	const struct usdt_site *x = *(struct usdt_site *const *)a;
	const struct usdt_site *y = *(struct usdt_site *const *)b;
	int order = compare_names(x, y);

	return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static unsigned num_args(const struct listed_probe *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->sites[i]->num_args > n)
			n = p->sites[i]->num_args;
	return n;
}

/* Writes the types that an argument has at the sites, s32|u64 when they differ. */
static void write_types(struct out *out, const struct listed_probe *p, unsigned arg)
{
	bool written[UINT8_MAX + 1][2][2] = {};
	const char *bar = "";

	for (size_t i = 0; i < p->n; i++) {
		const struct usdt_arg *a = &p->sites[i]->args[arg];

		if (arg >= p->sites[i]->num_args || written[a->size][a->is_signed][a->is_float])
			continue;
		written[a->size][a->is_signed][a->is_float] = true;
		out_printf(out, "%s%s", bar, usdt_type(a).text);
		bar = "|";
	}
}

static void write_probe(struct out *out, const struct listed_probe *p)
{
	const struct usdt_site *first = p->sites[0];

	out_visible(out, first->provider);
	out_text(out, ":");
	out_visible(out, first->name);
	out_text(out, "(");
	for (unsigned i = 0; i < num_args(p); i++) {
		out_text(out, i ? "," : "");
		write_types(out, p, i);
	}
	out_printf(out, ") sites=%zu semaphore=%s ", p->n, first->semaphore ? "yes" : "no");
	out_visible(out, slice_of(p->file->path));
	out_char(out, '\n');
}

static void list_file(struct out *out, const struct target_file *f)
{
	const struct usdt_site **sites = mem_array(f->usdt.n, sizeof(*sites));
	struct listed_probe p = {.file = f};

	for (size_t i = 0; i < f->usdt.n; i++)
		sites[i] = &f->usdt.sites[i];
	qsort(sites, f->usdt.n, sizeof(*sites), by_name);
	for (size_t i = 0; i < f->usdt.n; i += p.n) {
		p.sites = sites + i;
		for (p.n = 1; i + p.n < f->usdt.n; p.n++)
			if (compare_names(sites[i], sites[i + p.n]) != 0)
				break;
		write_probe(out, &p);
	}
	free(sites);
}

void list_probes(struct out *out, const struct target *t)
{
	for (size_t i = 0; i < t->n; i++)
		list_file(out, &t->files[i]);
}
