/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the lines of a file or pipe, as slices of one growing buffer, and counts them for messages.
 * A last line without its newline is a line; NUL bytes and carriage returns are bytes like any
 * other.
 *
 * Functions that read return -1 with errno; lines_close() prints it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kind.h"
#include "slice.h"

struct out;
struct readahead;

/* A longer line ends the input with EMSGSIZE: text has none, and memory must be bounded. */
#define LINES_MAX ((size_t)64 << 20)

/* When lines_hook is called. */
enum lines_moment {
	LINES_READ,   /* before a read that does not wait */
	LINES_WAIT,   /* before a read that may have to wait */
	LINES_REPORT, /* before a message on stderr */
};

struct lines;
typedef void lines_hook(void *context, const struct lines *l, enum lines_moment moment);

struct lines {
	const char *name;   /* for messages: the path, or <stdin> */
	uint64_t number;    /* of the line that was returned last, from 1 */
	uint64_t faulty;    /* lines that lines_complain() was called for */
	bool again;         /* these lines were read before: what is wrong with single ones was printed */
	enum input_kind is; /* the kind that lines_expect() refused, else KIND_UNKNOWN */
	bool failed;        /* lines_close() has said why the input ended early: there may have been no line */

	lines_hook *hook; /* NULL: none; set after lines_open(), as interactive.h does */
	void *context;    /* its argument */

	int fd;
	bool is_pipe, eof;
	bool grows; /* more may come at its end */
	bool kind_checked;
	enum input_kind wanted;
	const char *reader;
	off_t size;              /* of a regular file, else 0 */
	uint64_t consumed;       /* bytes read */
	uint64_t ascii;          /* how many of the last bytes read are known to be ASCII */
	struct readahead *ahead; /* NULL: not used */
	char *buf;               /* has data from start to end: own, or a block of ahead */
	char *own;
	size_t cap, start, end;
	size_t scanned; /* bytes after start that are known to have no newline */
};

/* Opens path ("-": standard input). Returns -1 with errno. The path must outlive the lines. */
int lines_open(struct lines *l, const char *path);

/* The same for a descriptor, which lines_close() closes, and a name for messages. -1: returns -1, errno as it is. */
int lines_open_fd(struct lines *l, int fd, const char *name);

/*
 * Call it before reading the first line: input that is clearly of another kind ends with
 * EMEDIUMTYPE before its first line. reader: the command that reads the wanted kind from a pipe,
 * for the message of lines_close().
 */
void lines_expect(struct lines *l, enum input_kind wanted, const char *reader);

/*
 * Returns 1 and the line without its newline, valid until the next call; 0 at the end; -1 with
 * errno.
 */
int lines_next(struct lines *l, struct slice *line);

/*
 * Waits for something to read or the end of the input, but not much longer than ms. Returns whether
 * there is either. For a hook that is called before lines_next() waits.
 */
bool lines_wait(const struct lines *l, unsigned ms);

/*
 * To read lines as they come, along with other inputs: lines_follow() after lines_open(), then
 * lines_ready() until it returns false, then lines_more(), and when that returns 0 without eof,
 * poll(2).
 */

/* grows: the end of a regular file is not the end of its lines. */
void lines_follow(struct lines *l, bool grows);

/* The next of the lines that have been read, without its newline. False when there is none. */
bool lines_ready(struct lines *l, struct slice *line);

/* Makes the line that was returned last the next one again, so that lines_more() keeps it. */
void lines_unread(struct lines *l, struct slice line);

/*
 * Reads what is available, without waiting. Returns 1; 0 when there is nothing now, or at eof; -1 with
 * errno, ESTALE when a file that grows was truncated or replaced.
 */
int lines_more(struct lines *l);

/*
 * The descriptor to poll(2) for more; -1 at the end, and for a file that grows: poll(2) does not
 * wait for that, so read it again every LINES_GROW_MS.
 */
enum { LINES_GROW_MS = 100 };
int lines_pollfd(const struct lines *l);

/*
 * After lines_next() has returned EMEDIUMTYPE, for a reader of that kind: gives up the descriptor. start: what was read
 * from it, valid until lines_close().
 */
int lines_detach(struct lines *l, struct slice *start);

/* Starts again, with a pipe that has the same lines without compression; lines_close() closes it. */
void lines_attach(struct lines *l, int fd);

/* Slow path of lines_repair(). */
bool lines_repair_line(struct slice *line, struct out *to);

/*
 * For lines that must be valid UTF-8, because they are written as they are: returns whether the line that was returned
 * last is not. Then *line becomes a copy in `to`, which is in memory, with U+FFFD for what is invalid.
 */
static inline bool lines_repair(const struct lines *l, struct slice *line, struct out *to)
{
	return (uint64_t)(l->buf + l->end - line->p) > l->ascii && lines_repair_line(line, to);
}

/* What is wrong with a line for which that returned true. */
#define LINES_REPAIRED "not UTF-8: U+FFFD replaces what is invalid"

/*
 * Prints to stderr what is wrong with the line that was returned last, as TOOL: FILE:LINE: what.
 * Only the first few such lines are printed; lines_close() prints the number of the others.
 */
void lines_complain(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Prints to stderr why the input ended early, and the number of complaints that were not printed.
 * error: the errno of the last lines_next(), or 0. Returns -1 if there was an error or a complaint,
 * else 0.
 */
int lines_close(struct lines *l, int error);

/* Returns NULL, or what is wrong with the line. */
typedef const char *lines_callback(void *context, struct slice line);

/*
 * Passes all lines to the callback, complains of what it returns, and closes. Returns as lines_close()
 * does.
 */
int lines_each(struct lines *l, lines_callback *callback, void *context);
