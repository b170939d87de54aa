/* SPDX-License-Identifier: BSD-3-Clause */
#include "join.h"

#include "out.h"

/* Adds the objects of the line's owner, except under the name of an argument that it has. Whether there is one. */
static bool annotate_owner(struct lifetimes *lifetimes, struct traceline *line)
{
	const size_t n = line->num_args;
	uint64_t owner;

	if (!lifetimes_owner(line->poller, &owner))
		return false;
	for (unsigned i = 0; i < lifetimes->num_kinds; i++) {
		const struct lifetime_kind *kind = &lifetimes->kinds[i];
		const struct lifetime *object = lifetimes_find(lifetimes, kind, LIFETIME_OWNER, owner, line->tsc);

		if (object && !traceline_value(line, kind->name).p)
			traceline_add_arg(line, kind->name, object);
	}
	return line->num_args > n;
}

/*
 * Counts a line without a name if it could have one. Threads have owners of the same type as connections, but no
 * lifetimes; only the description of a connection has a port.
 */
static void count_unnamed(struct join *j, const struct traceline *line)
{
	struct join_unnamed *unnamed = &j->unnamed;
	bool kind = false, number = false;
	uint64_t value, owner;

	for (size_t i = 0; i < line->num_args; i++) {
		if (!lifetimes_kind(&j->lifetimes, line->args[i].key))
			continue;
		kind = true;
		number |= traceline_number(line->args[i].value, &value);
	}
	if (number)
		unnamed->by_arg++;
	else if (!kind && line->owner.n && lifetimes_owner(line->poller, &owner) &&
		 (owner >> 32 != 't' || memchr(line->owner.p, ':', line->owner.n)))
		unnamed->by_owner[owner >> 32]++;
	else
		return;
	if (!unnamed->any || line->tsc < unnamed->first)
		unnamed->first = line->tsc;
	if (line->tsc > unnamed->last)
		unnamed->last = line->tsc;
	unnamed->any = true;
}

bool join_annotate(struct join *j, struct traceline *line)
{
	struct lifetimes *lifetimes = &j->lifetimes;
	const bool any = lifetimes->n;
	bool named = false;

	for (size_t i = 0; i < line->num_args; i++) {
		struct traceline_arg *arg = &line->args[i];
		const struct lifetime_kind *kind = any ? lifetimes_kind(lifetimes, arg->key) : NULL;
		uint64_t ptr;

		arg->note = NULL;
		if (kind && traceline_number(arg->value, &ptr))
			arg->note = lifetimes_find(lifetimes, kind, LIFETIME_PTR, ptr, line->tsc);
		named |= arg->note != NULL;
	}
	if (any && annotate_owner(lifetimes, line))
		named = true;
	j->unnamed.named |= named;
	if (any && !j->unnamed.named)
		count_unnamed(j, line);
	return named;
}

static void write_arg(struct out *out, const struct traceline *line, size_t i, struct slice value)
{
	out_text(out, i ? ",\"" : "\"");
	out_slice(out, line->args[i].key);
	out_text(out, "\":");
	out_slice(out, value);
}

/* Writes the arguments from the i-th on, which annotate_owner() added to the line. */
static void write_added(struct out *out, const struct traceline *line, size_t i)
{
	if (!line->has_args)
		out_text(out, ",\"args\":{");
	for (; i < line->num_args; i++)
		write_arg(out, line, i, ((const struct lifetime *)line->args[i].note)->json);
	if (!line->has_args)
		out_text(out, "}");
}

void join_write(struct out *out, const struct traceline *line, struct slice text)
{
	const char *done = text.p;
	size_t i;

	for (i = 0; i < line->num_args && line->args[i].value.p; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (!lifetime)
			continue;
		out_slice(out, slice_between(done, arg->value.p));
		out_slice(out, lifetime->json);
		done = arg->value.p + arg->value.n;
	}
	if (i < line->num_args) {
		out_slice(out, slice_between(done, line->args_end));
		done = line->args_end;
		write_added(out, line, i);
	}
	out_slice(out, slice_between(done, text.p + text.n));
}

void join_fill(struct out *to, struct traceline *line)
{
	const char *p;

	out_char(to, '{');
	for (size_t i = 0; i < line->num_args; i++) {
		struct traceline_arg *arg = &line->args[i];

		if (arg->note)
			arg->value = ((const struct lifetime *)arg->note)->json;
		write_arg(to, line, i, arg->value);
	}
	out_char(to, '}');
	p = to->buf;
	for (size_t i = 0; i < line->num_args; i++) {
		struct traceline_arg *arg = &line->args[i];

		/* a brace or comma and a quote, then a quote and a colon */
		arg->key.p = p + 2;
		arg->value.p = arg->key.p + arg->key.n + 2;
		p = arg->value.p + arg->value.n;
	}
	line->args_end = p;
	line->has_args = true;
}
