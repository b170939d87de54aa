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
#ifndef TRACK_TREE_H
#define TRACK_TREE_H

#include "connection.h"
#include "intern.h"
#include "out.h"
#include "traceline.h"

/* The process of lines without a source. */
#define TRACK_TREE_NO_SOURCE "SPDK"

enum track_tree_kind {
	TRACK_TREE_PROCESS,
	TRACK_TREE_LCORE,
	TRACK_TREE_THREAD,
	TRACK_TREE_HOST,
	TRACK_TREE_CONNECTION
};

struct track_place {
	enum track_tree_kind kind;
	uint32_t in;       /* the place that contains it; MAP_NONE for a process */
	uint32_t process;  /* a process is its own */
	uint64_t lcore;    /* of an lcore */
	bool has_objects;  /* of an lcore: see track_tree_note_reactor() */
	struct slice name; /* as in JSON between quotes */
};

/* All zero: no places. */
struct track_tree {
	struct intern keys; /* by place; its n is the number of places */
	struct track_place *all;
	size_t cap;
	uint32_t process; /* of the latest line, like source; source.p is NULL if it has none */
	struct slice source;
	struct map lcores;   /* process and lcore → place, for lcores below 2^32 */
	struct map reactors; /* lcore → its place in the first source that has objects on it */
	struct connections connections;
	struct out key, name;
};

/* These return the place of a line, which is added if it is new: */
uint32_t track_tree_lcore(struct track_tree *p, const struct traceline *line, uint64_t lcore);
/* a thread that is not an lcore */
uint32_t track_tree_thread(struct track_tree *p, const struct traceline *line, struct slice comm, struct slice tid);
/* of the object in the line: its connection, or its owner */
uint32_t track_tree_connection(struct track_tree *p, const struct traceline *line);

/*
 * Notes that a line on an lcore is about an object: a reactor's times belong to the first source with such a line.
 * lcore: its place.
 */
void track_tree_note_reactor(struct track_tree *p, uint32_t lcore);

/* The place that times of an lcore's reactor are drawn in; MAP_NONE: no line of that lcore was about an object. */
uint32_t track_tree_reactor(const struct track_tree *p, uint64_t lcore);

void track_tree_free(struct track_tree *p);

#endif
