/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "proto.h"

enum {
	LONG_TEXT = 255, /* a longer one gets no number */
	LEVELS = 2,      /* of objects in a note: the arguments, and what trace-join makes of one */
};

static const char *const names[NOTES] = {
	[NOTE_ID] = "id",         [NOTE_VALUE] = "value", [NOTE_TSC] = "tsc",   [NOTE_RELATED] = "related",
	[NOTE_POLLER] = "poller", [NOTE_OWNER] = "owner", [NOTE_SIZE] = "size", [NOTE_LCORE] = "lcore",
	[NOTE_OPEN] = "open",     [NOTE_CUT] = "cut",     [NOTE_TORN] = "torn", [NOTE_IO] = "io",
	[NOTE_ARGS] = "args",
};

void notes_start(struct notes *notes)
{
	notes->bytes.fd = OUT_MEMORY;
	for (unsigned i = 0; i < NOTES; i++)
		intern_add(&notes->known[NOTES_NAMES], slice_of(names[i]));
}

void notes_clear(struct notes *notes)
{
	notes->bytes.len = notes->n = 0;
}

/* The number of a text; MAP_NONE: it has none. */
static uint32_t number_of(struct notes *notes, enum notes_kind kind, struct slice text)
{
	return text.n > LONG_TEXT ? MAP_NONE : intern_add_below(&notes->known[kind], text, NOTES_MAX);
}

/* Writes a number that readers look up. */
static void put_number(struct notes *notes, unsigned field, enum notes_kind kind, uint32_t number)
{
	notes->uses = mem_room(notes->uses, notes->n, &notes->cap);
	notes->uses[notes->n++] = kind * NOTES_MAX + number;
	proto_uint(&notes->bytes, field, number + 1);
}

static size_t open_note(struct notes *notes, unsigned field, struct slice name)
{
	size_t start = proto_open(&notes->bytes, field);
	uint32_t number = number_of(notes, NOTES_NAMES, name);

	if (number == MAP_NONE)
		proto_string(&notes->bytes, ANNOTATION_NAME, name);
	else
		put_number(notes, ANNOTATION_NAME_IID, NOTES_NAMES, number);
	return start;
}

size_t notes_open(struct notes *notes, enum note name)
{
	size_t start = proto_open(&notes->bytes, EVENT_DEBUG_ANNOTATIONS);

	put_number(notes, ANNOTATION_NAME_IID, NOTES_NAMES, name);
	return start;
}

void notes_close(struct notes *notes, size_t start)
{
	proto_close(&notes->bytes, start);
}

void notes_flag(struct notes *notes, enum note name)
{
	size_t start = notes_open(notes, name);

	proto_uint(&notes->bytes, ANNOTATION_BOOL, true);
	notes_close(notes, start);
}

void notes_uint(struct notes *notes, enum note name, uint64_t value)
{
	size_t start = notes_open(notes, name);

	proto_uint(&notes->bytes, ANNOTATION_UINT, value);
	notes_close(notes, start);
}

void notes_pointer(struct notes *notes, enum note name, uint64_t value)
{
	size_t start = notes_open(notes, name);

	proto_uint(&notes->bytes, ANNOTATION_POINTER, value);
	notes_close(notes, start);
}

static void put_string(struct notes *notes, struct slice text)
{
	uint32_t number = number_of(notes, NOTES_STRINGS, text);

	if (number == MAP_NONE)
		proto_string(&notes->bytes, ANNOTATION_STRING, text);
	else
		put_number(notes, ANNOTATION_STRING_IID, NOTES_STRINGS, number);
}

void notes_text(struct notes *notes, enum note name, struct slice text, bool once)
{
	size_t start;

	if (!text.p)
		return;
	start = notes_open(notes, name);
	if (once)
		proto_string(&notes->bytes, ANNOTATION_STRING, text);
	else
		put_string(notes, text);
	notes_close(notes, start);
}

static void put_json_number(struct out *out, struct slice value)
{
	uint64_t number;
	double real;

	if (number_decimal(value, &number)) {
		proto_uint(out, ANNOTATION_UINT, number);
		return;
	}
	/* whatever follows a number in JSON ends it for strtod() as well */
	real = strtod(value.p, NULL);
	memcpy(&number, &real, sizeof(number));
	proto_fixed64(out, ANNOTATION_DOUBLE, number);
}

static void put_object(struct notes *notes, struct slice object, unsigned levels);

static void put_value(struct notes *notes, struct slice value, unsigned levels)
{
	struct out *out = &notes->bytes;
	uint64_t number;

	switch (value.p[0]) {
	case '{':
		if (levels) {
			put_object(notes, value, levels - 1);
			break;
		}
		/* fall through */
	case '[':
		proto_text(out, ANNOTATION_STRING, value);
		break;
	case '"':
		if (traceline_number(value, &number))
			proto_uint(out, ANNOTATION_POINTER, number);
		else
			put_string(notes, slice_between(value.p + 1, value.p + value.n - 1));
		break;
	case 't':
	case 'f':
		proto_uint(out, ANNOTATION_BOOL, value.p[0] == 't');
		break;
	case 'n':
		proto_bytes(out, ANNOTATION_STRING, value);
		break;
	default:
		put_json_number(out, value);
	}
}

static void put_member(struct notes *notes, struct slice name, struct slice value, unsigned levels)
{
	size_t start = open_note(notes, ANNOTATION_DICT_ENTRIES, name);

	put_value(notes, value, levels);
	notes_close(notes, start);
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
	size_t start = notes_open(notes, name);

	put_value(notes, value, LEVELS);
	notes_close(notes, start);
}

void notes_member(struct notes *notes, struct slice name, struct slice value)
{
	put_member(notes, name, value, LEVELS - 1);
}

void notes_args(struct notes *notes, const struct traceline *line, size_t from)
{
	size_t start;

	if (from == line->num_args)
		return;
	start = notes_open(notes, NOTE_ARGS);
	for (size_t i = from; i < line->num_args; i++)
		put_member(notes, line->args[i].key, line->args[i].value, LEVELS - 1);
	notes_close(notes, start);
}

struct notes_list notes_list(const struct notes *notes)
{
	return (struct notes_list){out_kept(&notes->bytes), notes->uses, notes->n};
}

/* How much there is of both parts, then these; the next one starts at an even place. */
struct kept {
	uint32_t uses, bytes;
};

void notes_keep(const struct notes *notes, struct out *kept)
{
	struct kept parts = {notes->n, notes->bytes.len};

	if (!parts.bytes)
		return;
	out_bytes(kept, &parts, sizeof(parts));
	out_bytes(kept, notes->uses, notes->n * sizeof(*notes->uses));
	out_slice(kept, out_kept(&notes->bytes));
	if (kept->len % sizeof(*notes->uses))
		out_char(kept, 0);
}

struct notes_list notes_kept(struct slice kept)
{
	struct notes_list list = {};
	struct kept parts;

	if (!kept.n)
		return list;
	memcpy(&parts, slice_cut(&kept, sizeof(parts)).p, sizeof(parts));
	list.n = parts.uses;
	list.uses = (const uint16_t *)slice_cut(&kept, list.n * sizeof(*list.uses)).p;
	list.bytes = (struct slice){kept.p, parts.bytes};
	return list;
}

void notes_free(struct notes *notes)
{
	for (unsigned i = 0; i < NOTES_KINDS; i++)
		intern_free(&notes->known[i]);
	out_close(&notes->bytes);
	free(notes->uses);
}
