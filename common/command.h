/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command that a tool starts: it is held back before its first instruction until everything is
 * attached. It runs with the ids, capabilities and signal dispositions of the caller at
 * command_start().
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <sys/types.h>

struct command {
	char **argv;
	char *path; /* of its file, found as execvp(3) does; to be freed */
	pid_t pid;
	int status; /* as wait(2) has it, once command_wait() has waited */
	int gate;   /* a byte lets the child run; closed without one, it ends */
	int error;  /* pipe with the errno of an exec that failed */
};

/* Finds the command's file. Returns 0, or -1 with errno, ENOENT when there is none. */
int command_find(struct command *c, char **argv);

/* Reports by errno why the command cannot be run. Returns the exit status that shells have then. */
int command_cannot_run(const char *name);

/* Starts the child, which waits. Returns 0, or -1 with errno. */
int command_start(struct command *c);

/* Lets the child run. Returns 0, or -1 with the errno of its exec. */
int command_release(struct command *c);

/*
 * Waits for its end. Returns its exit status as shells do, 128 and the signal's number if one
 * killed it; EXIT_FAILURE after a message if it is unknown.
 */
int command_wait(struct command *c);

#endif
