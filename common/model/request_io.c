/* SPDX-License-Identifier: BSD-3-Clause */
#include "request_io.h"

#include "nvme.h"
#include "self_time.h"

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

static void add_bdev(struct request_io *io, struct slice name)
{
	struct slice rest = out_contents(&io->bdev);

	while (rest.n) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct slice one = slice_cut(&rest, comma ? (size_t)(comma - rest.p) : rest.n);

		if (slice_equal(one, name))
			return;
		slice_cut(&rest, !!rest.n);
	}
	if (!name.n)
		return;
	if (io->bdev.len) {
		out_char(&io->bdev, ',');
		io->is_stacked = true;
	}
	out_slice(&io->bdev, name);
}

static void add_bdev_io(struct request_io *io, const struct span *s)
{
	keep_first(&io->args, &s->io, IO_TYPE);
	keep_first(&io->args, &s->io, IO_LBA);
	keep_first(&io->args, &s->io, IO_QD);
	add(&io->args, &s->io, IO_BLOCKS);
	add_bdev(io, spans_bdev(s));
}

/* Adds what a bdev I/O would say, for a command without one above it. */
static void add_command(struct request_io *io, const struct span *s)
{
	struct io_args says = s->io;
	const char *type = io_args_add_command(&says, span_poller(s));

	io->type = io->type ? io->type : type;
	/* the bdev I/Os of its request say the rest */
	if (s->is_remote)
		return;
	keep_first(&io->args, &says, IO_LBA);
	add(&io->args, &says, IO_BLOCKS);
}

static void add_nvme(struct request_io *io, const struct span *s, bool alone)
{
	keep_first(&io->args, &s->io, IO_CID);
	keep_first(&io->args, &s->io, IO_OPC);
	keep_first(&io->args, &s->io, IO_QD);
	if (io_args_has(&s->io, IO_CPL) &&
	    (!io_args_has(&io->args, IO_CPL) || nvme_is_success(io->args.values[IO_CPL]))) {
		io->args.values[IO_CPL] = s->io.values[IO_CPL];
		io->args.has |= 1U << IO_CPL;
	}
	if (alone)
		add_command(io, s);
}

/* top: the kinds, of those that count once on the way down, that have not occurred so far. */
enum top { BDEV = 1, NVME = 2 };

/* written: what was written to the socket */
static void walk(struct request_io *io, struct io_args *written, const struct spans *spans, const struct span *s,
		 unsigned top, unsigned level)
{
	switch (spans_kind(spans, s)) {
	case SPDK_BDEV_IO:
		if (top & BDEV)
			add_bdev_io(io, s);
		else
			io->is_stacked = true;
		top &= ~BDEV;
		break;
	case SPDK_NVME_COMMAND:
		if (top & NVME)
			add_nvme(io, s, top & BDEV);
		top &= ~NVME;
		break;
	case SPDK_SOCKET_WRITE:
		/* those further down are on another connection: a remote drive's */
		if (level <= 1)
			add(written, &s->io, IO_BYTES);
		break;
	case SPDK_SCSI_TASK:
		add(&io->args, &s->io, IO_BYTES);
		break;
	default:
		break;
	}
	for (const struct span *child = s->child; child; child = child->next)
		walk(io, written, spans, child, top, level + 1);
}

void request_io_read(struct request_io *io, const struct spans *spans, const struct span *s)
{
	struct io_args written = {};

	*io = (struct request_io){.bdev = *out_start(&io->bdev), .spans = spans, .span = s};
	walk(io, &written, spans, s, BDEV | NVME, 0);
	keep_first(&io->args, &s->io, IO_QPAIR_QD);
	/* the data of SCSI tasks, not their responses */
	keep_first(&io->args, &written, IO_BYTES);
	if (io_args_has(&io->args, IO_TYPE))
		io->type = spdk_bdev_type(io->args.values[IO_TYPE]);
	if (io_args_has(&io->args, IO_CPL))
		io->status = nvme_status(io->args.values[IO_CPL]);
}

const char *const request_io_keys[REQUEST_IO_KEYS] = {
	[REQUEST_IO_TYPE] = "type",         [REQUEST_IO_BLOCKS] = "blocks", [REQUEST_IO_LBA] = "lba",
	[REQUEST_IO_BDEV] = "bdev",         [REQUEST_IO_LEG] = "leg",       [REQUEST_IO_QD] = "qd",
	[REQUEST_IO_QPAIR_QD] = "qpair_qd", [REQUEST_IO_BYTES] = "bytes",   [REQUEST_IO_CID] = "cid",
	[REQUEST_IO_OPC] = "opc",           [REQUEST_IO_STATUS] = "status",
};

bool request_io_number(const struct request_io *io, enum request_io_key key, uint64_t *value)
{
	static const enum io_arg args[REQUEST_IO_KEYS] = {
		[REQUEST_IO_TYPE] = IO_TYPE, [REQUEST_IO_BLOCKS] = IO_BLOCKS,     [REQUEST_IO_LBA] = IO_LBA,
		[REQUEST_IO_QD] = IO_QD,     [REQUEST_IO_QPAIR_QD] = IO_QPAIR_QD, [REQUEST_IO_BYTES] = IO_BYTES,
		[REQUEST_IO_CID] = IO_CID,   [REQUEST_IO_OPC] = IO_OPC,
	};

	if (key == REQUEST_IO_STATUS || key == REQUEST_IO_BDEV || key == REQUEST_IO_LEG ||
	    (key == REQUEST_IO_TYPE && io->type) || !io_args_has(&io->args, args[key]))
		return false;
	*value = io->args.values[args[key]];
	return true;
}

struct slice request_io_leg(const struct request_io *io, uint64_t *ns)
{
	const struct span *leg = io->is_stacked ? self_time_leg(io->spans, io->span) : NULL;
	struct slice name = leg ? spans_bdev(leg) : (struct slice){};

	*ns = leg ? leg->path.self : 0;
	return slice_equal(name, out_contents(&io->bdev)) ? (struct slice){} : name;
}

struct slice request_io_text(const struct request_io *io, enum request_io_key key, struct out *scratch)
{
	uint64_t status = io->args.values[IO_CPL], ns;

	switch (key) {
	case REQUEST_IO_TYPE:
		return io->type ? slice_of(io->type) : (struct slice){};
	case REQUEST_IO_BDEV:
		return out_contents(&io->bdev);
	case REQUEST_IO_LEG:
		return request_io_leg(io, &ns);
	case REQUEST_IO_STATUS:
		if (io->status)
			return slice_of(io->status);
		if (!io_args_has(&io->args, IO_CPL))
			return (struct slice){};
		scratch->len = 0;
		out_printf(scratch, "type %u code 0x%02x", (unsigned)(status >> 9 & 7), (unsigned)(status >> 1 & 0xff));
		return out_contents(scratch);
	default:
		return (struct slice){};
	}
}

void request_io_free(struct request_io *io)
{
	out_close(&io->bdev);
}
