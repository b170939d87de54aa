/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-gen: writes the bpftrace program that prints probe lines, for machines on which usdt-record cannot
 * run; and tells which USDT probes a binary, a process or an SPDK source tree has.
 */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "list.h"
#include "out.h"
#include "probespec.h"
#include "source.h"
#include "target.h"

static struct {
	bool list, json;
	enum { NOWHERE, FILES, PROCESS, SOURCE } where;
} opt;

/* A path as bpftrace reads it in an attach point: anything unusual needs quotes. */
static void write_path(struct out *out, const char *path)
{
	const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
	const char *quote = path[strspn(path, plain)] ? "\"" : "";

	/* a quote would let the rest of the path be a part of the program, a backslash is one of printable names */
	if (strpbrk(path, "\"\\"))
		errx(EXIT_FAILURE, "%s: bpftrace cannot be given a path with such characters",
		     path);
	out_printf(out, "%s%s%s", quote, path, quote);
}

/* Writes the line of the program that prints the probe's lines. */
static void write_clause(struct out *out, const struct probespec *spec, const char *path)
{
	const char *comma = "";

	out_text(out, "usdt:");
	write_path(out, path);
	out_text(out, ":");
	if (spec->provider.n) {
		out_slice(out, spec->provider);
		out_text(out, ":");
	}
	out_slice(out, spec->name);
	out_text(out, " {printf(\"");
	out_slice(out, spec->name);
	out_text(out, ": ");
	for (unsigned i = 0; i < spec->num_args; i++) {
		if (!spec->args[i].name.n)
			continue;
		out_text(out, comma);
		out_slice(out, spec->args[i].name);
		out_text(out, spec->args[i].is_string ? "='%s'" : "=0x%lx");
		comma = ", ";
	}
	out_text(out, "\\n\"");
	for (unsigned i = 0; i < spec->num_args; i++)
		if (spec->args[i].name.n)
			out_printf(out, spec->args[i].is_string ? ", str(arg%u)" : ", arg%u", i);
	out_text(out, ");}\n");
}

static bool file_has(const struct target_file *f, const struct probespec *spec)
{
	for (size_t i = 0; i < f->usdt.n; i++)
		if (target_matches(spec, &f->usdt.sites[i]))
			return true;
	return false;
}

static void write_program(struct out *out, const struct probespecs *specs,
			  const struct target *target)
{
	for (size_t i = 0; i < specs->n; i++) {
		if (opt.where == NOWHERE || opt.where == SOURCE)
			write_clause(out, &specs->all[i], "__EXE__");
		else
			for (size_t j = 0; j < target->n; j++)
				if (file_has(&target->files[j], &specs->all[i]))
					write_clause(out, &specs->all[i], target->files[j].path);
	}
}

static const char help[] =
	"Usage: %s [OPTION]... [-x FILE]... | -p PID | -s DIRECTORY\n"
	"Print the bpftrace program that records USDT probes as probe lines: those of the SPECs, or the ones that tell\n"
	"of the qpairs of SPDK's NVMe-oF target. With a place to look at, check there that the program can work.\n"
	"\n"
	"  -e, --spec SPEC         a probe and its arguments: [PROVIDER:]NAME(ARG[:int|str], ...); _ skips one;\n"
	"                          repeatable\n"
	"  -f, --file FILE         read specs from FILE (-: standard input), one a line, # begins a comment\n"
	"  -x, --executable FILE   look at the probes of an ELF file; repeatable\n"
	"  -p, --pid PID           look at a process: its executable and its libraries\n"
	"  -s, --source DIRECTORY  look at an SPDK source tree\n"
	"  -l, --list              list the probes of -x, -p or -s\n"
	"  -j, --json              list them as JSON lines\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n"
	"\n"
	"Examples:\n"
	"  usdt-gen -p $(pidof nvmf_tgt) > qpairs.bt\n"
	"  bpftrace -p $(pidof nvmf_tgt) qpairs.bt > usdt.txt\n"
	"  usdt-gen -l -x build/bin/nvmf_tgt | grep subsystem\n"
	"  usdt-gen -x build/bin/nvmf_tgt -e 'nvmf_subsystem_add_host(_, subnqn:str, hostnqn:str)'\n";

static void look_at(int place)
{
	if (opt.where != NOWHERE && !(opt.where == FILES && place == FILES))
		cli_usage("only one of -x, -p and -s is expected");
	opt.where = place;
}

/* Reads the specs, and the probes of the place to look at. */
static void parse_options(int argc, char **argv, struct probespecs *specs, struct target *target)
{
	static const struct option options[] = {{"spec", required_argument, NULL, 'e'},
						{"file", required_argument, NULL, 'f'},
						{"executable", required_argument, NULL, 'x'},
						{"pid", required_argument, NULL, 'p'},
						{"source", required_argument, NULL, 's'},
						{"list", no_argument, NULL, 'l'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{}};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "+e:f:x:p:s:ljhV", options, NULL)) != -1)
		switch (c) {
		case 'e':
			probespecs_option(specs, optarg);
			break;
		case 'f':
			bad |= probespecs_read(specs, optarg);
			break;
		case 'x':
			look_at(FILES);
			bad |= target_add_file(target, optarg);
			break;
		case 'p':
			look_at(PROCESS);
			bad |= target_add_process(target, cli_pid(optarg));
			break;
		case 's':
			look_at(SOURCE);
			bad |= source_read(target, optarg);
			break;
		case 'l':
			opt.list = true;
			break;
		case 'j':
			opt.json = true;
			break;
		default:
			cli_option(c, help);
		}
	if (optind < argc)
		cli_usage("'%s': no operand is expected; -x names a file to look at", argv[optind]);
	if (opt.json && !opt.list)
		cli_usage("-j lists probes as JSON lines: -l is expected, too");
	if (opt.list && opt.where == NOWHERE)
		cli_usage("-l lists the probes of a place: -x, -p or -s is expected");
	if (bad)
		exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct probespecs specs = {};
	struct target target = {};
	struct out out;
	size_t faults = 0;
	bool failed;

	parse_options(argc, argv, &specs, &target);
	out_open(&out, STDOUT_FILENO);
	if (!specs.n)
		probespecs_add_default(&specs);
	if (opt.list)
		list_probes(&out, &target, opt.json);
	else if (opt.where == NOWHERE || (faults = target_check(&target, &specs)) == 0)
		write_program(&out, &specs, &target);
	failed = faults || target.incomplete;
	probespecs_free(&specs);
	target_close(&target);
	return cli_close(&out, failed ? EXIT_FAILURE : EXIT_SUCCESS);
}
