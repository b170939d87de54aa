/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that has mapped many files as code, and is blocked again and again. Usage:
 *
 *	mapping-target PROCESSES MAPPINGS FILE...
 *
 * It maps the files in turn, so many times in all, starts the other processes and prints "ready". They end at the end
 * of its standard input.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void map_files(char **files, int num_files, int n)
{
	for (int i = 0; i < n; i++) {
		int fd = open(files[i % num_files], O_RDONLY);

		/* pages of the same offset are not merged into one mapping */
		if (fd < 0 || mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
			perror(files[i % num_files]);
			exit(1);
		}
		close(fd);
	}
}

static void start_process(void)
{
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		usleep(20000);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	map_files(argv + 3, argc - 3, atoi(argv[2]));
	for (int i = 1; i < atoi(argv[1]); i++)
		start_process();
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
