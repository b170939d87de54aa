/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "recording.h"
#include "ticks.h"

enum { TEXT = 8192 /* bytes of a file; they are shorter */ };

/* Where version 1 of control groups has this controller, and version 2 all. */
static const char v1[] = "/sys/fs/cgroup/cpu", v2[] = "/sys/fs/cgroup";

/* The file of a group. */
static const char *read_file(char text[TEXT], const char *root, struct slice group, const char *name)
{
	proc_read(text, TEXT, "%s%.*s/%s", root, (int)group.n, group.p, name);
	return text;
}

/* The number after a name in cpu.stat, whose lines have a name and a number each. */
static uint64_t count_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Sets microseconds of each period. False if there is no limit, which is -1 or "max". */
static bool read_limit(const char *root, struct slice group, uint64_t *quota, uint64_t *period)
{
	char text[TEXT];

	if (root == v2)
		return sscanf(read_file(text, root, group, "cpu.max"), "%" SCNu64 " %" SCNu64, quota, period) == 2;
	if (*read_file(text, root, group, "cpu.cfs_quota_us") == '-' || sscanf(text, "%" SCNu64, quota) != 1)
		return false;
	return sscanf(read_file(text, root, group, "cpu.cfs_period_us"), "%" SCNu64, period) == 1;
}

static void write_group(struct out *out, const char *root, struct slice group, const char *when)
{
	uint64_t quota, period, us;
	char text[TEXT];

	if (!read_limit(root, group, &quota, &period))
		return;
	read_file(text, root, group, "cpu.stat");
	us = root == v2 ? count_of(text, "throttled_usec ") : count_of(text, "throttled_time ") / 1000;
	out_printf(out, "{\"" RECORDING_WHEN "\":\"%s\",\"tsc\":%" PRIu64 ",\"" RECORDING_CGROUP "\":", when,
		   ticks_now().tsc);
	out_json(out, group.n ? group : slice_of("/"));
	out_printf(out, ",\"quota\":%" PRIu64 ",\"period\":%" PRIu64 ",\"periods\":%" PRIu64, quota, period,
		   count_of(text, "nr_periods "));
	out_printf(out, ",\"throttled\":%" PRIu64 ",\"throttled_us\":%" PRIu64 "}\n", count_of(text, "nr_throttled "),
		   us);
}

/* The group of the controller, or else that of version 2, from lines as "4:cpu,cpuacct:/a/b". */
static struct slice find_group(struct slice lines, const char **root)
{
	struct slice found = {};

	*root = v2;
	while (lines.n && *root == v2) {
		struct slice line = slice_cut_line(&lines), names, path;
		const char *first = memchr(line.p, ':', line.n);
		const char *second = first ? memchr(first + 1, ':', line.p + line.n - first - 1) : NULL;

		if (!second)
			continue;
		names = slice_between(first + 1, second);
		path = slice_between(second + 1, line.p + line.n);
		if (slice_is(names, "cpu") || slice_starts(names, "cpu,"))
			*root = v1;
		if (*root == v1 || !names.n)
			found = path;
	}
	return found;
}

void quota_write(struct out *out, pid_t pid, const char *when)
{
	char text[TEXT];
	const char *root;
	struct slice group;

	proc_read(text, sizeof(text), "/proc/%d/cgroup", pid);
	group = find_group(slice_of(text), &root);
	/* one outside of this process' namespace has no path here */
	if (!slice_starts(group, "/") || slice_starts(group, "/.."))
		return;
	if (group.n > 1)
		write_group(out, root, group, when);
	/* of a container, the root has one, too */
	do {
		while (group.p[--group.n] != '/')
			;
		write_group(out, root, group, when);
	} while (group.n);
}
