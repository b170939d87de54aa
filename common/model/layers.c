/* SPDX-License-Identifier: BSD-3-Clause */
#include "layers.h"

const char *const layers_names[LAYERS] = {
	[LAYER_NETWORK] = "network", [LAYER_BUFFER] = "buffer", [LAYER_HOST] = "host",
	[LAYER_TARGET] = "target",   [LAYER_BDEV] = "bdev",     [LAYER_DRIVE] = "drive",
};

/* Names that releases have changed, or cut off at 23 characters, have a row each. */
static const struct row {
	enum layer layer;
	const char *tpoint;
} rows[] = {
	/* lib/nvmf/tcp.c, nvmf_tcp_req_process(): what moves a request out of each state */
	{LAYER_BUFFER, "TCP_REQ_NEED_BUFFER"},
	{LAYER_HOST, "TCP_REQ_AWAIT_R2T_ACK"},
	{LAYER_HOST, "TCP_REQ_TX_H_TO_C"},
	{LAYER_NETWORK, "TCP_REQ_TRANSFER_C2H"},
	{LAYER_BDEV, "TCP_REQ_WAIT_ZCPY_START"},
	{LAYER_BDEV, "TCP_REQ_WAIT_ZCPY_CMT"},
	{LAYER_BDEV, "TCP_REQ_AWAIT_ZCPY_RLS"},
	/* lib/nvmf/rdma.c, nvmf_rdma_request_process(); pending: for a place in the send queue */
	{LAYER_BUFFER, "RDMA_REQ_NEED_BUFFER"},
	{LAYER_BUFFER, "RDMA_REQ_NEED_DATA_WR"},
	{LAYER_HOST, "RDMA_REQ_TX_H2C"},
	{LAYER_NETWORK, "RDMA_REQ_TX_PENDING_H2C"},
	{LAYER_NETWORK, "RDMA_REQ_TX_PENDING_C2H"},
	{LAYER_NETWORK, "RDMA_REQ_RDY_TO_COMPL_P"},
	{LAYER_NETWORK, "RDMA_REQ_RDY2COMPL_PEND"},
	{LAYER_NETWORK, "RDMA_REQ_COMPLETING_C2H"},
	{LAYER_NETWORK, "RDMA_REQ_COMPLETING"},
	/* lib/nvmf/fc.c, nvmf_fc_record_req_trace_point(); FC_REQ_: v21.07 */
	{LAYER_BUFFER, "FC_WRITE_NEED_BUFFER"},
	{LAYER_BUFFER, "FC_REQ_WRITE_NEED_BUFFE"},
	{LAYER_HOST, "FC_WRITE_XFER_DATA"},
	{LAYER_HOST, "FC_REQ_WRITE_XFER_DATA"},
	{LAYER_NETWORK, "FC_READ_XFER_DATA"},
	{LAYER_NETWORK, "FC_REQ_READ_XFER_DATA"},
	{LAYER_NETWORK, "FC_READ_RSP"},
	{LAYER_NETWORK, "FC_REQ_READ_RSP"},
	{LAYER_NETWORK, "FC_WRITE_RSP"},
	{LAYER_NETWORK, "FC_REQ_WRITE_RSP"},
	{LAYER_NETWORK, "FC_NONE_RSP"},
	{LAYER_NETWORK, "FC_REQ_NONE_RSP"},
	{LAYER_BDEV, "FC_READ_SBMT_TO_BDEV"},
	{LAYER_BDEV, "FC_REQ_READ_SUBMIT_TO_B"},
	{LAYER_BDEV, "FC_WRITE_SBMT_TO_BDEV"},
	{LAYER_BDEV, "FC_REQ_WRITE_SUBMIT_TO_"},
	{LAYER_BDEV, "FC_NONE_SBMT_TO_BDEV"},
	{LAYER_BDEV, "FC_REQ_NONE_SUBMIT_TO_B"},
	/* include/spdk_internal/sock_module.h: queued, and passed to the kernel */
	{LAYER_NETWORK, "SOCK_REQ_QUEUE"},
	{LAYER_NETWORK, "SOCK_REQ_PEND"},
	/* lib/iscsi/conn.c, until v24.01; lib/scsi/lun.c */
	{LAYER_NETWORK, "ISCSI_WRITE_START"},
	{LAYER_BDEV, "SCSI_TASK_START"},
	/* lib/bdev/bdev.c, lib/blob/request.c, module/bdev: raid/bdev_raid.c, nvme/bdev_nvme.c */
	{LAYER_BDEV, "BDEV_IO_START"},
	{LAYER_BDEV, "BLOB_REQ_SET_START"},
	{LAYER_BDEV, "BDEV_RAID_IO_START"},
	{LAYER_BDEV, "BDEV_NVME_IO_START"},
	/* lib/nvme/nvme_pcie_common.c, lib/nvme/nvme_tcp.c */
	{LAYER_DRIVE, "NVME_PCIE_SUBMIT"},
	{LAYER_DRIVE, "NVME_TCP_SUBMIT"},
};

enum layer layers_of(struct slice tpoint)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (slice_is(tpoint, rows[i].tpoint))
			return rows[i].layer;
	return LAYER_TARGET;
}
