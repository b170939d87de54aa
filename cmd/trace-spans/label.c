/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include "connection.h"
#include "json.h"

/* The member of an object among the arguments, such as hostnqn. */
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
	const char *colon;

	if (host.n) {
		colon = memrchr(host.p, ':', host.n);
		host = colon && colon + 1 < host.p + host.n ? slice_between(colon + 1, host.p + host.n) : host;
		queue = annotation(span_args(s), "qid");
	} else if (!connection_owner(span_owner(s), &host, &queue)) {
		return span_poller(s);
	}
	text->fd = OUT_MEMORY;
	text->len = 0;
	out_slice(text, host);
	if (queue.n) {
		out_char(text, '/');
		out_slice(text, queue);
	}
	return out_kept(text);
}
