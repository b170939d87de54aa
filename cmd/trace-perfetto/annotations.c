/* SPDX-License-Identifier: BSD-3-Clause */
#include "annotations.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "proto.h"

enum {
	LONG_TEXT = 255, /* a longer one is not interned */
	LEVELS = 2,      /* of objects in an annotation: the arguments, and one that trace-join annotated */
};

/* Keys of an event's annotations, and of the members of one that is an object. */
enum { TOP_KEY = EVENT_DEBUG_ANNOTATIONS << 3 | WIRE_LEN, MEMBER_KEY = DEBUG_DICT_ENTRIES << 3 | WIRE_LEN };

void annotations_clear(struct annotations *a)
{
	a->bytes.len = a->n = 0;
	a->key = TOP_KEY;
	memset(a->bits, 0, sizeof(a->bits));
}

/* The number of a text; MAP_NONE if it gets no number. */
static uint32_t number_of(struct annotations *a, enum annotations_kind kind, struct slice text)
{
	return text.n > LONG_TEXT ? MAP_NONE : intern_add_below(&a->known[kind], text, ANNOTATIONS_MAX);
}

static inline void use(struct annotations *a, enum annotations_kind kind, uint32_t number)
{
	if (number < ANNOTATIONS_BITS) {
		a->bits[kind] |= 1ULL << number;
		return;
	}
	mem_add(a->uses, a->n, a->cap, kind * ANNOTATIONS_MAX + number);
}

/* Most annotations are short: at most this many bytes, so the length takes one. They are written in one piece. */
enum { SHORT = 100 };

/* Starts a short annotation at `start`; the name is a number. */
static inline char *short_open(struct annotations *a, char *start, char key, uint32_t name)
{
	use(a, ANNOTATIONS_NAMES, name);
	start[0] = key;
	start[1] = 0;
	return proto_put(start + 2, DEBUG_NAME_IID, name + 1);
}

/* Starts an annotation, to be ended by proto_close(). */
static size_t open_annotation(struct annotations *a, char key, uint32_t name)
{
	char *to = short_open(a, out_room(&a->bytes, SHORT), key, name);
	size_t start = a->bytes.len + 2;

	out_commit(&a->bytes, to);
	return start;
}

void annotations_open(struct annotations *a, enum annotation name)
{
	a->object = open_annotation(a, a->key, name);
	a->key = MEMBER_KEY;
}

void annotations_close(struct annotations *a)
{
	proto_close(&a->bytes, a->object);
	a->key = TOP_KEY;
}

/* field: of the value. */
static inline void put_short(struct annotations *a, char key, uint32_t name, unsigned field, uint64_t value)
{
	char *start = out_room(&a->bytes, SHORT);
	char *to = proto_put(short_open(a, start, key, name), field, value);

	start[1] = (char)(to - start - 2);
	out_commit(&a->bytes, to);
}

void annotations_flag(struct annotations *a, enum annotation name)
{
	put_short(a, a->key, name, DEBUG_BOOL, true);
}

void annotations_uint(struct annotations *a, enum annotation name, uint64_t value)
{
	put_short(a, a->key, name, DEBUG_UINT, value);
}

void annotations_pointer(struct annotations *a, enum annotation name, uint64_t value)
{
	put_short(a, a->key, name, DEBUG_POINTER, value);
}

static void put_string(struct annotations *a, struct slice text)
{
	uint32_t number = number_of(a, ANNOTATIONS_STRINGS, text);

	if (number == MAP_NONE) {
		proto_string(&a->bytes, DEBUG_STRING, text);
		return;
	}
	use(a, ANNOTATIONS_STRINGS, number);
	proto_uint(&a->bytes, DEBUG_STRING_IID, number + 1);
}

void annotations_text(struct annotations *a, enum annotation name, struct slice text, bool once)
{
	uint32_t number;
	size_t start;

	if (!text.p)
		return;
	number = once ? MAP_NONE : number_of(a, ANNOTATIONS_STRINGS, text);
	if (number != MAP_NONE) {
		use(a, ANNOTATIONS_STRINGS, number);
		put_short(a, a->key, name, DEBUG_STRING_IID, number + 1);
		return;
	}
	start = open_annotation(a, a->key, name);
	proto_string(&a->bytes, DEBUG_STRING, text);
	proto_close(&a->bytes, start);
}

static void put_real(struct out *out, struct slice value)
{
	/* whatever follows a number in JSON ends it for strtod() as well */
	double real = strtod(value.p, NULL);
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	proto_fixed64(out, DEBUG_DOUBLE, bits);
}

/* Reads an integer or an address. *field: the one that it is written in. */
static inline bool is_integer(struct slice value, unsigned *field, uint64_t *number)
{
	*field = value.p[0] == '"' ? DEBUG_POINTER : DEBUG_UINT;
	return traceline_number(value, number);
}

static void put_object(struct annotations *a, struct slice object, unsigned levels);

static void put_value(struct annotations *a, struct slice value, unsigned levels)
{
	struct out *out = &a->bytes;
	uint64_t number;
	unsigned field;

	if (is_integer(value, &field, &number))
		proto_uint(out, field, number);
	else if (value.p[0] == '{' && levels)
		put_object(a, value, levels - 1);
	else if (value.p[0] == '{' || value.p[0] == '[')
		proto_text(out, DEBUG_STRING, value);
	else if (value.p[0] == '"')
		put_string(a, slice_between(value.p + 1, value.p + value.n - 1));
	else if (value.p[0] == 't' || value.p[0] == 'f')
		proto_uint(out, DEBUG_BOOL, value.p[0] == 't');
	else if (value.p[0] == 'n')
		proto_bytes(out, DEBUG_STRING, value);
	else
		put_real(out, value);
}

static void put_member(struct annotations *a, struct slice name, struct slice value, unsigned levels)
{
	uint32_t number = number_of(a, ANNOTATIONS_NAMES, name);
	uint64_t integer;
	unsigned field;
	size_t start;

	if (number != MAP_NONE && is_integer(value, &field, &integer)) {
		put_short(a, MEMBER_KEY, number, field, integer);
		return;
	}
	if (number != MAP_NONE) {
		start = open_annotation(a, MEMBER_KEY, number);
	} else {
		start = proto_open(&a->bytes, DEBUG_DICT_ENTRIES);
		proto_string(&a->bytes, DEBUG_NAME, name);
	}
	put_value(a, value, levels);
	proto_close(&a->bytes, start);
}

static void put_object(struct annotations *a, struct slice object, unsigned levels)
{
	struct slice name, value;
	struct json j;

	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &name) && json_value(&j, &value);)
		put_member(a, name, value, levels);
}

void annotations_value(struct annotations *a, enum annotation name, struct slice value)
{
	size_t start = open_annotation(a, a->key, name);

	put_value(a, value, LEVELS);
	proto_close(&a->bytes, start);
}

/* The next argument to write at i or later; num_args: none. */
static size_t next_arg(const struct traceline *line, uint64_t repeated, size_t i)
{
	while (i < line->num_args && i < ANNOTATIONS_REPEATED && repeated >> i & 1)
		i++;
	return i;
}

void annotations_args(struct annotations *a, const struct traceline *line, uint64_t repeated)
{
	size_t i = next_arg(line, repeated, 0);

	if (i == line->num_args)
		return;
	annotations_open(a, ANNOTATION_ARGS);
	for (; i < line->num_args; i = next_arg(line, repeated, i + 1))
		put_member(a, line->args[i].key, line->args[i].value, LEVELS - 1);
	annotations_close(a);
}

/* The header of stored annotations. Their uses follow, then their bytes. */
struct stored {
	uint64_t bits[ANNOTATIONS_KINDS];
	size_t n;
};

size_t annotations_size(const struct annotations *a)
{
	size_t bytes = a->bytes.len;

	return bytes ? sizeof(struct stored) + a->n * sizeof(*a->uses) + bytes : 0;
}

void annotations_store(const struct annotations *a, struct out *kept)
{
	struct stored header = {.n = a->n};

	memcpy(header.bits, a->bits, sizeof(header.bits));
	out_bytes(kept, &header, sizeof(header));
	out_bytes(kept, a->uses, a->n * sizeof(*a->uses));
	out_slice(kept, out_contents(&a->bytes));
}

void annotations_load(struct annotations *a, struct slice stored)
{
	struct stored header;

	memcpy(&header, slice_cut(&stored, sizeof(header)).p, sizeof(header));
	for (unsigned kind = 0; kind < ANNOTATIONS_KINDS; kind++)
		a->bits[kind] |= header.bits[kind];
	for (size_t i = 0; i < header.n; i++) {
		a->uses = mem_room(a->uses, a->n, &a->cap);
		memcpy(&a->uses[a->n++], slice_cut(&stored, sizeof(*a->uses)).p, sizeof(*a->uses));
	}
	out_slice(&a->bytes, stored);
}

void annotations_start(struct annotations *a)
{
	static const char *const names[ANNOTATION_IO_KEY] = {
		[ANNOTATION_ID] = "id",           [ANNOTATION_VALUE] = "value",   [ANNOTATION_TSC] = "tsc",
		[ANNOTATION_RELATED] = "related", [ANNOTATION_POLLER] = "poller", [ANNOTATION_OWNER] = "owner",
		[ANNOTATION_SIZE] = "size",       [ANNOTATION_LCORE] = "lcore",   [ANNOTATION_OPEN] = "open",
		[ANNOTATION_CUT] = "cut",         [ANNOTATION_TORN] = "torn",     [ANNOTATION_IO] = "io",
		[ANNOTATION_ARGS] = "args",       [ANNOTATION_LOST] = "lost",
	};

	a->bytes.fd = OUT_MEMORY;
	for (enum annotation i = 0; i < ANNOTATIONS; i++)
		intern_add(&a->known[ANNOTATIONS_NAMES],
			   slice_of(i < ANNOTATION_IO_KEY ? names[i] : request_io_keys[i - ANNOTATION_IO_KEY]));
	annotations_clear(a);
}

void annotations_free(struct annotations *a)
{
	for (unsigned i = 0; i < ANNOTATIONS_KINDS; i++)
		intern_free(&a->known[i]);
	out_close(&a->bytes);
	free(a->uses);
}
