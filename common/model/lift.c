/* SPDX-License-Identifier: BSD-3-Clause */
#include "lift.h"

#include "json.h"
#include "nvme.h"

static enum facts_source source_of(const struct spans *spans, const struct span *s)
{
	return spans->info[s->states[0].state].source;
}

static void keep_first(struct facts *to, const struct facts *from, enum fact fact)
{
	if (facts_has(to, fact) || !facts_has(from, fact))
		return;
	to->values[fact] = from->values[fact];
	to->has |= 1U << fact;
}

static void add(struct facts *to, const struct facts *from, enum fact fact)
{
	if (!facts_has(from, fact))
		return;
	to->values[fact] += from->values[fact];
	to->has |= 1U << fact;
}

/* The name argument, from v23.01 to v24.01. */
static struct slice name_of(struct slice args)
{
	struct slice key, name = {"", 0};
	struct json j;

	/* an escaped key is not from SPDK, but means the same */
	if (!args.n || (!memmem(args.p, args.n, "\"name\"", 6) && !memchr(args.p, '\\', args.n)))
		return name;
	json_init(&j, args.p, args.n);
	for (json_object(&j); json_key(&j, &key); json_skip(&j))
		if (json_is(key, "name") && json_peek(&j) == '"') {
			json_string(&j, &name);
			break;
		}
	return name;
}

static void add_bdev(struct lift *lift, struct slice name)
{
	struct slice rest = out_contents(&lift->bdev);

	while (rest.n) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct slice one = slice_cut(&rest, comma ? (size_t)(comma - rest.p) : rest.n);

		if (slice_equal(one, name))
			return;
		slice_cut(&rest, !!rest.n);
	}
	if (!name.n)
		return;
	if (lift->bdev.len)
		out_char(&lift->bdev, ',');
	out_slice(&lift->bdev, name);
}

static void add_bdev_io(struct lift *lift, const struct span *s)
{
	keep_first(&lift->facts, &s->facts, FACT_TYPE);
	keep_first(&lift->facts, &s->facts, FACT_LBA);
	keep_first(&lift->facts, &s->facts, FACT_QD);
	add(&lift->facts, &s->facts, FACT_BLOCKS);
	add_bdev(lift, facts_bdev(span_owner(s), name_of(span_args(s))));
}

/* Adds what a bdev I/O would say, for a command without one above it. */
static void add_command(struct lift *lift, const struct span *s)
{
	struct facts says = s->facts;
	const char *type = facts_add_command(&says, span_poller(s));

	lift->type = lift->type ? lift->type : type;
	keep_first(&lift->facts, &says, FACT_LBA);
	add(&lift->facts, &says, FACT_BLOCKS);
}

static void add_nvme(struct lift *lift, const struct span *s, bool alone)
{
	keep_first(&lift->facts, &s->facts, FACT_CID);
	keep_first(&lift->facts, &s->facts, FACT_OPC);
	keep_first(&lift->facts, &s->facts, FACT_QD);
	if (facts_has(&s->facts, FACT_CPL) &&
	    (!facts_has(&lift->facts, FACT_CPL) || nvme_is_success(lift->facts.values[FACT_CPL]))) {
		lift->facts.values[FACT_CPL] = s->facts.values[FACT_CPL];
		lift->facts.has |= 1U << FACT_CPL;
	}
	if (alone)
		add_command(lift, s);
}

/* top: the kinds, of those that count once on the way down, that have not occurred so far. */
enum top { BDEV = 1, NVME = 2 };

static void walk(struct lift *lift, const struct spans *spans, const struct span *s, unsigned top, unsigned level)
{
	switch (source_of(spans, s)) {
	case FACTS_BDEV_IO:
		if (top & BDEV)
			add_bdev_io(lift, s);
		top &= ~BDEV;
		break;
	case FACTS_NVME_SUBMIT:
		if (top & NVME)
			add_nvme(lift, s, top & BDEV);
		top &= ~NVME;
		break;
	case FACTS_SOCKET:
		/* those further down are on another connection: a remote drive's */
		if (level <= 1)
			add(&lift->facts, &s->facts, FACT_BYTES);
		break;
	case FACTS_SCSI_TASK:
		add(&lift->facts, &s->facts, FACT_BYTES);
		break;
	default:
		break;
	}
	for (const struct span *child = s->child; child; child = child->next)
		walk(lift, spans, child, top, level + 1);
}

void lift_span(struct lift *lift, const struct spans *spans, const struct span *s)
{
	lift->bdev.fd = OUT_MEMORY;
	lift->bdev.len = 0;
	*lift = (struct lift){.bdev = lift->bdev};
	walk(lift, spans, s, BDEV | NVME, 0);
	if (facts_has(&lift->facts, FACT_TYPE))
		lift->type = facts_type(lift->facts.values[FACT_TYPE]);
	if (facts_has(&lift->facts, FACT_CPL))
		lift->status = nvme_status(lift->facts.values[FACT_CPL]);
}

const char *const lift_keys[LIFT_KEYS] = {
	[LIFT_TYPE] = "type", [LIFT_BLOCKS] = "blocks", [LIFT_LBA] = "lba",
	[LIFT_BDEV] = "bdev", [LIFT_QD] = "qd",         [LIFT_BYTES] = "bytes",
	[LIFT_CID] = "cid",   [LIFT_OPC] = "opc",       [LIFT_STATUS] = "status",
};

/* A name that needs no escapes. */
static bool write_name(struct out *out, struct slice name)
{
	out_char(out, '"');
	out_slice(out, name);
	out_char(out, '"');
	return true;
}

/* A status without a name: its type and code. */
static bool write_status(struct out *out, const struct lift *lift)
{
	uint64_t status = lift->facts.values[FACT_CPL];

	if (lift->status)
		return write_name(out, slice_of(lift->status));
	if (!facts_has(&lift->facts, FACT_CPL))
		return false;
	out_printf(out, "\"type %u code 0x%02x\"", (unsigned)(status >> 9 & 7), (unsigned)(status >> 1 & 0xff));
	return true;
}

bool lift_number(const struct lift *lift, enum lift_key key, uint64_t *value)
{
	static const enum fact facts[LIFT_KEYS] = {
		[LIFT_TYPE] = FACT_TYPE,   [LIFT_BLOCKS] = FACT_BLOCKS, [LIFT_LBA] = FACT_LBA, [LIFT_QD] = FACT_QD,
		[LIFT_BYTES] = FACT_BYTES, [LIFT_CID] = FACT_CID,       [LIFT_OPC] = FACT_OPC,
	};

	if (key == LIFT_STATUS || key == LIFT_BDEV || (key == LIFT_TYPE && lift->type) ||
	    !facts_has(&lift->facts, facts[key]))
		return false;
	*value = lift->facts.values[facts[key]];
	return true;
}

bool lift_write(struct out *out, const struct lift *lift, enum lift_key key)
{
	uint64_t value;

	if (key == LIFT_STATUS)
		return write_status(out, lift);
	if (key == LIFT_BDEV)
		return lift->bdev.len && write_name(out, out_contents(&lift->bdev));
	if (key == LIFT_TYPE && lift->type)
		return write_name(out, slice_of(lift->type));
	if (!lift_number(lift, key, &value))
		return false;
	out_u64(out, value);
	return true;
}

void lift_free(struct lift *lift)
{
	out_close(&lift->bdev);
}
