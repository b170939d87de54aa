/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace-join-line.h"

#include <stdlib.h>

#include "json.h"
#include "number.h"

static struct trace_line_arg *add_arg(struct trace_line *l)
{
	if (l->num_args == l->cap) {
		unsigned cap = l->cap ? 2 * l->cap : 16;
		struct trace_line_arg *args = reallocarray(l->args, cap, sizeof(*args));

		if (!args)
			return NULL;
		l->args = args;
		l->cap = cap;
	}
	return &l->args[l->num_args++];
}

static void parse_args(struct json *j, struct trace_line *l)
{
	struct slice key;

	l->num_args = 0;
	for (json_object(j); json_key(j, &key);) {
		struct trace_line_arg *arg = add_arg(l);

		if (!arg) {
			json_fail(j, "no memory");
			return;
		}
		arg->key = key;
		json_value(j, &arg->value);
	}
}

bool trace_line_number(struct slice value, uint64_t *number)
{
	if (value.n > 4 && value.p[0] == '"')
		return value.p[1] == '0' &&
		       number_hex((struct slice){value.p + 1, value.n - 2}, number);
	return number_decimal(value, number);
}

static void parse_object(struct json *j, struct trace_line *l)
{
	struct slice key, value;

	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "id")) {
			json_string(j, &l->object_id);
		} else if (json_is(key, "us")) {
			json_number(j, &l->object_us);
		} else if (json_is(key, "value")) {
			if (json_value(j, &value) && !trace_line_number(value, &l->object_value))
				json_fail(j, "an object's value is no address");
		} else {
			json_skip(j);
		}
	}
}

/* The members of a trace line, in the order of trace-dump. */
enum member { TSC, US, LCORE, TPOINT, POLLER, OWNER, SIZE, OBJECT, RELATED, ARGS, NUM_MEMBERS };

static const char *const names[NUM_MEMBERS] = {"tsc",   "us",   "lcore",  "tpoint",  "poller",
					       "owner", "size", "object", "related", "args"};

/* Which member a key names, looking first behind the one before it; NUM_MEMBERS when it is another. */
static enum member find_member(struct slice key, enum member *next)
{
	for (unsigned i = 0; i < NUM_MEMBERS; i++) {
		unsigned member = (*next + i) % NUM_MEMBERS;

		if (json_is(key, names[member])) {
			*next = member + 1;
			return member;
		}
	}
	return NUM_MEMBERS;
}

static void parse_member(struct json *j, enum member member, struct trace_line *l)
{
	switch (member) {
	case TSC:
		json_u64(j, &l->tsc);
		break;
	case US:
		json_number(j, &l->us);
		break;
	case LCORE:
		json_number(j, &l->lcore);
		break;
	case TPOINT:
		json_string(j, &l->tpoint);
		break;
	case POLLER:
		json_string(j, &l->poller);
		break;
	case OWNER:
		json_string(j, &l->owner);
		break;
	case SIZE:
		json_number(j, &l->size);
		break;
	case OBJECT:
		parse_object(j, l);
		break;
	case RELATED:
		json_string(j, &l->related);
		break;
	case ARGS:
		parse_args(j, l);
		break;
	default:
		json_skip(j);
	}
}

const char *trace_line_parse(struct trace_line *l, struct slice line)
{
	enum member next = TSC, member;
	bool tsc = false;
	struct slice key;
	struct json j;

	*l = (struct trace_line){.args = l->args, .cap = l->cap};
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &key);) {
		member = find_member(key, &next);
		tsc |= member == TSC;
		parse_member(&j, member, l);
	}
	if (!json_end(&j))
		return j.error;
	if (!tsc || !l->us.p || !l->lcore.p || !l->tpoint.p)
		return "tsc, us, lcore or tpoint is missing";
	return NULL;
}

void trace_line_free(struct trace_line *l)
{
	free(l->args);
	*l = (struct trace_line){};
}
