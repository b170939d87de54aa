/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of NVMe's opcodes and status codes, by the NVMe specifications 2.0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The opcode of commands to a fabric, such as connect, on all queues. */
enum { NVME_FABRICS = 0x7f };

/* The name of an I/O command, the same as that of the bdev I/O type if there is one. NULL: it has none. */
const char *nvme_io_command(uint64_t opcode);

/* Whether an I/O command has a block address and a number of blocks in its dwords 10 to 12. */
bool nvme_has_blocks(uint64_t opcode);

/* A status as SPDK traces it: 16 bits, the phase tag at the bottom. */
bool nvme_is_success(uint64_t status);
/* NULL: it has no name here. */
const char *nvme_status(uint64_t status);
