/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mem.h"
#include "number.h"
#include "out.h"

/* The Makefile defines it, for this file only. */
#ifndef COMMIT
#define COMMIT ""
#endif

enum {
	/* getopt_long() returns this plus the index in the table for an option without a letter */
	FIRST = 256,
	/* and this plus the index for one of an earlier release */
	FORMER = 512,
	/* -h puts the text of an option with more columns than this on the next line */
	WIDEST = 24,
};

static const struct cli_option common[] = {
	{'h', "help", NULL, "this text", .flag = NULL},
	{'V', "version", NULL, "the version", .flag = NULL},
	{},
};

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

void cli_notice(bool quiet, const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	vwarnx(format, args);
	va_end(args);
}

char *cli_counted(uint64_t n, const char *message)
{
	char *text = mem_copy(slice_of(message)), *to = text;

	while (*message) {
		const char *bar = *message == '{' ? strchr(message, '|') : NULL, *end = bar ? strchr(bar, '}') : NULL;
		const char *from;

		if (!end) {
			*to++ = *message++;
			continue;
		}
		from = n == 1 ? message + 1 : bar + 1;
		to = mempcpy(to, from, (n == 1 ? bar : end) - from);
		message = end + 1;
	}
	*to = 0;
	return text;
}

void cli_count(bool quiet, uint64_t n, const char *format, ...)
{
	char *message;
	va_list args;

	if (quiet || !n)
		return;
	message = cli_counted(n, format);
	va_start(args, format);
	vwarnx(message, args);
	va_end(args);
	free(message);
}

void cli_note(bool quiet, const char *name, uint64_t n, const char *what)
{
	char *message;

	/* what may be NULL if n is 0 */
	if (!n)
		return;
	message = cli_counted(n, what);
	cli_notice(quiet, "%s: %" PRIu64 " %s", name, n, message);
	free(message);
}

static void print_text(const char *text)
{
	for (const char *name; (name = strstr(text, "%s")); text = name + 2)
		printf("%.*s%s", (int)(name - text), text, program_invocation_short_name);
	fputs(text, stdout);
}

/* Returns the option's width in columns. */
static int write_option(char *to, size_t size, const struct cli_option *o)
{
	char letter[] = {'-', o->letter, ',', 0};

	return snprintf(to, size, "  %3s --%s%s%s", o->letter ? letter : "", o->name, o->argument ? " " : "",
			o->argument ? o->argument : "");
}

static void print_option(const struct cli_option *o, int width)
{
	char shown[80];
	int n = write_option(shown, sizeof(shown), o);
	const char *text = o->help, *end;

	printf("%-*s", n > width ? 0 : width, shown);
	if (n > width)
		printf("\n%*s", width, "");
	for (; (end = strchr(text, '\n')); text = end + 1)
		printf("  %.*s\n%*s", (int)(end - text), text, width, "");
	printf("  %s\n", text);
}

static void print_help(const struct cli *cli)
{
	char shown[80];
	int width;

	/* -V, the longer of the two */
	width = write_option(shown, sizeof(shown), &common[1]);
	for (const struct cli_option *o = cli->options; o->name; o++) {
		int n = write_option(shown, sizeof(shown), o);

		if (n > width && n <= WIDEST)
			width = n;
	}
	print_text(cli->usage);
	putchar('\n');
	for (const struct cli_option *o = cli->options; o->name; o++)
		print_option(o, width);
	for (const struct cli_option *o = common; o->name; o++)
		print_option(o, width);
	putchar('\n');
	print_text(cli->examples);
}

static bool parse_count(const char *text, uint64_t *count)
{
	return number_decimal(slice_of(text), count) && *count && *count <= INT32_MAX;
}

pid_t cli_pid(const char *option, const char *text)
{
	uint64_t pid;

	/* as of $(pidof nvmf_tgt) */
	if (!*text)
		cli_usage("%s '': no process id: is the process running?", option);
	if (!parse_count(text, &pid))
		cli_usage("%s '%s': a process id is expected", option, text);
	return pid;
}

/* A whole number above 0, below 2^31, or a usage error. */
static uint64_t count_of(const char *option, const char *text)
{
	uint64_t count;

	if (!parse_count(text, &count))
		cli_usage("%s '%s': a whole number above 0 is expected", option, text);
	return count;
}

static void parse_ids(const char *option, const char *text, pid_t ids[CLI_IDS])
{
	char *copy = mem_copy(slice_of(text)), *rest = copy, *id;
	uint64_t count;
	size_t n = 0;

	while (n < CLI_IDS && ids[n])
		n++;
	/* pidof has blanks between them */
	while ((id = strsep(&rest, ", "))) {
		if (n == CLI_IDS)
			cli_usage("%s: at most %d are possible", option, CLI_IDS);
		if (!*id)
			cli_usage("%s '%s': an id is missing: is the process running?", option, text);
		if (!parse_count(id, &count))
			cli_usage("%s '%s': a process or thread id is expected", option, id);
		ids[n++] = count;
	}
	free(copy);
}

/* Bytes below 1 << bits, which is `below` as text. */
static uint64_t parse_size(const char *option, const char *text, unsigned bits, const char *below)
{
	size_t n = strlen(text);
	const char *units = "KMG", *unit = n ? strchr(units, text[n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unit - units + 1) : 0;
	uint64_t size;

	if (!number_decimal((struct slice){text, n - !!unit}, &size) || !size || size >> (bits - shift))
		cli_usage("%s '%s': a size like 65536, 512K or 16M is expected, below %s", option, text, below);
	return size << shift;
}

/* decimals: decimal places from the unit to the nanosecond. */
static uint64_t parse_time(const char *option, const char *text, unsigned decimals, const char *unit)
{
	uint64_t ns;

	if (!number_fixed(slice_of(text), decimals, &ns) || !ns)
		cli_usage("%s '%s': %s above 0 are expected, such as 10 or 0.5", option, text, unit);
	return ns;
}

static uint64_t parse_line_time(const char *option, const char *text)
{
	size_t n = strcspn(text, ".");
	uint64_t us, part = 0, ns;

	if (!number_decimal((struct slice){text, n}, &us) ||
	    (text[n] && !number_fixed(slice_of(text + n - 1), 3, &part)))
		cli_usage("%s '%s': microseconds like 27.290 are expected", option, text);
	/* number_fixed() needs a digit before the point, which is in us already */
	part %= 1000;
	return __builtin_mul_overflow(us, 1000, &ns) || __builtin_add_overflow(ns, part, &ns) ? UINT64_MAX : ns;
}

static const char *label(const struct cli_option *o, char *to, size_t size)
{
	if (o->letter)
		snprintf(to, size, "-%c", o->letter);
	else
		snprintf(to, size, "--%s", o->name);
	return to;
}

static void choose(const struct cli *cli, const struct cli_option *o, const char *option)
{
	for (const struct cli_option *other = cli->options; other->name; other++) {
		char shown[80];

		if (other->choice == o->choice && other->value == *o->choice && *o->choice != o->value)
			cli_usage("%s and %s exclude each other", label(other, shown, sizeof(shown)), option);
	}
	*o->choice = o->value;
}

static void apply(const struct cli *cli, const struct cli_option *o, const char *argument)
{
	char shown[80];
	const char *option = label(o, shown, sizeof(shown));

	if (o->flag)
		*o->flag = true;
	else if (o->text)
		*o->text = argument;
	else if (o->list)
		mem_add(o->list->all, o->list->n, o->list->cap, argument);
	else if (o->pid)
		*o->pid = cli_pid(option, argument);
	else if (o->ids)
		parse_ids(option, argument, o->ids);
	else if (o->count)
		*o->count = count_of(option, argument);
	else if (o->size)
		*o->size = parse_size(option, argument, 31, "2G");
	else if (o->bytes)
		*o->bytes = parse_size(option, argument, 41, "2T");
	else if (o->seconds)
		*o->seconds = parse_time(option, argument, 9, "seconds");
	else if (o->ms)
		*o->ms = parse_time(option, argument, 6, "milliseconds");
	else if (o->us)
		*o->us = parse_time(option, argument, 3, "microseconds");
	else if (o->time)
		*o->time = parse_line_time(option, argument);
	else if (o->choice)
		choose(cli, o, option);
	else
		o->call(argument);
}

static const struct cli_option *find(const struct cli *cli, int c)
{
	for (const struct cli_option *o = cli->options; o->name; o++)
		if (c == (o->letter ? o->letter : FIRST + (o - cli->options)))
			return o;
	refuse();
}

static void refuse_former(const struct cli *cli, int c)
{
	for (const struct cli_former *f = cli->former; f && f->now; f++)
		if (f->letter && f->letter == c)
			cli_usage("-%c %s", c, f->now);
		else if (c == FORMER + (f - cli->former))
			cli_usage("--%s %s", f->name, f->now);
}

static void handle(const struct cli *cli, int c)
{
	switch (c) {
	case 'h':
		print_help(cli);
		leave();
	case 'V':
		printf("%s (spdk-trace-tools) %s\n", program_invocation_short_name, VERSION COMMIT);
		leave();
	default:
		refuse_former(cli, c);
		apply(cli, find(cli, c), optarg);
	}
}

/* Returns the letters as getopt_long() wants them; the caller frees them. n: number of options, also of former ones. */
static char *getopt_letters(const struct cli *cli, size_t n)
{
	char *letters = mem_array(2 * n + 4, 1), *end;

	end = stpcpy(letters, cli->runs_command ? "+hV" : "hV");
	for (const struct cli_option *o = cli->options; o->name; o++)
		if (o->letter)
			end += sprintf(end, "%c%s", o->letter, o->argument ? ":" : "");
	for (const struct cli_former *f = cli->former; f && f->now; f++)
		if (f->letter)
			*end++ = f->letter;
	*end = 0;
	return letters;
}

/*
 * A file that is opened later must not become standard output or standard error because that was closed. Standard
 * input and output are opened in the wrong direction, so that using them is still an error.
 */
static void open_standard_streams(void)
{
	const int flags[] = {O_WRONLY, O_RDONLY, O_RDWR};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd] | O_NOCTTY) != fd)
			_exit(EXIT_FAILURE);
}

static void on_file_too_large(int number)
{
	(void)number;
}

/* write(2) then fails with EFBIG, which is reported. A handler, because a command would inherit SIG_IGN. */
static void catch_file_too_large(void)
{
	struct sigaction action = {.sa_handler = on_file_too_large, .sa_flags = SA_RESTART}, old;

	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

void cli_parse(const struct cli *cli, int argc, char **argv)
{
	/* where -h ends the tool they are still used, for checkers of leaks */
	static struct option *names;
	static char *letters;
	size_t n = 0, num_former = 0;

	open_standard_streams();
	catch_file_too_large();
	while (cli->options[n].name)
		n++;
	while (cli->former && cli->former[num_former].now)
		num_former++;
	names = mem_array(n + num_former + 3, sizeof(*names));
	letters = getopt_letters(cli, n + num_former);
	for (size_t i = 0; i < n; i++) {
		const struct cli_option *o = &cli->options[i];
		int c = o->letter ? o->letter : FIRST + (int)i;

		names[i] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL, c};
	}
	names[n] = (struct option){"help", no_argument, NULL, 'h'};
	names[n + 1] = (struct option){"version", no_argument, NULL, 'V'};
	n += 2;
	for (size_t i = 0; i < num_former; i++)
		if (cli->former[i].name)
			names[n++] = (struct option){cli->former[i].name, optional_argument, NULL, FORMER + (int)i};
	for (int c; (c = getopt_long(argc, argv, letters, names, NULL)) != -1;)
		handle(cli, c);
	free(names);
	free(letters);
}

void cli_seconds(int argc, char **argv, uint64_t *ns)
{
	if (argc - optind > 1)
		cli_usage("a number of seconds is expected, not %d operands", argc - optind);
	if (optind == argc)
		return;
	*ns = parse_time("SECONDS", argv[optind], 9, "seconds");
}

const char *const *cli_operands(int argc, char **argv, const char *what, size_t *n)
{
	static const char *const standard_input[] = {"-"};
	const char *const *paths = optind < argc ? (const char *const *)argv + optind : standard_input;
	size_t inputs = 0;

	*n = optind < argc ? argc - optind : 1;
	for (size_t i = 0; i < *n; i++)
		inputs += strcmp(paths[i], "-") == 0;
	if (inputs > 1)
		cli_usage("standard input can only be one of the files");
	if (inputs && isatty(STDIN_FILENO))
		cli_usage("standard input is a terminal: name %s", what);
	return paths;
}

const char *cli_operand(int argc, char **argv, const char *what)
{
	size_t n;
	const char *const *paths;

	if (argc - optind > 1)
		cli_usage("%s is expected, not %d", what, argc - optind);
	paths = cli_operands(argc, argv, what, &n);
	return paths[0];
}

int cli_close(struct out *o, int status)
{
	if (out_close(o) == 0)
		return status;
	/* a reader that has seen enough is not worth a message */
	if (errno != EPIPE)
		warn("<stdout>");
	return EXIT_FAILURE;
}
