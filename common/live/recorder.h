/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a tool with a BPF program, in the same steps for all tools:
 *
 *	check ids; find the command; check capabilities; find()
 *	open the output; start the command, which is held
 *	open() and load the program; attach()
 *	drop capabilities; release the command; started()
 *	event() and between(), until a signal, the time, the end of the processes, full() or a failure
 *	detach(); drain the ring; finish(); print the losses; close the output; wait for the command
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli.h"
#include "command.h"
#include "livelines.h"
#include "lost.h"
#include "out.h"
#include "privilege.h"
#include "ticks.h"

struct bpf_map;
struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct ring_buffer;

enum { RECORDER_PIDS = CLI_IDS };

/* What the user asks for. */
struct recorder_options {
	char **command;            /* NULL: none */
	pid_t pids[RECORDER_PIDS]; /* recording ends with the last of these; 0 ends the list */
	const char *output;        /* a path; NULL or "-": standard output */
	uint64_t duration_ns;      /* 0: no end */
	uint32_t buffer;           /* bytes of the ring, at least */
	bool wall;                 /* the time of day is in the output */
	bool quiet;
};

/* Their rows in a table of options. standard: the default size of the buffer, as text. */
/* clang-format off */
#define RECORDER_OPTIONS(options, standard) \
	{'o', "output", "FILE", "write to FILE", .text = &(options).output}, \
	{0, "buffer", "SIZE", \
	 "buffer for what waits to be written: bytes, or with K, M or G; default " standard, \
	 .size = &(options).buffer}, \
	{'q', "quiet", NULL, "no notes", .flag = &(options).quiet}
/* what they were */
#define RECORDER_FORMER {'v', "verbose", "is gone: the kernel's log is printed when it refuses the BPF program"}
/* for tools whose operands may be a command */
#define RECORDER_DURATION(options) \
	{'D', "duration", "SEC", "end after this many seconds", .seconds = &(options).duration_ns}
/* for tools that print lines of events */
#define RECORDER_LINES(options) \
	{'T', "wall", NULL, "also print the time of day", .flag = &(options).wall}
/* clang-format on */

/* An opened skeleton, and its variables that belong to the recorder. */
struct recorder_program {
	struct bpf_object_skeleton *skeleton;
	uint32_t *pid_ns;
	uint32_t *watermark, *wakeup;      /* see bpf/ring.bpf.h */
	const struct bpf_map *followed;    /* recording continues until it is empty, see followers.h; NULL: none */
	const struct bpf_program *on_exit; /* removes processes from it */
};
#define RECORDER_PROGRAM(bpf)                                              \
	((struct recorder_program){.skeleton = (bpf)->skeleton,            \
				   .pid_ns = &(bpf)->rodata->pid_ns,       \
				   .watermark = &(bpf)->rodata->watermark, \
				   .wakeup = &(bpf)->bss->wakeup})

/*
 * What differs between tools. The functions get the context of recorder_run(); NULL: nothing to do.
 * Those that return an int return 0, or -1 after a message.
 */
struct recorder_tool {
	const char *kernel;  /* the oldest that can load the program, by the kernel's sources */
	const char *hooks;   /* what the program is attached to, as "the tracepoints of ..." */
	bool kernel_threads; /* they may be recorded */
	bool needs_ptrace;   /* it shows memory or calls of processes, as ptrace(2) does: needs CAP_SYS_PTRACE */
	bool prints_probes;  /* its output is probe lines, the one of its losses, too */

	int (*find)(void *context);
	/* Opens the skeleton, and sets variables, map sizes and which programs are loaded. */
	int (*open)(void *context, struct recorder_program *program);
	/* NULL: recorder_attach() alone. */
	int (*attach)(void *context);
	void (*started)(void *context);
	/* Gets an event from the ring. Returns false if it is damaged. */
	bool (*event)(void *context, const void *event, size_t size);
	/* After each round of events, before they are flushed. */
	void (*between)(void *context);
	/* Whether no more events are wanted. */
	bool (*full)(void *context);
	/* The command has ended: its status is in the recorder. */
	void (*command_ended)(void *context);
	/* NULL: detaches only the skeleton. After a failure the ring is drained for a limited time. */
	int (*detach)(void *context);
	/* Prints the results, and reports losses. */
	void (*finish)(void *context);
};

struct recorder {
	struct out out;
	struct command command;
	pid_t pid;           /* the first process, or that of the command; 0: none */
	bool failed;         /* the exit status is 1, and what was lost is unknown; tools may set it, too */
	enum privilege keep; /* for attach() to set */
	unsigned num_alive;  /* number of processes that have not ended */

	/* the recorder's own */
	struct recorder_options options;
	const struct recorder_tool *tool;
	void *context;
	struct recorder_program program;
	struct ring_buffer *ring;
	int processes[RECORDER_PIDS];   /* descriptors; -1: none, or it has ended */
	int num_followed;               /* at least 1 if there are any */
	uint64_t next_sweep, next_full; /* milliseconds of the clock */
	uint64_t skipped_exits;         /* at the last sweep */
	bool misses_unknown;            /* as was said */
	bool is_over;
	struct ticks ticks;
	struct stamp *stamp; /* of trace lines; NULL: there are none */
	struct lost lost;
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

/*
 * Notes what is recorded and for how long, as in "tracing nvmf_tgt (1234) for 10 s". what: "tracing", or more; name: of
 * what is traced, or NULL: that of the process, if there is one.
 */
void recorder_note_start(const struct recorder *r, const char *what, const char *name);

/* Attaches the skeleton's programs with autoattach. Returns 0, or -1 after a message. */
int recorder_attach(struct recorder *r);

/*
 * Reports a loss, in a format as of cli_count(), and makes the exit status 1, unless n is 0. The last line of trace
 * lines and of probe lines has the sums of each kind, unless the tool has failed.
 */
void recorder_loss(struct recorder *r, enum lost_kind kind, uint64_t n, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The processor's counter, for the tsc of lines. Call it before events come. Returns NULL if times of the clock cannot
 * be converted to it on this machine, after a notice that starts with `instead`: what is printed instead.
 */
struct ticks *recorder_ticks(struct recorder *r, const char *instead);

/* Says why a program could not even be opened, by errno. Returns -1. */
int recorder_not_opened(void);

/*
 * Sets the times of lines, with the time of day if it is wanted. If the counter is unknown, the tsc of trace lines is
 * in nanoseconds of CLOCK_MONOTONIC, after a notice. Columns have no tsc.
 */
void recorder_stamp(struct recorder *r, struct stamp *s, bool trace_lines);

/*
 * How often the kernel skipped a program, as when an interrupt came while one was running. If that is unknown, there is
 * a message, and recording has failed.
 */
uint64_t recorder_missed(struct recorder *r);

/*
 * For how many events at most the kernel skipped this program and all of its copies (bpf/copies.bpf.h); 0 if it is not
 * loaded. most: how many events look as if it was skipped, or UINT64_MAX.
 */
uint64_t recorder_missed_by(struct recorder *r, const struct bpf_program *program, uint64_t most);

/* The largest of n counts of the same, as each copy of a program has its own. */
uint64_t recorder_largest(const __u64 *counts, size_t n);

/* Whether this kernel may preempt a thread in a program at a tracepoint, and skips the program meanwhile. */
bool recorder_is_preempted(void);

/* For open(), once it has chosen the programs: loads their copies, too, if recorder_is_preempted(). Returns whether. */
bool recorder_load_copies(struct bpf_object *object);

/* How many arguments this kernel's tracepoint has; -1: it has no such tracepoint. */
int recorder_tracepoint(const char *name);

/* Whether the kernel is to be used as one before this version, as tests ask for: AS_LINUX=6.1. */
bool recorder_is_before(unsigned major, unsigned minor);

/*
 * A program that the kernel calls with each thread, or with each element of a map. Opening it takes
 * privileges and returns a descriptor, or -1 with errno. Running it takes none, closes the
 * descriptor, which may be -1, and returns 0, or -1 with errno.
 */
int recorder_open_iterator(struct bpf_program *program);
int recorder_open_map_iterator(struct bpf_program *program, const struct bpf_map *map);
int recorder_run_iterator(int fd);
