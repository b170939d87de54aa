/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of SPDK's JSON-RPC over its Unix socket, for methods that only read. What the target answers is not trusted:
 * it is bounded in time and size, and checked to be JSON.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "out.h"
#include "slice.h"

struct rpc {
	int fd;            /* -1: not connected */
	const char *error; /* of the call that failed; NULL: none */
	unsigned id, answers;
	bool is_late;     /* a reply was not complete in time: it may come later */
	struct out reply; /* what has come */
	size_t used;      /* bytes of it that are dealt with */
};

/*
 * Connects to the socket of this process: at path, or, if that is NULL, where its command line says so or SPDK puts it.
 * Returns NULL, or why that was not possible, which the caller frees. Call rpc_close() in both cases.
 */
char *rpc_connect(struct rpc *rpc, pid_t pid, const char *path);

/*
 * May be called in a sandbox, with SIGPIPE ignored.
 *
 * Calls a method; params: a JSON object, or NULL. Sets *reply to the whole of the reply, valid until the next call: an
 * object with "result" or "error". Returns NULL, or what went wrong. If it is late after other replies were not, that
 * is RECORDING_LATE, and other methods may be called; else rpc->error is set, the connection is closed, and later calls
 * return the same.
 */
const char *rpc_call(struct rpc *rpc, const char *method, const char *params, struct slice *reply);

void rpc_close(struct rpc *rpc);
