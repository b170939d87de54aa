/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include "number.h"
#include "nvme.h"

static const struct {
	const char *tpoint;
	enum facts_source source;
} sources[] = {
	{"BDEV_IO_START", FACTS_BDEV_IO},           {"NVME_PCIE_SUBMIT", FACTS_NVME_SUBMIT},
	{"NVME_TCP_SUBMIT", FACTS_NVME_SUBMIT},     {"NVME_PCIE_COMPLETE", FACTS_NVME_COMPLETE},
	{"NVME_TCP_COMPLETE", FACTS_NVME_COMPLETE}, {"SOCK_REQ_QUEUE", FACTS_SOCKET},
	{"ISCSI_TASK_QUEUE", FACTS_SCSI_TASK},
};

/* Names of arguments. The number of blocks is an argument from v22.05 to v24.01, and the entry's size since then. */
static const struct {
	enum facts_source source;
	enum fact fact;
	const char *arg; /* NULL: the size of the entry */
} rows[] = {
	{FACTS_BDEV_IO, FACT_TYPE, "type"},     {FACTS_BDEV_IO, FACT_LBA, "offset"},
	{FACTS_BDEV_IO, FACT_BLOCKS, "len"},    {FACTS_BDEV_IO, FACT_QD, "qd"},
	{FACTS_BDEV_IO, FACT_BLOCKS, NULL},     {FACTS_NVME_SUBMIT, FACT_CID, "cid"},
	{FACTS_NVME_SUBMIT, FACT_OPC, "opc"},   {FACTS_NVME_SUBMIT, FACT_DW10, "dw10"},
	{FACTS_NVME_SUBMIT, FACT_DW11, "dw11"}, {FACTS_NVME_SUBMIT, FACT_DW12, "dw12"},
	{FACTS_NVME_SUBMIT, FACT_QD, "qd"},     {FACTS_NVME_COMPLETE, FACT_CPL, "cpl"},
	{FACTS_SOCKET, FACT_BYTES, NULL},       {FACTS_SCSI_TASK, FACT_BYTES, NULL},
};

enum facts_source facts_source(struct slice tpoint)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (slice_is(tpoint, sources[i].tpoint))
			return sources[i].source;
	return FACTS_NONE;
}

static bool find(const struct traceline *line, const char *arg, uint64_t *value)
{
	if (!arg)
		return line->size.p && number_decimal(line->size, value);
	return traceline_number(traceline_arg(line, arg), value);
}

void facts_read(struct facts *f, enum facts_source source, const struct traceline *line)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].source == source && find(line, rows[i].arg, &f->values[rows[i].fact]))
			f->has |= 1U << rows[i].fact;
}

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

const char *facts_type(uint64_t type)
{
	return type < sizeof(bdev_types) / sizeof(*bdev_types) ? bdev_types[type] : NULL;
}

/* An admin queue has number 0 and, from v24.05 on, no owner. */
static bool is_admin(struct slice poller)
{
	for (size_t i = 1; i < poller.n; i++)
		if (poller.p[i] != '0')
			return false;
	return true;
}

static void add(struct facts *f, enum fact fact, uint64_t value)
{
	f->values[fact] = value;
	f->has |= 1U << fact;
}

const char *facts_add_command(struct facts *f, struct slice poller)
{
	uint64_t opcode = f->values[FACT_OPC];

	if (is_admin(poller))
		return "nvme admin";
	if (!facts_has(f, FACT_OPC))
		return NULL;
	if (nvme_has_blocks(opcode) && facts_has(f, FACT_DW10) && facts_has(f, FACT_DW11))
		add(f, FACT_LBA, f->values[FACT_DW11] << 32 | f->values[FACT_DW10]);
	if (nvme_has_blocks(opcode) && facts_has(f, FACT_DW12))
		add(f, FACT_BLOCKS, (f->values[FACT_DW12] & 0xffff) + 1);
	return nvme_io_command(opcode);
}

void facts_write_name(struct out *out, const struct facts *f, const char *type, struct slice bdev)
{
	out_text(out, type ? type : "I/O");
	if (facts_has(f, FACT_BLOCKS)) {
		out_char(out, ' ');
		out_u64(out, f->values[FACT_BLOCKS]);
	}
	if (facts_has(f, FACT_LBA)) {
		out_text(out, " @");
		out_u64(out, f->values[FACT_LBA]);
	}
	if (bdev.n) {
		out_char(out, ' ');
		out_slice(out, bdev);
	}
}

struct slice facts_bdev(struct slice owner, struct slice name)
{
	static const char prefix[] = "bdev_";

	/* the owner describes the bdev from v24.05 on, the name was an argument from v23.01 to v24.01 */
	return slice_starts(owner, prefix) ? slice_from(owner, strlen(prefix)) : name;
}
