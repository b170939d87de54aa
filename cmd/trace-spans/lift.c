/* SPDX-License-Identifier: BSD-3-Clause */
#include "lift.h"

#include "json.h"
#include "nvme.h"

/* enum spdk_bdev_io_type: later releases have only added to its end. */
static const char *const bdev_types[] = {
	"invalid",
	"read",
	"write",
	"unmap",
	"flush",
	"reset",
	"nvme admin",
	"nvme io",
	"nvme io md",
	"write zeroes",
	"zcopy",
	"get zone info",
	"zone management",
	"zone append",
	"compare",
	"compare and write",
	"abort",
	"seek hole",
	"seek data",
	"copy",
	"nvme iov md",
	"nvme nssr",
	"write uncorrectable",
};

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

	json_init(&j, args.p, args.n);
	for (json_object(&j); json_key(&j, &key); json_skip(&j))
		if (json_is(key, "name") && json_peek(&j) == '"') {
			json_string(&j, &name);
			break;
		}
	return name;
}

/* The owner describes the bdev from v24.05 on. */
static struct slice bdev_of(const struct span *s)
{
	static const char prefix[] = "bdev_";
	struct slice owner = span_owner(s);

	if (owner.n < strlen(prefix) || memcmp(owner.p, prefix, strlen(prefix)) != 0)
		return name_of(span_args(s));
	return slice_from(owner, strlen(prefix));
}

static void add_bdev(struct io *io, struct slice name)
{
	struct slice rest = out_kept(&io->bdev);

	while (rest.n) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct slice one = slice_cut(&rest, comma ? (size_t)(comma - rest.p) : rest.n);

		if (slice_equal(one, name))
			return;
		slice_cut(&rest, !!rest.n);
	}
	if (!name.n)
		return;
	if (io->bdev.len)
		out_char(&io->bdev, ',');
	out_slice(&io->bdev, name);
}

static void add_bdev_io(struct io *io, const struct span *s)
{
	keep_first(&io->facts, &s->facts, FACT_TYPE);
	keep_first(&io->facts, &s->facts, FACT_LBA);
	keep_first(&io->facts, &s->facts, FACT_QD);
	add(&io->facts, &s->facts, FACT_BLOCKS);
	add_bdev(io, bdev_of(s));
}

/* An admin queue has number 0, and from v24.05 on no owner. */
static bool is_admin(const struct span *s)
{
	struct slice poller = span_poller(s);

	for (size_t i = 1; i < poller.n; i++)
		if (poller.p[i] != '0')
			return false;
	return true;
}

/* What a bdev I/O would say, of a command without one above it. */
static void add_command(struct io *io, const struct span *s)
{
	const uint64_t *values = s->facts.values;
	struct facts says = s->facts;

	if (is_admin(s)) {
		io->type = io->type ? io->type : "nvme admin";
		return;
	}
	if (!io->type && facts_has(&s->facts, FACT_OPC))
		io->type = nvme_io_command(values[FACT_OPC]);
	if (facts_has(&s->facts, FACT_OPC) && nvme_has_blocks(values[FACT_OPC])) {
		if (facts_has(&s->facts, FACT_DW10) && facts_has(&s->facts, FACT_DW11)) {
			says.values[FACT_LBA] = values[FACT_DW11] << 32 | values[FACT_DW10];
			says.has |= 1U << FACT_LBA;
		}
		if (facts_has(&s->facts, FACT_DW12)) {
			says.values[FACT_BLOCKS] = (values[FACT_DW12] & 0xffff) + 1;
			says.has |= 1U << FACT_BLOCKS;
		}
	}
	keep_first(&io->facts, &says, FACT_LBA);
	add(&io->facts, &says, FACT_BLOCKS);
}

static void add_nvme(struct io *io, const struct span *s, bool alone)
{
	keep_first(&io->facts, &s->facts, FACT_CID);
	keep_first(&io->facts, &s->facts, FACT_OPC);
	keep_first(&io->facts, &s->facts, FACT_QD);
	if (facts_has(&s->facts, FACT_CPL) &&
	    (!facts_has(&io->facts, FACT_CPL) || nvme_is_success(io->facts.values[FACT_CPL]))) {
		io->facts.values[FACT_CPL] = s->facts.values[FACT_CPL];
		io->facts.has |= 1U << FACT_CPL;
	}
	if (alone)
		add_command(io, s);
}

/* top: of the kinds that count once on the way down, those that have not been met. */
enum top { BDEV = 1, NVME = 2 };

static void walk(struct io *io, const struct spans *spans, const struct span *s, unsigned top, unsigned level)
{
	switch (source_of(spans, s)) {
	case FACTS_BDEV_IO:
		if (top & BDEV)
			add_bdev_io(io, s);
		top &= ~BDEV;
		break;
	case FACTS_NVME_SUBMIT:
		if (top & NVME)
			add_nvme(io, s, top & BDEV);
		top &= ~NVME;
		break;
	case FACTS_SOCKET:
		/* those further down are on another connection: a remote drive's */
		if (level <= 1)
			add(&io->facts, &s->facts, FACT_BYTES);
		break;
	case FACTS_SCSI_TASK:
		add(&io->facts, &s->facts, FACT_BYTES);
		break;
	default:
		break;
	}
	for (const struct span *child = s->child; child; child = child->next)
		walk(io, spans, child, top, level + 1);
}

void lift_io(struct io *io, const struct spans *spans, const struct span *s)
{
	uint64_t type;

	io->bdev.fd = OUT_MEMORY;
	io->bdev.len = 0;
	*io = (struct io){.bdev = io->bdev};
	walk(io, spans, s, BDEV | NVME, 0);
	type = io->facts.values[FACT_TYPE];
	if (facts_has(&io->facts, FACT_TYPE))
		io->type = type < sizeof(bdev_types) / sizeof(*bdev_types) ? bdev_types[type] : NULL;
	if (facts_has(&io->facts, FACT_CPL))
		io->status = nvme_status(io->facts.values[FACT_CPL]);
}

void lift_free(struct io *io)
{
	out_close(&io->bdev);
}
