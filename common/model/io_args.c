/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_args.h"

#include "number.h"
#include "nvme.h"

void io_args_read(struct io_args *io, const struct spdk_tpoint *tpoint, const struct traceline *line)
{
	for (const struct spdk_arg *arg = tpoint->args; arg->arg; arg++) {
		uint64_t value;
		bool found = arg->name ? traceline_number(traceline_arg(line, arg->name), &value)
				       : line->size.p && number_decimal(line->size, &value);

		if (found)
			io_args_set(io, arg->arg, value);
	}
}

bool io_args_is_admin(struct slice poller)
{
	for (size_t i = 1; i < poller.n; i++)
		if (poller.p[i] != '0')
			return false;
	return true;
}

const char *io_args_add_command(struct io_args *io, struct slice poller)
{
	uint64_t opcode = io->values[IO_OPC];
	const char *name = nvme_io_command(opcode);

	if (io_args_is_admin(poller) && !(io_args_has(io, IO_OPC) && opcode == NVME_FABRICS))
		return "nvme admin";
	if (!io_args_has(io, IO_OPC))
		return NULL;
	if (nvme_has_blocks(opcode) && io_args_has(io, IO_DW10) && io_args_has(io, IO_DW11))
		io_args_set(io, IO_LBA, io->values[IO_DW11] << 32 | io->values[IO_DW10]);
	if (nvme_has_blocks(opcode) && io_args_has(io, IO_DW12))
		io_args_set(io, IO_BLOCKS, (io->values[IO_DW12] & 0xffff) + 1);
	for (uint64_t type = 0; name && nvme_has_blocks(opcode) && spdk_bdev_type(type); type++)
		if (strcmp(spdk_bdev_type(type), name) == 0)
			io_args_set(io, IO_TYPE, type);
	return name;
}

void io_args_write(struct out *out, const struct io_args *io, const char *type, struct slice bdev)
{
	out_text(out, type ? type : "I/O");
	if (io_args_has(io, IO_BLOCKS)) {
		out_char(out, ' ');
		out_u64(out, io->values[IO_BLOCKS]);
	}
	if (io_args_has(io, IO_LBA)) {
		out_text(out, " @");
		out_u64(out, io->values[IO_LBA]);
	}
	if (bdev.n) {
		out_char(out, ' ');
		out_slice(out, bdev);
	}
}
