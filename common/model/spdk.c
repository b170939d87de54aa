/* SPDX-License-Identifier: BSD-3-Clause */
#include "spdk.h"

#include "count.h"

const char *const spdk_layers[LAYERS] = {
	[LAYER_NETWORK] = "network", [LAYER_BUFFER] = "buffer", [LAYER_HOST] = "host",
	[LAYER_TARGET] = "target",   [LAYER_BELOW] = "below",   [LAYER_BDEV] = "bdev",
	[LAYER_DRIVE] = "drive",     [LAYER_REPLY] = "reply",   [LAYER_UNKNOWN] = "unknown",
};

/* clang-format off */
#define NVME_ARGS \
	{{IO_CID, "cid"}, {IO_OPC, "opc"}, {IO_DW10, "dw10"}, {IO_DW11, "dw11"}, {IO_DW12, "dw12"}, {IO_QD, "qd"}}
/* clang-format on */

/* Names that releases have changed, or cut off at 23 characters, have a row each. */
static const struct spdk_tpoint tpoints[] = {
	/* lib/nvmf/tcp.c, nvmf_tcp_req_process(): what moves a request out of each state; qd: from v24.05 on */
	{"TCP_REQ_NEW", .layer = LAYER_TARGET, .args = {{IO_QPAIR_QD, "qd"}}},
	{"TCP_REQ_NEED_BUFFER", .layer = LAYER_BUFFER},
	{"TCP_REQ_AWAIT_R2T_ACK", .layer = LAYER_HOST},
	{"TCP_REQ_TX_H_TO_C", .layer = LAYER_HOST},
	{"TCP_REQ_TRANSFER_C2H", .layer = LAYER_NETWORK, .replies = true},
	{"TCP_REQ_RDY_TO_EXECUTE", .layer = LAYER_TARGET, .passes_on = true},
	{"TCP_REQ_EXECUTING", .layer = LAYER_TARGET, .passes_on = true, .executes = true},
	{"TCP_REQ_WAIT_ZCPY_START", .layer = LAYER_BDEV, .passes_on = true},
	{"TCP_REQ_WAIT_ZCPY_CMT", .layer = LAYER_BDEV, .passes_on = true},
	{"TCP_REQ_AWAIT_ZCPY_RLS", .layer = LAYER_BDEV, .passes_on = true},
	{"TCP_READ_DONE", .layer = LAYER_TARGET, .kind = SPDK_SOCKET_READ},
	/* the same file: connections */
	{"TCP_QP_CREATE", .layer = LAYER_TARGET, .kind = SPDK_QPAIR, .creates = true},
	{"TCP_QP_SOCK_INIT", .layer = LAYER_TARGET, .kind = SPDK_QPAIR, .creates = true},
	{"TCP_QP_STATE_CHANGE", .layer = LAYER_TARGET, .kind = SPDK_QPAIR},
	{"TCP_QP_RCV_STATE_CHANGE", .layer = LAYER_TARGET, .kind = SPDK_QPAIR},
	{"TCP_QP_ABORT_REQ", .layer = LAYER_TARGET, .kind = SPDK_QPAIR},
	{"TCP_QP_DISCONNECT", .layer = LAYER_TARGET, .kind = SPDK_QPAIR, .disconnects = true},
	{"TCP_QP_DESTROY", .layer = LAYER_TARGET, .kind = SPDK_QPAIR_DESTROY, .disconnects = true, .destroys = true},
	/* lib/nvmf/rdma.c, nvmf_rdma_request_process(); pending: for a place in the send queue */
	{"RDMA_REQ_NEW", .layer = LAYER_TARGET, .args = {{IO_QPAIR_QD, "qd"}}},
	{"RDMA_REQ_NEED_BUFFER", .layer = LAYER_BUFFER},
	{"RDMA_REQ_NEED_DATA_WR", .layer = LAYER_BUFFER},
	{"RDMA_REQ_TX_H2C", .layer = LAYER_HOST},
	{"RDMA_REQ_TX_PENDING_H2C", .layer = LAYER_NETWORK},
	{"RDMA_REQ_RDY_TO_EXECUTE", .layer = LAYER_TARGET, .passes_on = true},
	{"RDMA_REQ_EXECUTING", .layer = LAYER_TARGET, .passes_on = true, .executes = true},
	{"RDMA_REQ_TX_PENDING_C2H", .layer = LAYER_NETWORK},
	{"RDMA_REQ_RDY_TO_COMPL_P", .layer = LAYER_NETWORK},
	{"RDMA_REQ_RDY2COMPL_PEND", .layer = LAYER_NETWORK},
	{"RDMA_REQ_COMPLETING_C2H", .layer = LAYER_NETWORK},
	{"RDMA_REQ_COMPLETING", .layer = LAYER_NETWORK},
	{"RDMA_QP_CREATE", .layer = LAYER_TARGET, .creates = true},
	{"RDMA_QP_DISCONNECT", .layer = LAYER_TARGET, .disconnects = true},
	{"RDMA_QP_DESTROY", .layer = LAYER_TARGET, .disconnects = true, .destroys = true},
	/* lib/nvmf/fc.c, nvmf_fc_record_req_trace_point(); FC_REQ_: v21.07 */
	{"FC_WRITE_NEED_BUFFER", .layer = LAYER_BUFFER},
	{"FC_REQ_WRITE_NEED_BUFFE", .layer = LAYER_BUFFER},
	{"FC_WRITE_XFER_DATA", .layer = LAYER_HOST},
	{"FC_REQ_WRITE_XFER_DATA", .layer = LAYER_HOST},
	{"FC_READ_XFER_DATA", .layer = LAYER_NETWORK},
	{"FC_REQ_READ_XFER_DATA", .layer = LAYER_NETWORK},
	{"FC_READ_RSP", .layer = LAYER_NETWORK},
	{"FC_REQ_READ_RSP", .layer = LAYER_NETWORK},
	{"FC_WRITE_RSP", .layer = LAYER_NETWORK},
	{"FC_REQ_WRITE_RSP", .layer = LAYER_NETWORK},
	{"FC_NONE_RSP", .layer = LAYER_NETWORK},
	{"FC_REQ_NONE_RSP", .layer = LAYER_NETWORK},
	{"FC_READ_SBMT_TO_BDEV", .layer = LAYER_BDEV, .passes_on = true},
	{"FC_REQ_READ_SUBMIT_TO_B", .layer = LAYER_BDEV, .passes_on = true},
	{"FC_WRITE_SBMT_TO_BDEV", .layer = LAYER_BDEV, .passes_on = true},
	{"FC_REQ_WRITE_SUBMIT_TO_", .layer = LAYER_BDEV, .passes_on = true},
	{"FC_NONE_SBMT_TO_BDEV", .layer = LAYER_BDEV, .passes_on = true, .executes = true},
	{"FC_REQ_NONE_SUBMIT_TO_B", .layer = LAYER_BDEV, .passes_on = true, .executes = true},
	/* include/spdk_internal/sock_module.h: queued, and passed to the kernel */
	{"SOCK_REQ_QUEUE", .layer = LAYER_NETWORK, .kind = SPDK_SOCKET_WRITE, .args = {{IO_BYTES, NULL}},
	 .parent = {"ctx", ""}},
	{"SOCK_REQ_PEND", .layer = LAYER_NETWORK, .sends = true},
	/* lib/iscsi/conn.c, until v24.01; lib/iscsi/iscsi.c; lib/scsi/lun.c */
	{"ISCSI_WRITE_START", .layer = LAYER_NETWORK},
	{"ISCSI_TASK_QUEUE", .layer = LAYER_TARGET, .kind = SPDK_SCSI_TASK, .args = {{IO_BYTES, NULL}},
	 .parent = {"pdu", "p"}, .passes_on = true},
	{"SCSI_TASK_START", .layer = LAYER_BDEV, .passes_on = true},
	/*
	 * lib/bdev/bdev.c: the number of blocks is an argument from v22.05 to v24.01, and the size since then. The
	 * name is an argument from v23.01 to v24.01. ctx is a request over FC, or over RDMA before v24.09
	 * (lib/nvmf/ctrlr_bdev.c); the bdev I/O that was split, or that a module passes on (part.c); or a task
	 * (lib/scsi/scsi_bdev.c).
	 */
	{"BDEV_IO_START", .layer = LAYER_BDEV, .kind = SPDK_BDEV_IO,
	 .args = {{IO_TYPE, "type"}, {IO_LBA, "offset"}, {IO_BLOCKS, "len"}, {IO_QD, "qd"}, {IO_BLOCKS, NULL}},
	 .bdev = "name", .parent = {"ctx", "rit"}},
	{"BDEV_IOCH_CREATE", .layer = LAYER_TARGET, .kind = SPDK_BDEV_CHANNEL},
	{"BDEV_IOCH_DESTROY", .layer = LAYER_TARGET, .kind = SPDK_BDEV_CHANNEL},
	/*
	 * lib/blob/request.c; ctx is another set if that reads the blob's snapshot (lib/blob/blob_bs_dev.c). Then
	 * module/bdev: raid/bdev_raid.c, nvme/bdev_nvme.c.
	 */
	{"BLOB_REQ_SET_START", .layer = LAYER_BDEV, .kind = SPDK_BLOB_SET, .parent = {"ctx", "a"}},
	{"BDEV_RAID_IO_START", .layer = LAYER_BDEV},
	{"BDEV_NVME_IO_START", .layer = LAYER_BDEV, .kind = SPDK_NVME_IO},
	/* lib/nvme/nvme_pcie_common.c, lib/nvme/nvme_tcp.c */
	{"NVME_PCIE_SUBMIT", .layer = LAYER_DRIVE, .kind = SPDK_NVME_COMMAND, .args = NVME_ARGS},
	{"NVME_PCIE_COMPLETE", .layer = LAYER_TARGET, .args = {{IO_CPL, "cpl"}}},
	{"NVME_TCP_SUBMIT", .layer = LAYER_DRIVE, .kind = SPDK_NVME_COMMAND, .args = NVME_ARGS},
	{"NVME_TCP_COMPLETE", .layer = LAYER_TARGET, .args = {{IO_CPL, "cpl"}}},
};

void spdk_sort_layers(const double values[LAYERS], enum layer sorted[LAYERS])
{
	for (enum layer layer = 0; layer < LAYERS; layer++) {
		unsigned i = layer;

		for (; i && values[sorted[i - 1]] < values[layer]; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = layer;
	}
}

const struct spdk_tpoint *spdk_tpoint(struct slice name)
{
	static const struct spdk_tpoint without_row = {"", .layer = LAYER_TARGET};

	for (size_t i = 0; i < COUNT(tpoints); i++)
		if (slice_is(name, tpoints[i].name))
			return &tpoints[i];
	return &without_row;
}

bool spdk_is_final(struct slice name)
{
	return slice_ends(name, "COMPLETED") || slice_ends(name, "DONE") ||
	       (slice_ends(name, "COMPLETE") && !slice_ends(name, "RDY_TO_COMPLETE"));
}

struct slice spdk_family(struct slice letter, struct slice name)
{
	/* lib/nvmf, lib/iscsi, lib/nvme */
	static const struct {
		const char *letter, *family;
	} families[] = {
		{"r", "TCP"}, {"r", "RDMA"}, {"r", "FC"}, {"p", "ISCSI"}, {"p", "NVME_PCIE"}, {"p", "NVME_TCP"},
	};

	for (size_t i = 0; i < COUNT(families); i++) {
		struct slice family = slice_of(families[i].family);

		if (slice_is(letter, families[i].letter) && name.n > family.n && name.p[family.n] == '_' &&
		    memcmp(name.p, family.p, family.n) == 0)
			return family;
	}
	return (struct slice){"", 0};
}

struct slice spdk_letter(struct slice name)
{
	/* the first row counts */
	static const struct {
		const char *start, *letter;
	} letters[] = {
		{"TCP_REQ_", "r"},      {"RDMA_REQ_", "r"}, {"FC_", "r"},           {"ISCSI_TASK_EXECUTED", "p"},
		{"ISCSI_TASK_", "t"},   {"ISCSI_", "p"},    {"SCSI_TASK_", "t"},    {"NVME_PCIE_", "p"},
		{"NVME_TCP_", "p"},     {"BDEV_IO_", "i"},  {"BDEV_RAID_IO_", "R"}, {"BDEV_NVME_IO_", "N"},
		{"BLOB_REQ_SET_", "a"}, {"SOCK_REQ_", "s"},
	};

	for (size_t i = 0; i < COUNT(letters); i++)
		if (slice_starts(name, letters[i].start))
			return slice_of(letters[i].letter);
	return slice_of("n/a");
}

struct slice spdk_group(struct slice name)
{
	/* SPDK_TRACE_REGISTER_FN() in the files that define the tracepoints; the first row counts */
	static const struct {
		const char *start, *group;
	} groups[] = {
		{"TCP_", "nvmf_tcp"},     {"RDMA_", "nvmf_rdma"},      {"FC_", "nvmf_fc"},
		{"SOCK_", "sock"},        {"BDEV_NVME_", "bdev_nvme"}, {"BDEV_RAID_", "bdev_raid"},
		{"BDEV_", "bdev"},        {"NVME_PCIE_", "nvme_pcie"}, {"NVME_TCP_", "nvme_tcp"},
		{"ISCSI_", "iscsi_conn"}, {"SCSI_", "scsi"},           {"BLOB_", "blob"},
		{"BLOBFS_", "blobfs"},    {"THREAD_", "thread"},       {"SCHEDULER_", "scheduler"},
		{"DSA_", "dsa"},          {"IDXD_", "idxd"},           {"IAA_", "iaa"},
	};

	for (size_t i = 0; i < COUNT(groups); i++)
		if (slice_starts(name, groups[i].start))
			return slice_of(groups[i].group);
	return (struct slice){"", 0};
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

const char *spdk_bdev_type(uint64_t type)
{
	return type < COUNT(bdev_types) ? bdev_types[type] : NULL;
}

bool spdk_may_be_limited(uint64_t type)
{
	/* lib/bdev/bdev.c, bdev_qos_io_to_limit(): read, write, nvme io, nvme io md, zcopy */
	return type == 1 || type == 2 || type == 7 || type == 8 || type == 10;
}

bool spdk_is_write(uint64_t type)
{
	return type == 2;
}

struct slice spdk_bdev(struct slice owner, struct slice name)
{
	static const char prefix[] = "bdev_";

	/* the owner describes the bdev from v24.05 on */
	return slice_starts(owner, prefix) ? slice_from(owner, strlen(prefix)) : name;
}
