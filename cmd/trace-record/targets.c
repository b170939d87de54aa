/* SPDX-License-Identifier: BSD-3-Clause */
#include "targets.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "mappedtrace.h"
#include "mem.h"
#include "number.h"
#include "proc.h"
#include "utf8.h"

/* The name of its executable: that of its first thread is a reactor's. */
static void read_name(struct target_process *t)
{
	char path[32], link[4096], *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", t->pid);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	name = strrchr(link, '/');
	name = name ? name + 1 : link;
	/* each byte may become four */
	*utf8_visible(t->name, slice_of_array(name, sizeof(t->name) / UTF8_VISIBLE(1) - 1)) = 0;
	if (!*name)
		strcpy(t->name, "?");
}

/*
 * Sets t->trace to the first trace that it has mapped, unopened: trace-dump checks which file that is. Returns whether
 * this process may not see what that one has mapped.
 */
static bool find_trace(struct target_process *t)
{
	struct mapping_list list;
	struct mapping m;
	bool hidden = mapping_begin(&list, t->pid) && (errno == EACCES || errno == EPERM);

	t->trace = NULL;
	if (list.maps)
		while (!t->trace && mapping_next(&list, &m) > 0)
			if (mappedtrace_may_be(&m))
				t->trace = utf8_visible_copy(m.path);
	mapping_end(&list);
	return hidden;
}

/* Whether trace-dump finds one by its name, of a process whose mappings cannot be read. */
static bool has_named_trace(pid_t pid)
{
	char pattern[64];
	glob_t names;
	bool found;

	snprintf(pattern, sizeof(pattern), "/dev/shm/*_trace.pid%d", pid);
	found = glob(pattern, GLOB_NOSORT, NULL, &names) == 0;
	globfree(&names);
	return found;
}

/* Since when it has run, in seconds: its stat has ticks since boot. */
static uint64_t age_of(pid_t pid)
{
	uint64_t started, now = clock_ns_of(CLOCK_BOOTTIME) / 1000000000;
	const char *field;
	char line[512];

	proc_read(line, sizeof(line), "/proc/%d/stat", pid);
	field = proc_field(line, 22);
	started = field ? strtoull(field, NULL, 10) / sysconf(_SC_CLK_TCK) : now;
	return started < now ? now - started : 0;
}

static void list(const struct target_process *all, size_t n)
{
	warnx("%zu processes have a trace: choose one with -p", n);
	for (size_t i = 0; i < n; i++) {
		uint64_t age = age_of(all[i].pid);

		fprintf(stderr, "%8d  %-16s  user %-10" PRIu32 "  %4" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "  %s\n",
			all[i].pid, all[i].name, all[i].user, age / 3600, age / 60 % 60, age % 60, all[i].trace);
	}
	exit(EXIT_USAGE);
}

/*
 * The only one that root or the caller started, if there is one: any user may have a process that looks like a target.
 * Else exits after a list, if there are several.
 */
static const struct target_process *choose(const struct target_process *all, size_t n)
{
	const struct target_process *own = NULL;
	size_t num_own = 0;

	for (size_t i = 0; i < n; i++)
		if (!all[i].user || all[i].user == geteuid()) {
			own = &all[i];
			num_own++;
		}
	if (n > 1 && num_own != 1)
		list(all, n);
	if (n > 1)
		cli_count(false, n - 1,
			  "process %d (%s): %zu other{|s} with a trace {is|are} another user's: -p chooses {it|one}",
			  own->pid, own->name, n - 1);
	return n > 1 ? own : all;
}

static void find_only(struct target_process *found)
{
	struct target_process *all = NULL;
	const struct target_process *chosen;
	DIR *proc = opendir("/proc");
	size_t n = 0, cap = 0;
	struct dirent *entry;
	bool hidden = false;
	struct stat st;
	uint64_t pid;

	if (!proc)
		err(EXIT_FAILURE, "/proc");
	while ((entry = readdir(proc))) {
		if (!number_decimal(slice_of(entry->d_name), &pid) || pid > INT32_MAX)
			continue;
		*found = (struct target_process){.pid = pid};
		hidden |= find_trace(found);
		if (!found->trace)
			continue;
		read_name(found);
		/* the user that it runs as owns its folder */
		found->user = fstatat(dirfd(proc), entry->d_name, &st, 0) == 0 ? st.st_uid : UINT32_MAX;
		mem_add(all, n, cap, *found);
	}
	closedir(proc);
	if (!n)
		errx(EXIT_FAILURE, "no process has mapped an SPDK trace%s",
		     !hidden     ? ": is a target running?"
		     : geteuid() ? "; those of other users can be seen by root only"
				 : " that can be seen: CAP_SYS_PTRACE is missing");
	chosen = choose(all, n);
	for (size_t i = 0; i < n; i++)
		if (&all[i] != chosen)
			free(all[i].trace);
	*found = *chosen;
	free(all);
}

void target_find(struct target_process *found, pid_t pid)
{
	bool hidden;

	*found = (struct target_process){.pid = pid};
	if (!pid)
		find_only(found);
	/* from here on the id is this process's */
	found->pidfd = syscall(SYS_pidfd_open, found->pid, 0);
	if (found->pidfd < 0 && errno == ESRCH)
		errx(EXIT_FAILURE, "process %d: does not exist", found->pid);
	if (found->pidfd < 0)
		err(EXIT_FAILURE, "process %d", found->pid);
	free(found->trace);
	hidden = find_trace(found);
	read_name(found);
	if (found->trace || has_named_trace(found->pid))
		return;
	if (hidden)
		errx(EXIT_FAILURE, "process %d: what it has mapped can be seen by its user, or with CAP_SYS_PTRACE",
		     found->pid);
	errx(EXIT_FAILURE,
	     "process %d (%s): has mapped no SPDK trace: it is no target, has --num-trace-entries=0, or never calls "
	     "spdk_trace_init(), as Mayastor; without -p, targets %s",
	     found->pid, found->name, geteuid() ? "of this user are found" : "are found");
}

/* Takes the CPUs of the threads that are bound to one out of the set. */
static bool remove_bound(cpu_set_t *cpus, pid_t target)
{
	struct dirent *entry;
	bool any = false;
	cpu_set_t bound;
	char path[32];
	uint64_t tid;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", target);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		if (!number_decimal(slice_of(entry->d_name), &tid) ||
		    sched_getaffinity((pid_t)tid, sizeof(bound), &bound) != 0 || CPU_COUNT(&bound) != 1)
			continue;
		CPU_XOR(&bound, &bound, cpus);
		CPU_AND(cpus, cpus, &bound);
		any = true;
	}
	if (tasks)
		closedir(tasks);
	return any;
}

void target_leave_cpus(pid_t target)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || !remove_bound(&cpus, target) || !CPU_COUNT(&cpus))
		return;
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
		setpriority(PRIO_PROCESS, 0, -10);
}
