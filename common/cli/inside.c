/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All tools in one program, for machines that have nothing else: "spdk-trace TOOL ARGUMENT...", or by a link with the
 * name of a tool.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "cli.h"
#include "count.h"

#define TOOL(name, function) int function(int argc, char **argv);
#include "tools.h"
#undef TOOL
#define TOOL(name, function) {name, function},
static const struct tool {
	const char *name;
	int (*run)(int argc, char **argv);
} tools[] = {
#include "tools.h"
};

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < COUNT(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

static bool is_inside(const char *name)
{
	return find(name);
}

static void print_tools(FILE *to)
{
	fprintf(to, "usage: spdk-trace TOOL [ARGUMENT]...\nThe tools, each with its own --help:\n");
	for (size_t i = 0; i < COUNT(tools); i++)
		fprintf(to, "  %s\n", tools[i].name);
}

int main(int argc, char **argv)
{
	/* some packages put spdk- before the names */
	const char *called = program_invocation_short_name;
	const struct tool *tool = find(strncmp(called, "spdk-", 5) == 0 ? called + 5 : called);

	child_is_inside = is_inside;
	if (tool)
		return tool->run(argc, argv);
	if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
		print_tools(stdout);
		return 0;
	}
	tool = argc > 1 ? find(argv[1]) : NULL;
	if (!tool) {
		if (argc > 1)
			warnx("%s: no such tool", argv[1]);
		print_tools(stderr);
		return EXIT_USAGE;
	}
	program_invocation_name = program_invocation_short_name = argv[1];
	return tool->run(argc - 1, argv + 1);
}
