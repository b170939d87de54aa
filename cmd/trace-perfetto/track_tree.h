/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a picture, as a tree of places for all lines of a trace:
 *
 *	process, by the source of the lines
 *		lcore, or another thread
 *		host
 *			connection
 *
 * A connection of a host that no longer exists leaves its place to one that was created later, if both have the same
 * queue and subsystem: else a host that reconnects all the time would get ever more rows. Its creation and its end must
 * both be in the trace.
 *
 * Places are numbered from 0 in the order of the lines, each after the place that contains it.
 */
#pragma once

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
	struct slice name; /* as in JSON between quotes; of its first connection */
	uint32_t key;      /* of its latest user, an index in track_tree.by_key */
	/* of a connection: the list of free places that it may be in, and its neighbours there */
	uint32_t list, next, previous;
	uint64_t free_since;
};

/* Places without a connection that have the same host, queue and subsystem, in the order in which they became free. */
struct track_tree_list {
	uint32_t first, last; /* places; MAP_NONE: it is empty */
};

/* All zero: no places. */
struct track_tree {
	struct intern keys; /* of places and connections */
	struct track_tree_key {
		uint32_t place; /* another connection may have taken it */
		uint32_t added; /* number of places that were added for the key */
	} * by_key;
	size_t num_keys, cap_keys;
	struct track_place *all;
	uint32_t n;
	size_t cap;
	struct intern list_keys;
	struct track_tree_list *lists; /* by list key */
	size_t num_lists, cap_lists;
	struct map uses; /* connection_key() → index in connected */
	struct track_tree_connected {
		bool exists;
		uint64_t since; /* ns; 0: since before the trace */
		uint32_t place; /* MAP_NONE: it has had no object so far */
	} * connected;
	size_t num_connected, cap_connected;
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

/* The connection in the line is created, at a time in ns. */
void track_tree_create(struct track_tree *p, const struct traceline *line, uint64_t ns);

/* It is destroyed. Returns the place that it had, for track_tree_free_place(); MAP_NONE: it had none. */
uint32_t track_tree_destroy(struct track_tree *p, const struct traceline *line);

/* Another connection may have the place from now on. */
void track_tree_free_place(struct track_tree *p, uint32_t place, uint64_t ns);

/*
 * Notes that a line on an lcore is about an object: a reactor's times belong to the first source with such a line.
 * lcore: its place.
 */
void track_tree_note_reactor(struct track_tree *p, uint32_t lcore);

/* The place that times of an lcore's reactor are drawn in; MAP_NONE: no line of that lcore was about an object. */
uint32_t track_tree_reactor(const struct track_tree *p, uint64_t lcore);

void track_tree_free(struct track_tree *p);
