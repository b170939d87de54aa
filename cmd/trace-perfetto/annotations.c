/* SPDX-License-Identifier: BSD-3-Clause */
#include "annotations.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "proto.h"

enum {
	LONG_TEXT = 255, /* a longer one is not interned */
	LEVELS = 2,      /* of objects in a note: the arguments, and one that trace-join annotated */
};

/* Keys of an event's notes, and of the members of one that is an object. */
enum { NOTE_KEY = EVENT_DEBUG_ANNOTATIONS << 3 | WIRE_LEN, MEMBER_KEY = ANNOTATION_DICT_ENTRIES << 3 | WIRE_LEN };

void annotations_start(struct notes *notes)
{
	notes->bytes.fd = OUT_MEMORY;
	for (enum note note = 0; note < NOTES; note++)
		intern_add(&notes->known[NOTES_NAMES], slice_of(note_name(note)));
	notes_clear(notes);
}

void notes_clear(struct notes *notes)
{
	notes->bytes.len = notes->n = 0;
	notes->key = NOTE_KEY;
	memset(notes->bits, 0, sizeof(notes->bits));
}

/* The number of a text; MAP_NONE if it gets no number. */
static uint32_t number_of(struct notes *notes, enum notes_kind kind, struct slice text)
{
	return text.n > LONG_TEXT ? MAP_NONE : intern_add_below(&notes->known[kind], text, NOTES_MAX);
}

static inline void use(struct notes *notes, enum notes_kind kind, uint32_t number)
{
	if (number < NOTES_BITS) {
		notes->bits[kind] |= 1ULL << number;
		return;
	}
	notes->uses = mem_room(notes->uses, notes->n, &notes->cap);
	notes->uses[notes->n++] = kind * NOTES_MAX + number;
}

/* Most notes are short: they are written in one piece of at most this many bytes, so the length takes one byte. */
enum { SHORT_NOTE = 100 };

/* Starts a short note at `start`; the name is a number. */
static inline char *short_open(struct notes *notes, char *start, char key, uint32_t name)
{
	use(notes, NOTES_NAMES, name);
	start[0] = key;
	start[1] = 0;
	return proto_put(start + 2, ANNOTATION_NAME_IID, name + 1);
}

/* Starts a note, to be ended by proto_close(). */
static size_t open_note(struct notes *notes, char key, uint32_t name)
{
	char *to = short_open(notes, out_room(&notes->bytes, SHORT_NOTE), key, name);
	size_t start = notes->bytes.len + 2;

	out_commit(&notes->bytes, to);
	return start;
}

size_t notes_open(struct notes *notes, enum note name)
{
	size_t start = open_note(notes, notes->key, name);

	notes->key = MEMBER_KEY;
	return start;
}

void notes_close(struct notes *notes, size_t start)
{
	proto_close(&notes->bytes, start);
	notes->key = NOTE_KEY;
}

/* field: of the value. */
static inline void put_short(struct notes *notes, char key, uint32_t name, unsigned field, uint64_t value)
{
	char *start = out_room(&notes->bytes, SHORT_NOTE);
	char *to = proto_put(short_open(notes, start, key, name), field, value);

	start[1] = (char)(to - start - 2);
	out_commit(&notes->bytes, to);
}

void notes_flag(struct notes *notes, enum note name)
{
	put_short(notes, notes->key, name, ANNOTATION_BOOL, true);
}

void notes_uint(struct notes *notes, enum note name, uint64_t value)
{
	put_short(notes, notes->key, name, ANNOTATION_UINT, value);
}

void notes_pointer(struct notes *notes, enum note name, uint64_t value)
{
	put_short(notes, notes->key, name, ANNOTATION_POINTER, value);
}

static void put_string(struct notes *notes, struct slice text)
{
	uint32_t number = number_of(notes, NOTES_STRINGS, text);

	if (number == MAP_NONE) {
		proto_string(&notes->bytes, ANNOTATION_STRING, text);
		return;
	}
	use(notes, NOTES_STRINGS, number);
	proto_uint(&notes->bytes, ANNOTATION_STRING_IID, number + 1);
}

void notes_text(struct notes *notes, enum note name, struct slice text, bool once)
{
	uint32_t number;
	size_t start;

	if (!text.p)
		return;
	number = once ? MAP_NONE : number_of(notes, NOTES_STRINGS, text);
	if (number != MAP_NONE) {
		use(notes, NOTES_STRINGS, number);
		put_short(notes, notes->key, name, ANNOTATION_STRING_IID, number + 1);
		return;
	}
	start = open_note(notes, notes->key, name);
	proto_string(&notes->bytes, ANNOTATION_STRING, text);
	proto_close(&notes->bytes, start);
}

static void put_real(struct out *out, struct slice value)
{
	/* whatever follows a number in JSON ends it for strtod() as well */
	double real = strtod(value.p, NULL);
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	proto_fixed64(out, ANNOTATION_DOUBLE, bits);
}

/* Reads an integer or an address. *field: the one that it is written in. */
static inline bool is_integer(struct slice value, unsigned *field, uint64_t *number)
{
	*field = value.p[0] == '"' ? ANNOTATION_POINTER : ANNOTATION_UINT;
	return traceline_number(value, number);
}

static void put_object(struct notes *notes, struct slice object, unsigned levels);

static void put_value(struct notes *notes, struct slice value, unsigned levels)
{
	struct out *out = &notes->bytes;
	uint64_t number;
	unsigned field;

	if (is_integer(value, &field, &number))
		proto_uint(out, field, number);
	else if (value.p[0] == '{' && levels)
		put_object(notes, value, levels - 1);
	else if (value.p[0] == '{' || value.p[0] == '[')
		proto_text(out, ANNOTATION_STRING, value);
	else if (value.p[0] == '"')
		put_string(notes, slice_between(value.p + 1, value.p + value.n - 1));
	else if (value.p[0] == 't' || value.p[0] == 'f')
		proto_uint(out, ANNOTATION_BOOL, value.p[0] == 't');
	else if (value.p[0] == 'n')
		proto_bytes(out, ANNOTATION_STRING, value);
	else
		put_real(out, value);
}

static void put_member(struct notes *notes, struct slice name, struct slice value, unsigned levels)
{
	uint32_t number = number_of(notes, NOTES_NAMES, name);
	uint64_t integer;
	unsigned field;
	size_t start;

	if (number != MAP_NONE && is_integer(value, &field, &integer)) {
		put_short(notes, MEMBER_KEY, number, field, integer);
		return;
	}
	if (number != MAP_NONE) {
		start = open_note(notes, MEMBER_KEY, number);
	} else {
		start = proto_open(&notes->bytes, ANNOTATION_DICT_ENTRIES);
		proto_string(&notes->bytes, ANNOTATION_NAME, name);
	}
	put_value(notes, value, levels);
	proto_close(&notes->bytes, start);
}

static void put_object(struct notes *notes, struct slice object, unsigned levels)
{
	struct slice name, value;
	struct json j;

	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &name) && json_value(&j, &value);)
		put_member(notes, name, value, levels);
}

void notes_value(struct notes *notes, enum note name, struct slice value)
{
	size_t start = open_note(notes, notes->key, name);

	put_value(notes, value, LEVELS);
	proto_close(&notes->bytes, start);
}

void notes_args(struct notes *notes, const struct traceline *line, uint64_t repeated)
{
	size_t i = notes_next_arg(line, repeated, 0), start;

	if (i == line->num_args)
		return;
	start = notes_open(notes, NOTE_ARGS);
	for (; i < line->num_args; i = notes_next_arg(line, repeated, i + 1))
		put_member(notes, line->args[i].key, line->args[i].value, LEVELS - 1);
	notes_close(notes, start);
}

/* The header of stored notes. Their uses follow, then their bytes. */
struct stored {
	uint64_t bits[NOTES_KINDS];
	size_t n;
};

size_t notes_size(const struct notes *notes)
{
	size_t bytes = notes->bytes.len;

	return bytes ? sizeof(struct stored) + notes->n * sizeof(*notes->uses) + bytes : 0;
}

void notes_store(const struct notes *notes, struct out *kept)
{
	struct stored header = {.n = notes->n};

	memcpy(header.bits, notes->bits, sizeof(header.bits));
	out_bytes(kept, &header, sizeof(header));
	out_bytes(kept, notes->uses, notes->n * sizeof(*notes->uses));
	out_slice(kept, out_contents(&notes->bytes));
}

void notes_load(struct notes *notes, struct slice stored)
{
	struct stored header;

	memcpy(&header, slice_cut(&stored, sizeof(header)).p, sizeof(header));
	for (unsigned kind = 0; kind < NOTES_KINDS; kind++)
		notes->bits[kind] |= header.bits[kind];
	for (size_t i = 0; i < header.n; i++) {
		notes->uses = mem_room(notes->uses, notes->n, &notes->cap);
		memcpy(&notes->uses[notes->n++], slice_cut(&stored, sizeof(*notes->uses)).p, sizeof(*notes->uses));
	}
	out_slice(&notes->bytes, stored);
}

void annotations_free(struct notes *notes)
{
	for (unsigned i = 0; i < NOTES_KINDS; i++)
		intern_free(&notes->known[i]);
	out_close(&notes->bytes);
	free(notes->uses);
}
