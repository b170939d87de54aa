/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command that a tool starts and holds before its first instruction until everything is attached.
 * It runs with the ids, capabilities and signal dispositions of the caller at command_start().
 */
#pragma once

#include <sys/types.h>

struct command {
	char **argv;
	char *path; /* of its file, found as execvp(3) does; the caller frees it */
	pid_t pid;
	int status; /* as from wait(2), set by command_wait() */
	int gate;   /* pipe: a byte lets the child run, closing it makes the child exit */
	int error;  /* pipe: the errno of a failed exec */
};

/* Finds the command's file. Returns 0, or -1 with errno: ENOENT when there is none, EACCES when none may be run. */
int command_find(struct command *c, char **argv);

/* Reports why the command cannot be run, by errno. Returns the exit status that a shell would. */
int command_cannot_run(const char *name);

/* Starts the child, which waits for command_release(). Returns 0, or -1 with errno. */
int command_start(struct command *c);

/* Lets the child run. Returns 0, or -1 with the errno of its exec. */
int command_release(struct command *c);

/*
 * Waits until the child has exited. Returns its exit status, or 128 plus the number of the signal
 * that killed it; EXIT_FAILURE after a message if the status is unknown.
 */
int command_wait(struct command *c);
