/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a picture, as a tree of places for all lines of a trace:
 *
 *	process, by the source of the lines
 *		lcore, or another thread
 *		host
 *			connection
 *
 * Places are numbered from 0 in the order of the lines, each after the place that contains it.
 */
#ifndef PLACES_H
#define PLACES_H

#include "connection.h"
#include "intern.h"
#include "out.h"
#include "traceline.h"

/* The process of lines without a source. */
#define PLACES_NO_SOURCE "SPDK"

enum places_kind { PLACES_PROCESS, PLACES_LCORE, PLACES_THREAD, PLACES_HOST, PLACES_CONNECTION };

struct place {
	enum places_kind kind;
	uint32_t in;       /* the place that contains it; MAP_NONE for a process */
	uint32_t process;  /* a process is its own */
	uint64_t lcore;    /* of an lcore */
	bool has_objects;  /* of an lcore: see places_note_reactor() */
	struct slice name; /* as in JSON between quotes */
};

/* All zero: no places. */
struct places {
	struct intern keys; /* by place; its n is the number of places */
	struct place *all;
	size_t cap;
	uint32_t process; /* of the latest line, like source; source.p is NULL if it has none */
	struct slice source;
	struct map lcores;   /* process and lcore → place, for lcores below 2^32 */
	struct map reactors; /* lcore → its place in the first source that has objects on it */
	struct connections connections;
	struct out key, name;
};

/* These return the place of a line, which is added if it is new: */
uint32_t places_lcore(struct places *p, const struct traceline *line, uint64_t lcore);
/* a thread that is not an lcore */
uint32_t places_thread(struct places *p, const struct traceline *line, struct slice comm, struct slice tid);
/* of the object in the line: its connection, or its owner */
uint32_t places_connection(struct places *p, const struct traceline *line);

/*
 * Notes that a line on an lcore is about an object: a reactor's times belong to the first source with such a line.
 * lcore: its place.
 */
void places_note_reactor(struct places *p, uint32_t lcore);

/* The place that times of an lcore's reactor are drawn in; MAP_NONE: no line of that lcore was about an object. */
uint32_t places_reactor(const struct places *p, uint64_t lcore);

void places_free(struct places *p);

#endif
