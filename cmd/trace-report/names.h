/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of hosts, as qpair-lifetimes finds them in probe lines, answers of JSON-RPC and owners. */
#pragma once

#include "facts.h"

struct join;
struct reader;

/* Reads f->usdt and f->rpc before the first entry. False after a message, with f->names_unread. */
bool names_read(struct facts *f, const struct reader *r, struct join *join);
