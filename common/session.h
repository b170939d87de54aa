/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a tool with a BPF program does while it records: events are taken out of the ring a few at a time and
 * written, until a signal, the clock, the end of a process or the tool itself ends that.
 *
 *	session_catch_signals();
 *	session_open(&s, output);
 *	... load and attach the program; set ring and wakeup
 *	session_watch(&s, pid); session_end_after(&s, seconds);
 *	session_run(&s, is_over, context);
 *	... detach
 *	session_finish(&s, is_over, context);
 *	status = session_close(&s, status);
 *
 * The functions say on stderr what is wrong.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "out.h"

struct bpf_object;
struct ring_buffer;

struct session {
	/* the caller's: the ring of the program, and its variable of bpf/wakeup.h */
	struct ring_buffer *ring;
	uint32_t *wakeup;
	/* the caller's; 0: none, or it has ended. Signals are passed on to it, and do not end the recording. */
	pid_t child;
	/* the caller's; NULL: none. Called with is_over's context behind each round of events, before they are flushed. */
	void (*between)(void *context);

	struct out out;
	const char *output; /* its name; NULL: standard output */
	bool failed;        /* also for the caller to set */
	bool watches;       /* a process */
	int process;        /* its descriptor; -1: none, or it has ended */
	uint64_t deadline;  /* milliseconds of the clock; 0: none */
	unsigned batch;     /* events since the last look at signals and the clock */
};

/* Whether enough was recorded. */
typedef bool session_is_over(void *context);

/* To be called before anything is started. The second signal of a kind kills. */
void session_catch_signals(void);

/* Opens the output: a path, or NULL or "-" for standard output. Returns 0, or -1. */
int session_open(struct session *s, const char *output);

/* Also takes notice of the end of this process. Returns 0, or -1. */
int session_watch(struct session *s, pid_t pid);

/* Whether the watched process has ended. */
bool session_has_ended(const struct session *s);

void session_end_after(struct session *s, uint64_t seconds);

/*
 * To be called by the ring's callback for each event that it has taken, and to be returned by it: now and then
 * it is less than 0.
 */
int session_count(struct session *s);

/* Records until a signal or the end of the time, is_over(), or a failure. */
void session_run(struct session *s, session_is_over *is_over, void *context);

/* Takes out what is left when the program is detached, and writes it. */
void session_finish(struct session *s, session_is_over *is_over, void *context);

/* Waits for the end of the watched process, if any, when there is nothing more to record. */
void session_wait(struct session *s);

/* Closes the output. Returns the exit status: the given one, or 1 when writing failed. */
int session_close(struct session *s, int status);

/* What libbpf has to say about the program goes to stderr, or nowhere. */
void session_libbpf(bool verbose);

/* The size that a ring for so many bytes must have. */
uint32_t session_ring_size(uint32_t wanted);

/*
 * Says why a program could not be loaded, by errno. option: that of the ring's size; kernel: the oldest that has all,
 * by its sources.
 */
void session_cannot_load(uint32_t ring_size, const char *option, const char *kernel);

/* Whether the variables of a loaded program are mapped; says so when they are not. */
bool session_has_variables(const void *bss, const void *rodata);

/*
 * How often programs of the object were called on a CPU on which they were just running, in an interrupt for
 * instance: the kernel then leaves the call out.
 */
uint64_t session_missed(const struct bpf_object *object);

/* The inode of the PID namespace that this process is in. Returns 0, or -1. */
int session_pid_ns(uint32_t *inode);

#endif
