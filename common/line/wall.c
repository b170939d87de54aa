/* SPDX-License-Identifier: BSD-3-Clause */
#include "wall.h"

#include <time.h>

#include "digits.h"
#include "number.h"

enum { SECOND_SIZE = 19 /* 2026-11-21T13:14:15 */ };
#define NS_A_SECOND UINT64_C(1000000000)

/* Returns the text of the second, with the point after it, and formats it if it is a new one. */
static struct slice text_of(struct wall *w, uint64_t second, const char *format,
			    struct tm *(*split)(const time_t *, struct tm *))
{
	time_t t = second;
	struct tm tm = {};

	if (!*w->text || second != w->second) {
		w->second = second;
		split(&t, &tm);
		strftime(w->text, sizeof(w->text), format, &tm);
	}
	return slice_of(w->text);
}

char *wall_write(struct wall *w, char *to, uint64_t ns)
{
	struct slice second = text_of(w, ns / NS_A_SECOND, "%Y-%m-%dT%H:%M:%S.", gmtime_r);
	uint32_t rest = ns % NS_A_SECOND;

	to = mempcpy(to, second.p, second.n);
	*to++ = '0' + rest / 100000000;
	to = digits_8(to, rest % 100000000);
	*to++ = 'Z';
	return to;
}

char *wall_write_local(struct wall *w, char *to, uint64_t ns)
{
	struct slice second = text_of(w, ns / NS_A_SECOND, "%H:%M:%S.", localtime_r);
	char decimals[DIGITS_ROOM];

	digits_8(decimals, ns % NS_A_SECOND / 1000);
	return mempcpy(mempcpy(to, second.p, second.n), decimals + 2, 6);
}

/* Cuts a number and the character after it off s: "11-" of "11-21T13:14:15Z". */
static bool cut_number(struct slice *s, size_t digits, char after, int *value)
{
	uint64_t v;

	if (s->n <= digits || s->p[digits] != after || !number_decimal((struct slice){s->p, digits}, &v))
		return false;
	*value = v;
	*s = slice_from(*s, digits + 1);
	return true;
}

bool wall_read(struct slice text, uint64_t *ns)
{
	struct slice s = text, again;
	struct tm tm = {};
	struct wall w = {};
	char buffer[WALL_ROOM];
	uint64_t part, value;
	time_t second;

	if (!cut_number(&s, 4, '-', &tm.tm_year) || !cut_number(&s, 2, '-', &tm.tm_mon) ||
	    !cut_number(&s, 2, 'T', &tm.tm_mday) || !cut_number(&s, 2, ':', &tm.tm_hour) ||
	    !cut_number(&s, 2, ':', &tm.tm_min) || s.n < 3 || s.p[s.n - 1] != 'Z' ||
	    !number_fixed((struct slice){s.p, s.n - 1}, 9, &part))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	second = timegm(&tm);
	if (second < 0 || __builtin_mul_overflow(second, NS_A_SECOND, &value) ||
	    __builtin_add_overflow(value, part, &value))
		return false;
	/* no 30th of February, nor a 61st second */
	again = slice_between(buffer, wall_write(&w, buffer, value));
	if (memcmp(again.p, text.p, SECOND_SIZE) != 0)
		return false;
	*ns = value;
	return true;
}
