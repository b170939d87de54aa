/* SPDX-License-Identifier: BSD-3-Clause */
#include "otlp.h"

#include <inttypes.h>

#include "count.h"
#include "json.h"
#include "number.h"
#include "spdk.h"
#include "wall.h"

/* Values of the schema. */
enum { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3, STATUS_ERROR = 2 };

/* Keys of span lines that are attributes; the others are fields of a span or of its resource. */
static const char *const keys[] = {
	"tsc",    "to_reply", "id",    "value", "owner",  "poller", "connection", "io",         "self",
	"layers", "off_cpu",  "irq",   "disk",  "silent", "waits",  "no_io",      "rate_limit", "copy",
	"retry",  "retries",  "queue", "args",  "admin",  "open",   "cut",        "torn",       "lost",
};

void otlp_line(struct otlp *o, const struct traceline *line)
{
	uint64_t wall, ns;

	if (line->time.p && wall_read(line->time, &wall) && !traceline_time(line, &ns))
		o->offset = wall - ns;
}

/* FNV-1a, and then a product, so that all bits depend on all bytes. */
static uint64_t hash(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = 0xcbf29ce484222325 ^ seed;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

/* What identifies an object is its source, its type, its address and the time; an id of zeros is invalid. */
static uint64_t id_of(struct otlp *o, const struct span *s, uint64_t seed)
{
	const struct spans *spans = o->print->spans;
	struct out id = {.fd = OUT_MEMORY};
	uint64_t number;

	if (s->source != MAP_NONE)
		out_slice(&id, spans->sources.all[s->source]);
	out_char(&id, 0);
	spans_write_id(&id, spans, s);
	out_bytes(&id, (const char *)&s->value, sizeof(s->value));
	out_bytes(&id, (const char *)&s->tsc, sizeof(s->tsc));
	number = hash(seed, id.buf, id.len);
	out_close(&id);
	return number ? number : 1;
}

static void write_value(struct out *out, struct slice json);

static void write_text(struct out *out, struct slice raw)
{
	out_text(out, "{\"stringValue\":\"");
	out_slice(out, raw);
	out_text(out, "\"}");
}

/* Integers are of 64 bits with a sign, and written as strings. */
static void write_number(struct out *out, struct slice json)
{
	uint64_t number;

	if (!number_decimal(json, &number)) {
		out_text(out, "{\"doubleValue\":");
		out_slice(out, json);
		out_char(out, '}');
	} else if (number > INT64_MAX) {
		write_text(out, json);
	} else {
		out_printf(out, "{\"intValue\":\"%" PRIu64 "\"}", number);
	}
}

static void write_array(struct out *out, struct slice json)
{
	const char *separator = "";
	struct slice value;
	struct json j;

	out_text(out, "{\"arrayValue\":{\"values\":[");
	json_init(&j, json.p, json.n);
	for (json_array(&j); json_element(&j) && json_value(&j, &value); separator = ",") {
		out_text(out, separator);
		write_value(out, value);
	}
	out_text(out, "]}}");
}

static void write_map(struct out *out, struct slice json)
{
	const char *separator = "";
	struct slice key, value;
	struct json j;

	out_text(out, "{\"kvlistValue\":{\"values\":[");
	json_init(&j, json.p, json.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value); separator = ",") {
		out_text(out, separator);
		out_text(out, "{\"key\":\"");
		out_slice(out, key);
		out_text(out, "\",\"value\":");
		write_value(out, value);
		out_char(out, '}');
	}
	out_text(out, "]}}");
}

/* An AnyValue. Of null, it is empty. */
static void write_value(struct out *out, struct slice json)
{
	switch (*json.p) {
	case '"':
		write_text(out, json_unquoted(json));
		break;
	case '[':
		write_array(out, json);
		break;
	case '{':
		write_map(out, json);
		break;
	case 't':
	case 'f':
		out_text(out, "{\"boolValue\":");
		out_slice(out, json);
		out_char(out, '}');
		break;
	case 'n':
		out_text(out, "{}");
		break;
	default:
		write_number(out, json);
	}
}

static void put_attribute(struct out *out, struct slice name, struct slice json)
{
	out_text(out, out->buf[out->len - 1] == '[' ? "{\"key\":\"" : ",{\"key\":\"");
	out_slice(out, name);
	out_text(out, "\",\"value\":");
	write_value(out, json);
	out_char(out, '}');
}

/* The attribute o->name; of an object, one for each of its keys. */
static void put_members(struct otlp *o, struct out *out, struct slice json)
{
	size_t n = o->name.len;
	struct slice key, value;
	struct json j;

	if (*json.p != '{') {
		put_attribute(out, out_contents(&o->name), json);
		return;
	}
	json_init(&j, json.p, json.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value); o->name.len = n) {
		out_char(&o->name, '.');
		out_slice(&o->name, key);
		put_members(o, out, value);
	}
}

/* Conventions have names for some facts: these as well. */
static void put_conventions(struct otlp *o, struct out *out, const struct span *s, bool failed)
{
	struct slice path = slice_of("lcore"), value;

	print_value(o->print, s, &path, &value);
	put_attribute(out, slice_of("cpu.logical_number"), value);
	path = slice_of("status");
	if (failed && print_value(o->print, s, &path, &value))
		put_attribute(out, slice_of("error.type"), value);
}

static void write_attributes(struct otlp *o, struct out *out, const struct span *s, bool failed)
{
	out_text(out, ",\"attributes\":[");
	put_conventions(o, out, s, failed);
	for (size_t i = 0; i < COUNT(keys); i++) {
		struct slice path = slice_of(keys[i]), value;

		if (!print_value(o->print, s, &path, &value))
			continue;
		o->name.len = 0;
		out_text(&o->name, "spdk.");
		out_text(&o->name, keys[i]);
		put_members(o, out, value);
	}
	out_char(out, ']');
}

static void write_events(struct otlp *o, struct out *out, const struct span *s)
{
	out_text(out, ",\"events\":[");
	for (size_t i = 0; i < s->n; i++) {
		out_printf(out, "%s{\"timeUnixNano\":\"%" PRIu64 "\",\"name\":\"", i ? "," : "",
			   s->states[i].ns + o->offset);
		out_slice(out, o->print->spans->states->all[s->states[i].state]);
		out_text(out, "\"}");
	}
	out_char(out, ']');
}

/* What a host sent is of a family that is no driver's. Where its start is missing, only a request is passed on. */
static int kind_of(const struct otlp *o, const struct span *s)
{
	const struct spans *spans = o->print->spans;
	bool is_known = !s->cut;

	for (size_t i = 0; i < s->n; i++) {
		const struct spdk_tpoint *tpoint = spdk_tpoint(spans->states->all[s->states[i].state]);

		if (tpoint->kind == SPDK_NVME_COMMAND)
			return KIND_CLIENT;
		is_known |= tpoint->passes_on;
	}
	if (s->has_parent || !is_known || s->type >= spans->types->n)
		return KIND_INTERNAL;
	return lifecycle_family(spans->types->all[s->type]).n ? KIND_SERVER : KIND_INTERNAL;
}

/* The state in which it starts, and the type of I/O. */
static void write_name(struct otlp *o, struct out *out, const struct span *s)
{
	struct slice path = slice_of("type"), type;

	out_text(out, ",\"name\":\"");
	out_slice(out, o->print->spans->states->all[s->states[0].state]);
	if (print_value(o->print, s, &path, &type)) {
		out_char(out, ' ');
		out_slice(out, json_unquoted(type));
	}
	out_char(out, '"');
}

static bool has_failed(struct otlp *o, const struct span *s)
{
	struct slice path = slice_of("status"), status;

	return print_value(o->print, s, &path, &status) && !slice_is(json_unquoted(status), "success");
}

static void write_span(struct otlp *o, struct out *out, const struct span *root, const struct span *s)
{
	const struct spans *spans = o->print->spans;
	uint64_t end = spans_until(spans, s), life = spans_life(spans, s);
	/* it may have been created before the lines start */
	uint64_t start = o->offset || end > life ? end - life : 0;
	bool failed;

	print_measure(o->print, s);
	failed = has_failed(o, s);
	out_printf(out, "{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\"",
		   id_of(o, root, 1), id_of(o, root, 2), id_of(o, s, 3));
	if (s != root)
		out_printf(out, ",\"parentSpanId\":\"%016" PRIx64 "\"", id_of(o, s->parent, 3));
	write_name(o, out, s);
	out_printf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
		   kind_of(o, s), start + o->offset, end + o->offset);
	write_attributes(o, out, s, failed);
	write_events(o, out, s);
	if (failed)
		out_printf(out, ",\"status\":{\"code\":%d}", STATUS_ERROR);
	out_char(out, '}');
}

static void write_tree(struct otlp *o, struct out *out, const struct span *root, const struct span *s)
{
	if (s != root)
		out_char(out, ',');
	write_span(o, out, root, s);
	for (const struct span *child = s->child; child; child = child->next)
		write_tree(o, out, root, child);
}

void otlp_write(struct otlp *o, struct out *out, const struct span *root)
{
	const struct spans *spans = o->print->spans;
	struct slice service = root->source == MAP_NONE ? slice_of("SPDK") : spans->sources.all[root->source];

	o->name.fd = OUT_MEMORY;
	out_text(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":");
	write_text(out, service);
	out_text(out,
		 "}]},\"scopeSpans\":[{\"scope\":{\"name\":\"trace-spans\",\"version\":\"" VERSION "\"},\"spans\":[");
	write_tree(o, out, root, root);
	out_text(out, "]}]}]}\n");
}

void otlp_free(struct otlp *o)
{
	out_close(&o->name);
}
