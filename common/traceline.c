/* SPDX-License-Identifier: BSD-3-Clause */
#include "traceline.h"

#include <stdlib.h>

#include "json.h"
#include "number.h"

static struct traceline_arg *add_arg(struct traceline *l)
{
	if (l->num_args == l->cap) {
		unsigned cap = l->cap ? 2 * l->cap : 16;
		struct traceline_arg *args = reallocarray(l->args, cap, sizeof(*args));

		if (!args)
			return NULL;
		l->args = args;
		l->cap = cap;
	}
	return &l->args[l->num_args++];
}

struct traceline_arg *traceline_add_arg(struct traceline *l, struct slice key)
{
	struct traceline_arg *arg = add_arg(l);

	if (arg)
		*arg = (struct traceline_arg){.key = key};
	return arg;
}

static void parse_args(struct json *j, struct traceline *l)
{
	struct slice key;

	l->num_args = 0;
	l->has_args = true;
	for (json_object(j); json_key(j, &key);) {
		struct traceline_arg *arg = add_arg(l);

		if (!arg) {
			json_fail(j, "no memory");
			return;
		}
		arg->key = key;
		json_value(j, &arg->value);
	}
	/* behind the object's brace now */
	l->args_end = j->p - 1;
}

bool traceline_number(struct slice value, uint64_t *number)
{
	if (value.n > 4 && value.p[0] == '"')
		return value.p[1] == '0' &&
		       number_hex((struct slice){value.p + 1, value.n - 2}, number);
	return number_decimal(value, number);
}

bool traceline_ns(struct slice us, uint64_t *ns)
{
	double value;

	if (number_fixed(us, 3, ns))
		return true;
	/* what follows a number in a line of JSON ends it for strtod(), too */
	value = strtod(us.p, NULL) * 1000;
	if (value < 0 || value + 0.5 >= 0x1p64)
		return false;
	*ns = value + 0.5;
	return true;
}

static void parse_object(struct json *j, struct traceline *l)
{
	struct slice key, value;

	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "id")) {
			json_string(j, &l->object_id);
		} else if (json_is(key, "us")) {
			json_number(j, &l->object_us);
		} else if (json_is(key, "value")) {
			if (json_value(j, &value) && !traceline_number(value, &l->object_value))
				json_fail(j, "an object's value is no address");
		} else {
			json_skip(j);
		}
	}
}

/* The members of a trace line, in the order of trace-dump. */
enum member {
	TSC,
	US,
	LCORE,
	THREAD,
	TPOINT,
	POLLER,
	OWNER,
	SIZE,
	OBJECT,
	RELATED,
	ARGS,
	NUM_MEMBERS
};

static const char *const names[NUM_MEMBERS] = {"tsc",    "us",      "lcore", "thread",
					       "tpoint", "poller",  "owner", "size",
					       "object", "related", "args"};

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

static void parse_member(struct json *j, enum member member, struct traceline *l)
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
	case THREAD:
		json_string(j, &l->thread);
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

/*
 * The same for lines in exactly the form of trace-dump, at a quarter of the cost: what must come next is
 * compared, not looked for. Each of these moves p over something, or returns false without a word; then
 * the line is read by the rules of JSON.
 */
struct cursor {
	const char *p, *end;
};

#define LITERAL(c, text) literal(c, text, sizeof(text) - 1)

static inline __attribute__((always_inline)) bool literal(struct cursor *c, const char *text,
							  size_t n)
{
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

static inline bool own_integer(struct cursor *c, struct slice *raw)
{
	const char *p = c->p;

	while (p < c->end && *p >= '0' && *p <= '9')
		p++;
	*raw = (struct slice){c->p, p - c->p};
	c->p = p;
	return raw->n && (*raw->p != '0' || raw->n == 1);
}

static inline bool own_us(struct cursor *c, struct slice *raw)
{
	const char *begin = c->p, *fraction;

	if (!own_integer(c, raw) || !LITERAL(c, ".") || c->p == c->end)
		return false;
	fraction = c->p;
	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	raw->n = c->p - begin;
	return c->p - fraction == 3;
}

/* A string behind its opening quote, with the closing one. */
static inline bool own_string(struct cursor *c, struct slice *raw)
{
	const char *p = json_plain(c->p, c->end);

	*raw = (struct slice){c->p, p - c->p};
	c->p = p + 1;
	return p < c->end && *p == '"';
}

static bool own_object(struct cursor *c, struct traceline *l)
{
	struct slice value;

	if (LITERAL(c, "\"id\":\"") && !(own_string(c, &l->object_id) && LITERAL(c, ",")))
		return false;
	if (LITERAL(c, "\"us\":") && !(own_us(c, &l->object_us) && LITERAL(c, ",")))
		return false;
	if (!LITERAL(c, "\"value\":\"0x") || !own_string(c, &value))
		return false;
	value = (struct slice){value.p - 2, value.n + 2};
	return number_hex(value, &l->object_value) && LITERAL(c, "}");
}

/* The object that trace-join makes of an argument: strings and integers behind its opening brace. */
static bool own_annotation(struct cursor *c)
{
	struct slice inner;

	do {
		if (!LITERAL(c, "\"") || !own_string(c, &inner) || !LITERAL(c, ":"))
			return false;
		if (!(LITERAL(c, "\"") ? own_string(c, &inner) : own_integer(c, &inner)))
			return false;
	} while (LITERAL(c, ","));
	return LITERAL(c, "}");
}

static bool own_value(struct cursor *c)
{
	struct slice inner;

	if (LITERAL(c, "\""))
		return own_string(c, &inner);
	return LITERAL(c, "{") ? own_annotation(c) : own_integer(c, &inner);
}

static bool own_args(struct cursor *c, struct traceline *l)
{
	l->args_end = c->p;
	if (!LITERAL(c, ",\"args\":{"))
		return true;
	l->has_args = true;
	do {
		struct traceline_arg *arg = add_arg(l);

		if (!arg || !LITERAL(c, "\"") || !own_string(c, &arg->key) || !LITERAL(c, ":"))
			return false;
		arg->value.p = c->p;
		if (!own_value(c))
			return false;
		arg->value.n = c->p - arg->value.p;
	} while (LITERAL(c, ","));
	l->args_end = c->p;
	return LITERAL(c, "}");
}

static bool parse_own(struct traceline *l, struct slice line)
{
	struct cursor cursor = {line.p, line.p + line.n}, *c = &cursor;
	struct slice number;

	return LITERAL(c, "{\"tsc\":") && own_integer(c, &number) &&
	       number_decimal(number, &l->tsc) && LITERAL(c, ",\"us\":") && own_us(c, &l->us) &&
	       LITERAL(c, ",\"lcore\":") && own_integer(c, &l->lcore) &&
	       (!LITERAL(c, ",\"thread\":\"") || own_string(c, &l->thread)) &&
	       LITERAL(c, ",\"tpoint\":\"") && own_string(c, &l->tpoint) &&
	       (!LITERAL(c, ",\"poller\":\"") || own_string(c, &l->poller)) &&
	       (!LITERAL(c, ",\"owner\":\"") || own_string(c, &l->owner)) &&
	       (!LITERAL(c, ",\"size\":") || own_integer(c, &l->size)) &&
	       (!LITERAL(c, ",\"object\":{") || own_object(c, l)) &&
	       (!LITERAL(c, ",\"related\":\"") || own_string(c, &l->related)) && own_args(c, l) &&
	       (LITERAL(c, "}") || LITERAL(c, ",\"torn\":true}")) && c->p == c->end;
}

static void clear(struct traceline *l)
{
	*l = (struct traceline){.args = l->args, .cap = l->cap};
}

const char *traceline_parse(struct traceline *l, struct slice line)
{
	enum member next = TSC, member;
	bool tsc = false;
	struct slice key;
	struct json j;

	clear(l);
	if (parse_own(l, line))
		return NULL;
	clear(l);
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &key);) {
		member = find_member(key, &next);
		tsc |= member == TSC;
		parse_member(&j, member, l);
		/* what trace-dump has behind the arguments stays behind them */
		if (!l->has_args && !json_is(key, "torn"))
			l->args_end = j.p;
	}
	if (!json_end(&j))
		return j.error;
	if (!tsc || !l->us.p || !l->lcore.p || !l->tpoint.p)
		return "tsc, us, lcore or tpoint is missing";
	return NULL;
}

void traceline_free(struct traceline *l)
{
	free(l->args);
	*l = (struct traceline){};
}
