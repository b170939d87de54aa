/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: which one an entry belongs to, and how it is called. spdk-trace-lines(7) has the rule for names.
 *
 * These members of an entry say it, of which the first ones count:
 *
 *	"args":{"qpair":{"owner":"t288","ptr":"0x1","qid":2,"subnqn":"…","hostnqn":"…"}}    annotated by trace-join
 *	"poller":"t288","owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:2"                      an owner with an address
 *	"args":{"qpair":"0x1"}
 *	"poller":"b259","owner":"bdev_Malloc0"                                              named, but no connection
 *	"poller":"b00"                                                                      several may share it
 *
 * An entry with the first two shows that both are the same connection.
 *
 * Names are for terminals, without blanks. No two connections of a source have the same name. Names only get longer
 * when more hosts are learned, so names that were printed before stay unambiguous.
 */
#pragma once

#include "intern.h"
#include "out.h"
#include "traceline.h"

struct connection {
	enum connection_kind {
		CONNECTION_HOST,
		CONNECTION_ADDRESS,
		CONNECTION_QPAIR,
		CONNECTION_OWNER,
		CONNECTION_POLLER,
		CONNECTION_KINDS
	} kind;
	struct slice name;                   /* made by connections_name() */
	unsigned width;                      /* of the name, in characters */
	struct slice hostnqn, owner, poller; /* as written in JSON; empty: not known */

	/* for connection.c: its name without the host, the queue's number, and what tells it from others of its name */
	struct slice plain, queue, id;
	uint32_t host, subsystem; /* numbers of NQNs; MAP_NONE: not known */
	uint32_t source;          /* number; 0: none */
	uint64_t known;           /* connections.known when the name was made */
};

/* NQNs in the form for terminals, and the parts that they may be named by. */
struct connection_nqns {
	struct intern whole, parts;
	uint32_t *uses; /* by part: number of NQNs that have it */
	size_t num_uses, cap_uses;
};

enum { CONNECTION_TEXTS = 64 }; /* places of recent texts */

/* All zero: no connections. */
struct connections {
	struct connection *all;
	uint32_t n;
	size_t cap;
	struct intern texts;                /* that identify connections */
	struct map found[CONNECTION_KINDS]; /* what identifies one → its index */
	uint32_t recent[64];                /* owners */
	struct connection_annotation {
		struct slice text; /* one of texts */
		uint32_t number;
	} annotations[CONNECTION_TEXTS]; /* recent ones of lines without a source */
	struct connection_nqns hosts, subsystems;
	struct connection_host {
		uint32_t subsystem; /* MAP_NONE: of none so far */
		bool several;
	} * subsystems_of; /* by host */
	size_t num_hosts, cap_hosts;
	uint64_t known; /* grows with each host or subsystem that may change names */
	struct intern names;
	struct map users; /* source and name → the first connection of that name */
	struct out text;  /* scratch */
};

/* Learns the NQN of a host before it is in a line; and that of a subsystem, unless it is empty. Both are decoded. */
void connections_learn(struct connections *c, struct slice hostnqn, struct slice subnqn);

/*
 * The number of an entry's connection; MAP_NONE: the entry names none. *arg is set to the index of the argument that
 * names it, or to SIZE_MAX.
 */
uint32_t connections_find(struct connections *c, const struct traceline *line, size_t *arg);

/* The connection in an annotation, which is a JSON object; MAP_NONE: it has no host. */
uint32_t connections_annotated(struct connections *c, const struct traceline *line, struct slice annotation);

/* Makes a name that may have changed. */
void connections_rename(struct connections *c, uint32_t number);

/* The connection with this number, and its name; valid until the next call. */
static inline const struct connection *connections_name(struct connections *c, uint32_t number)
{
	const struct connection *connection = &c->all[number];

	/* once made, only names of hosts change */
	if (connection->known != c->known && (connection->host != MAP_NONE || !connection->name.p))
		connections_rename(c, number);
	return connection;
}

/* The name of its host, which names of its connections start with; empty: not known. Valid until a host is learned. */
struct slice connections_host(const struct connections *c, uint32_t number);

/* The same by its NQN, as written in JSON; empty: it was never learned. */
struct slice connections_named(struct connections *c, struct slice hostnqn);

/*
 * A place for an annotation or an owner in a table of recent ones. Those of different connections differ in the owner
 * or the address, near the start.
 */
unsigned connection_text_place(struct slice text);

/*
 * What identifies the connection of an entry while that exists: its owner from v24.05 on, else its address. False: the
 * entry has neither.
 */
bool connection_key(const struct traceline *line, uint64_t *key);

/* Whether the owner of an entry is a connection of a host. */
bool connection_is_owner(const struct traceline *line);

/* The number of the queue in an annotation, which is a JSON object, or in such an owner; false if it has none. */
bool connection_annotated_queue(struct slice annotation, uint64_t *queue);
bool connection_owner_queue(struct slice owner, uint64_t *queue);

/* The address with its port at the start of an owner; empty: it has none. */
struct slice connection_address(struct slice owner);

void connections_free(struct connections *c);
