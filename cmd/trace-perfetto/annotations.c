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

static void clear(void *annotations)
{
	struct annotations *a = annotations;

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
	a->uses = mem_room(a->uses, a->n, &a->cap);
	a->uses[a->n++] = kind * ANNOTATIONS_MAX + number;
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

static void open_object(void *annotations, enum annotation name)
{
	struct annotations *a = annotations;

	a->object = open_annotation(a, a->key, name);
	a->key = MEMBER_KEY;
}

static void close_object(void *annotations)
{
	struct annotations *a = annotations;

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

static void put_flag(void *annotations, enum annotation name)
{
	struct annotations *a = annotations;

	put_short(a, a->key, name, DEBUG_BOOL, true);
}

static void put_uint(void *annotations, enum annotation name, uint64_t value)
{
	struct annotations *a = annotations;

	put_short(a, a->key, name, DEBUG_UINT, value);
}

static void put_pointer(void *annotations, enum annotation name, uint64_t value)
{
	struct annotations *a = annotations;

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

static void put_text(void *annotations, enum annotation name, struct slice text, bool once)
{
	struct annotations *a = annotations;
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

static void put_json(void *annotations, enum annotation name, struct slice value)
{
	struct annotations *a = annotations;
	size_t start = open_annotation(a, a->key, name);

	put_value(a, value, LEVELS);
	proto_close(&a->bytes, start);
}

static void put_args(void *annotations, const struct traceline *line, uint64_t repeated)
{
	size_t i = writer_next_arg(line, repeated, 0);

	if (i == line->num_args)
		return;
	open_object(annotations, ANNOTATION_ARGS);
	for (; i < line->num_args; i = writer_next_arg(line, repeated, i + 1))
		put_member(annotations, line->args[i].key, line->args[i].value, LEVELS - 1);
	close_object(annotations);
}

/* The header of stored annotations. Their uses follow, then their bytes. */
struct stored {
	uint64_t bits[ANNOTATIONS_KINDS];
	size_t n;
};

static size_t size(const void *annotations)
{
	const struct annotations *a = annotations;
	size_t bytes = a->bytes.len;

	return bytes ? sizeof(struct stored) + a->n * sizeof(*a->uses) + bytes : 0;
}

static void store(const void *annotations, struct out *kept)
{
	const struct annotations *a = annotations;
	struct stored header = {.n = a->n};

	memcpy(header.bits, a->bits, sizeof(header.bits));
	out_bytes(kept, &header, sizeof(header));
	out_bytes(kept, a->uses, a->n * sizeof(*a->uses));
	out_slice(kept, out_contents(&a->bytes));
}

static void load(void *annotations, struct slice stored)
{
	struct annotations *a = annotations;
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

void annotations_start(struct writer *w, struct annotations *a)
{
	a->bytes.fd = OUT_MEMORY;
	for (enum annotation name = 0; name < ANNOTATIONS; name++)
		intern_add(&a->known[ANNOTATIONS_NAMES], slice_of(writer_name(name)));
	clear(a);
	w->annotations = a;
	w->clear = clear;
	w->flag = put_flag;
	w->uint = put_uint;
	w->pointer = put_pointer;
	w->text = put_text;
	w->value = put_json;
	w->args = put_args;
	w->open = open_object;
	w->close = close_object;
	w->size = size;
	w->store = store;
	w->load = load;
}

void annotations_free(struct annotations *a)
{
	for (unsigned i = 0; i < ANNOTATIONS_KINDS; i++)
		intern_free(&a->known[i]);
	out_close(&a->bytes);
	free(a->uses);
}
