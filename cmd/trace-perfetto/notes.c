/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "proto.h"

enum {
	LONG_TEXT = 255, /* a longer one is not interned */
	LEVELS = 2,      /* of objects in a note: the arguments, and one that trace-join annotated */
};

static const char *const names[NOTE_LIFT] = {
	[NOTE_ID] = "id",         [NOTE_VALUE] = "value", [NOTE_TSC] = "tsc",   [NOTE_RELATED] = "related",
	[NOTE_POLLER] = "poller", [NOTE_OWNER] = "owner", [NOTE_SIZE] = "size", [NOTE_LCORE] = "lcore",
	[NOTE_OPEN] = "open",     [NOTE_CUT] = "cut",     [NOTE_TORN] = "torn", [NOTE_IO] = "io",
	[NOTE_ARGS] = "args",
};

void notes_start(struct notes *notes)
{
	notes->bytes.fd = OUT_MEMORY;
	for (unsigned i = 0; i < NOTES; i++)
		intern_add(&notes->known[NOTES_NAMES], slice_of(i < NOTE_LIFT ? names[i] : lift_keys[i - NOTE_LIFT]));
}

void notes_clear(struct notes *notes)
{
	notes->bytes.len = notes->n = 0;
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
static inline char *short_open(struct notes *notes, char *start, unsigned field, uint32_t name)
{
	use(notes, NOTES_NAMES, name);
	*proto_put_key(start, field, WIRE_LEN) = 0;
	return proto_put(start + 2, ANNOTATION_NAME_IID, name + 1);
}

static inline void short_close(struct notes *notes, char *start, char *to)
{
	start[1] = (char)(to - start - 2);
	out_commit(&notes->bytes, to);
}

size_t notes_open(struct notes *notes, enum note name)
{
	char *to = short_open(notes, out_room(&notes->bytes, SHORT_NOTE), EVENT_DEBUG_ANNOTATIONS, name);
	size_t start = notes->bytes.len + 2;

	out_commit(&notes->bytes, to);
	return start;
}

void notes_close(struct notes *notes, size_t start)
{
	proto_close(&notes->bytes, start);
}

static inline void put_short(struct notes *notes, enum note name, unsigned field, uint64_t value)
{
	char *start = out_room(&notes->bytes, SHORT_NOTE);
	char *to = short_open(notes, start, EVENT_DEBUG_ANNOTATIONS, name);

	short_close(notes, start, proto_put(to, field, value));
}

void notes_flag(struct notes *notes, enum note name)
{
	put_short(notes, name, ANNOTATION_BOOL, true);
}

void notes_uint(struct notes *notes, enum note name, uint64_t value)
{
	put_short(notes, name, ANNOTATION_UINT, value);
}

void notes_pointer(struct notes *notes, enum note name, uint64_t value)
{
	put_short(notes, name, ANNOTATION_POINTER, value);
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
		put_short(notes, name, ANNOTATION_STRING_IID, number + 1);
		return;
	}
	start = notes_open(notes, name);
	proto_string(&notes->bytes, ANNOTATION_STRING, text);
	notes_close(notes, start);
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

/* A member whose name has a number. */
static void put_integer(struct notes *notes, uint32_t number, unsigned field, uint64_t integer)
{
	char *start = out_room(&notes->bytes, SHORT_NOTE);
	char *to = short_open(notes, start, ANNOTATION_DICT_ENTRIES, number);

	short_close(notes, start, proto_put(to, field, integer));
}

/* number: of the name, or MAP_NONE. */
static void put_member(struct notes *notes, uint32_t number, struct slice name, struct slice value, unsigned levels)
{
	uint64_t integer;
	unsigned field;
	size_t start;

	if (number != MAP_NONE && is_integer(value, &field, &integer)) {
		put_integer(notes, number, field, integer);
		return;
	}
	start = proto_open(&notes->bytes, ANNOTATION_DICT_ENTRIES);
	if (number == MAP_NONE) {
		proto_string(&notes->bytes, ANNOTATION_NAME, name);
	} else {
		use(notes, NOTES_NAMES, number);
		proto_uint(&notes->bytes, ANNOTATION_NAME_IID, number + 1);
	}
	put_value(notes, value, levels);
	notes_close(notes, start);
}

static void put_object(struct notes *notes, struct slice object, unsigned levels)
{
	struct slice name, value;
	struct json j;

	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &name) && json_value(&j, &value);)
		put_member(notes, number_of(notes, NOTES_NAMES, name), name, value, levels);
}

void notes_value(struct notes *notes, enum note name, struct slice value)
{
	size_t start = notes_open(notes, name);

	put_value(notes, value, LEVELS);
	notes_close(notes, start);
}

void notes_member(struct notes *notes, enum note name, struct slice value)
{
	put_member(notes, name, (struct slice){}, value, 0);
}

void notes_member_uint(struct notes *notes, enum note name, uint64_t value)
{
	put_integer(notes, name, ANNOTATION_UINT, value);
}

void notes_args(struct notes *notes, const struct traceline *line, size_t from)
{
	size_t start;

	if (from == line->num_args)
		return;
	start = notes_open(notes, NOTE_ARGS);
	for (size_t i = from; i < line->num_args; i++)
		put_member(notes, number_of(notes, NOTES_NAMES, line->args[i].key), line->args[i].key,
			   line->args[i].value, LEVELS - 1);
	notes_close(notes, start);
}

struct notes_list notes_list(const struct notes *notes)
{
	struct notes_list list = {.bytes = out_contents(&notes->bytes), .uses = notes->uses, .n = notes->n};

	memcpy(list.bits, notes->bits, sizeof(list.bits));
	return list;
}

/* The header of a stored list. Its uses and bytes follow, then padding to an even offset. */
struct kept {
	uint64_t bits[NOTES_KINDS];
	uint32_t event, uses, bytes;
};

void notes_store(const struct notes *notes, struct out *kept, uint32_t event)
{
	struct kept parts = {.event = event, .uses = notes->n, .bytes = notes->bytes.len};

	if (!parts.bytes)
		return;
	memcpy(parts.bits, notes->bits, sizeof(parts.bits));
	out_bytes(kept, &parts, sizeof(parts));
	out_bytes(kept, notes->uses, notes->n * sizeof(*notes->uses));
	out_slice(kept, out_contents(&notes->bytes));
	if (kept->len % sizeof(*notes->uses))
		out_char(kept, 0);
}

struct notes_list notes_load(struct slice *rest, uint32_t event)
{
	struct notes_list list = {};
	struct kept parts;

	if (!rest->n)
		return list;
	memcpy(&parts, rest->p, sizeof(parts));
	if (parts.event != event)
		return list;
	slice_cut(rest, sizeof(parts));
	memcpy(list.bits, parts.bits, sizeof(list.bits));
	list.n = parts.uses;
	list.uses = (const uint16_t *)slice_cut(rest, list.n * sizeof(*list.uses)).p;
	list.bytes = slice_cut(rest, parts.bytes);
	slice_cut(rest, rest->n % sizeof(*list.uses));
	return list;
}

void notes_free(struct notes *notes)
{
	for (unsigned i = 0; i < NOTES_KINDS; i++)
		intern_free(&notes->known[i]);
	out_close(&notes->bytes);
	free(notes->uses);
}
