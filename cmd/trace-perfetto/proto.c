/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

#include <stdlib.h>

#include "json.h"
#include "utf8.h"

void proto_text(struct out *out, unsigned field, struct slice text)
{
	size_t start = proto_open(out, field);

	out_utf8(out, text);
	proto_close(out, start);
}

void proto_string(struct out *out, unsigned field, struct slice raw)
{
	struct slice decoded;

	if (utf8_plain(raw) == raw.n) {
		proto_bytes(out, field, raw);
		return;
	}
	decoded = json_decode(raw);
	proto_text(out, field, decoded);
	free((char *)decoded.p);
}

void proto_close_long(struct out *out, size_t start)
{
	size_t n = out->len - start, more = 0;
	char *text;

	for (size_t rest = n >> 7; rest; rest >>= 7)
		more++;
	text = out_room(out, more) - n;
	memmove(text + more, text, n);
	out->len = start - 1;
	proto_varint(out, n);
	out->len += n;
}
