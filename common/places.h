/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a picture draws things: a tree of places, which all lines of a trace share.
 *
 *	process, by the source of the lines
 *		lcore, or another thread
 *		host
 *			connection
 *
 * Places are numbered from 0 in the order of the lines, each after the one that it is in.
 */
#ifndef PLACES_H
#define PLACES_H

#include "intern.h"
#include "out.h"
#include "traceline.h"

enum places_kind { PLACES_PROCESS, PLACES_LCORE, PLACES_THREAD, PLACES_HOST, PLACES_CONNECTION };

struct place {
	enum places_kind kind;
	uint32_t in;       /* MAP_NONE: a process */
	uint32_t process;  /* a process is its own */
	uint64_t lcore;    /* of an lcore */
	bool has_objects;  /* of an lcore: see places_note_reactor() */
	struct slice name; /* as in JSON between quotes */
};

/* All zero has no places. */
struct places {
	struct intern keys; /* by place; its n is how many there are */
	struct place *all;
	size_t cap;
	uint32_t process; /* that of the latest line, whose source this is; its p is NULL without one */
	struct slice source;
	struct map lcores;   /* a process and an lcore: its place, for those below 2^32 */
	struct map reactors; /* by lcore: its place in the first source that has objects there */
	struct out key, name;
};

/* These return the place of a line, which is added if it is new: */
uint32_t places_process(struct places *p, const struct traceline *line);
uint32_t places_lcore(struct places *p, const struct traceline *line, uint64_t lcore);
/* a thread that is no lcore */
uint32_t places_thread(struct places *p, const struct traceline *line, struct slice comm, struct slice tid);
/* of the object in the line: its connection, or its owner */
uint32_t places_connection(struct places *p, const struct traceline *line);

/*
 * Notes that a line on an lcore is about an object: the times of a reactor are for the first source with such a line.
 */
void places_note_reactor(struct places *p, uint32_t lcore);

/* The place that times of an lcore's reactor are drawn in; MAP_NONE: no line of that lcore was about an object. */
uint32_t places_reactor(const struct places *p, uint64_t lcore);

/* Writes the name of a connection with that of its host, where it is not its start. */
void places_write_name(struct out *out, const struct places *p, uint32_t connection);

void places_free(struct places *p);

#endif
