/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the connection of an entry: from an argument that trace-join annotated, an object with the members of a
 * lifetime line; or from its owner, as in "127.0.0.1:34360 nqn.2016-06.io.spdk:cnode2 127.0.0.1:4420 qid:2".
 *
 * Texts are as in JSON between quotes; an empty text is unknown.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "out.h"

/* A value without quotes around it. */
struct slice connection_unquoted(struct slice value);

/* A member of the object, without its quotes. */
struct slice connection_member(struct slice object, const char *name);

/* The part of a host's NQN after the last colon: its usual short name. */
struct slice connection_host(struct slice nqn);

/* Writes HOST/QID, or HOST if the queue is unknown. host: from connection_host(), or an address. */
void connection_write_name(struct out *out, struct slice host, struct slice queue);

/* Sets the host's address with its port, and the queue's number. False: the owner is not a connection. */
bool connection_owner(struct slice owner, struct slice *address, struct slice *queue);

#endif
