/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the SPDK trace files of the tests: the inverse of trace-dump, whose lines it reads.
 *
 * The layouts are C structs here, but byte offsets in trace-dump. Neither uses anything of the other, so that a
 * mistake in one of them makes a test fail. Little-endian hosts only.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "json.h"
#include "lines.h"
#include "number.h"
#include "out.h"
#include "ticks.h"

/* The first slot of a record. Its arguments are back to back and continue in continuations. */
struct head {
	uint64_t tsc;
	uint16_t tpoint_id;
	uint16_t owner_id; /* up to G3 a poller's */
	uint32_t size;
	uint64_t object_id;
	char args[8];
};

struct continuation {
	uint64_t tsc;       /* the head's */
	uint16_t tpoint_id; /* the number of tracepoints, which is no tracepoint's id */
	char args[22];
};

union slot {
	struct head head;
	struct continuation more;
};

enum { INT, PTR, STR };
static const char *const arg_types[] = {"int", "ptr", "str"};

struct argument {
	char name[14];
	uint8_t type, size;
};

struct relation {
	uint8_t object_type; /* 0 after the last one */
	uint8_t arg_index;
};

#define TPOINT(ARGS, RELATIONS)                                        \
	{                                                              \
		char name[24];                                         \
		uint16_t id;                                           \
		uint8_t owner_type, object_type, new_object, num_args; \
		struct argument args[ARGS];                            \
		struct relation related[RELATIONS];                    \
	}

struct tpoint_g1 TPOINT(5, 0);
struct tpoint_g2 TPOINT(5, 16);
struct tpoint TPOINT(8, 16);

struct type {
	uint8_t type;
	char id_prefix;
};

struct owner {
	uint64_t tsc;
	uint8_t type;
	char description[119];
} __attribute__((packed));

struct owner_area {
	uint16_t num_owners, description_size;
};

typedef char thread_name[16];

enum { MAX_TPOINTS = 1280, MAX_LCORES = 1024, TYPES = 256, OWNERS = 16384 };

/* Up to G5. An array without elements is a field that the layout does not have. */
#define HEADER(FILE_SIZE, TPOINTS, TPOINT, NAMES, OWNER_AREA, LCORES)              \
	{                                                                          \
		uint64_t file_size[FILE_SIZE];                                     \
		uint64_t tsc_rate;                                                 \
		uint64_t tpoint_mask[TPOINTS / 64];                                \
		thread_name thread_names[NAMES];                                   \
		struct type owner_type[TYPES];                                     \
		struct type object[TYPES];                                         \
		struct TPOINT tpoint[TPOINTS];                                     \
		struct owner_area owner_area[OWNER_AREA];                          \
		uint64_t lcore_offsets[LCORES];                                    \
		uint64_t histories_end; /* from G4 on it is called owner_offset */ \
	}

struct header_g1 HEADER(0, 1024, tpoint_g1, 0, 0, 128);
struct header_g2 HEADER(0, 1024, tpoint_g2, 0, 0, 128);
struct header_g3 HEADER(0, 1024, tpoint, 0, 0, 128);
struct header_g4 HEADER(1, 1024, tpoint, 1024, 1, 1024);
struct header_g5 HEADER(1, 1280, tpoint, 1024, 1, 1024);

#define SECTION                     \
	struct {                    \
		uint16_t count;     \
		char reserved[126]; \
	}

struct header_g6 {
	uint64_t file_size;
	uint16_t num_sections;
	uint64_t section_offsets[7];
	uint64_t tsc_rate, clear_tsc;
	char main_reserved[496];
	struct owner_area owner_area;
	char owner_reserved[124];
	struct owner owner[OWNERS];
	SECTION masks;
	uint64_t tpoint_mask[20];
	SECTION owner_types;
	struct type owner_type[TYPES];
	SECTION objects;
	struct type object[TYPES];
	SECTION tpoints;
	struct tpoint tpoint[MAX_TPOINTS];
	SECTION lcores;
	uint64_t lcore_offsets[MAX_LCORES]; /* the file has those that lcores counts */
};

#define HISTORY(TPOINTS)                        \
	{                                       \
		int32_t lcore;                  \
		uint64_t num_entries;           \
		uint64_t tpoint_count[TPOINTS]; \
		uint64_t next_entry;            \
	}

struct history_g1 HISTORY(1024);
struct history_g5 HISTORY(1280);

struct history_g6 {
	int32_t lcore;
	thread_name name;
	uint64_t num_entries;
	uint64_t num_tpoint_ids;
	uint64_t next_entry;
	uint64_t tpoint_count[MAX_TPOINTS];
};

#define SIZE_IS(TYPE, SIZE) _Static_assert(sizeof(struct TYPE) == (SIZE), #TYPE)
SIZE_IS(head, 32);
SIZE_IS(continuation, 32);
SIZE_IS(owner, 128);
SIZE_IS(tpoint_g1, 110);
SIZE_IS(tpoint_g2, 142);
SIZE_IS(tpoint, 190);
SIZE_IS(header_g1, 114832);
SIZE_IS(header_g2, 147600);
SIZE_IS(header_g3, 196752);
SIZE_IS(header_g4, 220320);
SIZE_IS(header_g5, 268992);
SIZE_IS(header_g6, 2342888 + 8 * MAX_LCORES);
SIZE_IS(history_g1, 8216);
SIZE_IS(history_g5, 10264);
SIZE_IS(history_g6, 48 + 8 * MAX_TPOINTS);

/* Offsets and sizes, by the compiler, of what the layouts have in common. */
struct layout {
	int generation;
	unsigned num_tpoints, num_args, num_relations, num_lcores, num_names;
	size_t header_size, tsc_rate, tpoint_mask, owner_type, object, tpoint, tpoint_size;
	size_t lcore_offsets, thread_names, owner_area, histories_end;
	size_t history_size, num_entries, tpoint_count, next_entry;
};

#define COUNT(H, FIELD) (sizeof(((H *)0)->FIELD) / sizeof(((H *)0)->FIELD[0]))
#define COMMON(H, HISTORY)                                                                                             \
	.num_tpoints = COUNT(H, tpoint), .num_args = COUNT(H, tpoint[0].args),                                         \
	.num_relations = COUNT(H, tpoint[0].related), .num_lcores = COUNT(H, lcore_offsets), .header_size = sizeof(H), \
	.tsc_rate = offsetof(H, tsc_rate), .tpoint_mask = offsetof(H, tpoint_mask),                                    \
	.owner_type = offsetof(H, owner_type), .object = offsetof(H, object), .tpoint = offsetof(H, tpoint),           \
	.tpoint_size = sizeof(((H *)0)->tpoint[0]), .lcore_offsets = offsetof(H, lcore_offsets),                       \
	.owner_area = offsetof(H, owner_area), .history_size = sizeof(HISTORY),                                        \
	.num_entries = offsetof(HISTORY, num_entries), .tpoint_count = offsetof(HISTORY, tpoint_count),                \
	.next_entry = offsetof(HISTORY, next_entry)
#define UP_TO_G5(H, HISTORY)                                                                                \
	COMMON(H, HISTORY), .num_names = COUNT(H, thread_names), .thread_names = offsetof(H, thread_names), \
			    .histories_end = offsetof(H, histories_end)

static const struct layout layouts[] = {
	{1, UP_TO_G5(struct header_g1, struct history_g1)}, {2, UP_TO_G5(struct header_g2, struct history_g1)},
	{3, UP_TO_G5(struct header_g3, struct history_g1)}, {4, UP_TO_G5(struct header_g4, struct history_g1)},
	{5, UP_TO_G5(struct header_g5, struct history_g5)}, {6, COMMON(struct header_g6, struct history_g6)},
};

enum kind { SHM, RECORD, SHORT };
static const char *const kinds[] = {"shm", "record", "short"};

static const struct layout *layout = &layouts[5];
static struct {
	enum kind kind;
	bool has_clear_tsc, places;
	uint64_t slots, start, rate, clear_tsc, repeat, truncate, live, pause, now;
	const char *lcores, *output;
} opt = {.repeat = 1, .truncate = UINT64_MAX};

/* A trace line. Its arguments follow it, as defined, but strings only up to their NUL. */
struct record {
	uint64_t tsc, object_id;
	uint32_t size;
	uint16_t tpoint_id, owner_id;
	uint16_t args_size;
	uint8_t num_args;
	bool torn;
};

struct lcore {
	bool present;
	char *records;
	size_t size, cap;
	uint64_t slots; /* that the records take */
	uint64_t tpoint_count[MAX_TPOINTS];
	uint64_t offset; /* of its history in the file */
};

static struct lines in;
static struct type owner_types[TYPES], object_types[TYPES];
static struct owner owners[OWNERS];
static uint64_t tpoint_mask[MAX_TPOINTS / 64];
static struct tpoint tpoints[UINT16_MAX + 1]; /* an entry may have any id, defined or not */
static bool any_defined;
static struct lcore lcores[MAX_LCORES];
static thread_name thread_names[MAX_LCORES];
static uint64_t first_tsc = UINT64_MAX, last_tsc;
static uint64_t owners_at; /* in the file */

/* Nothing is written when a line is faulty. */
#define fail(...) (lines_complain(&in, __VA_ARGS__), exit(EXIT_FAILURE))

/* The value of an object's key, as written; NULL if either is absent. */
static struct slice member(struct slice object, const char *key)
{
	struct slice name, value;
	struct json j;

	if (!object.p)
		return object;
	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &name) && json_value(&j, &value);)
		if (json_is(name, key))
			return value;
	if (j.error)
		fail("%s", j.error);
	return (struct slice){};
}

/* The i-th element of a key's array; NULL if it does not exist. */
static struct slice element(struct slice object, const char *key, unsigned i)
{
	struct slice array = member(object, key), value;
	struct json j;

	if (!array.p)
		return array;
	json_init(&j, array.p, array.n);
	for (json_array(&j); json_element(&j) && json_value(&j, &value); i--)
		if (!i)
			return value;
	if (j.error)
		fail("%s: %s", key, j.error);
	return (struct slice){};
}

static bool has(struct slice object, const char *key)
{
	return member(object, key).p;
}

/* For an absent key, this and the following functions return 0 or nothing. */
static uint64_t number(struct slice object, const char *key, uint64_t max)
{
	struct slice raw = member(object, key);
	uint64_t value = 0;

	if (raw.p && (!number_decimal(raw, &value) || value > max))
		fail("%s: a number from 0 to %" PRIu64 " is expected", key, max);
	return value;
}

/* Valid until the next call. */
static struct slice text(struct slice object, const char *key)
{
	static char buf[4096];
	struct slice raw = member(object, key);
	struct json j;

	if (!raw.p)
		return raw;
	json_init(&j, raw.p, raw.n);
	if (!json_string(&j, &raw))
		fail("%s: %s", key, j.error);
	if (raw.n > sizeof(buf))
		fail("%s: a string of more than %zu bytes", key, sizeof(buf));
	return (struct slice){buf, json_unescape(buf, raw)};
}

static uint64_t pointer(struct slice object, const char *key)
{
	struct slice s = text(object, key);
	uint64_t value = 0;

	if (s.p && !number_hex(s, &value))
		fail("%s: a hexadecimal number in quotes is expected", key);
	return value;
}

/* Copies into a field of that size, which keeps a NUL at its end. */
static void copy_text(char *to, size_t size, struct slice object, const char *key)
{
	struct slice s = text(object, key);

	if (!s.p)
		return;
	if (s.n >= size || memchr(s.p, '\0', s.n))
		fail("%s: a string of up to %zu bytes without a NUL is expected", key, size - 1);
	memset(to, 0, size);
	memcpy(to, s.p, s.n);
}

static void copy_name(char *to, size_t size, struct slice object, const char *key)
{
	copy_text(to, size, object, key);
	if (!*to)
		fail("%s: a name is expected", key);
}

/* Types are numbered in the order in which their prefixes appear. The tables have a place for every value of a byte. */
static uint8_t type_of(struct type *types, char prefix)
{
	int i = 1;

	if (!prefix)
		return 0;
	while (types[i].type && types[i].id_prefix != prefix)
		i++;
	types[i] = (struct type){i, prefix};
	return i;
}

static char prefix(struct slice object, const char *key)
{
	char c[2] = "";

	copy_text(c, sizeof(c), object, key);
	return *c;
}

static _Noreturn void misfit(const struct tpoint *t, const char *why)
{
	fail("%s does not fit G%d: %s", t->name, layout->generation, why);
}

static void define_argument(struct tpoint *t, struct slice object)
{
	struct argument *a = &t->args[t->num_args];
	struct slice type;

	if (t->num_args == layout->num_args)
		misfit(t, "too many arguments");
	copy_name(a->name, sizeof(a->name), object, "name");
	type = text(object, "type");
	while (a->type <= STR && !slice_is(type, arg_types[a->type]))
		a->type++;
	if (a->type > STR)
		fail("type: int, ptr or str is expected");
	a->size = number(object, "size", UINT8_MAX);
	if (a->type == STR ? !a->size : a->size != 8 && (a->size != 4 || layout->generation < 3))
		misfit(t, "the size of an argument");
	t->num_args++;
}

static void define_relation(const struct tpoint *t, struct relation *r, struct slice object)
{
	struct slice arg;

	r->object_type = type_of(object_types, prefix(object, "object_type"));
	if (!r->object_type)
		fail("object_type: a relation must have one");
	arg = text(object, "arg");
	while (r->arg_index < t->num_args && !slice_is(arg, t->args[r->arg_index].name))
		r->arg_index++;
	if (r->arg_index == t->num_args)
		fail("arg: the name of an argument is expected");
}

static void read_definition(struct slice line)
{
	uint64_t id = number(line, "id", UINT64_MAX);
	struct tpoint t = {.id = id};
	struct slice object;

	copy_name(t.name, sizeof(t.name), line, "tpoint");
	if (id >= layout->num_tpoints)
		misfit(&t, "its id is too large");
	if (*tpoints[id].name)
		fail("tracepoint %" PRIu64 " is %s already", id, tpoints[id].name);
	t.owner_type = type_of(owner_types, prefix(line, "owner_type"));
	t.object_type = type_of(object_types, prefix(line, "object_type"));
	t.new_object = slice_is(member(line, "new_object"), "true");
	while ((object = element(line, "args", t.num_args)).p)
		define_argument(&t, object);
	for (unsigned i = 0; (object = element(line, "related", i)).p; i++) {
		if (i == layout->num_relations)
			misfit(&t, "too many relations");
		define_relation(&t, &t.related[i], object);
	}
	tpoints[id] = t;
	if (!has(line, "off"))
		tpoint_mask[id / 64] |= 1ULL << id % 64;
	any_defined = true;
}

/* "t288": the prefix of an owner type, and the owner's number. */
static uint16_t owner_id(struct slice line)
{
	struct slice s = text(line, "poller");
	uint64_t id = 0;

	if (s.p && (!s.n || !number_decimal((struct slice){s.p + 1, s.n - 1}, &id) || id > UINT16_MAX))
		fail("poller: a letter and a number from 0 to %d are expected", UINT16_MAX);
	return id;
}

static void read_owner(struct slice line)
{
	struct owner *owner;
	struct slice poller;

	if (layout->generation < 4)
		return;
	owner = &owners[number(line, "id", OWNERS - 1)];
	poller = text(line, "poller");
	owner->type = type_of(owner_types, poller.n ? *poller.p : 0);
	owner->tsc = number(line, "tsc", UINT64_MAX);
	copy_text(owner->description, sizeof(owner->description), line, "description");
}

static void read_info(struct slice line)
{
	if (!opt.rate)
		opt.rate = number(line, "tsc_rate", UINT64_MAX);
	if (!opt.has_clear_tsc)
		opt.clear_tsc = number(line, "clear_tsc", UINT64_MAX);
}

/* "#1023" is the tracepoint of that id, which need not be defined. */
static uint16_t find_tpoint(struct slice line)
{
	struct slice name = text(line, "tpoint"), raw = member(line, "tpoint");
	uint64_t id;

	for (id = 0; id < layout->num_tpoints; id++)
		if (*tpoints[id].name && slice_is(name, tpoints[id].name))
			return id;
	if (name.n < 2 || *name.p != '#' || !number_decimal((struct slice){name.p + 1, name.n - 1}, &id) ||
	    id > UINT16_MAX)
		fail("tracepoint %.*s is not defined", (int)MIN(raw.n, 64), raw.p);
	return id;
}

/* Writes the argument's value as in a record, and returns the end. */
static char *keep_argument(char *to, const struct argument *a, struct slice args)
{
	uint64_t value;

	if (a->type == STR) {
		struct slice s = text(args, a->name);

		s.n = MIN(s.n, a->size - 1u);
		to = stpncpy(to, s.n ? s.p : "", s.n);
		*to++ = '\0';
		return to;
	}
	value = a->type == PTR ? pointer(args, a->name) : number(args, a->name, UINT64_MAX);
	return mempcpy(to, &value, a->size);
}

static void keep(struct lcore *lcore, const void *p, size_t n)
{
	if (lcore->cap - lcore->size < n) {
		lcore->cap = 2 * lcore->cap + 65536;
		lcore->records = realloc(lcore->records, lcore->cap);
		if (!lcore->records)
			err(EXIT_FAILURE, NULL);
	}
	memcpy(lcore->records + lcore->size, p, n);
	lcore->size += n;
}

/* The number of slots that a record with these arguments takes. */
static unsigned num_slots(const struct tpoint *t)
{
	const unsigned first = sizeof(((struct head *)0)->args);
	const unsigned more = sizeof(((struct continuation *)0)->args);
	unsigned size = 0;

	for (int i = 0; i < t->num_args; i++)
		size += t->args[i].size;
	return 1 + (size > first ? howmany(size - first, more) : 0);
}

static void read_entry(struct slice line)
{
	char args[sizeof(tpoints->args) / sizeof(*tpoints->args) * UINT8_MAX], *end = args;
	unsigned i = number(line, "lcore", layout->num_lcores - 1);
	struct lcore *lcore = &lcores[i];
	uint16_t id = find_tpoint(line);
	const struct tpoint *t = &tpoints[id];
	struct record r = {
		.tsc = number(line, "tsc", UINT64_MAX) + opt.now,
		.object_id = pointer(member(line, "object"), "value"),
		.size = number(line, "size", UINT32_MAX),
		.tpoint_id = id,
		.owner_id = owner_id(line),
		.num_args = t->num_args,
		.torn = slice_is(member(line, "torn"), "true"),
	};

	for (int k = 0; k < t->num_args; k++)
		end = keep_argument(end, &t->args[k], member(line, "args"));
	r.args_size = end - args;
	keep(lcore, &r, sizeof(r));
	keep(lcore, args, r.args_size);
	lcore->present = true;
	lcore->slots += num_slots(t);
	if (id < layout->num_tpoints)
		lcore->tpoint_count[id]++;
	copy_text(thread_names[i], sizeof(thread_name), line, "thread");
	first_tsc = MIN(first_tsc, r.tsc);
	last_tsc = MAX(last_tsc, r.tsc);
}

static void read_line(struct slice line)
{
	struct json j;

	json_init(&j, line.p, line.n);
	if (!json_skip(&j) || !json_end(&j))
		fail("%s", j.error);
	if (has(line, "layout"))
		read_info(line);
	else if (has(line, "description"))
		read_owner(line);
	else if (has(line, "tsc") && has(line, "tpoint"))
		read_entry(line);
	else if (has(line, "id") && has(line, "tpoint"))
		read_definition(line);
	else
		fail("neither a definition nor an owner, info or trace line");
}

static void read_file(const char *path)
{
	struct slice line;
	int status;

	if (lines_open(&in, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	while ((status = lines_next(&in, &line)) > 0)
		read_line(line);
	if (lines_close(&in, status < 0 ? errno : 0) != 0)
		exit(EXIT_FAILURE);
}

struct ring {
	union slot *slots;
	uint64_t size;
	uint64_t next; /* the number of slots ever taken, as next_entry counts */
	uint64_t tsc;  /* for the continuations of the record that is being written */
	char *at;      /* where its arguments continue */
	size_t room;   /* in that slot */
};

static union slot *take_slot(struct ring *ring)
{
	return &ring->slots[ring->next++ % ring->size];
}

static void add(struct ring *ring, const char *bytes, size_t n)
{
	while (n) {
		size_t part;

		if (!ring->room) {
			struct continuation *more = &take_slot(ring)->more;

			more->tsc = ring->tsc;
			more->tpoint_id = layout->num_tpoints;
			ring->at = more->args;
			ring->room = sizeof(more->args);
		}
		part = MIN(n, ring->room);
		if (bytes) {
			memcpy(ring->at, bytes, part);
			bytes += part;
		}
		ring->at += part;
		ring->room -= part;
		n -= part;
	}
}

static void add_record(struct ring *ring, const struct record *r, uint64_t tsc, const char *args)
{
	struct head *head = &take_slot(ring)->head;

	head->tsc = tsc;
	head->tpoint_id = r->tpoint_id;
	head->owner_id = r->owner_id;
	head->size = r->size;
	head->object_id = r->object_id;
	ring->tsc = tsc - r->torn;
	ring->at = head->args;
	ring->room = sizeof(head->args);
	for (int i = 0; i < r->num_args; i++) {
		const struct argument *a = &tpoints[r->tpoint_id].args[i];
		size_t n = a->type == STR ? strlen(args) + 1 : a->size;

		add(ring, args, n);
		/* after a string the slot retains its old bytes, except for the last one */
		add(ring, NULL, a->size - n);
		if (a->type == STR)
			ring->at[-1] = '\0';
		args += n;
	}
}

/* Adds the next record of an lcore, at p, in this round over all of them. Returns the start of the next one. */
static const char *add_next(struct ring *ring, const char *p, uint64_t round)
{
	struct record r;

	memcpy(&r, p, sizeof(r));
	p += sizeof(r);
	add_record(ring, &r, r.tsc + round * (last_tsc - first_tsc + 1000), p);
	return p + r.args_size;
}

static union slot *fill_ring(const struct lcore *lcore, uint64_t size)
{
	struct ring ring = {calloc(size, sizeof(union slot)), .size = size, .next = opt.start};
	const char *end = lcore->records + lcore->size;

	if (!ring.slots)
		err(EXIT_FAILURE, NULL);
	for (uint64_t i = 0; i < opt.repeat && lcore->size; i++)
		for (const char *p = lcore->records; p < end;)
			p = add_next(&ring, p, i);
	return ring.slots;
}

static uint64_t num_entries(const struct lcore *lcore)
{
	return opt.kind == SHM ? opt.slots : lcore->slots * opt.repeat;
}

static void set64(void *base, size_t offset, uint64_t value)
{
	memcpy((char *)base + offset, &value, sizeof(value));
}

/* For a silent lcore a recorder writes nothing or, in a sound file of G6, its number. */
static void fill_history(struct history_g6 *h, const struct lcore *lcore)
{
	uint64_t used = lcore->slots * opt.repeat;
	bool silent = opt.kind != SHM && !used;

	if (silent && (layout->generation < 6 || opt.kind == SHORT))
		return;
	h->lcore = lcore - lcores;
	if (layout->generation == 6) {
		memcpy(h->name, thread_names[h->lcore], sizeof(h->name));
		h->num_tpoint_ids = MAX_TPOINTS;
	}
	if (silent)
		return;
	set64(h, layout->num_entries, num_entries(lcore));
	for (unsigned i = 0; i < layout->num_tpoints; i++)
		set64(h, layout->tpoint_count + 8 * i, lcore->tpoint_count[i] * opt.repeat);
	/* a recorder copies next_entry at some moment, so it says nothing about the recorder's file */
	if (used)
		set64(h, layout->next_entry, used + (opt.kind == SHM ? opt.start : 1000));
}

static void put(struct out *o, const void *p, size_t n)
{
	n = MIN(n, opt.truncate);
	opt.truncate -= n;
	out_bytes(o, p, n);
}

/* Makes a hole in a file that can have one: empty rings of old layouts take hundreds of megabytes. */
static bool skip(struct out *o, size_t n)
{
	n = MIN(n, opt.truncate);
	out_flush(o);
	if (!opt.output || lseek(o->fd, n, SEEK_CUR) < 0)
		return false;
	opt.truncate -= n;
	return true;
}

static void write_history(struct out *o, const struct lcore *lcore)
{
	struct history_g6 history = {}; /* the largest */
	uint64_t entries = num_entries(lcore);

	fill_history(&history, lcore);
	/* v26.05's recorder leaves out the counts of a silent lcore, though not in its offsets */
	put(o, &history, opt.kind == SHORT && !entries ? layout->tpoint_count : layout->history_size);
	if (entries && (lcore->size || !skip(o, entries * sizeof(union slot)))) {
		union slot *slots = fill_ring(lcore, entries);

		put(o, slots, entries * sizeof(*slots));
		free(slots);
	}
}

static void fill_tpoint(char *to, const struct tpoint *t)
{
	to = mempcpy(to, t, offsetof(struct tpoint, args));
	to = mempcpy(to, t->args, layout->num_args * sizeof(*t->args));
	memcpy(to, t->related, layout->num_relations * sizeof(*t->related));
}

static void fill_sections(struct header_g6 *h)
{
	const uint64_t offsets[] = {
		offsetof(struct header_g6, tsc_rate), offsetof(struct header_g6, owner_area),
		offsetof(struct header_g6, masks),    offsetof(struct header_g6, owner_types),
		offsetof(struct header_g6, objects),  offsetof(struct header_g6, tpoints),
		offsetof(struct header_g6, lcores),
	};

	h->num_sections = sizeof(offsets) / sizeof(*offsets);
	memcpy(h->section_offsets, offsets, sizeof(offsets));
	h->clear_tsc = opt.clear_tsc;
	memcpy(h->owner, owners, sizeof(owners));
	h->masks.count = MAX_TPOINTS / 64;
	h->owner_types.count = TYPES;
	h->objects.count = TYPES;
	h->tpoints.count = MAX_TPOINTS;
}

static void fill_header(char *h)
{
	const struct owner_area area = {OWNERS, sizeof(owners->description)};

	set64(h, layout->tsc_rate, opt.rate ? opt.rate : 2600000000);
	memcpy(h + layout->tpoint_mask, tpoint_mask, layout->num_tpoints / 8);
	memcpy(h + layout->owner_type, owner_types, sizeof(owner_types));
	memcpy(h + layout->object, object_types, sizeof(object_types));
	for (unsigned i = 0; i < layout->num_tpoints; i++)
		fill_tpoint(h + layout->tpoint + i * layout->tpoint_size, &tpoints[i]);
	if (layout->generation >= 4)
		memcpy(h + layout->owner_area, &area, sizeof(area));
	memcpy(h + layout->thread_names, thread_names, layout->num_names * sizeof(thread_name));
	if (layout->generation == 6)
		fill_sections((struct header_g6 *)h);
}

/* The header, the histories, and in G4 and G5 the owners, which G6 has among its sections. */
static void write_trace(struct out *o, unsigned num_lcores)
{
	bool owners_last = layout->generation == 4 || layout->generation == 5;
	/* G6 omits offsets that are not needed */
	size_t size = layout->header_size - 8 * (layout->num_lcores - num_lcores);
	static struct header_g6 header; /* the largest */
	uint64_t end = size;

	fill_header((char *)&header);
	for (unsigned i = 0; i < num_lcores; i++) {
		if (!lcores[i].present)
			continue;
		set64(&header, layout->lcore_offsets + 8 * i, end);
		lcores[i].offset = end;
		end += layout->history_size + num_entries(&lcores[i]) * sizeof(union slot);
	}
	if (layout->generation == 6)
		header.lcores.count = num_lcores;
	else
		set64(&header, layout->histories_end, end);
	if (layout->generation >= 4)
		set64(&header, 0, end + owners_last * sizeof(owners));
	put(o, &header, size);
	for (unsigned i = 0; i < num_lcores; i++)
		if (lcores[i].present)
			write_history(o, &lcores[i]);
	owners_at = owners_last ? end : offsetof(struct header_g6, owner);
	if (owners_last)
		put(o, owners, sizeof(owners));
}

static void print_places(unsigned num_lcores)
{
	for (unsigned i = 0; i < num_lcores; i++)
		if (lcores[i].present)
			printf("history_%u=%" PRIu64 "\n", i, lcores[i].offset);
	/* positions in a history; its ring follows it */
	printf("history_size=%zu\nnum_entries=%zu\nnext_entry=%zu\n", layout->history_size, layout->num_entries,
	       layout->next_entry);
	if (layout->generation >= 4)
		printf("owners=%" PRIu64 "\nowner_size=%zu\ndescription=%zu\nowner_area=%zu\n", owners_at,
		       sizeof(*owners), offsetof(struct owner, description), layout->owner_area);
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/*
 * Continues to write to the rings of the file, which is mapped as by an application: an entry is published by
 * moving next_entry past it. Full speed within a round, one lcore after the other, an entry each. SIGTERM stops
 * it after a round.
 */
static void write_live(const char *name, int fd, unsigned num_lcores)
{
	static struct ring rings[MAX_LCORES];
	static const char *at[MAX_LCORES];
	size_t size = lseek(fd, 0, SEEK_END);
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint64_t end = clock_ns() + opt.live * 1000000000;

	if (map == MAP_FAILED)
		err(EXIT_FAILURE, "%s", name);
	for (unsigned i = 0; i < num_lcores; i++)
		rings[i] = (struct ring){(union slot *)(map + lcores[i].offset + layout->history_size),
					 .size = opt.slots, .next = lcores[i].slots * opt.repeat + opt.start};
	signal(SIGTERM, stop);
	for (uint64_t round = opt.repeat; clock_ns() < end && !stopped; round++) {
		if (opt.pause)
			usleep(opt.pause);
		for (bool more = true; more;) {
			more = false;
			for (unsigned i = 0; i < num_lcores; i++) {
				const char *last = lcores[i].records + lcores[i].size;

				at[i] = at[i] ? at[i] : lcores[i].records;
				if (at[i] == last)
					continue;
				at[i] = add_next(&rings[i], at[i], round);
				__atomic_store_n((uint64_t *)(map + lcores[i].offset + layout->next_entry),
						 rings[i].next, __ATOMIC_RELEASE);
				more = true;
			}
			if (!more)
				memset(at, 0, sizeof(at));
		}
	}
	munmap(map, size);
}

/* Returns the number of lcores that the file has room for. */
static unsigned settle_lcores(void)
{
	unsigned num_present = 0, highest = 0;
	uint64_t lcore, most = 8;
	const char *end;

	for (const char *name = opt.lcores; name; name = *end ? end + 1 : NULL) {
		end = strchrnul(name, ',');
		if (!number_decimal((struct slice){name, end - name}, &lcore) || lcore >= layout->num_lcores)
			cli_usage("-L: numbers from 0 to %u are expected", layout->num_lcores - 1);
		lcores[lcore].present = true;
	}
	for (unsigned i = 0; i < layout->num_lcores; i++) {
		lcores[i].present |= layout->generation < 3;
		num_present += lcores[i].present;
		highest = lcores[i].present ? i : highest;
		most = MAX(most, lcores[i].slots * opt.repeat);
	}
	if (!num_present)
		errx(EXIT_FAILURE, "neither trace lines nor -L tell of any lcore");
	if (!opt.slots)
		for (opt.slots = 8; opt.slots < most;)
			opt.slots *= 2;
	return layout->generation < 6 ? layout->num_lcores : highest + 1;
}

static uint64_t option_number(const char *name, const char *text)
{
	uint64_t value;

	if (!number_decimal(slice_of(text), &value))
		cli_usage("%s: a number is expected", name);
	return value;
}

static void set_layout(const char *text)
{
	if (*text != 'G' || text[1] < '1' || text[1] > '6' || text[2])
		cli_usage("-l: G1 to G6 is expected");
	layout = &layouts[text[1] - '1'];
}

static void set_kind(const char *text)
{
	for (opt.kind = SHM; strcmp(text, kinds[opt.kind]) != 0; opt.kind++)
		if (opt.kind == SHORT)
			cli_usage("-k: shm, record or short is expected");
}

static void set_rate(const char *text)
{
	opt.rate = option_number("-r", text);
}

static void set_clear_tsc(const char *text)
{
	opt.clear_tsc = option_number("-c", text);
	opt.has_clear_tsc = true;
}

static void set_start(const char *text)
{
	opt.start = option_number("-s", text);
}

static void set_truncate(const char *text)
{
	opt.truncate = option_number("-t", text);
}

static void set_places(const char *unused)
{
	(void)unused;
	opt.places = true;
	opt.output = "/dev/null";
}

static void set_now(const char *unused)
{
	(void)unused;
	opt.now = ticks_now().tsc;
}

static const struct cli_option options[] = {
	{'l', "layout", "LAYOUT", "G1 to G6 (default: G6)", .call = set_layout},
	{'k', "kind", "KIND",
	 "shm: a ring for every lcore (default)\n"
	 "record: as spdk_trace_record writes it, oldest entry first\n"
	 "short: the same with silent lcores cut short (G6 only)",
	 .call = set_kind},
	{'n', "slots", "N", "slots of every ring (default: a power of two that holds all)", .count = &opt.slots},
	{'s', "start", "SLOT", "start to fill the rings there (default: 0)", .call = set_start},
	{'L', "lcores", "LIST", "lcores that are present but silent: N,N,...", .text = &opt.lcores},
	{'r', "rate", "HZ", "ticks per second (default: the info line's, or 2600000000)", .call = set_rate},
	{'c', "clear-tsc", "TSC", "when the trace was cleared (G6 only; default: the info line's)",
	 .call = set_clear_tsc},
	{'N', "now", NULL, "count the ticks of entries from the processor's counter now", .call = set_now},
	{'R', "repeat", "N", "write all trace lines N times, one round after the other", .count = &opt.repeat},
	{'w', "live", "SECONDS", "go on writing to the rings for this time, as an application does",
	 .count = &opt.live},
	{'p', "pause", "US", "with -w: microseconds between two rounds (default: 0)", .count = &opt.pause},
	{'t', "truncate", "BYTES", "write only the first BYTES bytes of the file", .call = set_truncate},
	{'o', "output", "FILE", "write there instead of standard output", .text = &opt.output},
	{'P', "places", NULL,
	 "write nothing but where things are in the file, as a shell sets variables:\n"
	 "the history of lcore N is at history_N",
	 .call = set_places},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]...\n"
	"Writes an SPDK trace file from JSON lines: definitions, owners, info and trace\n"
	"lines, as trace-dump prints them with -d, -O, -i and without.\n",
	"",
	.options = options,
};

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	if (layout->generation < 6 && (opt.kind == SHORT || opt.has_clear_tsc))
		cli_usage("-k short and -c are for G6");
	if (opt.kind != SHM && (opt.slots || opt.start))
		cli_usage("-n and -s are for -k shm");
	if (opt.live && (opt.kind != SHM || !opt.output || opt.truncate != UINT64_MAX))
		cli_usage("-w needs -k shm and -o, and all of the file");
}

int main(int argc, char **argv)
{
	const char *name;
	unsigned num_lcores;
	struct out o;
	int fd;

	parse_options(argc, argv);
	if (optind == argc)
		read_file("-");
	for (; optind < argc; optind++)
		read_file(argv[optind]);
	if (!any_defined)
		errx(EXIT_FAILURE, "no tracepoint is defined");
	num_lcores = settle_lcores();
	name = opt.output ? opt.output : "<stdout>";
	fd = opt.output ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0666) : STDOUT_FILENO;
	if (fd < 0)
		err(EXIT_FAILURE, "%s", name);
	out_open(&o, fd);
	write_trace(&o, num_lcores);
	/* a file that ends with a hole must include the hole */
	if (out_close(&o) != 0 ||
	    (opt.output && lseek(fd, 0, SEEK_CUR) > 0 && ftruncate(fd, lseek(fd, 0, SEEK_CUR)) != 0))
		err(EXIT_FAILURE, "%s", name);
	if (opt.places)
		print_places(num_lcores);
	if (opt.live)
		write_live(name, fd, num_lcores);
	if (close(fd) != 0)
		err(EXIT_FAILURE, "%s", name);
	return EXIT_SUCCESS;
}
