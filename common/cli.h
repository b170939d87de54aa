/* SPDX-License-Identifier: BSD-3-Clause */
/* The manners that all tools share on the command line; see "Exit status" in spdk-trace-tools(7). */
#ifndef CLI_H
#define CLI_H

#include <stdint.h>
#include <sys/types.h>

struct out;

enum { EXIT_USAGE = 2 };

/* Prints "TOOL: message", where to find help, and exits 2. */
_Noreturn void cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "TOOL: message", which is no error; nothing with -q. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * What getopt_long() has returned and every tool takes alike: -h, for which it prints the text and exits, -V, and -q
 * where there is one. In the text the tool's name stands for each %s, as packages may prefix it. Anything else is an
 * option that getopt_long() has complained of: says where to find help, and exits 2.
 */
void cli_option(int c, const char *help);

/*
 * The one input file that is left behind the options, or "-" for standard input when there is none. More
 * than one, and a terminal as input, are usage errors; what: "a file of ...".
 */
const char *cli_operand(int argc, char **argv, const char *what);

/* The process id in the argument of -p, or a usage error. */
pid_t cli_pid(const char *text);

/* The argument of an option as a whole number above 0, below 2^31, or a usage error; option: "-n". */
uint64_t cli_count(const char *option, const char *text);

/* The argument of an option as a number of bytes, below 2G, or a usage error: 65536, 64K, 4M, 1G. */
uint32_t cli_size(const char *option, const char *text);

/* Closes the output, reports a failure. Returns the exit status: the given one, or 1 after a failure. */
int cli_close(struct out *o, int status);

#endif
