/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

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

/* Consumes the character c, which error asks for. */
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

/* Whether the container has another member: consumes the comma before it, or the closing bracket. */
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
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
	*raw = (struct slice){j->p, p - j->p};
	j->p = p + 1;
	return true;
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

bool json_number(struct json *j, struct slice *raw)
{
	const char *begin, *p, *from;

	if (json_peek(j) != '0')
		return json_fail(j, "a number is expected");
	begin = p = j->p;
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
	*raw = (struct slice){begin, p - begin};
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
	if (!json_peek(j))
		return false;
	raw->p = j->p;
	if (!json_skip(j))
		return false;
	raw->n = j->p - raw->p;
	return true;
}

bool json_end(struct json *j)
{
	if (j->error)
		return false;
	j->p = space(j->p, j->end);
	return j->p == j->end || json_fail(j, "text after the value");
}

bool json_is(struct slice raw, const char *text)
{
	char plain[64];

	if (slice_is(raw, text))
		return true;
	if (raw.n > sizeof(plain) || !memchr(raw.p, '\\', raw.n))
		return false;
	return slice_is((struct slice){plain, json_unescape(plain, raw)}, text);
}

static unsigned four_hex(const char *p)
{
	uint64_t v = 0;

	number_hex((struct slice){p, 4}, &v);
	return v;
}

size_t json_unescape(char *to, struct slice raw)
{
	const char *p = raw.p, *end = raw.p + raw.n;
	char *begin = to;

	while (p < end) {
		unsigned point;

		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p += 2;
		switch (p[-1]) {
		case 'b':
			*to++ = '\b';
			break;
		case 'f':
			*to++ = '\f';
			break;
		case 'n':
			*to++ = '\n';
			break;
		case 'r':
			*to++ = '\r';
			break;
		case 't':
			*to++ = '\t';
			break;
		case 'u':
			point = four_hex(p);
			p += 4;
			if (point >> 10 == 0xd800 >> 10 && end - p >= 6 && p[0] == '\\' &&
			    p[1] == 'u' && four_hex(p + 2) >> 10 == 0xdc00 >> 10) {
				point = 0x10000 + ((point & 0x3ff) << 10) +
					(four_hex(p + 2) & 0x3ff);
				p += 6;
			}
			to = utf8_encode(to, point);
			break;
		default:
			*to++ = p[-1];
		}
	}
	return to - begin;
}

/* The letter of the short escape sequence for c, or 0. */
static char short_escape(char c)
{
	switch (c) {
	case '"':
	case '\\':
		return c;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	}
	return 0;
}

char *json_escape(char *to, struct slice s)
{
	static const char hex[] = "0123456789abcdef";

	while (s.n) {
		size_t same = utf8_plain(s);
		unsigned char c;
		int n = 1;

		same = json_plain(s.p, s.p + same) - s.p;
		to = mempcpy(to, s.p, same);
		s.p += same;
		s.n -= same;
		if (!s.n)
			break;
		c = *s.p;
		if (c == 0xc2 && s.n > 1 && (unsigned char)s.p[1] >= 0x80 &&
		    (unsigned char)s.p[1] < 0xa0) {
			/* U+0080 to U+009F: some terminals obey them */
			c = s.p[1];
			n = 2;
		}
		if (short_escape(c)) {
			*to++ = '\\';
			*to++ = short_escape(c);
		} else if (c < 0x20 || c == 0x7f || n == 2) {
			memcpy(to, "\\u00", 4);
			to[4] = hex[c >> 4];
			to[5] = hex[c & 15];
			to += 6;
		} else if ((n = utf8_length(s)) > 0) {
			memcpy(to, s.p, n);
			to += n;
		} else {
			n = -n;
			memcpy(to, UTF8_REPLACEMENT, 3);
			to += 3;
		}
		s.p += n;
		s.n -= n;
	}
	return to;
}

char *json_quote(char *to, struct slice s)
{
	*to++ = '"';
	to = json_escape(to, s);
	*to++ = '"';
	return to;
}
