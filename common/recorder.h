/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run of a tool with a BPF program, which is the same for all of them:
 *
 *	check ids; find the command; find()
 *	open the output; start the command, which is held back
 *	open() and load the program; attach()
 *	drop capabilities; release the command; started()
 *	event() and between(), until a signal, the time, the end of the processes, full() or a failure
 *	detach(); drain the ring; finish(); close the output; wait for the command
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command.h"
#include "foreign.h"
#include "out.h"
#include "stamp.h"
#include "ticks.h"

struct bpf_map;
struct bpf_object_skeleton;
struct bpf_program;
struct ring_buffer;

enum { RECORDER_PIDS = 16 };

/* What the user asks for. */
struct recorder_options {
	char **command;            /* NULL: none */
	pid_t pids[RECORDER_PIDS]; /* recording ends with the last of these; up to the first 0 */
	const char *output;        /* a path; NULL or "-": standard output */
	uint64_t duration_ns;      /* 0: no end */
	uint32_t buffer;           /* bytes of the ring, at least */
	bool wall;                 /* the time of day is in the output */
	bool quiet, verbose;
};

/* Their rows in a table of options. letter: of --buffer, or 0; standard: its size, as a text. */
/* clang-format off */
#define RECORDER_OPTIONS(options, letter, standard) \
	{'o', "output", "FILE", "write to FILE", .text = &(options).output}, \
	{letter, "buffer", "SIZE", \
	 "buffer for what waits to be written: bytes, or with K, M or G; default " standard, \
	 .size = &(options).buffer}, \
	{'q', "quiet", NULL, "no notes", .flag = &(options).quiet}, \
	{'v', "verbose", NULL, "show what the kernel says about the BPF program", \
	 .flag = &(options).verbose}
/* of tools that print times */
#define RECORDER_WALL(options) \
	{'T', "wall", NULL, "also print the time of day", .flag = &(options).wall}
/* clang-format on */

/* A skeleton that was opened, and those of its variables that belong to the recorder. */
struct recorder_program {
	struct bpf_object_skeleton *skeleton;
	uint32_t *pid_ns;
	uint32_t *watermark, *wakeup; /* see bpf/ring.bpf.h */
	uint32_t *num_followed;       /* recording goes on until it is 0; NULL: no followers */
	struct foreign foreign;
};
#define RECORDER_PROGRAM(bpf)                                              \
	((struct recorder_program){.skeleton = (bpf)->skeleton,            \
				   .pid_ns = &(bpf)->rodata->pid_ns,       \
				   .watermark = &(bpf)->rodata->watermark, \
				   .wakeup = &(bpf)->bss->wakeup})

/*
 * What a tool does in its own way. Each is called with the context of recorder_run(); NULL: there
 * is nothing to do. Those that return an int return 0, or -1 after a message.
 */
struct recorder_tool {
	const char *kernel;        /* the oldest that can load the program, by its sources */
	const char *hooks;         /* what the program is attached to, as "the tracepoints of ..." */
	const char *buffer_option; /* as a message names it */

	int (*find)(void *context);
	/* Opens the skeleton, and sets variables, map sizes and which programs are loaded. */
	int (*open)(void *context, struct recorder_program *program);
	/* NULL: recorder_attach() alone. */
	int (*attach)(void *context);
	void (*started)(void *context);
	/* An event from the ring. Returns whether it is sound. */
	bool (*event)(void *context, const void *event, size_t size);
	/* After each round of events, before they are flushed. */
	void (*between)(void *context);
	/* Whether no more events are wanted. */
	bool (*full)(void *context);
	/* All processes, or the command, have ended. */
	void (*ended)(void *context);
	/* NULL: that of the skeleton alone. After a failure the ring is drained only shortly. */
	int (*detach)(void *context);
	/* Prints what is printed at the end, and reports what was lost. */
	void (*finish)(void *context);
};

struct recorder {
	struct out out;
	struct command command;
	pid_t pid;          /* the first process, or that of the command; 0: none */
	bool failed;        /* the exit status is 1; also for the tool to set */
	bool keeps_reading; /* for attach() to set: keep the capabilities to read other processes */
	unsigned num_alive; /* of the processes */

	/* the recorder's own */
	struct recorder_options options;
	const struct recorder_tool *tool;
	void *context;
	struct recorder_program program;
	struct ring_buffer *ring;
	int processes[RECORDER_PIDS]; /* descriptors; -1: none, or it has ended */
	bool is_over;
	struct ticks ticks;
	uint64_t deadline; /* milliseconds of the clock; 0: none */
	unsigned batch;    /* events of this round */
	int command_status;
};

/*
 * Returns the exit status: that of the command, as if it ran alone; if that is 0, or there is none,
 * 1 when recording failed. The skeleton stays open.
 */
int recorder_run(struct recorder *r, const struct recorder_tool *tool, const struct recorder_options *options,
		 void *context);

/* Attaches the skeleton's programs with autoattach. Returns 0, or -1 after a message. */
int recorder_attach(struct recorder *r);

/* Reports that n somethings were lost, unless n is 0. The exit status is then 1. */
void recorder_loss(struct recorder *r, uint64_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * The processor's counter, for the tsc of lines; to be called before events come. NULL when it is not known at the
 * times of the clock here, after a notice of that, which starts with what is printed instead.
 */
struct ticks *recorder_ticks(struct recorder *r, const char *instead);

/*
 * The times of lines, with the time of day if it is wanted. Where the counter is not known, the tsc of trace lines is
 * the clock's nanoseconds, after a notice; columns have none.
 */
void recorder_stamp(struct recorder *r, struct stamp *s, bool trace_lines);

/* How often the kernel skipped a program, as when an interrupt came while one was running. */
uint64_t recorder_missed(const struct recorder *r);

/* How many arguments this kernel's tracepoint has; -1: it has no such tracepoint. */
int recorder_tracepoint(const char *name);

/*
 * A program that the kernel calls with each thread, or with each element of a map. Opening it takes
 * privileges, running it does not: it returns a descriptor, or -1 with errno. Running closes the
 * descriptor, which may be -1, and returns 0, or -1 with errno.
 */
int recorder_open_iterator(struct bpf_program *program);
int recorder_open_map_iterator(struct bpf_program *program, const struct bpf_map *map);
int recorder_run_iterator(int fd);

#endif
