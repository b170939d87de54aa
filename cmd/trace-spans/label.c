/* SPDX-License-Identifier: BSD-3-Clause */
#include "label.h"

#include "json.h"

/* The member of an object among the arguments, such as hostnqn, as written. */
static struct slice annotation(struct slice args, const char *name)
{
	struct slice key, value, member;
	struct json args_json, object;

	json_init(&args_json, args.p, args.n);
	for (json_object(&args_json); json_key(&args_json, &key) && json_value(&args_json, &value);) {
		if (value.p[0] != '{')
			continue;
		json_init(&object, value.p, value.n);
		for (json_object(&object); json_key(&object, &key) && json_value(&object, &member);)
			if (json_is(key, name))
				return member;
	}
	return (struct slice){};
}

static struct slice unquoted(struct slice value)
{
	return value.n > 1 && value.p[0] == '"' ? (struct slice){value.p + 1, value.n - 2} : value;
}

struct slice label_of(struct out *text, const struct span *s)
{
	static const char qid[] = " qid:";
	struct slice host = unquoted(annotation(span_args(s), "hostnqn")), queue = {};
	struct slice owner = span_owner(s);
	const char *end, *found;

	if (host.n) {
		found = memrchr(host.p, ':', host.n);
		host = found && found + 1 < host.p + host.n ? slice_between(found + 1, host.p + host.n) : host;
		queue = unquoted(annotation(span_args(s), "qid"));
	} else if (owner.n && (found = memmem(owner.p, owner.n, qid, strlen(qid)))) {
		end = memchr(owner.p, ' ', owner.n);
		host = slice_between(owner.p, end);
		queue = slice_between(found + strlen(qid), owner.p + owner.n);
	} else {
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
