/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <err.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "entry.h"
#include "json.h"
#include "number.h"
#include "us.h"

/* Whose descriptions are kept; one that takes another's place costs a comparison. */
enum { OWNERS = 1024 };

static void *zeros(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

bool choice_lcores(struct choice *c, const char *list)
{
	const char *p = list;

	if (!c->lcores)
		c->lcores = zeros(CHOICE_LCORES, sizeof(*c->lcores));
	for (bool more = true; more;) {
		size_t n = strcspn(p, ","), dash = strcspn(p, "-,");
		struct slice low = {p, dash}, high = low;
		uint64_t from, to;

		if (dash < n)
			high = (struct slice){p + dash + 1, n - dash - 1};
		if (!number_decimal(low, &from) || !number_decimal(high, &to) || from > to ||
		    to >= CHOICE_LCORES)
			return false;
		for (; from <= to; from++)
			c->lcores[from] = true;
		more = p[n] == ',';
		p += n + 1;
	}
	return true;
}

void choice_glob(struct choice_globs *globs, const char *glob)
{
	globs->all = reallocarray(globs->all, globs->n + 1, sizeof(*globs->all));
	globs->matched = reallocarray(globs->matched, globs->n + 1, sizeof(*globs->matched));
	if (!globs->all || !globs->matched)
		err(EXIT_FAILURE, NULL);
	globs->all[globs->n] = glob;
	globs->matched[globs->n++] = false;
}

bool choice_time(const char *text, uint64_t *ns)
{
	size_t n = strcspn(text, ".");
	struct slice whole = {text, n}, fraction = slice_of(text + n + (text[n] == '.'));
	uint64_t us, part = 0;

	if (!number_decimal(whole, &us) ||
	    (text[n] && (fraction.n > 3 || !number_decimal(fraction, &part))))
		return false;
	for (; fraction.n < 3; fraction.n++)
		part *= 10;
	if (__builtin_mul_overflow(us, 1000, ns) || __builtin_add_overflow(*ns, part, ns))
		*ns = UINT64_MAX;
	return true;
}

void choice_start(struct choice *c, const struct trace *t, const struct us *us)
{
	if (c->tpoints.n)
		c->known_tpoints = zeros(t->num_tpoints + 1, sizeof(*c->known_tpoints));
	if (c->owners.n)
		c->known_owners = zeros(OWNERS, sizeof(*c->known_owners));
	c->first = us_ticks(us, c->since);
	c->end = c->until < UINT64_MAX ? us_ticks(us, c->until + 1) : UINT64_MAX;
}

/* All of them are compared: it is of interest which ones match nothing. */
static bool match(struct choice_globs *globs, const char *text)
{
	bool any = false;

	for (unsigned i = 0; i < globs->n; i++)
		if (fnmatch(globs->all[i], text, 0) == 0)
			any = globs->matched[i] = true;
	return any;
}

bool choice_tpoint(struct choice *c, const struct trace_tpoint *tp)
{
	char undefined[16];

	if (tp->name[0])
		return match(&c->tpoints, tp->name);
	snprintf(undefined, sizeof(undefined), "#%u", tp->id);
	return match(&c->tpoints, undefined);
}

static bool tpoint_wanted(struct choice *c, const struct trace *t, const struct trace_tpoint *tp)
{
	enum choice_tpoint *known;

	if (tp->id >= t->num_tpoints)
		return choice_tpoint(c, tp);
	known = &c->known_tpoints[tp->id];
	if (*known == UNDECIDED)
		*known = choice_tpoint(c, tp) ? WANTED : UNWANTED;
	return *known == WANTED;
}

/* An owner's description changes when a host connects, and with the owner. */
static bool owner_wanted(struct choice *c, const struct entry *e)
{
	struct choice_owner *known = &c->known_owners[e->poller % OWNERS];
	struct slice raw;
	char *copy;

	if (!e->owner.n)
		return false;
	if (known->text.p && slice_equal(known->text, e->owner))
		return known->wanted;
	copy = malloc(e->owner.n + 1);
	if (!copy)
		err(EXIT_FAILURE, NULL);
	/* between its quotes */
	raw = (struct slice){e->owner.p + 1, e->owner.n - 2};
	copy[json_unescape(copy, raw)] = 0;
	known->wanted = match(&c->owners, copy);
	memcpy(copy, e->owner.p, e->owner.n);
	free((char *)known->text.p);
	known->text = (struct slice){copy, e->owner.n};
	return known->wanted;
}

bool choice_wants(struct choice *c, const struct trace *t, const struct entry *e, uint64_t base)
{
	uint64_t ticks = e->tsc > base ? e->tsc - base : 0;

	return (!c->lcores || c->lcores[t->lcores[e->lcore].id]) &&
	       (!c->tpoints.n || tpoint_wanted(c, t, e->tpoint)) && ticks >= c->first &&
	       ticks < c->end && (!c->owners.n || owner_wanted(c, e));
}

bool choice_is_past(const struct choice *c, uint64_t tsc, uint64_t base)
{
	return tsc > base && tsc - base >= c->end;
}

void choice_free(struct choice *c)
{
	for (unsigned i = 0; c->known_owners && i < OWNERS; i++)
		free((char *)c->known_owners[i].text.p);
	free(c->known_owners);
	free(c->known_tpoints);
	free(c->lcores);
	free(c->tpoints.all);
	free(c->tpoints.matched);
	free(c->owners.all);
	free(c->owners.matched);
}
