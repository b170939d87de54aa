/* SPDX-License-Identifier: BSD-3-Clause */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "number.h"

static enum { OF_OUTPUT, HUMAN, PLAIN } form;

void terminal_human(const char *unused)
{
	(void)unused;
	form = HUMAN;
}

void terminal_tabs(const char *unused)
{
	(void)unused;
	form = PLAIN;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool wants_color(void)
{
	const char *term = getenv("TERM");

	if (is_set("NO_COLOR"))
		return false;
	return is_set("CLICOLOR_FORCE") || (isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0);
}

static unsigned width(void)
{
	struct winsize size = {};
	uint64_t columns = 0;

	if (!is_set("COLUMNS") || !number_decimal(slice_of(getenv("COLUMNS")), &columns))
		columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	if (!columns)
		return TERMINAL_DEFAULT;
	return columns < TERMINAL_LEAST ? TERMINAL_LEAST : columns < TERMINAL_MOST ? columns : TERMINAL_WIDE;
}

struct terminal terminal_open(void)
{
	return (struct terminal){
		.width = width(), .color = wants_color(), .plain = form ? form == PLAIN : !isatty(STDOUT_FILENO)};
}

void terminal_paint(const struct terminal *t, struct out *out, const char *sgr)
{
	if (t->color)
		out_printf(out, "\x1b[%sm", sgr);
}

void terminal_plain(const struct terminal *t, struct out *out)
{
	if (t->color)
		out_text(out, "\x1b[0m");
}

static bool is_command(struct slice line)
{
	while (line.n && *line.p == ' ')
		slice_cut(&line, 1);
	return slice_starts(line, "see: ") || slice_starts(line, "cure: ") || slice_starts(line, "try: ");
}

void terminal_lines(const struct terminal *t, struct out *out, struct slice text)
{
	while (text.n) {
		struct slice line = slice_cut_line(&text);

		if (is_command(line))
			out_slice(out, line);
		else
			out_clipped(out, line, t->width);
		out_char(out, '\n');
	}
}
