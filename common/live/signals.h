/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP of a tool that runs until it gets one: the first of a kind is noted. The second one kills
 * if it comes half a second later, since timeout(1) sends two at once, to the process and to its group; else the third
 * one. Ignored signals stay ignored, as nohup expects.
 *
 * A handler rather than signalfd(2), for which signals must be blocked: a second signal must kill even while a write
 * waits for a reader that does not read.
 */
#pragma once

#include <poll.h>
#include <signal.h>

enum { SIGNALS = 3 };

/* Catches these signals from now on. before gets their old dispositions, unless it is NULL. */
void signals_catch(struct sigaction before[SIGNALS]);

void signals_restore(const struct sigaction before[SIGNALS]);

/* The latest signal that was caught, or 0. */
int signals_caught(void);

/* The same, and resets it to 0. */
int signals_consume(void);

/* As if none had come: the next one of each kind is its first. */
void signals_forget(void);

/* Like poll(2), but a signal ends the wait even if it was caught before. */
int signals_poll(struct pollfd *fds, nfds_t n, int ms);
