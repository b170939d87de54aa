/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include "mem.h"
#include "number.h"
#include "utf8.h"

enum { DEPTH = 512 };

void json_init(struct json *j, const char *text, size_t n)
{
	*j = (struct json){.p = text, .end = text + n};
}

bool json_fail(struct json *j, const char *error)
{
	if (!j->error)
		j->error = error;
	return false;
}

static bool fail_at(struct json *j, const char *p, const char *error)
{
	j->p = p;
	if (p < j->end)
		return json_fail(j, error);
	if (!j->error)
		j->cut_off = true;
	return json_fail(j, "the text ends too early");
}

static const char *space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* Consumes the character c. error: the message if it is missing. */
static bool expect(struct json *j, char c, const char *error)
{
	if (j->error)
		return false;
	j->p = space(j->p, j->end);
	if (j->p == j->end || *j->p != c)
		return fail_at(j, j->p, error);
	j->p++;
	return true;
}

char json_peek(struct json *j)
{
	if (j->error)
		return 0;
	j->p = space(j->p, j->end);
	if (j->p == j->end)
		return fail_at(j, j->p, NULL);
	switch (*j->p) {
	case '-':
	case '0' ... '9':
		return '0';
	case '{':
	case '[':
	case '"':
	case 't':
	case 'f':
	case 'n':
		return *j->p;
	}
	return json_fail(j, "a value is expected");
}

bool json_object(struct json *j)
{
	return j->first = expect(j, '{', "an object is expected");
}

bool json_array(struct json *j)
{
	return j->first = expect(j, '[', "an array is expected");
}

/* Whether the container has another member. Consumes the comma before it, or the bracket. */
static bool another(struct json *j, char close, const char *error)
{
	if (j->error)
		return false;
	j->p = space(j->p, j->end);
	if (j->p < j->end && *j->p == close) {
		j->p++;
		j->first = false;
		return false;
	}
	if (!j->first && !expect(j, ',', error))
		return false;
	j->first = false;
	return true;
}

bool json_key(struct json *j, struct slice *key)
{
	return another(j, '}', "a comma or } is expected") && json_string(j, key) &&
	       expect(j, ':', "a colon is expected");
}

bool json_element(struct json *j)
{
	return another(j, ']', "a comma or ] is expected");
}

/* Returns the end of the escape sequence at p, or NULL with an error. */
static const char *escape(struct json *j, const char *p)
{
	if (++p == j->end)
		return fail_at(j, p, NULL), NULL;
	if (*p != 'u') {
		if (*p && strchr("\"\\/bfnrt", *p))
			return p + 1;
		return fail_at(j, p, "an unknown escape sequence"), NULL;
	}
	for (int i = 0; i < 4; i++)
		if (++p == j->end || number_hex_digit(*p) < 0)
			return fail_at(j, p, "four hex digits are expected"), NULL;
	return p + 1;
}

bool json_string(struct json *j, struct slice *raw)
{
	const char *p;

	if (!expect(j, '"', "a string is expected"))
		return false;
	for (p = json_plain(j->p, j->end); p < j->end && *p != '"'; p = json_plain(p, j->end)) {
		if (*p != '\\')
			return fail_at(j, p, "a control character in a string");
		p = escape(j, p);
		if (!p)
			return false;
	}
	if (p == j->end)
		return fail_at(j, p, NULL);
	*raw = slice_between(j->p, p);
	j->p = p + 1;
	return true;
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

bool json_number(struct json *j, struct slice *raw)
{
	const char *start, *p, *from;

	if (json_peek(j) != '0')
		return json_fail(j, "a number is expected");
	start = p = j->p;
	p += *p == '-';
	from = p;
	p = digits(p, j->end);
	if (p == from || (*from == '0' && p - from > 1))
		return fail_at(j, p, "a malformed number");
	if (p < j->end && *p == '.') {
		from = ++p;
		p = digits(p, j->end);
		if (p == from)
			return fail_at(j, p, "a malformed number");
	}
	if (p < j->end && (*p | 0x20) == 'e') {
		p++;
		if (p < j->end && (*p == '+' || *p == '-'))
			p++;
		from = p;
		p = digits(p, j->end);
		if (p == from)
			return fail_at(j, p, "a malformed number");
	}
	j->cut_off = p == j->end;
	*raw = slice_between(start, p);
	j->p = p;
	return true;
}

bool json_u64(struct json *j, uint64_t *value)
{
	struct slice raw;

	if (!json_number(j, &raw))
		return false;
	if (number_decimal(raw, value))
		return true;
	j->p = raw.p;
	return json_fail(j, "an unsigned 64-bit integer is expected");
}

static bool literal(struct json *j, const char *word)
{
	for (; *word; word++, j->p++)
		if (j->p == j->end || *j->p != *word)
			return fail_at(j, j->p, "a value is expected");
	return true;
}

bool json_bool(struct json *j, bool *value)
{
	char c = json_peek(j);

	if (c != 't' && c != 'f')
		return json_fail(j, "true or false is expected");
	*value = c == 't';
	return literal(j, *value ? "true" : "false");
}

static bool skip(struct json *j, int depth)
{
	struct slice raw;

	if (depth == DEPTH)
		return json_fail(j, "nested too deep");
	switch (json_peek(j)) {
	case '{':
		for (json_object(j); json_key(j, &raw);)
			skip(j, depth + 1);
		break;
	case '[':
		for (json_array(j); json_element(j);)
			skip(j, depth + 1);
		break;
	case '"':
		json_string(j, &raw);
		break;
	case '0':
		json_number(j, &raw);
		break;
	case 't':
		literal(j, "true");
		break;
	case 'f':
		literal(j, "false");
		break;
	case 'n':
		literal(j, "null");
		break;
	}
	return !j->error;
}

bool json_skip(struct json *j)
{
	return skip(j, 0);
}

bool json_value(struct json *j, struct slice *raw)
{
	const char *start;

	if (!json_peek(j))
		return false;
	start = j->p;
	if (!json_skip(j))
		return false;
	*raw = slice_between(start, j->p);
	return true;
}

bool json_end(struct json *j)
{
	if (j->error)
		return false;
	j->p = space(j->p, j->end);
	return j->p == j->end || json_fail(j, "text after the value");
}

static bool is(struct slice raw, struct slice text)
{
	char plain[64];

	if (slice_equal(raw, text))
		return true;
	if (raw.n > sizeof(plain) || !memchr(raw.p, '\\', raw.n))
		return false;
	return slice_equal((struct slice){plain, json_unescape(plain, raw)}, text);
}

bool json_is(struct slice raw, const char *text)
{
	return is(raw, slice_of(text));
}

struct slice json_member(struct slice object, struct slice name)
{
	struct slice key, value;
	struct json j;

	json_init(&j, object.p, object.n);
	if (json_peek(&j) == '{')
		for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);)
			if (is(key, name))
				return value;
	return (struct slice){"", 0};
}

struct slice json_path(struct slice object, struct slice path)
{
	while (object.n && path.p) {
		const char *dot = memchr(path.p, '.', path.n), *end = path.p + path.n;

		object = json_member(object, slice_between(path.p, dot ? dot : end));
		path = dot ? slice_between(dot + 1, end) : (struct slice){};
	}
	return object;
}

struct slice json_unquoted(struct slice value)
{
	return value.n > 1 && value.p[0] == '"' ? (struct slice){value.p + 1, value.n - 2} : value;
}

static unsigned four_hex(const char *p)
{
	uint64_t v = 0;

	number_hex((struct slice){p, 4}, &v);
	return v;
}

/* The letters of the short escape sequences, and what they stand for. */
static const char escape_letters[] = "\"\\bfnrt", escape_bytes[] = "\"\\\b\f\n\r\t";

/* Decodes the \u escape that raw starts with, or a pair of them: the surrogates of one character. */
static char *unescape_point(char *to, struct slice *raw)
{
	unsigned point = four_hex(slice_cut(raw, 6).p + 2), second;

	if (point >> 10 == 0xd800 >> 10 && raw->n >= 6 && raw->p[0] == '\\' && raw->p[1] == 'u') {
		second = four_hex(raw->p + 2);
		if (second >> 10 == 0xdc00 >> 10) {
			point = 0x10000 + ((point & 0x3ff) << 10) + (second & 0x3ff);
			slice_cut(raw, 6);
		}
	}
	return utf8_encode(to, point);
}

size_t json_unescape(char *to, struct slice raw)
{
	char *start = to;

	while (raw.n)
		if (*raw.p != '\\') {
			*to++ = *slice_cut(&raw, 1).p;
		} else if (raw.p[1] == 'u') {
			to = unescape_point(to, &raw);
		} else {
			char c = slice_cut(&raw, 2).p[1];
			const char *letter = strchr(escape_letters, c);

			*to++ = letter ? escape_bytes[letter - escape_letters] : c;
		}
	return to - start;
}

struct slice json_decode(struct slice raw)
{
	char *plain = mem_resize(NULL, raw.n + 1, 1);
	size_t n = json_unescape(plain, raw);

	plain[n] = 0;
	return (struct slice){plain, n};
}

/* Writes the character that s starts with, and cuts it off. */
static char *escape_character(char *to, struct slice *s)
{
	static const char hex[] = "0123456789abcdef";
	int length = utf8_length(*s);
	struct slice character = slice_cut(s, length < 0 ? -length : length);
	unsigned char c = *character.p;
	const char *known = c ? strchr(escape_bytes, c) : NULL;

	if (known) {
		*to++ = '\\';
		*to++ = escape_letters[known - escape_bytes];
		return to;
	}
	if (length < 0)
		return mempcpy(to, UTF8_REPLACEMENT, 3);
	/* U+0080 to U+009F: some terminals obey them */
	if (c == 0xc2 && (unsigned char)character.p[1] < 0xa0)
		c = character.p[1];
	else if (c >= 0x20 && c != 0x7f)
		return mempcpy(to, character.p, character.n);
	to = mempcpy(to, "\\u00", 4);
	*to++ = hex[c >> 4];
	*to++ = hex[c & 15];
	return to;
}

char *json_escape(char *to, struct slice s)
{
	while (s.n) {
		size_t plain = json_plain(s.p, s.p + utf8_plain(s)) - s.p;

		to = mempcpy(to, slice_cut(&s, plain).p, plain);
		if (s.n)
			to = escape_character(to, &s);
	}
	return to;
}

size_t json_normalize(char *to, struct slice text)
{
	char *start = to, character[4];

	for (;;) {
		const char *escape = memchr(text.p, '\\', text.n);
		struct slice plain = slice_cut(&text, escape ? (size_t)(escape - text.p) : text.n);

		to = mempcpy(to, plain.p, plain.n);
		if (!text.n)
			return to - start;
		if (text.p[1] == 'u')
			to = json_escape(to, slice_between(character, unescape_point(character, &text)));
		else if (text.p[1] == '/')
			*to++ = slice_cut(&text, 2).p[1];
		else
			to = mempcpy(to, slice_cut(&text, 2).p, 2);
	}
}

char *json_quote(char *to, struct slice s)
{
	*to++ = '"';
	to = json_escape(to, s);
	*to++ = '"';
	return to;
}

bool json_line(struct slice *text, struct slice *line)
{
	while (text->n) {
		struct json j;

		*line = slice_cut_line(text);
		json_init(&j, line->p, line->n);
		if (json_peek(&j) == '{' && json_skip(&j) && json_end(&j))
			return true;
	}
	return false;
}
