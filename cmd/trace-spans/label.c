/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include "connection.h"
#include "json.h"

/* The first member of this name, such as hostnqn, in an argument that is an object. */
static struct slice annotation(struct slice args, const char *name)
{
	struct slice key, value, member;
	struct json j;

	json_init(&j, args.p, args.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);) {
		member = value.p[0] == '{' ? connection_member(value, name) : (struct slice){};
		if (member.n)
			return member;
	}
	return (struct slice){"", 0};
}

struct slice label_of(struct out *text, const struct span *s)
{
	struct slice host = annotation(span_args(s), "hostnqn"), queue;

	if (host.n) {
		host = connection_host(host);
		queue = annotation(span_args(s), "qid");
	} else if (!connection_owner(span_owner(s), &host, &queue)) {
		return span_poller(s);
	}
	text->fd = OUT_MEMORY;
	text->len = 0;
	connection_write_name(text, host, queue);
	return out_contents(text);
}
