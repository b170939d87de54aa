/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints how usdt-record would fetch each operand in ELF files of any machine: "[sp, 16]: u64 at r31 + 16". The number
 * of a register is its index among those that the kernel saves.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/usdt-record/operand.h"
#include "elffile.h"
#include "out.h"
#include "utf8.h"

static void print_register(struct out *out, unsigned offset)
{
	out_printf(out, offset % 8 ? "r%u.%u" : "r%u", offset / 8, offset % 8);
}

static void print_memory(struct out *out, const struct operand *o)
{
	const char *plus = "";

	if (o->base != NO_REGISTER) {
		print_register(out, o->base);
		plus = " + ";
	}
	if (o->index != NO_REGISTER) {
		out_text(out, plus);
		print_register(out, o->index);
		out_printf(out, " << %u", o->scale);
		plus = " + ";
	}
	if (o->value || !*plus)
		out_printf(out, "%s%" PRId64, plus, (int64_t)o->value);
}

static void print_operand(struct out *out, const struct operand *o)
{
	switch (o->kind) {
	case CONSTANT:
		out_printf(out, " %" PRId64, (int64_t)o->value);
		break;
	case REGISTER:
		out_text(out, " in ");
		if (o->base == NO_REGISTER)
			out_text(out, "none");
		else
			print_register(out, o->base);
		break;
	case MEMORY:
		out_text(out, " at ");
		print_memory(out, o);
		break;
	}
}

static void print_arg(struct out *out, const struct usdt *u, const struct usdt_arg *arg)
{
	struct operand o;
	const char *error = operand_parse(&o, u->machine, arg);

	out_visible(out, arg->operand);
	out_text(out, ": ");
	if (error) {
		out_text(out, error);
	} else {
		out_text(out, usdt_type(arg).text);
		print_operand(out, &o);
	}
	out_text(out, "\n");
}

static void print_file(struct out *out, const char *path)
{
	int fd = open(path, O_RDONLY);
	const char *error;
	struct usdt u;

	if (fd < 0)
		err(EXIT_FAILURE, "%s", path);
	if (usdt_read(&u, fd, &error) != 0) {
		close(fd);
		errx(EXIT_FAILURE, "%s: %s", path, error);
	}
	for (size_t site = 0; site < u.n; site++)
		for (unsigned arg = 0; arg < u.sites[site].num_args; arg++)
			print_arg(out, &u, &u.sites[site].args[arg]);
	usdt_free(&u);
	close(fd);
}

int main(int argc, char **argv)
{
	struct out out;

	out_open(&out, STDOUT_FILENO);
	for (int i = 1; i < argc; i++)
		print_file(&out, argv[i]);
	if (out_close(&out) != 0)
		err(EXIT_FAILURE, "<stdout>");
	return EXIT_SUCCESS;
}
