/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short names for the qpairs of lifetimes and for owners. No two qpairs that exist at the same time
 * have the same name; those of owners may be shared.
 *
 * A host is named by the shortest end of its NQN, after a colon, that ends no other host's NQN; the
 * first groups of a UUID may be enough. A qpair is HOST/QID; then @SUBSYSTEM when there are several
 * subsystems; then #2 and so on when older qpairs with the same name still exist.
 *
 * Names only get longer when more lifetimes are learned, so names that were printed before stay
 * unambiguous.
 */
#ifndef WHO_H
#define WHO_H

#include "intern.h"
#include "lifetimes.h"
#include "out.h"

struct who_name {
	struct slice text; /* for terminals, without blanks; empty: no name */
	unsigned width;    /* in characters */
	bool shared;       /* an earlier owner's description has the same first word */
};

struct who_nqns {
	struct intern whole, parts; /* in the form for terminals */
	uint32_t *uses;             /* by part: number of NQNs that have it */
	size_t num_uses, cap_uses;
};

struct who_qpair {
	struct who_name name;
	uint64_t known;           /* number of NQNs that were known when the name was made */
	unsigned revision;        /* of the lifetime when it was learned */
	uint32_t host, subsystem; /* numbers of whole NQNs; MAP_NONE: unknown */
	struct slice qid;
	unsigned number;
	size_t older; /* an older lifetime of the group that may still exist, or SIZE_MAX */
};

/* The qpairs of the same host, subsystem and qid. */
struct who_group {
	size_t newest;   /* lifetime.order, or SIZE_MAX */
	unsigned number; /* of the newest */
};

/* WHO_NONE at first. */
struct who {
	const struct lifetimes *lifetimes;
	struct who_nqns hosts, subsystems;
	struct who_qpair *qpairs; /* by lifetime.order */
	size_t num_qpairs, cap_qpairs;
	struct intern group_names;
	struct who_group *groups;
	size_t num_groups, cap_groups;
	struct intern owner_names; /* descriptions */
	struct who_name *owners;
	size_t num_owners, cap_owners;
	/* first words of descriptions: each alone, and with the first owner that has it */
	struct intern words;
	struct out text; /* scratch */
};

#define WHO_NONE                      \
	{                             \
		.text.fd = OUT_MEMORY \
	}

/* Learns the lifetimes that were added since the last call. */
void who_learn(struct who *w, const struct lifetimes *l);

/* The name of a lifetime's qpair, valid until the next call; NULL if its host is unknown. */
const struct who_name *who_qpair(struct who *w, const struct lifetime *lifetime);

/*
 * The first word of an owner's description; valid until the next call. Both are strings as written
 * in JSON, without their quotes. The poller shows whether a new description belongs to another
 * owner, or is a known one that has grown.
 */
const struct who_name *who_owner(struct who *w, struct slice description, struct slice poller);

void who_free(struct who *w);

#endif
