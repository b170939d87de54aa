/* SPDX-License-Identifier: BSD-3-Clause */
#include "fact.h"

const enum fact fact_proven[FACTS_PROVEN] = {FACT_NO_IO, FACT_RATE_LIMIT, FACT_COPY, FACT_RETRY};

const enum fact fact_overlaps[OVERLAPS] = {
	[OVERLAP_OFF_CPU] = FACT_OFF_CPU,
	[OVERLAP_IRQ] = FACT_IRQ,
	[OVERLAP_DISK] = FACT_DISK,
};

const char *const fact_resources[RESOURCES] = {
	[RESOURCE_NONE] = "unknown",  [RESOURCE_BUFFERS] = "buffers", [RESOURCE_LCORE] = "lcore",
	[RESOURCE_BDEV] = "bdev",     [RESOURCE_LEG] = "leg",         [RESOURCE_DRIVE] = "drive",
	[RESOURCE_SOCKET] = "socket", [RESOURCE_DATA] = "data",       [RESOURCE_NETWORK] = "network",
};

const struct fact_row fact_table[FACTS] = {
	[FACT_BUFFER] = {"buffer", RESOURCE_BUFFERS, "held by", FACT_OF_ANYBODY, "buffers, held by ", "",
			 .cure = "iobuf_set_options --small-pool-count or --large-pool-count"},
	[FACT_HOST] = {"host", RESOURCE_DATA, "not sent by", FACT_OF_HOST, "the data of host ", " comes late",
		       .cure = "look at that host and its network"},
	[FACT_REPLY] = {"reply", RESOURCE_SOCKET, "not read by", FACT_OF_HOST, "host ", " does not read its replies",
			.cure = "look at that host and its network"},
	[FACT_NETWORK] = {"network", RESOURCE_NETWORK, "in transit to", FACT_OF_HOST, "the connection of host ", "",
			  .cure = "look at its network"},
	[FACT_TARGET] = {"target", RESOURCE_LCORE, "at work for it", FACT_OF_NOBODY, "the target", "",
			 .cure = "perf top -t REACTOR"},
	[FACT_BELOW] = {"below", RESOURCE_NONE, "", FACT_OF_NOBODY,
			"what is below the target, which the trace does not show", "",
			.cure = "rpc.py trace_enable_tpoint_group bdev, and record again"},
	[FACT_BDEV] = {"bdev", RESOURCE_BDEV, "at work", FACT_OF_BDEV, "bdev ", " takes longer",
		       .cure = "look at the device, or at the module, of this bdev"},
	[FACT_LEG] = {"leg", RESOURCE_LEG, "at work", FACT_OF_LEG, "leg ", " takes longer than the others",
		      .cure = "look at the device of this bdev, or replace it"},
	[FACT_DRIVE] = {"drive", RESOURCE_DRIVE, "at work", FACT_OF_BDEV, "the drive of ", " takes longer",
			.cure = "look at its health, its load and the way to it"},
	[FACT_DISK] = {"disk", RESOURCE_BDEV, "its disk", FACT_OF_BDEV, "the disk below bdev ", "",
		       .cure = "iostat -x; look at its health and its other users", 1, LAYER_BDEV},
	[FACT_REACTOR] = {"reactor", RESOURCE_LCORE, "busy with", FACT_OF_ANYBODY, "the lcore was busy with ", "",
			  .cure = "more lcores, or fewer connections on this one"},
	[FACT_SILENT] = {"silent", RESOURCE_LCORE, "stood still", FACT_OF_LCORE, "",
			 " stood still, not seen off its CPU",
			 .cure = "offcpusnoop; look for RPCs and modules that block"},
	[FACT_OFF_CPU] = {"off_cpu", RESOURCE_LCORE, "off its CPU:", FACT_OF_ANYBODY, "the reactor was off its CPU: ",
			  "", .cure = "keep others off its CPU; calls that block off reactors; no CPU quota (cpu.max)"},
	[FACT_IRQ] = {"irq", RESOURCE_LCORE, "interrupted by", FACT_OF_ANYBODY, "interrupts on the reactor's CPU: ", "",
		      .cure = "move them to other CPUs"},
	[FACT_RATE_LIMIT] = {"rate_limit", RESOURCE_BDEV, "rate limit", FACT_OF_BDEV, "a rate limit of bdev ", "",
			     .cure = "rpc.py bdev_set_qos_limit", 1, LAYER_BDEV},
	[FACT_QUEUE] = {"queue", RESOURCE_NONE, "", FACT_OF_HOST, "host ", " fills its queue: more may wait there",
			.cure = "more queues, or nvmf_create_transport --max-queue-depth"},
	/* a bdev has what it passed on late */
	[FACT_NO_IO] = {"no_io", RESOURCE_BDEV, "no I/O started", FACT_OF_BDEV, "no I/O was started for bdev ",
			": no bdev_io, or a pause", .cure = "rpc.py bdev_set_options --bdev-io-pool-size", 2,
			LAYER_TARGET, LAYER_BDEV, FACT_BDEV},
	[FACT_COPY] = {"copy", RESOURCE_BDEV, "copies a cluster", FACT_OF_BDEV, "first writes to clusters of ", "",
		       .cure = "rpc.py bdev_lvol_inflate, or allocate it in advance", 1, LAYER_BDEV},
	[FACT_RETRY] = {"retry", RESOURCE_BDEV, "its path failed", FACT_OF_BDEV, "the path of bdev ",
			" failed, and its I/O was retried", .cure = "look at the path to it", 2, LAYER_BDEV,
			LAYER_DRIVE, FACT_RETRY},
	[FACT_UNKNOWN] = {"unknown", RESOURCE_NONE, "", FACT_OF_NOBODY, "what was before the first entry", "",
			  .cure = "record more"},
};
