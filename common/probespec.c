/* SPDX-License-Identifier: BSD-3-Clause */
#include "probespec.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "lines.h"

static const char *const qpair_probes[] = {
	"nvmf_poll_group_add_qpair(tsc, qpair, thread)",
	"nvmf_poll_group_remove_qpair(tsc, qpair, thread)",
	"nvmf_ctrlr_add_qpair(tsc, qpair, qid, subnqn:str, hostnqn:str)",
};

static void skip_blanks(struct slice *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
		*s = (struct slice){s->p + 1, s->n - 1};
}

/* Takes the character, and blanks before it, off s when it comes next. */
static bool take(struct slice *s, char c)
{
	skip_blanks(s);
	if (!s->n || *s->p != c)
		return false;
	*s = (struct slice){s->p + 1, s->n - 1};
	return true;
}

static bool take_identifier(struct slice *s, struct slice *name)
{
	size_t n = 0;

	skip_blanks(s);
	while (n < s->n && (s->p[n] == '_' || (n && s->p[n] >= '0' && s->p[n] <= '9') ||
			    ((s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z')))
		n++;
	*name = (struct slice){s->p, n};
	*s = (struct slice){s->p + n, s->n - n};
	return n > 0;
}

static bool has_arg(const struct probespec *spec, struct slice name)
{
	for (unsigned i = 0; i < spec->num_args; i++)
		if (slice_equal(spec->args[i].name, name))
			return true;
	return false;
}

/* Takes ARG[:TYPE] off s. Returns what is wrong, or NULL. */
static const char *parse_arg(struct probespec *spec, struct slice *s)
{
	struct probespec_arg arg = {};
	struct slice type;

	if (spec->num_args == USDT_MAX_ARGS)
		return "a probe has 12 arguments at the most";
	if (!take_identifier(s, &arg.name))
		return "the name of an argument is expected";
	if (slice_is(arg.name, "_"))
		arg.name.n = 0;
	else if (has_arg(spec, arg.name))
		return "two arguments have the same name";
	if (take(s, ':')) {
		take_identifier(s, &type);
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

	if (!take_identifier(&s, &spec->name))
		return "the name of a probe is expected";
	if (take(&s, ':')) {
		spec->provider = spec->name;
		if (!take_identifier(&s, &spec->name))
			return "the name of a probe is expected behind its provider";
	}
	if (!take(&s, '('))
		return "a list of arguments is expected behind the probe's name, as in NAME(tsc, name:str)";
	if (!take(&s, ')')) {
		do
			if ((error = parse_arg(spec, &s)))
				return error;
		while (take(&s, ','));
		if (!take(&s, ')'))
			return "a comma or ) is expected behind an argument";
	}
	skip_blanks(&s);
	return s.n ? "something is behind the )" : NULL;
}

int probespecs_add(struct probespecs *specs, struct slice text, const char **error)
{
	struct probespec spec = {.text = strndup(text.p, text.n)}, *all;

	*error = spec.text ? parse(&spec, slice_of(spec.text)) : strerror(ENOMEM);
	if (!*error) {
		all = reallocarray(specs->all, specs->n + 1, sizeof(*all));
		if (all) {
			specs->all = all;
			all[specs->n++] = spec;
			return 0;
		}
		*error = strerror(ENOMEM);
	}
	free(spec.text);
	return -1;
}

void probespecs_option(struct probespecs *specs, const char *text)
{
	const char *error;

	if (probespecs_add(specs, slice_of(text), &error) != 0)
		cli_usage("-e '%s': %s", text, error);
}

/* A lines_take. */
static const char *add_line(void *specs, struct slice line)
{
	const char *comment = line.n ? memchr(line.p, '#', line.n) : NULL, *error = NULL;

	if (comment)
		line.n = comment - line.p;
	skip_blanks(&line);
	if (line.n)
		probespecs_add(specs, line, &error);
	return error;
}

int probespecs_read(struct probespecs *specs, const char *path)
{
	struct lines lines;

	if (lines_open(&lines, path) != 0)
		return lines_close(&lines, errno);
	return lines_each(&lines, add_line, specs);
}

void probespecs_add_default(struct probespecs *specs)
{
	const char *error;

	for (size_t i = 0; i < sizeof(qpair_probes) / sizeof(*qpair_probes); i++)
		if (probespecs_add(specs, slice_of(qpair_probes[i]), &error) != 0)
			errx(EXIT_FAILURE, "%s: %s", qpair_probes[i], error);
}

void probespecs_free(struct probespecs *specs)
{
	for (size_t i = 0; i < specs->n; i++)
		free(specs->all[i].text);
	free(specs->all);
	*specs = (struct probespecs){};
}
