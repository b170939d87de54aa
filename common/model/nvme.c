/* SPDX-License-Identifier: BSD-3-Clause */
#include "nvme.h"

#include <stddef.h>

#include "count.h"

static const struct {
	const char *name;
	bool blocks;
} commands[] = {
	[0x00] = {"flush", false},
	[0x01] = {"write", true},
	[0x02] = {"read", true},
	[0x04] = {"write uncorrectable", true},
	[0x05] = {"compare", true},
	[0x08] = {"write zeroes", true},
	[0x09] = {"dataset management", false},
	[0x0c] = {"verify", true},
	[0x0d] = {"reservation register", false},
	[0x0e] = {"reservation report", false},
	[0x11] = {"reservation acquire", false},
	[0x15] = {"reservation release", false},
	[0x19] = {"copy", false},
	[0x79] = {"zone management send", false},
	[0x7a] = {"zone management receive", false},
	[0x7d] = {"zone append", true},
	[NVME_FABRICS] = {"fabrics", false},
};

/* Status code types are in the upper byte. */
static const struct {
	uint16_t code;
	const char *name;
} statuses[] = {
	{0x000, "success"},
	{0x001, "invalid opcode"},
	{0x002, "invalid field"},
	{0x003, "command id conflict"},
	{0x004, "data transfer error"},
	{0x005, "aborted, power loss"},
	{0x006, "internal device error"},
	{0x007, "aborted by request"},
	{0x008, "aborted, queue deleted"},
	{0x009, "aborted, fused command failed"},
	{0x00a, "aborted, fused command missing"},
	{0x00b, "invalid namespace or format"},
	{0x00c, "command sequence error"},
	{0x00f, "data sgl length invalid"},
	{0x014, "atomic write unit exceeded"},
	{0x015, "operation denied"},
	{0x01b, "aborted, preempted"},
	{0x01c, "sanitize failed"},
	{0x01d, "sanitize in progress"},
	{0x020, "namespace is write protected"},
	{0x021, "command interrupted"},
	{0x022, "transient transport error"},
	{0x080, "lba out of range"},
	{0x081, "capacity exceeded"},
	{0x082, "namespace not ready"},
	{0x083, "reservation conflict"},
	{0x084, "format in progress"},
	{0x101, "invalid queue identifier"},
	{0x102, "invalid queue size"},
	{0x105, "too many async event requests"},
	{0x109, "invalid log page"},
	{0x10a, "invalid format"},
	{0x182, "write to read-only range"},
	{0x1b8, "zone boundary error"},
	{0x1b9, "zone is full"},
	{0x1ba, "zone is read-only"},
	{0x1bb, "zone is offline"},
	{0x1bc, "zone invalid write"},
	{0x280, "write fault"},
	{0x281, "unrecovered read error"},
	{0x282, "guard check error"},
	{0x283, "application tag check error"},
	{0x284, "reference tag check error"},
	{0x285, "compare failure"},
	{0x286, "access denied"},
	{0x287, "deallocated or unwritten block"},
	{0x300, "internal path error"},
	{0x301, "asymmetric access persistent loss"},
	{0x302, "asymmetric access inaccessible"},
	{0x303, "asymmetric access transition"},
	{0x360, "controller path error"},
	{0x370, "host path error"},
	{0x371, "aborted by host"},
};

const char *nvme_io_command(uint64_t opcode)
{
	return opcode < COUNT(commands) ? commands[opcode].name : NULL;
}

bool nvme_has_blocks(uint64_t opcode)
{
	return opcode < COUNT(commands) && commands[opcode].blocks;
}

static uint16_t code_of(uint64_t status)
{
	/* phase tag, code, type, retry delay, more, do not retry */
	return status >> 1 & 0x7ff;
}

bool nvme_is_success(uint64_t status)
{
	return !code_of(status);
}

const char *nvme_status(uint64_t status)
{
	for (size_t i = 0; i < COUNT(statuses); i++)
		if (statuses[i].code == code_of(status))
			return statuses[i].name;
	return NULL;
}
