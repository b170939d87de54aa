/* SPDX-License-Identifier: BSD-3-Clause */
#include "joining.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "io.h"
#include "progress.h"

bool joining_share_stdin(const struct joining *j, const char *path)
{
	unsigned stdins = strcmp(path, "-") == 0;

	for (size_t i = 0; i < j->files.n; i++)
		stdins += strcmp(j->files.all[i], "-") == 0;
	return stdins > 1;
}

int joining_read(struct joining *j, const char *reader)
{
	struct interactive interactive;
	struct lines lines;

	for (size_t i = 0; i < j->files.n; i++) {
		if (lines_open(&lines, j->files.all[i]) != 0) {
			warn("%s", lines.name);
			return -1;
		}
		lines_expect(&lines, KIND_LIFETIMES, reader);
		interactive_start(&interactive, &lines, NULL);
		j->faulty |= lines_each(&lines, lifetimes_add, &j->join.lifetimes) != 0;
		if (lines.is)
			return -1;
	}
	return 0;
}

/* Why lifetimes with these ticks named no entry, if missing owners are not the reason. */
static const char *why_unnamed(const struct join_unnamed *unnamed, uint64_t begin, uint64_t end)
{
	if (end < unnamed->first)
		return "all their ticks are before those of the entries: they are from another run";
	if (begin > unnamed->last)
		return "all their ticks are after those of the entries: they are from another run";
	return "the entries have other addresses and owners: the lifetimes are from another process, or probe lines "
	       "are missing";
}

/* How many entries lifetimes could have named by owner. *any: whether lifetimes have owners. */
static uint64_t count_by_owner(const struct join *join, bool *any)
{
	bool owners[1 << 8] = {};
	uint64_t n = 0;

	for (size_t i = 0; i < join->lifetimes.n; i++) {
		const struct lifetime *l = join->lifetimes.all[i];

		if (l->has[LIFETIME_OWNER])
			owners[l->key[LIFETIME_OWNER] >> 32] = *any = true;
	}
	/* lifetimes without owners could have had those of TCP's connections, of type t */
	if (!*any)
		owners['t'] = true;
	for (unsigned i = 0; i < COUNT(owners); i++)
		n += owners[i] ? join->unnamed.by_owner[i] : 0;
	return n;
}

/*
 * Prints why nothing was named. Returns false if the lifetimes do not fit the trace. They fit if
 * they only lack owners: recorders other than usdt-record do not record these.
 */
static bool explain_unnamed(const struct join *join, const char *file, const char *name, bool quiet)
{
	const struct join_unnamed *unnamed = &join->unnamed;
	bool owners = false;
	uint64_t begin = UINT64_MAX, end = 0, by_owner = count_by_owner(join, &owners);

	for (size_t i = 0; i < join->lifetimes.n; i++) {
		const struct lifetime *l = join->lifetimes.all[i];

		begin = l->begin < begin ? l->begin : begin;
		end = l->end > end ? l->end : end;
	}
	if (unnamed->by_arg + by_owner == 0)
		return true;
	if (!unnamed->by_arg && !owners && end >= unnamed->first && begin <= unnamed->last) {
		cli_notice(quiet,
			   "%s: named 0 of %" PRIu64
			   " entries of %s: the entries have owners, the lifetimes have none: record the owners with "
			   "usdt-record, or try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES",
			   file, by_owner, name);
		return true;
	}
	warnx("%s: named 0 of %" PRIu64 " entries of %s: %s", file, unnamed->by_arg + by_owner, name,
	      why_unnamed(unnamed, begin, end));
	return false;
}

bool joining_check(const struct joining *j, const char *name, bool quiet)
{
	const struct lifetimes *lifetimes = &j->join.lifetimes;
	const char *file = io_name(j->files.all[0]);

	if (!lifetimes->n && lifetimes->num_skipped) {
		warnx("%s: no lifetime lines, which qpair-lifetimes prints: nothing can be named", file);
		return false;
	}
	/* no host connected during the recording */
	if (!lifetimes->n && !j->faulty)
		cli_notice(quiet, "%s: no lifetime lines: nothing can be named", file);
	return j->join.unnamed.named || explain_unnamed(&j->join, file, name, quiet);
}

void joining_free(struct joining *j)
{
	lifetimes_free(&j->join.lifetimes);
	if (j->files.n)
		out_close(&j->text);
	free(j->files.all);
}
