/* SPDX-License-Identifier: BSD-3-Clause */
/* What all tools share on the command line; see "Exit status" in spdk-trace-tools(7). */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct out;

enum { EXIT_USAGE = 2 };

/*
 * An option, and what it sets: one of the places is named. A table of them ends with {}. -h and -V are added.
 *
 *	{'n', "count", "N", "end after N lines", .count = &opt.count},
 */
struct cli_option {
	char letter;          /* 0: there is only the long name */
	const char *name;     /* the long one */
	const char *argument; /* as -h shows it; NULL: there is none */
	const char *help;     /* may have several lines */

	bool *flag; /* becomes true */
	const char **text;
	pid_t *pid;      /* above 0 */
	uint64_t *count; /* above 0, below 2^31 */
	uint32_t *size;  /* bytes below 2G: 65536, 64K, 4M, 1G */

	/* above 0, with decimals, in nanoseconds */
	uint64_t *seconds, *ms, *us;

	/* becomes value; two options that set it to different ones exclude each other, 0 being neither */
	unsigned *choice, value;

	/* gets the argument, or NULL */
	void (*call)(const char *argument);
};

/* In both texts the tool's name stands for each %s, as packages may prefix it. */
struct cli {
	const char *usage;    /* before the options */
	const char *examples; /* after them */
	const struct cli_option *options;
};

/*
 * Parses the options, which come before the operands; optind is then the first operand. -h and -V print and exit; a
 * mistake is a usage error. Call it first: it also opens standard streams that are closed, and makes a write beyond
 * the limit of a file's size fail instead of killing the tool.
 */
void cli_parse(const struct cli *cli, int argc, char **argv);

/* Prints "TOOL: message", where to find help, and exits 2. */
_Noreturn void cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a note as "TOOL: message", unless quiet. */
void cli_notice(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a count, as "TOOL: NAME: N WHAT"; prints nothing if n is 0. */
void cli_note(bool quiet, const char *name, uint64_t n, const char *what);

/*
 * The one input file, or "-" for standard input when there is none. More than one, and a terminal as input, are usage
 * errors; what: "a file of ...".
 */
const char *cli_operand(int argc, char **argv, const char *what);

/*
 * The input files, of which there may be several, and their number; or just "-". Standard input given twice, and a
 * terminal as input, are usage errors; what: "files of ...".
 */
const char *const *cli_operands(int argc, char **argv, const char *what, size_t *n);

/* The operand SECONDS, with decimals, if there is one; others are usage errors. */
void cli_seconds(int argc, char **argv, uint64_t *ns);

/* A process id, or a usage error. */
pid_t cli_pid(const char *option, const char *text);

/* At most max such numbers with commas between them; more, or other ones, are usage errors. */
void cli_ids(const char *option, const char *text, pid_t *ids, size_t max);

/* Closes the output, reports a failure. Returns the exit status: the given one, or 1 after a failure. */
int cli_close(struct out *o, int status);

#endif
