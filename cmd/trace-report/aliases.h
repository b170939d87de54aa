/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of bdevs for people. The name of a logical volume is its UUID, and its alias, as lvs/db, is what it was created
 * as; the target's answer to bdev_get_bdevs has both. Texts are as written in JSON.
 */
#pragma once

#include "intern.h"

/* All zero: there are none. */
struct aliases {
	struct intern owners; /* of the trace: of bdevs whose name is a UUID */
	struct slice *all;    /* of these, with the alias instead; owned */
	size_t n, cap;
};

/* Reads the answers, which may be empty. */
void aliases_read(struct aliases *a, struct slice rpc);

/* The owner of an entry, with the alias if it is that of such a bdev. Valid as long as both arguments. */
struct slice aliases_owner(const struct aliases *a, struct slice owner);

/* The name of a bdev in the answer. */
struct slice aliases_name(struct slice bdev);

void aliases_free(struct aliases *a);
