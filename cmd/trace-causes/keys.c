/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <err.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"

bool keys_add(struct keys *k, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return false;
	k->all = mem_room(k->all, k->n, &k->cap);
	k->all[k->n++] = (struct keys_glob){slice_between(text, equals), equals + 1, false};
	return true;
}

/* A value as a C string: a string decoded, anything else as it is written. */
static const char *plain(struct keys *k, struct slice value)
{
	struct slice raw = json_unquoted(value);
	char *to;

	k->text.fd = OUT_MEMORY;
	k->text.len = 0;
	to = out_room(&k->text, raw.n + 1);
	if (raw.p != value.p)
		to[json_unescape(to, raw)] = 0;
	else
		*(char *)mempcpy(to, raw.p, raw.n) = 0;
	return to;
}

/* Keys of io are also found without "io." before them. */
static struct slice find(struct slice line, struct slice path)
{
	struct slice value = json_path(line, path);

	return value.n ? value : json_path(json_member(line, slice_of("io")), path);
}

struct slice keys_value(struct slice line, struct slice path)
{
	struct slice value = find(line, path);

	return json_unquoted(value);
}

bool keys_match(struct keys *k, struct slice line)
{
	bool matches = true;

	for (size_t i = 0; i < k->n; i++) {
		struct slice value = find(line, k->all[i].path);

		k->all[i].found |= value.n != 0;
		matches &= value.n && fnmatch(k->all[i].glob, plain(k, value), 0) == 0;
	}
	k->matched += matches;
	return matches;
}

bool keys_check(const struct keys *k, const char *name, uint64_t n)
{
	bool good = true;

	for (size_t i = 0; i < k->n && n; i++)
		if (!k->all[i].found) {
			warnx("%s: -k %s: no request has this key", name, k->all[i].path.p);
			good = false;
		}
	if (k->n && n && good && !k->matched) {
		warnx("%s: none of %" PRIu64 " requests matches -k", name, n);
		good = false;
	}
	return good;
}

void keys_free(struct keys *k)
{
	free(k->all);
	out_close(&k->text);
}
