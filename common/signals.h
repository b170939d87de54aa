/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP of a tool that runs until it gets one: the first of a kind is noted, the second one kills.
 * Ignored signals stay ignored, as nohup wants it.
 *
 * A handler rather than signalfd(2), for which signals must be blocked: a second one has to kill also while a write
 * waits for a reader that does not read.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <signal.h>

enum { SIGNALS = 3 };

/* Catches them from now on. *before gets what was done with them, if it is not NULL. */
void signals_catch(struct sigaction before[SIGNALS]);

void signals_restore(const struct sigaction before[SIGNALS]);

/* The latest one, or 0. */
int signals_caught(void);

/* The same, once for each signal. */
int signals_take(void);

/* As poll(2), until the timeout or a signal, also one that came before. */
int signals_poll(struct pollfd *fds, nfds_t n, int ms);

#endif
