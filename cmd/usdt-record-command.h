/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command that usdt-record starts: it is held back before its first instruction until probes are
 * attached. It runs with the ids and the capabilities of the caller.
 */
#ifndef USDT_RECORD_COMMAND_H
#define USDT_RECORD_COMMAND_H

#include <sys/types.h>

#include "target.h"

struct command {
	char **argv;
	char *path; /* of its file, found as execvp(3) does */
	pid_t pid;
	int gate;  /* closed without a word: the child ends */
	int error; /* the errno of an exec that fails comes from here */
};

/* Finds the command's file. Returns 0, or -1 with errno, ENOENT when there is none. */
int command_find(struct command *c, char **argv);

/*
 * Adds the command's file and the libraries that its dynamic linker says it would load. Returns 0, or -1
 * having said what is wrong.
 */
int command_add_files(const struct command *c, struct target *t);

/* Starts the child, which waits. Returns 0, or -1 with errno. */
int command_start(struct command *c);

/* Lets the child run. Returns 0, or -1 with the errno of its exec. */
int command_release(struct command *c);

/* Waits for its end. Returns its exit status as shells do: 128 and the signal's number when one killed it. */
int command_wait(struct command *c);

#endif
