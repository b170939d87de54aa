/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the connection of an entry: from an argument that trace-join annotated, an object with the members of a
 * lifetime line; or from its owner, as in "127.0.0.1:34360 nqn.2016-06.io.spdk:cnode2 127.0.0.1:4420 qid:2".
 *
 * Texts are as in JSON between quotes; empty ones are not known.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "out.h"

/* A value without its quotes, if it has any. */
struct slice connection_unquoted(struct slice value);

/* A member of the object, without its quotes. */
struct slice connection_member(struct slice object, const char *name);

/* The part of a host's NQN after the last colon, which is what people call it. */
struct slice connection_host(struct slice nqn);

/* Writes HOST/QID; the host is such an end or an address, the queue may be unknown. */
void connection_write_name(struct out *out, struct slice host, struct slice queue);

/* The address of the host with its port, and the number of the queue. False: the owner is no connection. */
bool connection_owner(struct slice owner, struct slice *address, struct slice *queue);

#endif
