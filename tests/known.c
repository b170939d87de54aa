/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tools do not know of the facts of SPDK sources, which tests/watch-spdk gathers. START: the first bytes of
 * a trace file with sections, or empty; NEW, OLD: lines
 *
 *	layout KEY NUMBER | tpoint NAME LETTER GROUP ARG,... | probe NAME ARGS | type NUMBER NAME
 *
 * Prints a line for each difference.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "input.h"
#include "layout.h"
#include "mem.h"
#include "probespec.h"
#include "spdk.h"

/* How tracepoints start that need no row: what follows is the target's own time, or they are about no object. */
static const char *const own_time[] = {
	"BLOBFS_",    "DSA_",      "FC_ABRT",       "FC_FAILED",  "FC_FUSED",        "FC_NEW",
	"FC_PENDING", "FC_REQ_",   "FC_SUCCESS",    "IAA_",       "IDXD_",           "ISCSI_READ_PDU",
	"RDMA_CM_",   "RDMA_IBV_", "RDMA_QP_STATE", "SCHEDULER_", "TCP_WRITE_START", "THREAD_",
};

/* Parts of names with the same meaning in all transports. */
static const char *const own_parts[] = {"_EXECUTED", "_HAVE_BUFFER", "REQ_RDY_TO_COMPL", "_CPL"};

/* Arguments that are only printed, if a row does not use them. */
static const char *const unused[] = {
	"busy", "cid", "count", "ctx",    "dst", "file",  "idle",      "iovec", "name",
	"opc",  "qd",  "qpair", "refcnt", "src", "state", "thread_id", "tid",   "type",
};

static const struct {
	const char *key;
	size_t at, size;
} members[] = {
#define MEMBER(m)                                                               \
	{                                                                       \
#m, offsetof(struct layout, m), sizeof(((struct layout *)0)->m) \
	}
	MEMBER(tsc_rate),     MEMBER(masks),     MEMBER(owner_types), MEMBER(object_types), MEMBER(tpoints),
	MEMBER(offsets),      MEMBER(clear_tsc), MEMBER(owner_count), MEMBER(thread_names), MEMBER(owner_offset),
	MEMBER(histories),    MEMBER(num_args),  MEMBER(num_lcores),  MEMBER(num_tpoints),  MEMBER(num_relations),
	MEMBER(history_size), MEMBER(slots),     MEMBER(next_entry),  MEMBER(thread),
};

struct facts {
	struct fact {
		char kind[8], name[64], letter[8], group[32], args[256];
		unsigned long number; /* of a layout's key, a type's name, a probe's arguments */
	} * all;
	size_t n, cap;
};

static void read_facts(struct facts *facts, const char *path)
{
	char line[1024];
	FILE *file = fopen(path, "r");

	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		struct fact f = {};

		if (sscanf(line, "tpoint %63s %7s %31s %255s", f.name, f.letter, f.group, f.args) >= 3)
			strcpy(f.kind, "tpoint");
		else if (sscanf(line, "type %lu %63s", &f.number, f.name) == 2)
			strcpy(f.kind, "type");
		else if (sscanf(line, "%7s %63s %lu", f.kind, f.name, &f.number) != 3)
			printf("%s", line);
		facts->all = mem_room(facts->all, facts->n, &facts->cap);
		facts->all[facts->n++] = f;
	}
	fclose(file);
}

static const struct fact *find(const struct facts *facts, const char *kind, const char *name)
{
	for (size_t i = 0; i < facts->n; i++)
		if (strcmp(facts->all[i].kind, kind) == 0 && strcmp(facts->all[i].name, name) == 0)
			return &facts->all[i];
	return NULL;
}

static unsigned long member(const struct layout *l, size_t i)
{
	const char *at = (const char *)l + members[i].at;

	return members[i].size == sizeof(uint64_t) ? *(const uint64_t *)at : *(const unsigned *)at;
}

/* Prints the members of the layout that the facts contradict, or only counts them. */
static unsigned compare_layout(const struct facts *facts, const struct layout *l, bool print)
{
	unsigned differences = 0;

	for (size_t i = 0; i < COUNT(members); i++) {
		const struct fact *f = find(facts, "layout", members[i].key);
		unsigned long is = f ? f->number : 0;

		if (is == member(l, i))
			continue;
		if (print)
			printf("layout: %s is %lu, in %s %lu\n", members[i].key, is, l->name, member(l, i));
		differences++;
	}
	return differences;
}

static void check_layout(const struct facts *facts, const char *start)
{
	static const struct {
		const char *key;
		unsigned long is;
	} slots[] = {
		{"slot", sizeof(struct trace_slot)},
		{"slot_tpoint", offsetof(struct trace_slot, tpoint)},
		{"slot_size", offsetof(struct trace_slot, size)},
		{"slot_object", offsetof(struct trace_slot, object)},
		{"slot_args", offsetof(struct trace_slot, args)},
		{"slot_more_args", offsetof(struct trace_slot, more_args)},
		{"arg_type", sizeof(((struct trace_arg *)0)->name) - 1},
	};
	struct layout nearest = {}, l;
	unsigned fewest = ~0u;
	struct trace unused_trace = {};
	struct input in;

	if (!find(facts, "layout", "tpoints"))
		return;
	for (size_t i = 0; i < COUNT(slots); i++) {
		const struct fact *f = find(facts, "layout", slots[i].key);

		if (!f || f->number != slots[i].is)
			printf("layout: %s is %lu, in all others %lu\n", slots[i].key, f ? f->number : 0, slots[i].is);
	}
	if (input_open(&in, start, false) != 0)
		err(1, "%s", start);
	for (unsigned i = 0; i < LAYOUTS; i++) {
		if (layout_get(&l, i, &unused_trace, &in) != LAYOUT_MATCHES)
			continue;
		if (compare_layout(facts, &l, false) < fewest) {
			fewest = compare_layout(facts, &l, false);
			nearest = l;
		}
	}
	compare_layout(facts, &nearest, true);
	input_close(&in);
}

static bool is_in(const char *name, const char *const *list, size_t n, bool starts)
{
	for (size_t i = 0; i < n; i++)
		if (starts ? strncmp(name, list[i], strlen(list[i])) == 0 : strcmp(name, list[i]) == 0)
			return true;
	return false;
}

/* Whether the arguments, with commas between, have this one. */
static bool has_arg(const char *args, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = args; (p = strstr(p, name)) != NULL; p++)
		if ((p == args || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static bool row_uses(const struct spdk_tpoint *row, const char *arg)
{
	for (size_t i = 0; i < COUNT(row->args) && row->args[i].arg; i++)
		if (row->args[i].name && strcmp(row->args[i].name, arg) == 0)
			return true;
	return (row->bdev && strcmp(row->bdev, arg) == 0) || (row->parent.arg && strcmp(row->parent.arg, arg) == 0);
}

static void check_tpoint(const struct fact *f)
{
	struct slice name = slice_of(f->name), letter = spdk_letter(name), group = spdk_group(name);
	const struct spdk_tpoint *row = spdk_tpoint(name);
	bool has_row = *row->name, own = is_in(f->name, own_time, COUNT(own_time), true) || spdk_is_final(name);
	char args[sizeof(f->args)], *rest = args;

	for (size_t i = 0; i < COUNT(own_parts); i++)
		own |= strstr(f->name, own_parts[i]) != NULL;
	if (!has_row && !own)
		printf("%s: no row: the time after it counts as the target's\n", f->name);
	if (f->letter[0] != '-' && !slice_is(letter, f->letter))
		printf("%s: objects have the letter %s, spdk_letter() says %.*s\n", f->name, f->letter, (int)letter.n,
		       letter.p);
	if (!slice_is(group, f->group))
		printf("%s: of the group %s, spdk_group() says %.*s\n", f->name, f->group, (int)group.n, group.p);
	strcpy(args, f->args);
	for (char *arg; (arg = strsep(&rest, ",")) != NULL;)
		if (*arg && !row_uses(row, arg) && !is_in(arg, unused, COUNT(unused), false))
			printf("%s: no row uses the argument %s\n", f->name, arg);
}

static void check_type(const struct fact *f)
{
	const char *known = spdk_bdev_type(f->number);
	char name[sizeof(f->name)];

	snprintf(name, sizeof(name), "%s", known ? known : "none");
	for (char *p = name; (p = strchr(p, ' ')) != NULL;)
		*p = '_';
	if (strcmp(name, f->name) != 0)
		printf("bdev I/O of type %lu: %s, spdk_bdev_type() says %s\n", f->number, f->name,
		       known ? known : "none");
}

static void check_probes(const struct facts *facts)
{
	struct probespecs specs = {};

	probespec_add_default(&specs);
	for (size_t i = 0; i < specs.n; i++) {
		const struct probespec *spec = &specs.all[i];
		char *name = mem_copy(spec->name);
		const struct fact *f = find(facts, "probe", name);
		unsigned long args = spec->num_args - spec->has_tsc;

		if (!f)
			printf("%s: no such probe\n", name);
		else if (f->number != args)
			printf("%s: the probe has %lu arguments, our spec %lu\n", name, f->number, args);
		free(name);
	}
	probespec_free(&specs);
}

/* Prints what the tables have of a tracepoint of the earlier tree, and the new one has not. */
static void check_gone(const struct fact *old, const struct facts *facts)
{
	const struct spdk_tpoint *row = spdk_tpoint(slice_of(old->name));
	const struct fact *f = find(facts, "tpoint", old->name);
	char args[sizeof(old->args)], *rest = args;

	if (!*row->name)
		return;
	if (!f)
		printf("%s: has a row, and is gone\n", old->name);
	strcpy(args, old->args);
	for (char *arg; f && (arg = strsep(&rest, ",")) != NULL;)
		if (row_uses(row, arg) && !has_arg(f->args, arg))
			printf("%s: the argument %s is gone\n", old->name, arg);
}

int main(int argc, char **argv)
{
	struct facts facts = {}, old = {};

	if (argc != 3 && argc != 4)
		errx(2, "usage: known START NEW [OLD]");
	read_facts(&facts, argv[2]);
	check_layout(&facts, argv[1]);
	for (size_t i = 0; i < facts.n; i++)
		if (strcmp(facts.all[i].kind, "tpoint") == 0)
			check_tpoint(&facts.all[i]);
		else if (strcmp(facts.all[i].kind, "type") == 0)
			check_type(&facts.all[i]);
	check_probes(&facts);
	if (argc == 4)
		read_facts(&old, argv[3]);
	for (size_t i = 0; i < old.n; i++)
		if (strcmp(old.all[i].kind, "tpoint") == 0)
			check_gone(&old.all[i], &facts);
	free(facts.all);
	free(old.all);
	return 0;
}
