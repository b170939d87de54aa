/* SPDX-License-Identifier: BSD-3-Clause */
#include "signals.h"

#include "clock.h"

static volatile sig_atomic_t caught;

enum { AGAIN_NS = 500 * 1000 * 1000 };

static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* Of each of these: how many came, and when the first one did, in ns. */
static volatile struct {
	unsigned n;
	uint64_t first;
} received[SIGNALS];

static void on_signal(int number)
{
	uint64_t now = clock_ns();
	int i = 0;

	while (numbers[i] != number)
		i++;
	if (!received[i].n++) {
		received[i].first = now;
		caught = number;
	} else if (received[i].n > 2 || now - received[i].first >= AGAIN_NS) {
		/* it is blocked until this function returns */
		signal(number, SIG_DFL);
		raise(number);
	}
}

void signals_catch(struct sigaction before[SIGNALS])
{
	struct sigaction action = {.sa_handler = on_signal}, old;

	for (int i = 0; i < SIGNALS; i++) {
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
		if (before)
			before[i] = old;
	}
}

void signals_restore(const struct sigaction before[SIGNALS])
{
	for (int i = 0; i < SIGNALS; i++)
		sigaction(numbers[i], &before[i], NULL);
}

int signals_caught(void)
{
	return caught;
}

int signals_consume(void)
{
	/* in one step: a signal in between would be lost */
	return __atomic_exchange_n(&caught, 0, __ATOMIC_RELAXED);
}

void signals_forget(void)
{
	for (int i = 0; i < SIGNALS; i++)
		received[i].n = 0;
	caught = 0;
}

int signals_poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec timeout = {ms / 1000, ms % 1000 * NS_A_MS};
	sigset_t blocked, before;
	int ready;

	/* a signal between the check and the wait must not be missed */
	sigemptyset(&blocked);
	for (int i = 0; i < SIGNALS; i++)
		sigaddset(&blocked, numbers[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	ready = ppoll(fds, n, caught ? &(struct timespec){} : &timeout, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready;
}
