/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include "json.h"

struct slice connection_unquoted(struct slice value)
{
	return value.n > 1 && value.p[0] == '"' ? (struct slice){value.p + 1, value.n - 2} : value;
}

struct slice connection_member(struct slice object, const char *name)
{
	struct slice key, value;
	struct json j;

	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);)
		if (json_is(key, name))
			return connection_unquoted(value);
	return (struct slice){"", 0};
}

struct slice connection_host(struct slice nqn)
{
	const char *colon = memrchr(nqn.p, ':', nqn.n), *end = nqn.p + nqn.n;

	return colon && colon + 1 < end ? slice_between(colon + 1, end) : nqn;
}

void connection_write_name(struct out *out, struct slice host, struct slice queue)
{
	out_slice(out, host);
	if (queue.n) {
		out_char(out, '/');
		out_slice(out, queue);
	}
}

bool connection_owner(struct slice owner, struct slice *address, struct slice *queue)
{
	static const char before[] = " qid:";
	const char *found = owner.n ? memmem(owner.p, owner.n, before, strlen(before)) : NULL;

	if (!found)
		return false;
	*address = slice_between(owner.p, memchr(owner.p, ' ', owner.n));
	*queue = slice_between(found + strlen(before), owner.p + owner.n);
	return true;
}
