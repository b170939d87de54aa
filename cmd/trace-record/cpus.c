/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpus.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include "number.h"

enum { PRIORITY = -10 };

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

void cpus_leave_to(pid_t target)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || !remove_bound(&cpus, target) || !CPU_COUNT(&cpus))
		return;
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0)
		setpriority(PRIO_PROCESS, 0, PRIORITY);
}
