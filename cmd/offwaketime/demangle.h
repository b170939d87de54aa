/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demangles names of C++ and Rust functions, by libiberty.
 *
 * A crafted name of 300 bytes can take libiberty hours, even if its result is limited. So a child process calls it. The
 * child can only read and write (seccomp's strict mode), and is killed when a name takes too long.
 */
#ifndef OFFWAKETIME_DEMANGLE_H
#define OFFWAKETIME_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "intern.h"

enum {
	DEMANGLE_NAME = 1024,    /* bytes: a longer name stays as it is; libiberty refuses it, too */
	DEMANGLE_RESULT = 4096,  /* bytes: a name stays as it is if its result would be longer */
	DEMANGLE_MS = 1000,      /* or if it takes longer */
	DEMANGLE_FAILURES = 3,   /* failures, such as those, after which all new names stay as they are */
	DEMANGLE_ALL = 32 << 20, /* bytes of all results, after which all new names stay as they are */
};

/* At first all zero, except the flags. */
struct demangler {
	bool off;    /* new names stay as they are */
	bool quiet;  /* as for cli_notice() */
	pid_t child; /* 0: none */
	int socket;  /* to it */
	unsigned num_failed;
	size_t size; /* of all results */
	struct intern names;
	char **results; /* by number in names; NULL: the name stays as it is */
	size_t cap;
};

/* The demangled name, valid until demangle_free(); or the name itself. */
const char *demangle_name(struct demangler *d, const char *name);

void demangle_free(struct demangler *d);

#endif
