/* SPDX-License-Identifier: BSD-3-Clause */
#include "facts.h"

#include "number.h"

static const struct {
	const char *tpoint;
	enum facts_source source;
} sources[] = {
	{"BDEV_IO_START", FACTS_BDEV_IO},           {"NVME_PCIE_SUBMIT", FACTS_NVME_SUBMIT},
	{"NVME_TCP_SUBMIT", FACTS_NVME_SUBMIT},     {"NVME_PCIE_COMPLETE", FACTS_NVME_COMPLETE},
	{"NVME_TCP_COMPLETE", FACTS_NVME_COMPLETE}, {"SOCK_REQ_QUEUE", FACTS_SOCKET},
	{"ISCSI_TASK_QUEUE", FACTS_SCSI_TASK},
};

/* Names of arguments. The number of blocks is one from v22.05 to v24.01, and the size since. */
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
	for (size_t i = 0; i < line->num_args; i++)
		if (slice_is(line->args[i].key, arg))
			return traceline_number(line->args[i].value, value);
	return false;
}

void facts_read(struct facts *f, enum facts_source source, const struct traceline *line)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].source == source && find(line, rows[i].arg, &f->values[rows[i].fact]))
			f->has |= 1U << rows[i].fact;
}
