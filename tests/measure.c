/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a shell command several times, discards its output, and prints the least of all runs: CPU seconds, wall
 * seconds, and the peak memory in KiB of its largest process. For tests/bench.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static void run(const char *command, double *cpu, double *wall, long *memory)
{
	double begin = now();
	struct rusage used;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			err(127, "/dev/null");
		execl("/bin/bash", "bash", "-o", "pipefail", "-c", command, (char *)NULL);
		err(127, "/bin/bash");
	}
	if (wait4(pid, &status, 0, &used) != pid || status)
		errx(EXIT_FAILURE, "failed: %s", command);
	*wall = now() - begin;
	*cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
	*memory = used.ru_maxrss;
}

int main(int argc, char **argv)
{
	double cpu, wall, least_cpu = 0, least_wall = 0;
	long memory, least_memory = 0;

	if (argc != 3)
		errx(2, "usage: measure RUNS COMMAND");
	for (int i = 0; i < atoi(argv[1]); i++) {
		run(argv[2], &cpu, &wall, &memory);
		if (!i || cpu < least_cpu)
			least_cpu = cpu;
		if (!i || wall < least_wall)
			least_wall = wall;
		if (!i || memory < least_memory)
			least_memory = memory;
	}
	printf("%.3f %.3f %ld\n", least_cpu, least_wall, least_memory);
	return 0;
}
