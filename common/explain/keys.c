/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"

const char *keys_add(struct keys *k, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return "KEY=GLOB is expected, such as host=db-1";
	if (!spanline_is_key(slice_between(text, equals)))
		return SPANLINE_NO_KEY;
	k->all = mem_room(k->all, k->n, &k->cap);
	k->all[k->n++] = (struct keys_glob){slice_between(text, equals), equals + 1, false};
	return NULL;
}

const char *keys_missing(const struct keys *k)
{
	for (size_t i = 0; k->compared && i < k->n; i++)
		if (!k->all[i].found)
			return k->all[i].path.p;
	return NULL;
}

/* A value as a C string: a string decoded, anything else as it is written. */
static const char *plain(struct keys *k, struct slice value)
{
	struct slice raw = json_unquoted(value);
	char *to;

	to = out_room(out_start(&k->text), raw.n + 1);
	if (raw.p != value.p)
		to[json_unescape(to, raw)] = 0;
	else
		*(char *)mempcpy(to, raw.p, raw.n) = 0;
	return to;
}

static bool match(struct keys *k, struct keys_glob *key, struct slice value)
{
	key->found |= value.n != 0;
	return value.n && fnmatch(key->glob, plain(k, value), 0) == 0;
}

struct slice keys_value(struct slice line, struct slice path)
{
	struct slice value = json_path(line, path);

	return value.n ? value : json_path(json_member(line, slice_of("io")), path);
}

static bool count(struct keys *k, bool matches)
{
	k->compared++;
	k->matched += matches;
	return matches;
}

bool keys_match_line(struct keys *k, struct slice line)
{
	bool matches = true;

	for (size_t i = 0; i < k->n; i++)
		matches &= match(k, &k->all[i], keys_value(line, k->all[i].path));
	return count(k, matches);
}

bool keys_match(struct keys *k, struct measured *m)
{
	bool matches = true;

	for (size_t i = 0; i < k->n; i++)
		matches &= match(k, &k->all[i], measured_value(m, k->all[i].path));
	return count(k, matches);
}

void keys_free(struct keys *k)
{
	free(k->all);
	out_close(&k->text);
}
