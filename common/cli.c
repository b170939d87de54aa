/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "out.h"

static bool quiet;

static _Noreturn void leave(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		err(EXIT_FAILURE, "<stdout>");
	exit(EXIT_SUCCESS);
}

static _Noreturn void refuse(void)
{
	fprintf(stderr, "Try '%s --help' for the options.\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

void cli_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
	refuse();
}

void cli_note(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
}

static void print_help(const char *text)
{
	for (const char *name; (name = strstr(text, "%s")); text = name + 2)
		printf("%.*s%s", (int)(name - text), text, program_invocation_short_name);
	fputs(text, stdout);
}

void cli_option(int c, const char *help)
{
	switch (c) {
	case 'h':
		print_help(help);
		leave();
	case 'V':
		printf("%s (spdk-trace-tools) %s\n", program_invocation_short_name, VERSION);
		leave();
	case 'q':
		quiet = true;
		break;
	default:
		refuse();
	}
}

const char *cli_operand(int argc, char **argv, const char *what)
{
	const char *path = optind < argc ? argv[optind] : "-";

	if (argc - optind > 1)
		cli_usage("%s is expected, not %d", what, argc - optind);
	if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
		cli_usage("standard input is a terminal: name %s", what);
	return path;
}

pid_t cli_pid(const char *text)
{
	uint64_t pid;

	if (!number_decimal(slice_of(text), &pid) || !pid || pid > INT32_MAX)
		cli_usage("-p '%s': a process id is expected", text);
	return pid;
}

uint64_t cli_count(const char *option, const char *text)
{
	uint64_t number;

	if (!number_decimal(slice_of(text), &number) || !number || number > INT32_MAX)
		cli_usage("%s '%s': a whole number above 0 is expected", option, text);
	return number;
}

uint32_t cli_size(const char *option, const char *text)
{
	size_t n = strlen(text);
	const char *units = "KMG", *unit = n && text[n - 1] ? strchr(units, text[n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unit - units + 1) : 0;
	uint64_t size;

	if (!number_decimal((struct slice){text, n - !!unit}, &size) || !size ||
	    size >> (31 - shift))
		cli_usage("%s '%s': a size like 65536, 512K or 16M is expected, below 2G", option,
			  text);
	return size << shift;
}

int cli_close(struct out *o, int status)
{
	if (out_close(o) == 0)
		return status;
	/* a reader that has seen enough is no error to talk about */
	if (errno != EPIPE)
		warn("<stdout>");
	return EXIT_FAILURE;
}
