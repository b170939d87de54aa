/* SPDX-License-Identifier: BSD-3-Clause */
#include "probespec.h"

#include <stdlib.h>

#include "count.h"
#include "mem.h"

static const char *const qpair_probes[] = {
	"nvmf_poll_group_add_qpair(tsc, qpair, thread)",
	"nvmf_poll_group_remove_qpair(tsc, qpair, thread)",
	"nvmf_ctrlr_add_qpair(tsc, qpair, qid, subnqn:str, hostnqn:str)",
};

static void skip_blanks(struct slice *s)
{
	while (slice_skip(s, ' ') || slice_skip(s, '\t') || slice_skip(s, '\r'))
		;
}

/* Cuts the character, and blanks before it, off s if it comes next. */
static bool skip(struct slice *s, char c)
{
	skip_blanks(s);
	return slice_skip(s, c);
}

static bool parse_identifier(struct slice *s, struct slice *name)
{
	size_t n = 0;

	skip_blanks(s);
	while (n < s->n && (s->p[n] == '_' || (n && s->p[n] >= '0' && s->p[n] <= '9') ||
			    ((s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z')))
		n++;
	*name = (struct slice){s->p, n};
	*s = slice_from(*s, n);
	return n > 0;
}

static bool has_arg(const struct probespec *spec, struct slice name)
{
	for (unsigned i = 0; i < spec->num_args; i++)
		if (slice_equal(spec->args[i].name, name))
			return true;
	return false;
}

/* Cuts ARG[:TYPE] off s. Returns NULL, or what is wrong. */
static const char *parse_arg(struct probespec *spec, struct slice *s)
{
	struct probespec_arg arg = {};
	struct slice type;

	if (spec->num_args == USDT_MAX_ARGS)
		return "a probe has at most 12 arguments";
	if (!parse_identifier(s, &arg.name))
		return "the name of an argument is expected";
	if (slice_is(arg.name, "_"))
		arg.name.n = 0;
	else if (has_arg(spec, arg.name))
		return "two arguments have the same name";
	spec->has_tsc |= slice_is(arg.name, "tsc");
	if (skip(s, ':')) {
		parse_identifier(s, &type);
		arg.is_string = slice_is(type, "str");
		if (!arg.is_string && !slice_is(type, "int"))
			return "the type of an argument is int or str";
	}
	spec->args[spec->num_args++] = arg;
	return NULL;
}

static const char *parse(struct probespec *spec, struct slice s)
{
	const char *error;

	if (!parse_identifier(&s, &spec->name))
		return "the name of a probe is expected";
	if (skip(&s, ':')) {
		spec->provider = spec->name;
		if (!parse_identifier(&s, &spec->name))
			return "the name of a probe is expected after its provider";
	}
	if (!skip(&s, '('))
		return "a list of arguments is expected after the probe's name, as in NAME(tsc, name:str)";
	if (!skip(&s, ')')) {
		do
			if ((error = parse_arg(spec, &s)))
				return error;
		while (skip(&s, ','));
		if (!skip(&s, ')'))
			return "a comma or ) is expected after an argument";
	}
	skip_blanks(&s);
	return s.n ? "something follows the )" : NULL;
}

const char *probespec_add(struct probespecs *specs, struct slice text)
{
	struct probespec spec = {.text = mem_copy(text)};
	const char *error = parse(&spec, slice_of(spec.text));

	if (error) {
		free(spec.text);
		return error;
	}
	mem_add(specs->all, specs->n, specs->cap, spec);
	return NULL;
}

void probespec_add_default(struct probespecs *specs)
{
	for (size_t i = 0; i < COUNT(qpair_probes); i++)
		probespec_add(specs, slice_of(qpair_probes[i]));
}

bool probespec_matches(const struct probespec *spec, const struct usdt_site *site)
{
	return slice_equal(spec->name, site->name) &&
	       (!spec->provider.n || slice_equal(spec->provider, site->provider));
}

void probespec_free(struct probespecs *specs)
{
	for (size_t i = 0; i < specs->n; i++)
		free(specs->all[i].text);
	free(specs->all);
	*specs = (struct probespecs){};
}
