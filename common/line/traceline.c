/* SPDX-License-Identifier: BSD-3-Clause */
#include "traceline.h"

#include <stdlib.h>

#include "count.h"
#include "json.h"
#include "mem.h"
#include "number.h"

static struct traceline_arg *add_arg(struct traceline *l)
{
	l->args = mem_room(l->args, l->num_args, &l->cap);
	return &l->args[l->num_args++];
}

void traceline_add_arg(struct traceline *l, struct slice key, const void *note)
{
	*add_arg(l) = (struct traceline_arg){.key = key, .note = note};
}

struct slice traceline_string(struct slice value)
{
	return value.n > 1 && value.p[0] == '"' ? (struct slice){value.p + 1, value.n - 2} : (struct slice){"", 0};
}

bool traceline_number(struct slice value, uint64_t *number)
{
	if (value.n > 4 && value.p[0] == '"')
		return value.p[1] == '0' && number_hex(slice_between(value.p + 1, value.p + value.n - 1), number);
	return number_decimal(value, number);
}

const char *traceline_ns(struct slice us, uint64_t *ns)
{
	double value;

	if (number_fixed(us, 3, ns))
		return NULL;
	/* whatever follows a number in JSON ends it for strtod() as well */
	value = strtod(us.p, NULL) * 1000;
	if (value < 0 || value + 0.5 >= 0x1p64)
		return "a time is negative or longer than 584 years";
	*ns = value + 0.5;
	return NULL;
}

const char *traceline_age(const struct traceline *l, uint64_t *ns)
{
	if (l->object_us.p)
		return traceline_ns(l->object_us, ns);
	*ns = l->age_ns;
	return NULL;
}

static void parse_object(struct json *j, struct traceline *l)
{
	struct slice key, value;

	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "id")) {
			json_string(j, &l->object_id);
		} else if (json_is(key, "us")) {
			l->has_age = json_number(j, &l->object_us);
		} else if (json_is(key, "value")) {
			if (json_value(j, &value) && !traceline_number(value, &l->object_value))
				json_fail(j, "an object's value is not an address");
		} else {
			json_skip(j);
		}
	}
}

static void parse_tsc(struct json *j, struct traceline *l)
{
	json_u64(j, &l->tsc);
}

static void parse_args(struct json *j, struct traceline *l)
{
	struct slice key;

	l->num_args = 0;
	l->has_args = true;
	for (json_object(j); json_key(j, &key);) {
		struct traceline_arg *arg = add_arg(l);

		arg->key = key;
		json_value(j, &arg->value);
	}
	/* p is after the brace */
	l->args_end = j->p - 1;
}

static void parse_torn(struct json *j, struct traceline *l)
{
	json_bool(j, &l->torn);
}

static void parse_lost(struct json *j, struct traceline *l)
{
	json_bool(j, &l->lost);
}

/* The members in the order of trace-dump: parsed, or stored at an offset as written. */
static const struct member {
	const char *key;
	void (*parse)(struct json *j, struct traceline *l);
	bool (*read)(struct json *j, struct slice *raw);
	size_t place;
} members[] = {
	{"tsc", parse_tsc, NULL, 0},
	{"us", NULL, json_number, offsetof(struct traceline, us)},
	{"source", NULL, json_string, offsetof(struct traceline, source)},
	{"time", NULL, json_string, offsetof(struct traceline, time)},
	{"lcore", NULL, json_number, offsetof(struct traceline, lcore)},
	{"thread", NULL, json_string, offsetof(struct traceline, thread)},
	{"tpoint", NULL, json_string, offsetof(struct traceline, tpoint)},
	{"poller", NULL, json_string, offsetof(struct traceline, poller)},
	{"owner", NULL, json_string, offsetof(struct traceline, owner)},
	{"size", NULL, json_number, offsetof(struct traceline, size)},
	{"object", parse_object, NULL, 0},
	{"related", NULL, json_string, offsetof(struct traceline, related)},
	{"args", parse_args, NULL, 0},
	{"torn", parse_torn, NULL, 0},
	{"lost", parse_lost, NULL, 0},
};

enum { NUM_MEMBERS = COUNT(members) };

/* The member of a key, or NULL. *next: the first to try; becomes the one after it. */
static const struct member *find_member(struct slice key, unsigned *next)
{
	for (unsigned i = 0; i < NUM_MEMBERS; i++) {
		unsigned member = (*next + i) % NUM_MEMBERS;

		if (json_is(key, members[member].key)) {
			*next = member + 1;
			return &members[member];
		}
	}
	return NULL;
}

static void parse_member(struct json *j, const struct member *member, struct traceline *l)
{
	if (!member)
		json_skip(j);
	else if (member->parse)
		member->parse(j, l);
	else
		member->read(j, (struct slice *)((char *)l + member->place));
}

/*
 * Lines in exactly the form of trace-dump are read at a quarter of the cost: what must come next is
 * compared, not searched for. Each of these functions moves p past something or returns false; then
 * the line is parsed as JSON in any form.
 */
struct cursor {
	const char *p, *end;
};

#define LITERAL(c, text) literal(c, text, sizeof(text) - 1)

/* a cursor whose address is taken by no call stays in registers */
#define INLINE static inline __attribute__((always_inline))

/* without this, what comes after many conditions counts as rare, and is made small instead of fast */
#define OFTEN(condition) __builtin_expect(condition, true)

INLINE bool literal(struct cursor *c, const char *text, size_t n)
{
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* One digit or more. */
INLINE bool fast_digits(struct cursor *c)
{
	const char *start = c->p, *p = start;

	while (p < c->end && *p >= '0' && *p <= '9')
		p++;
	c->p = p;
	return p > start;
}

INLINE bool fast_integer(struct cursor *c, struct slice *raw)
{
	const char *start = c->p;
	bool digits = fast_digits(c);

	*raw = slice_between(start, c->p);
	return digits && (*start != '0' || raw->n == 1);
}

/* The same for a number that may be long. Numbers of 20 digits or more are left to the JSON parser. */
INLINE bool fast_u64(struct cursor *c, uint64_t *value)
{
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
	enum { WORD = 8, FIT = 19 };
	const char *start = c->p;
	unsigned digits;
	uint64_t word;

	*value = 0;
	do {
		if (c->end - c->p < WORD || c->p - start > FIT)
			return false;
		memcpy(&word, c->p, WORD);
		digits = number_count(word);
		if (digits)
			*value = *value * powers[digits] + number_word(word, digits);
		c->p += digits;
	} while (digits == WORD);
	digits = c->p - start;
	return digits && digits <= FIT && (*start != '0' || digits == 1);
}

/* Microseconds with three decimals. */
INLINE bool fast_us(struct cursor *c, struct slice *raw, uint64_t *ns)
{
	enum { DECIMALS = 3, WORD = 8 };
	const char *start = c->p;
	uint64_t us, word;

	if (!fast_u64(c, &us) || c->end - c->p < WORD || *c->p != '.' || us >= UINT64_MAX / 1000)
		return false;
	memcpy(&word, c->p, WORD);
	word >>= 8;
	*ns = us * 1000 + number_word(word, DECIMALS);
	c->p += 1 + DECIMALS;
	*raw = slice_between(start, c->p);
	return number_count(word) == DECIMALS;
}

/* With decimals or without, but no exponent. */
INLINE bool fast_number(struct cursor *c, struct slice *raw)
{
	bool number = fast_integer(c, raw) && (!LITERAL(c, ".") || fast_digits(c));

	raw->n = c->p - raw->p;
	return number;
}

/* A string after its opening quote, and its closing one. */
INLINE bool fast_string(struct cursor *c, struct slice *raw)
{
	const char *p = json_plain(c->p, c->end);

	*raw = slice_between(c->p, p);
	c->p = p + 1;
	return p < c->end && *p == '"';
}

/* An address after its 0x, and the quote after it. More than 16 digits are left to the JSON parser. */
INLINE bool fast_address(struct cursor *c, uint64_t *value)
{
	enum { WORD = 8 };
	uint64_t first, second;
	struct slice raw;
	unsigned n;

	if (c->end - c->p < 2 * WORD)
		return fast_string(c, &raw) && number_hex(raw, value);
	memcpy(&first, c->p, WORD);
	memcpy(&second, c->p + WORD, WORD);
	n = number_hex_count(first);
	*value = number_hex_word(first, n);
	c->p += n;
	if (n == WORD) {
		n = number_hex_count(second);
		*value = *value << 4 * n | number_hex_word(second, n);
		c->p += n;
	}
	return c->p[-1] != 'x' && LITERAL(c, "\"");
}

INLINE bool fast_object(struct cursor *c, struct traceline *l)
{
	if (LITERAL(c, "\"id\":\"") && !(fast_string(c, &l->object_id) && LITERAL(c, ",")))
		return false;
	l->has_age = LITERAL(c, "\"us\":");
	if (l->has_age && !(fast_number(c, &l->object_us) && LITERAL(c, ",")))
		return false;
	return LITERAL(c, "\"value\":\"0x") && fast_address(c, &l->object_value) && LITERAL(c, "}");
}

/* The object that trace-join makes of an argument, after its brace: strings and integers. NULL: another value. */
static const char *find_end(const char *p, const char *end)
{
	struct cursor cursor = {p, end}, *c = &cursor;
	struct slice inner;

	do {
		if (!LITERAL(c, "\"") || !fast_string(c, &inner) || !LITERAL(c, ":"))
			return NULL;
		if (!(LITERAL(c, "\"") ? fast_string(c, &inner) : fast_integer(c, &inner)))
			return NULL;
	} while (LITERAL(c, ","));
	return LITERAL(c, "}") ? c->p : NULL;
}

/* Annotations that were read before: most lines are of few connections. */
struct traceline_known {
	unsigned char n; /* 0: none */
	char text[255];
};

enum { KNOWN = 64, DIFFERENT = 40 /* bytes in which annotations differ */ };

static struct traceline_known *known_at(struct traceline *l, const char *p)
{
	uint64_t words[DIFFERENT / 8], hash = 0;

	if (!l->known)
		l->known = mem_array(KNOWN, sizeof(*l->known));
	memcpy(words, p, DIFFERENT);
	for (unsigned i = 1; i < DIFFERENT / 8; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
	return &l->known[hash >> 58];
}

static const char *find_known(struct traceline *l, const char *p, const char *end)
{
	struct traceline_known *known;
	const char *found;

	if (end - p < DIFFERENT)
		return find_end(p, end);
	known = known_at(l, p);
	if (known->n && known->n <= end - p && memcmp(p, known->text, known->n) == 0)
		return p + known->n;
	found = find_end(p, end);
	if (found && found - p <= (ptrdiff_t)sizeof(known->text)) {
		known->n = found - p;
		memcpy(known->text, p, known->n);
	}
	return found;
}

INLINE bool fast_annotation(struct cursor *c, struct traceline *l)
{
	const char *found = find_known(l, c->p, c->end);

	if (found)
		c->p = found;
	return found;
}

INLINE bool fast_value(struct cursor *c, struct traceline *l)
{
	struct slice inner;

	if (LITERAL(c, "\""))
		return fast_string(c, &inner);
	return LITERAL(c, "{") ? fast_annotation(c, l) : fast_number(c, &inner);
}

INLINE bool fast_args(struct cursor *c, struct traceline *l)
{
	l->args_end = c->p;
	if (!LITERAL(c, ",\"args\":{"))
		return true;
	l->has_args = true;
	do {
		struct traceline_arg *arg = add_arg(l);
		const char *start;

		if (!LITERAL(c, "\"") || !fast_string(c, &arg->key) || !LITERAL(c, ":"))
			return false;
		start = c->p;
		if (!fast_value(c, l))
			return false;
		arg->value = slice_between(start, c->p);
	} while (LITERAL(c, ","));
	l->args_end = c->p;
	return LITERAL(c, "}");
}

/* What few lines have before "lcore". */
INLINE bool fast_origin(struct cursor *c, struct traceline *l)
{
	return OFTEN(!LITERAL(c, ",\"source\":\"") || fast_string(c, &l->source)) &&
	       OFTEN(!LITERAL(c, ",\"time\":\"") || fast_string(c, &l->time)) && LITERAL(c, ",\"lcore\":");
}

/* Up to the value of "lcore". */
INLINE bool fast_head(struct cursor *c, struct traceline *l)
{
	l->has_ns = true;
	return OFTEN(LITERAL(c, "{\"tsc\":") && fast_u64(c, &l->tsc)) &&
	       OFTEN(LITERAL(c, ",\"us\":") && fast_us(c, &l->us, &l->ns)) &&
	       OFTEN(LITERAL(c, ",\"lcore\":") || fast_origin(c, l));
}

INLINE bool fast_tail(struct cursor *c, struct traceline *l)
{
	if (LITERAL(c, "}"))
		return c->p == c->end;
	l->torn = LITERAL(c, ",\"torn\":true");
	l->lost = LITERAL(c, ",\"lost\":true");
	return LITERAL(c, "}") && c->p == c->end;
}

/* From "thread", which few lines have, up to the value of "tpoint". */
INLINE bool fast_thread(struct cursor *c, struct traceline *l)
{
	return LITERAL(c, ",\"thread\":\"") && fast_string(c, &l->thread) && LITERAL(c, ",\"tpoint\":\"");
}

static bool parse_fast(struct traceline *l, struct slice line)
{
	struct cursor cursor = {line.p, line.p + line.n}, *c = &cursor;

	return OFTEN(fast_head(c, l) && fast_integer(c, &l->lcore)) &&
	       OFTEN(LITERAL(c, ",\"tpoint\":\"") || fast_thread(c, l)) && OFTEN(fast_string(c, &l->tpoint)) &&
	       OFTEN(!LITERAL(c, ",\"poller\":\"") || fast_string(c, &l->poller)) &&
	       OFTEN(!LITERAL(c, ",\"owner\":\"") || fast_string(c, &l->owner)) &&
	       OFTEN(!LITERAL(c, ",\"size\":") || fast_integer(c, &l->size)) &&
	       OFTEN(!LITERAL(c, ",\"object\":{") || fast_object(c, l)) &&
	       OFTEN(!LITERAL(c, ",\"related\":\"") || fast_string(c, &l->related)) && OFTEN(fast_args(c, l)) &&
	       OFTEN(fast_tail(c, l));
}

static void clear(struct traceline *l)
{
	*l = (struct traceline){.args = l->args, .cap = l->cap, .known = l->known};
}

bool traceline_parse_head(struct traceline *l, struct slice line)
{
	struct cursor cursor = {line.p, line.p + line.n};

	l->source.p = NULL;
	return fast_head(&cursor, l) && cursor.end[-1] == '}';
}

const char *traceline_parse(struct traceline *l, struct slice line)
{
	const struct member *member;
	unsigned next = 0;
	bool tsc = false;
	struct slice key;
	struct json j;

	clear(l);
	if (parse_fast(l, line))
		return NULL;
	clear(l);
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &key);) {
		member = find_member(key, &next);
		tsc |= member == members;
		parse_member(&j, member, l);
		/* added arguments go before these, which trace-dump writes last */
		if (!l->has_args && !json_is(key, "torn") && !json_is(key, "lost"))
			l->args_end = j.p;
	}
	if (!json_end(&j))
		return j.error;
	if (!tsc || !l->us.p || !l->lcore.p || !l->tpoint.p)
		return "tsc, us, lcore or tpoint is missing";
	return NULL;
}

uint64_t traceline_in_source(const struct traceline *l, uint64_t number)
{
	uint64_t hash = 0xcbf29ce484222325;

	if (!l->source.p)
		return number;
	/* FNV-1a */
	for (size_t i = 0; i < l->source.n; i++)
		hash = (hash ^ (unsigned char)l->source.p[i]) * 0x100000001b3;
	return number ^ hash;
}

void traceline_free(struct traceline *l)
{
	free(l->args);
	free(l->known);
	*l = (struct traceline){};
}
