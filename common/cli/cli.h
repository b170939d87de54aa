/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of all tools; see "Exit status" in spdk-trace-tools(7). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct out;

enum {
	EXIT_USAGE = 2,
	CLI_IDS = 16, /* processes or threads that an option may list */
};

/* Texts, in the order in which they were given. */
struct cli_list {
	const char **all;
	size_t n, cap;
};

/*
 * An option, and what it sets: exactly one of the pointers. A table of options ends with {}; -h and -V are added.
 *
 *	{'n', "count", "N", "end after N lines", .count = &opt.count},
 */
struct cli_option {
	char letter;          /* 0: only the long name */
	const char *name;     /* the long one */
	const char *argument; /* as -h shows it; NULL: no argument */
	const char *help;     /* may have several lines */

	bool *flag; /* becomes true */
	const char **text;
	struct cli_list *list; /* gets one more; may be given more than once */
	pid_t *pid;            /* above 0 */
	pid_t *ids;            /* CLI_IDS of them, all 0: listed with commas or blanks between, or given one by one */
	uint64_t *count;       /* above 0, below 2^31 */
	uint32_t *size;        /* bytes below 2G: 65536, 64K, 4M, 1G */
	uint64_t *bytes;       /* the same below 2T */

	/* above 0, with decimals, in nanoseconds */
	uint64_t *seconds, *ms, *us;

	/* of a trace line, in microseconds from 0 on, as nanoseconds; UINT64_MAX if they do not fit */
	uint64_t *time;

	/* becomes value; options that set it to different values exclude each other; 0: none was given */
	unsigned *choice, value;

	/* gets the argument, or NULL */
	void (*call)(const char *argument);
};

/* An option of an earlier release, which is refused with what to give instead. A list of them ends with {}. */
struct cli_former {
	char letter;      /* 0: only the long name */
	const char *name; /* NULL: only the letter */
	const char *now;  /* as in "-d is now -D" */
};

/* In both texts %s is replaced with the tool's name, which packages may prefix. */
struct cli {
	const char *usage;    /* before the options */
	const char *examples; /* after them */
	const struct cli_option *options;
	const struct cli_former *former; /* NULL: none */
	bool runs_command;               /* with the options after its name: those of the tool come before it */
};

/*
 * Parses the options, which may also be between and after the operands, and sets optind to the first operand.
 * -h and -V print and exit; a mistake is a usage error. Call it first: it also opens closed standard streams, and makes
 * a write beyond the file size limit fail instead of killing the tool.
 */
void cli_parse(const struct cli *cli, int argc, char **argv);

/* Prints "TOOL: message", where to find help, and exits 2. */
_Noreturn void cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a note as "TOOL: message", unless quiet. */
void cli_notice(bool quiet, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message with `one` for each {one|many} if n is 1, else with `many`. The caller frees it. */
char *cli_counted(uint64_t n, const char *message);

/* Prints a note about n things, in such a format; nothing if n is 0 or quiet. */
void cli_count(bool quiet, uint64_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same as "TOOL: NAME: N WHAT". */
void cli_note(bool quiet, const char *name, uint64_t n, const char *what);

/*
 * The input file; "-" (standard input) if none is given. More than one file, or a terminal as input, is a usage error.
 * what: "a file of ...".
 */
const char *cli_operand(int argc, char **argv, const char *what);

/*
 * The input files and their number; just "-" if none is given. Standard input given twice, or a terminal as input, is a
 * usage error. what: "files of ...".
 */
const char *const *cli_operands(int argc, char **argv, const char *what, size_t *n);

/*
 * Sets *ns to the operand SECONDS, which may have decimals, if it is given. Any other operand is a usage error.
 */
void cli_seconds(int argc, char **argv, uint64_t *ns);

/* A process id, or a usage error. */
pid_t cli_pid(const char *option, const char *text);

/* Closes the output and reports a failure other than EPIPE. Returns the exit status: the given one, or 1 on failure. */
int cli_close(struct out *o, int status);
