/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-gen: writes the bpftrace program that prints probe lines, for machines on which usdt-record
 * cannot run; and lists the USDT probes of a binary or a process.
 */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "list.h"
#include "out.h"
#include "probecheck.h"
#include "probespec.h"
#include "target.h"

static void report(const char *message)
{
	warnx("%s", message);
}

static struct {
	bool list;
	bool bad; /* an option named something that cannot be read, after a message */
	enum { NOWHERE, FILES, PROCESS } where;
	struct probespecs specs;
	struct target target;
} opt = {.target.report = report};

/* A path as bpftrace reads it in an attach point: anything unusual needs quotes. */
static void write_path(struct out *out, const char *path)
{
	const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
	const char *quote = path[strspn(path, plain)] ? "\"" : "";

	/* a quote would end the path; a backslash may stand for a character that is not printable */
	if (strpbrk(path, "\"\\"))
		errx(EXIT_FAILURE, "%s: bpftrace cannot be given a path with such characters", path);
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
		if (probespec_matches(spec, &f->usdt.sites[i]))
			return true;
	return false;
}

static void write_clauses(struct out *out, const struct probespec *spec)
{
	const struct target *t = &opt.target;

	if (opt.where == NOWHERE)
		write_clause(out, spec, "__EXE__");
	else
		for (size_t i = 0; i < t->n; i++)
			if (file_has(&t->files[i], spec))
				write_clause(out, spec, t->files[i].path);
}

static void set_place(int place)
{
	if (opt.where != NOWHERE && !(opt.where == FILES && place == FILES))
		cli_usage("only one of -x and -p is expected");
	opt.where = place;
}

static void add_spec(const char *text)
{
	const char *error = probespec_add(&opt.specs, slice_of(text));

	if (error)
		cli_usage("-e '%s': %s", text, error);
}

static void add_file(const char *path)
{
	set_place(FILES);
	opt.bad |= target_add_file(&opt.target, path) != 0;
}

static void add_process(const char *pid)
{
	set_place(PROCESS);
	opt.bad |= target_add_process(&opt.target, cli_pid("-p", pid)) != 0;
}

static const struct cli_option options[] = {
	PROBESPEC_OPTION(add_spec),
	{'x', "executable", "FILE", "use the probes of an ELF file; may be given more than once", .call = add_file},
	{'p', "pid", "PID", "use the probes of a process: of its executable and its libraries", .call = add_process},
	{'l', "list", NULL, "list the probes of -x or -p", .flag = &opt.list},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [-x FILE]... | -p PID\n"
	"Print the bpftrace program that records USDT probes as probe lines: those of the SPECs, or by default those\n"
	"that report the qpairs of SPDK's NVMe-oF target. With -x or -p, check there that the program can work.\n",
	"Examples:\n"
	"  usdt-gen -p \"$(pidof nvmf_tgt)\" > qpairs.bt\n"
	"  bpftrace -p \"$(pidof nvmf_tgt)\" qpairs.bt > usdt.txt\n"
	"  usdt-gen -l -x build/bin/nvmf_tgt | grep subsystem\n"
	"  usdt-gen -x build/bin/nvmf_tgt -e 'nvmf_subsystem_add_host(_, subnqn:str, hostnqn:str)'\n",
	.options = options,
	.former = (const struct cli_former[]){{'s', "source", "is gone: -x lists the probes of a binary"},
					      {'j', "json", "is gone: each line of -l has the same fields"},
					      PROBESPEC_FORMER,
					      {}},
};

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	if (optind < argc)
		cli_usage("'%s': no operand is expected; -x names a file", argv[optind]);
	if (opt.list && opt.where == NOWHERE)
		cli_usage("-l lists the probes of a place: -x or -p is expected");
	if (opt.bad)
		exit(EXIT_FAILURE);
	if (!opt.specs.n)
		probespec_add_default(&opt.specs);
}

/* Returns whether there are any. */
static bool list(struct out *out)
{
	const struct target *t = &opt.target;
	size_t n = 0;

	list_probes(out, t);
	for (size_t i = 0; i < t->n; i++)
		n += t->files[i].usdt.n;
	/* after a file that could not be read, that is not known */
	if (!n && !t->incomplete)
		warnx("%s: there are no probes%s", t->name, t->n > 1 ? ", nor in the other files" : "");
	return n;
}

int main(int argc, char **argv)
{
	struct out out;
	bool good = true;

	parse_options(argc, argv);
	out_open(&out, STDOUT_FILENO);
	if (opt.list)
		good = list(&out);
	else if (opt.where == NOWHERE || (good = probecheck(&opt.target, &opt.specs) == 0))
		for (size_t i = 0; i < opt.specs.n; i++)
			write_clauses(&out, &opt.specs.all[i]);
	good = good && !opt.target.incomplete;
	probespec_free(&opt.specs);
	target_close(&opt.target);
	return cli_close(&out, good ? EXIT_SUCCESS : EXIT_FAILURE);
}
