/* SPDX-License-Identifier: BSD-3-Clause */
#include "lift.h"

#include "nvme.h"

static void keep_first(struct io_args *to, const struct io_args *from, enum io_arg arg)
{
	if (!io_args_has(to, arg) && io_args_has(from, arg))
		io_args_set(to, arg, from->values[arg]);
}

static void add(struct io_args *to, const struct io_args *from, enum io_arg arg)
{
	if (io_args_has(from, arg))
		io_args_set(to, arg, to->values[arg] + from->values[arg]);
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
	keep_first(&lift->io, &s->io, IO_TYPE);
	keep_first(&lift->io, &s->io, IO_LBA);
	keep_first(&lift->io, &s->io, IO_QD);
	add(&lift->io, &s->io, IO_BLOCKS);
	add_bdev(lift, spdk_bdev(span_owner(s), span_bdev(s)));
}

/* Adds what a bdev I/O would say, for a command without one above it. */
static void add_command(struct lift *lift, const struct span *s)
{
	struct io_args says = s->io;
	const char *type = io_args_add_command(&says, span_poller(s));

	lift->type = lift->type ? lift->type : type;
	keep_first(&lift->io, &says, IO_LBA);
	add(&lift->io, &says, IO_BLOCKS);
}

static void add_nvme(struct lift *lift, const struct span *s, bool alone)
{
	keep_first(&lift->io, &s->io, IO_CID);
	keep_first(&lift->io, &s->io, IO_OPC);
	keep_first(&lift->io, &s->io, IO_QD);
	if (io_args_has(&s->io, IO_CPL) &&
	    (!io_args_has(&lift->io, IO_CPL) || nvme_is_success(lift->io.values[IO_CPL]))) {
		lift->io.values[IO_CPL] = s->io.values[IO_CPL];
		lift->io.has |= 1U << IO_CPL;
	}
	if (alone)
		add_command(lift, s);
}

/* top: the kinds, of those that count once on the way down, that have not occurred so far. */
enum top { BDEV = 1, NVME = 2 };

static void walk(struct lift *lift, const struct spans *spans, const struct span *s, unsigned top, unsigned level)
{
	switch (spans_tpoint(spans, s->states[0].state)->kind) {
	case SPDK_BDEV_IO:
		if (top & BDEV)
			add_bdev_io(lift, s);
		top &= ~BDEV;
		break;
	case SPDK_NVME_COMMAND:
		if (top & NVME)
			add_nvme(lift, s, top & BDEV);
		top &= ~NVME;
		break;
	case SPDK_SOCKET_WRITE:
		/* those further down are on another connection: a remote drive's */
		if (level <= 1)
			add(&lift->io, &s->io, IO_BYTES);
		break;
	case SPDK_SCSI_TASK:
		add(&lift->io, &s->io, IO_BYTES);
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
	if (io_args_has(&lift->io, IO_TYPE))
		lift->type = spdk_bdev_type(lift->io.values[IO_TYPE]);
	if (io_args_has(&lift->io, IO_CPL))
		lift->status = nvme_status(lift->io.values[IO_CPL]);
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
	uint64_t status = lift->io.values[IO_CPL];

	if (lift->status)
		return write_name(out, slice_of(lift->status));
	if (!io_args_has(&lift->io, IO_CPL))
		return false;
	out_printf(out, "\"type %u code 0x%02x\"", (unsigned)(status >> 9 & 7), (unsigned)(status >> 1 & 0xff));
	return true;
}

bool lift_number(const struct lift *lift, enum lift_key key, uint64_t *value)
{
	static const enum io_arg args[LIFT_KEYS] = {
		[LIFT_TYPE] = IO_TYPE,   [LIFT_BLOCKS] = IO_BLOCKS, [LIFT_LBA] = IO_LBA, [LIFT_QD] = IO_QD,
		[LIFT_BYTES] = IO_BYTES, [LIFT_CID] = IO_CID,       [LIFT_OPC] = IO_OPC,
	};

	if (key == LIFT_STATUS || key == LIFT_BDEV || (key == LIFT_TYPE && lift->type) ||
	    !io_args_has(&lift->io, args[key]))
		return false;
	*value = lift->io.values[args[key]];
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
