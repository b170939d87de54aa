/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of an NVMe-oF target, as it listed them by JSON-RPC: the file rpc.jsonl of trace-record.
 *
 * nvmf_subsystem_get_qpairs lists the qpairs of a subsystem: the address and port of the host from v24.05 on, and
 * its name from v24.09 on. v24.05 has the names in nvmf_subsystem_get_controllers, which trace-record calls next.
 *
 * An answer was made between the ticks of its call and of its reply. A qpair in it is the connection of an owner if
 * that is the only one with the same address and port, and as far as its description says them the same subsystem
 * and queue, that was registered before the reply and is not known to be gone before the call. An address and port
 * may be used again, and by connections to two ports of the target at once: then neither has a name. That the owner
 * is missing, and another one is taken for it, is excluded as in match.h.
 */
#pragma once

#include "intern.h"
#include "registry.h"

/* Why a connection has no owner. */
enum answers_reason {
	ANSWERS_NAMED, /* it has one */
	ANSWERS_NO_TIME,
	ANSWERS_NO_ADDRESS,
	ANSWERS_NO_HOST,
	ANSWERS_TRANSPORT,
	ANSWERS_UNREGISTERED,
	ANSWERS_AMBIGUOUS,
	ANSWERS_REPLACED,
	ANSWERS_CONTRADICTED,
	ANSWERS_REASONS
};

/* A qpair in an answer. Names are numbers in names; MAP_NONE: missing. */
struct answer {
	uint64_t begin, end; /* ticks between which the answer was made */
	uint64_t cntlid, qid;
	uint32_t peer, subnqn, hostnqn; /* peer: address:port */
	bool tcp;
	enum answers_reason reason;
	struct owner *owner; /* NULL: none was found */
};

/* All zero but for subnqn: no line was read. */
struct answers {
	struct answer *all;
	size_t n, cap;
	struct intern names;
	size_t called;    /* index of the first qpair of the latest answer, which the next line may name */
	uint32_t subnqn;  /* of that; MAP_NONE: none, as at first */
	size_t lists;     /* answers about qpairs */
	size_t malformed; /* qpairs and controllers of another form */
	size_t too_many;  /* qpairs that were left out */
};

/* Adds an answer: a lines_callback. */
const char *answers_add(void *answers, struct slice line);

/*
 * Finds the owners of all qpairs, and sets their `answer`. To be called after registry_merge(). Qpairs that contradict
 * each other have none.
 */
void answers_match(struct answers *a, struct owners *o);

/* How many connections there are for each reason. One that several answers list counts once. */
void answers_count(const struct answers *a, size_t counts[ANSWERS_REASONS]);

void answers_free(struct answers *a);
